//! Closed requests: searched on the server, a page at a time, and taken along as a file.

use std::collections::VecDeque;

use axum::Json;
use axum::extract::State as Shared;
use axum::response::Response;
use bytes::Bytes;
use placet_core::history::{Edits, Ending, HistoryFilter, HistoryPage};
use placet_core::ids::{InteractionId, PersonId, ToolName};
use placet_core::interaction::{Interaction, Locale, Resolution};
use placet_core::listing::Before;
use placet_core::question::Question;
use placet_core::render::{Block, mask};
use placet_core::time::Timestamp;
use placet_core::tool::Risk;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::export::{Format, csv_line};
use super::interactions::{locale, may_see, shown};
use super::moments::moment;
use crate::access::PersonOnly;
use crate::intake::QueryOf;
use crate::live::asker;
use crate::problem::Problem;
use crate::state::State;
use crate::wire::question::QuestionBody;
use crate::wire::{cursor, edited, page_size};

/// Questions read for one page, whether or not the search wants them.
const LOOKED_AT_MAX: usize = 1000;
/// Questions looked up at once.
const ROWS: usize = 100;
/// Lines of a file that are written at once.
const LINES: usize = 50;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(export))
}

/// Which requests.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct HistoryQuery {
    /// Only those this person decided, alone or with others.
    #[param(value_type = Option<String>)]
    person: Option<PersonId>,
    /// Only those about a call of this tool.
    #[param(value_type = Option<String>)]
    tool: Option<ToolName>,
    /// Only those asked because of this rule.
    rule: Option<String>,
    /// `LOW`, `MEDIUM` or `HIGH`.
    #[param(value_type = Option<String>, pattern = "^(LOW|MEDIUM|HIGH)$")]
    risk: Option<Risk>,
    /// `approved rejected retry info skipped terminated answered expired cancelled superseded`
    #[param(value_type = Option<String>, pattern = "^(approved|rejected|retry|info|skipped|terminated|answered|expired|cancelled|superseded)$")]
    outcome: Option<Ending>,
    /// `true`: only those whose arguments a person changed.
    edited: Option<bool>,
    /// Only those closed at this moment or later (RFC 3339).
    from: Option<String>,
    /// Only those closed before this moment (RFC 3339).
    to: Option<String>,
    /// Only those in which each of these words is found.
    q: Option<String>,
    /// The `next` of the page before.
    after: Option<u64>,
    /// How many at most; 50 unless said otherwise, 200 at most.
    limit: Option<u32>,
    /// `jsonl` (the default) or `csv`; of the export only.
    #[serde(default)]
    #[param(value_type = Option<String>, pattern = "^(jsonl|csv)$")]
    format: Format,
    /// `en` or `zh`.
    #[param(value_type = Option<String>)]
    locale: Option<Locale>,
}

/// A search, understood.
struct Search {
    filter: HistoryFilter,
    words: Vec<String>,
    locale: Locale,
    reader: PersonOnly,
}

impl Search {
    fn new(query: HistoryQuery, reader: PersonOnly, locale: Locale) -> Result<Self, Problem> {
        let words = query.q.unwrap_or_default().to_lowercase();
        Ok(Self {
            filter: HistoryFilter {
                person: query.person,
                tool: query.tool,
                rule: query.rule.filter(|rule| !rule.is_empty()),
                risk: query.risk,
                outcome: query.outcome,
                edited: if query.edited == Some(true) {
                    Edits::Only
                } else {
                    Edits::Any
                },
                from: moment(query.from.as_deref())?,
                to: moment(query.to.as_deref())?,
            },
            words: words.split_whitespace().map(str::to_owned).collect(),
            locale,
            reader,
        })
    }

    /// Whether a question that the filter admits is wanted.
    fn wants(&self, question: &Question) -> bool {
        may_see(&self.reader, &question.interaction)
            && (self.words.is_empty() || {
                let text = searched(question, self.locale).to_lowercase();
                self.words.iter().all(|word| text.contains(word))
            })
    }

