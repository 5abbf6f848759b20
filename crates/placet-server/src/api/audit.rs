//! The audit trail: searched, checked from the first row on, and taken along.

use std::collections::VecDeque;

use axum::Json;
use axum::extract::State as Shared;
use axum::response::Response;
use bytes::Bytes;
use placet_core::ids::SessionId;
use placet_core::interaction::Locale;
use placet_core::listing::{Committed, JournalPage};
use placet_core::render::mask;
use placet_core::snapshot::Snapshot;
use placet_core::time::Timestamp;
use placet_engine::audit_text;
use placet_store::{Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::export::{Format, csv_line};
use super::interactions::locale;
use super::moments::moment;
use crate::access::Admin;
use crate::intake::QueryOf;
use crate::problem::Problem;
use crate::state::State;
use crate::wire::page_size;
use crate::wire::row::RowBody;

/// Rows looked at for one page, whether or not they are wanted.
const LOOKED_AT_MAX: u64 = 4000;
/// Rows read at once.
const PAGE: usize = 200;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(verify))
        .routes(routes!(export))
}

/// Which rows.
#[derive(Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct AuditFilter {
    /// The `next` of the page before: rows older than this one.
    after: Option<u64>,
    /// How many at most; 50 unless said otherwise, 200 at most.
    limit: Option<u32>,
    /// Only of this session.
    #[param(value_type = Option<String>)]
    session_id: Option<SessionId>,
    /// Only these kinds of events, with commas between them.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Only rows whose sentence or content holds this.
    q: Option<String>,
    /// Only from this moment on (RFC 3339).
    from: Option<String>,
    /// Only before this moment (RFC 3339).
    to: Option<String>,
    /// A language of `messages/`, such as `en`.
    #[param(value_type = Option<String>)]
    locale: Option<Locale>,
}

/// The query, understood.
struct Filter {
    session: Option<SessionId>,
    kinds: Vec<String>,
    words: Option<String>,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    locale: Locale,
}

impl Filter {
    fn new(wanted: &AuditFilter, locale: Locale) -> Result<Self, Problem> {
        let kinds = wanted.kind.as_deref().unwrap_or_default().split(',');
        Ok(Self {
            session: wanted.session_id.clone(),
            kinds: kinds.filter(|kind| !kind.is_empty()).map(str::to_owned).collect(),
            words: wanted.q.as_ref().map(|words| words.to_lowercase()),
            from: moment(wanted.from.as_deref())?,
            to: moment(wanted.to.as_deref())?,
            locale,
        })
    }

    /// The row in words, when it is wanted.
    fn admit(&self, stored: &Snapshot, row: &Committed) -> Option<RowBody> {
        let wanted = self
            .session
            .as_ref()
            .is_none_or(|session| *session == row.session)
            && (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == row.event.name()))
            && self.from.is_none_or(|from| from <= row.at)
            && self.to.is_none_or(|to| row.at < to);
        if !wanted {
            return None;
        }
        let body = RowBody::new(row, audit_text::sentence(stored, &row.event, self.locale));
        let holds = |words: &String| {
            body.text.as_str().to_lowercase().contains(words)
                || body.event.to_string().to_lowercase().contains(words)
                || row.session.as_str().to_lowercase().contains(words)
        };
        self.words.as_ref().is_none_or(holds).then_some(body)
    }
}

/// A page of rows.
#[derive(Serialize, ToSchema)]
struct AuditPage {
    items: Vec<RowBody>,
    /// The next page's `after`. A page may be short or empty and still have a next one.
    next: Option<u64>,
}