    /// The next questions that are wanted, and where to go on.
    async fn next(
        &self,
        state: &State,
        mut cursor: Option<u64>,
        limit: usize,
    ) -> Result<(Vec<Question>, Option<u64>), Problem> {
        let store = state.engine().store();
        let (mut found, mut looked_at) = (Vec::new(), 0);
        loop {
            let page = HistoryPage {
                filter: self.filter.clone(),
                part: Before { cursor, limit: ROWS },
            };
            let rows = store.look(|stored| stored.history(&page).cloned()).await?;
            let is_last = rows.len() < ROWS;
            for (row, id) in rows {
                cursor = Some(row);
                looked_at += 1;
                let question = state.engine().broker().readable(&id).await?;
                found.extend(question.filter(|question| self.wants(question)));
                if found.len() == limit || looked_at == LOOKED_AT_MAX {
                    return Ok((found, cursor));
                }
            }
            if is_last {
                return Ok((found, None));
            }
        }
    }
}

/// Everything of a question that a search looks at: what a person may read on its page.
fn searched(question: &Question, locale: Locale) -> String {
    let asked = question.interaction.asked();
    let words = question.words(locale);
    let mut text = vec![
        words.title.as_str().to_owned(),
        words.message.as_str().to_owned(),
        words
            .details
            .map(|details| details.as_str().to_owned())
            .unwrap_or_default(),
        asked.session.to_string(),
        asker(asked).to_string(),
        asked.code.as_str().to_owned(),
    ];
    text.extend(question.call.as_ref().map(|record| record.call.tool.to_string()));
    text.extend(question.verdict().and_then(|verdict| verdict.rule.clone()));
    let (by, feedback) = decision(&question.interaction);
    text.extend(by.iter().map(ToString::to_string));
    text.extend(feedback);
    text.join("\n")
}

/// Who decided, and what they wrote, secrets masked.
fn decision(interaction: &Interaction) -> (&[PersonId], Option<String>) {
    let (Interaction::Resolved(resolved) | Interaction::Processed(resolved)) = interaction else {
        return (&[], None);
    };
    match &resolved.resolution {
        Resolution::Answered { by, ballot, .. } => {
            let feedback = ballot.feedback.as_deref();
            (by, feedback.map(|text| mask::text(text).into_owned()))
        }
        Resolution::Expired { .. } | Resolution::Cancelled { .. } | Resolution::Superseded { .. } => {
            (&[], None)
        }
    }
}

/// A page of closed requests.
#[derive(Serialize, ToSchema)]
struct ClosedPage {
    items: Vec<QuestionBody>,
    /// Where to go on: the next page's `after`. A page may be short or empty and still have a next one.
    next: Option<u64>,
}

/// Closed requests that were assigned to the caller, newest first. Admins see all.
#[utoipa::path(get, path = "/v1/history", tag = "questions", params(HistoryQuery),
    responses((status = 200, description = "A page of closed requests", body = ClosedPage), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn list(
    reader: PersonOnly,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<HistoryQuery>,
) -> Result<Json<ClosedPage>, Problem> {
    let (limit, after) = (page_size(query.limit), query.after.map(cursor));
    let locale = locale(&state, query.locale);
    let search = Search::new(query, reader, locale)?;
    let (found, next) = search.next(&state, after, limit).await?;
    let mut items = Vec::with_capacity(found.len());
    for question in &found {
        let body = shown(&state, question, &search.reader.principal, Vec::new(), locale).await?;
        items.push(body.masked());
    }
    Ok(Json(ClosedPage { items, next }))
}

/// The same requests as a file, newest first: the whole search, whatever its length. Secrets are masked.
#[utoipa::path(get, path = "/v1/history/export", tag = "questions", params(HistoryQuery),
    responses((status = 200, description = "A file", content((String = "application/jsonl"), (String = "text/csv"))), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn export(
    reader: PersonOnly,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<HistoryQuery>,
) -> Result<Response, Problem> {
    let (format, after) = (query.format, query.after.map(cursor));
    let locale = locale(&state, query.locale);
    let export = Export {
        search: Search::new(query, reader, locale)?,
        state,
        format,
        next: Next::Page(after),
        ready: format.head(&Line::COLUMNS).into_iter().collect(),
    };
    // A page at a time, and the next one only when the reader has taken this one.
    let chunks = futures_util::stream::try_unfold(export, async |mut export: Export| {
        Ok::<_, std::io::Error>(export.next().await?.map(|chunk| (chunk, export)))
    });
    format.file("placet-history", chunks)
}

struct Export {
    state: State,
    search: Search,
    format: Format,
    next: Next,
    ready: VecDeque<Bytes>,
}

enum Next {
    /// After this cursor.
    Page(Option<u64>),
    /// Everything is written.
    End,
}

impl Export {
    async fn next(&mut self) -> Result<Option<Bytes>, std::io::Error> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Ok(Some(chunk));
            }
            let Next::Page(cursor) = self.next else {
                return Ok(None);
            };
            let text = self.page(cursor).await;
            let text = text.map_err(|problem| std::io::Error::other(problem.detail().to_owned()))?;
            if !text.is_empty() {
                self.ready.push_back(Bytes::from(text));
            }
        }
    }

    async fn page(&mut self, cursor: Option<u64>) -> Result<String, Problem> {
        let (found, next) = self.search.next(&self.state, cursor, LINES).await?;
        self.next = next.map_or(Next::End, |next| Next::Page(Some(next)));
        let mut text = String::new();
        for question in &found {
            let id = &question.interaction.asked().id;
            let asked_at = asked_at(&self.state, id).await?;
            text += &Line::new(question, asked_at, self.search.locale).write(self.format);
        }
        Ok(text)
    }
}