/// The journal, newest first, secrets masked.
#[utoipa::path(get, path = "/v1/audit", tag = "audit", params(AuditFilter),
    responses((status = 200, description = "A page of rows", body = AuditPage), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn list(
    _: Admin,
    Shared(state): Shared<State>,
    QueryOf(wanted): QueryOf<AuditFilter>,
) -> Result<Json<AuditPage>, Problem> {
    let filter = Filter::new(&wanted, locale(&state, wanted.locale))?;
    let (limit, before) = (page_size(wanted.limit), wanted.after);
    Ok(Json(
        newest(state.engine().store(), &filter, before, limit).await?,
    ))
}

/// Walks back from the newest row, a page at a time, up to a limit.
async fn newest(
    store: &Store,
    filter: &Filter,
    before: Option<u64>,
    limit: usize,
) -> Result<AuditPage, StoreError> {
    let head = store.look(|stored| stored.head(&()).copied()).await?;
    let mut upto = before.map_or(head, |before| before.saturating_sub(1).min(head));
    let floor = upto.saturating_sub(LOOKED_AT_MAX);
    let mut items = Vec::new();
    let page = u64::try_from(PAGE).unwrap_or(u64::MAX);
    while upto > floor {
        let after = upto.saturating_sub(page).max(floor);
        let part = JournalPage::of_all(after, PAGE);
        let look = store.look(|stored| {
            let rows = stored.journal(&part)?.iter().rev();
            let rows = rows.filter(|row| row.id <= upto);
            Ok(rows
                .filter_map(|row| filter.admit(stored, row))
                .collect::<Vec<_>>())
        });
        for item in look.await? {
            let id = item.id;
            items.push(item);
            if items.len() == limit {
                return Ok(AuditPage {
                    items,
                    next: (id > 1).then_some(id),
                });
            }
        }
        upto = after;
    }
    Ok(AuditPage {
        items,
        next: (upto > 0).then_some(upto + 1),
    })
}

/// Whether the journal still says what was written.
#[derive(Serialize, ToSchema)]
struct Verified {
    /// Whether nothing is wrong.
    ok: bool,
    rows: u64,
    sessions: u64,
    checkpoints: u64,
    /// Stands for everything up to the last row: keep it somewhere else.
    anchor: String,
    /// What is wrong.
    faults: Vec<Fault>,
}

/// Something that is wrong.
#[derive(Serialize, ToSchema)]
struct Fault {
    /// The journal row it was found at.
    row: Option<u64>,
    /// In a sentence.
    what: String,
}

/// Check every row from the first one on, and the tables made from them. One check at a time.
#[utoipa::path(get, path = "/v1/audit/verify", tag = "audit",
    responses((status = 200, description = "What was found", body = Verified), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn verify(_: Admin, Shared(state): Shared<State>) -> Result<Json<Verified>, Problem> {
    let _alone = state.verifying().lock().await;
    let verified = state.engine().store().verify(None).await?;
    let faults = verified.findings.iter().map(|finding| Fault {
        row: finding.row,
        what: finding.sentence.clone(),
    });
    Ok(Json(Verified {
        ok: verified.is_sound(),
        rows: verified.rows,
        sessions: verified.sessions,
        checkpoints: verified.checkpoints,
        anchor: verified.anchor.to_string(),
        faults: faults.collect(),
    }))
}

/// What is taken along.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct ExportQuery {
    /// `jsonl` (the default) or `csv`.
    #[serde(default)]
    #[param(value_type = Option<String>, pattern = "^(jsonl|csv)$")]
    format: Format,
    /// Only of this session.
    #[param(value_type = Option<String>)]
    session_id: Option<SessionId>,
}

/// The whole journal, oldest first, as JSON lines or CSV. Secrets are masked; `placet audit export` writes them as stored.
#[utoipa::path(get, path = "/v1/audit/export", tag = "audit", params(ExportQuery),
    responses((status = 200, description = "A file", content((String = "application/jsonl"), (String = "text/csv"))), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn export(
    _: Admin,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<ExportQuery>,
) -> Result<Response, Problem> {
    let format = query.format;
    let columns = [
        "id", "at", "session", "seq", "type", "summary", "edited", "hash", "event",
    ];
    let export = Export {
        state,
        query,
        after: 0,
        ready: format.head(&columns).into_iter().collect(),
    };
    // A page at a time, and the next one only when the reader has taken this one.
    let chunks = futures_util::stream::try_unfold(export, async |mut export: Export| {
        Ok::<_, StoreError>(export.next().await?.map(|chunk| (chunk, export)))
    });
    format.file("placet-journal", chunks)
}

struct Export {
    state: State,
    query: ExportQuery,
    after: u64,
    ready: VecDeque<Bytes>,
}

impl Export {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        if let Some(chunk) = self.ready.pop_front() {
            return Ok(Some(chunk));
        }
        let page = JournalPage {
            after: self.after,
            limit: PAGE,
            session: self.query.session_id.clone(),
        };
        let look = self.state.engine().store().look(|stored| {
            let rows = stored.journal(&page)?;
            let text: String = rows
                .iter()
                .map(|row| line(stored, row, self.query.format))
                .collect();
            Ok((rows.last().map(|row| row.id), text))
        });
        let (last, text) = look.await?;
        let Some(last) = last else { return Ok(None) };
        self.after = last;
        Ok(Some(Bytes::from(text)))
    }
}

fn line(stored: &Snapshot, row: &Committed, format: Format) -> String {
    let event = mask::json(&row.event.readable());
    let (at, hash, kind) = (row.at.to_string(), row.hash.to_string(), row.event.name());
    match format {
        Format::Jsonl => {
            let object = json!({
                "id": row.id, "at": at, "session": row.session, "seq": row.seq, "type": kind, "hash": hash, "event": event,
            });
            format!("{object}\n")
        }
        Format::Csv => {
            let summary = audit_text::sentence(stored, &row.event, Locale::English);
            let cells = [
                row.id.to_string(),
                at,
                row.session.to_string(),
                row.seq.to_string(),
                kind.to_owned(),
                summary.to_string(),
                audit_text::edited(&row.event).unwrap_or_default(),
                hash,
                event.to_string(),
            ];
            csv_line(cells.iter().map(String::as_str))
        }
    }
}