async fn asked_at(state: &State, id: &InteractionId) -> Result<Option<Timestamp>, Problem> {
    let store = state.engine().store();
    Ok(store.look(|stored| stored.asked_at(id).copied()).await?)
}

/// A closed request in a file.
struct Line {
    id: String,
    session: String,
    agent: String,
    asked_at: Option<Timestamp>,
    closed_at: Option<Timestamp>,
    outcome: &'static str,
    by: Vec<String>,
    risk: Option<Risk>,
    tool: Option<String>,
    rule: Option<String>,
    edited: bool,
    gist: String,
    reason: Option<String>,
}

impl Line {
    const COLUMNS: [&str; 14] = [
        "requestId",
        "sessionId",
        "agent",
        "askedAt",
        "closedAt",
        "tookMs",
        "outcome",
        "by",
        "risk",
        "tool",
        "rule",
        "edited",
        "gist",
        "reason",
    ];

    fn new(question: &Question, asked_at: Option<Timestamp>, locale: Locale) -> Self {
        let asked = question.interaction.asked();
        let resolved = match &question.interaction {
            Interaction::Pending(_) => None,
            Interaction::Resolved(resolved) | Interaction::Processed(resolved) => Some(resolved),
        };
        let (by, reason) = decision(&question.interaction);
        let document = question.document(locale);
        let gist = document.blocks().find_map(|block| match block {
            Block::Heading { text, .. } => Some(text.as_str().to_owned()),
            _ => None,
        });
        Self {
            id: asked.id.to_string(),
            session: asked.session.to_string(),
            agent: asker(asked).to_string(),
            asked_at,
            closed_at: resolved.map(|resolved| resolved.at),
            outcome: resolved.map_or("pending", |resolved| Ending::of(&resolved.resolution).as_str()),
            by: by.iter().map(ToString::to_string).collect(),
            risk: question.risk(),
            tool: question.call.as_ref().map(|record| record.call.tool.to_string()),
            rule: question.verdict().and_then(|verdict| verdict.rule.clone()),
            edited: edited(question),
            gist: gist.unwrap_or_default(),
            reason,
        }
    }

    fn took_ms(&self) -> Option<i64> {
        Some(self.closed_at?.as_millis() - self.asked_at?.as_millis())
    }

    fn write(&self, format: Format) -> String {
        let (asked_at, closed_at) = (
            self.asked_at.map(|at| at.to_string()),
            self.closed_at.map(|at| at.to_string()),
        );
        match format {
            Format::Jsonl => {
                let object = json!({
                    "requestId": self.id, "sessionId": self.session, "agent": self.agent, "askedAt": asked_at,
                    "closedAt": closed_at, "tookMs": self.took_ms(), "outcome": self.outcome, "by": self.by,
                    "risk": self.risk, "tool": self.tool, "rule": self.rule, "edited": self.edited, "gist": self.gist,
                    "reason": self.reason,
                });
                format!("{object}\n")
            }
            Format::Csv => {
                let took = self.took_ms().map(|took| took.to_string()).unwrap_or_default();
                let empty = String::new();
                csv_line([
                    self.id.as_str(),
                    &self.session,
                    &self.agent,
                    asked_at.as_ref().unwrap_or(&empty),
                    closed_at.as_ref().unwrap_or(&empty),
                    &took,
                    self.outcome,
                    &self.by.join(" "),
                    self.risk.map_or("", Risk::as_str),
                    self.tool.as_ref().unwrap_or(&empty),
                    self.rule.as_ref().unwrap_or(&empty),
                    if self.edited { "true" } else { "false" },
                    &self.gist,
                    self.reason.as_ref().unwrap_or(&empty),
                ])
            }
        }
    }
}
