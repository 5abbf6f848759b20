//! Sessions: what happened in each, and ending one.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use placet_core::ids::{AgentId, SessionId, ToolName};
use placet_core::interaction::{Asked, Locale};
use placet_core::listing::{Before, JournalPage, QuestionsOf};
use placet_core::policy::Mode;
use placet_core::principal::Principal;
use placet_core::snapshot::{Need, Snapshot, Undecided};
use placet_engine::audit_text;
use placet_store::StoreError;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::interactions::locale;
use crate::access::{Admin, AgentOrPerson, PersonOnly, Role};
use crate::intake::{JsonBody, PathId, QueryOf};
use crate::live::About;
use crate::problem::{Code, Problem};
use crate::state::State;
use crate::wire::row::RowBody;
use crate::wire::{cursor, page_size};

/// Sessions looked at for one page, whether or not they are shown.
const LOOKED_AT_MAX: usize = 2000;
/// How many questions of a session are looked at at once.
const QUESTIONS_AT_ONCE: usize = 64;
/// How many tools are allowed at once.
const APPROVAL_TOOLS_MAX: usize = 100;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(one))
        .routes(routes!(cancel))
        .routes(routes!(set_mode))
        .routes(routes!(allow_tools))
}

/// Which sessions.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// The `next` of the page before.
    after: Option<u64>,
    /// How many at most; 50 unless said otherwise, 200 at most.
    limit: Option<u32>,
    /// Only those whose id holds this.
    q: Option<String>,
}

/// A session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SessionBody {
    /// Its id.
    #[schema(value_type = String)]
    session_id: SessionId,
    /// Whose it is: the agent that acted in it first.
    #[schema(value_type = Option<String>)]
    agent: Option<AgentId>,
    /// When it began.
    started_at: String,
    /// When something last happened in it.
    last_at: String,
    /// `open` or `ended`
    state: &'static str,
    /// How many calls were proposed in it.
    calls: u64,
    /// How many questions are open in it.
    open: u32,
    /// Its own mode, when it has one.
    #[schema(value_type = Option<String>)]
    mode: Option<Mode>,
    /// Tools that run in it unasked, unless a rule, HIGH risk or `strict` says otherwise.
    #[schema(value_type = Vec<String>)]
    approval_tools: Vec<ToolName>,
}

/// A page of sessions.
#[derive(Serialize, ToSchema)]
struct SessionPage {
    items: Vec<SessionBody>,
    /// The next page's `after`. A page may be short or empty and still have a next one.
    next: Option<u64>,
}

/// Sessions, newest first: those with a question assigned to the caller; admins see all.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(ListQuery),
    responses((status = 200, description = "A page of sessions", body = SessionPage), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn list(
    reader: PersonOnly,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<ListQuery>,
) -> Result<Json<SessionPage>, Problem> {
    let limit = page_size(query.limit);
    let store = state.engine().store();
    let part = Before {
        cursor: query.after,
        limit: LOOKED_AT_MAX,
    };
    let found = store
        .look(|stored| stored.sessions_before(&part).cloned())
        .await?;
    let mut page = SessionPage {
        items: Vec::new(),
        next: None,
    };
    let all = found.len() < LOOKED_AT_MAX;
    for (row, id) in found {
        let named = query
            .q
            .as_ref()
            .is_none_or(|wanted| id.as_str().contains(wanted.as_str()));
        if named && (reader.role == Role::Admin || concerns(&state, &reader.principal, &id).await?) {
            if page.items.len() == limit {
                return Ok(Json(page));
            }
            page.items
                .extend(store.look(|stored| summary(stored, &id)).await?);
        }
        page.next = Some(row);
    }
    if all {
        page.next = None;
    }
    Ok(Json(page))
}

fn summary(stored: &Snapshot, id: &SessionId) -> Result<Option<SessionBody>, Undecided> {
    stored.require([Need::Span(id.clone()), Need::Session(id.clone())])?;
    let Some(span) = stored.session_span(id)? else {
        return Ok(None);
    };
    let record = stored.session(id)?;
    Ok(Some(SessionBody {
        agent: record.agent.clone(),
        session_id: id.clone(),
        started_at: span.began_at.to_string(),
        last_at: span.last_at.to_string(),
        state: if record.ended { "ended" } else { "open" },
        calls: span.calls,
        open: record.open_questions,
        mode: record.mode,
        approval_tools: record.allow_list.iter().cloned().collect(),
    }))
}

/// A session and its rows.
#[derive(Serialize, ToSchema)]
struct Timeline {
    session: SessionBody,
    rows: Vec<RowBody>,
    /// The next page's `after`.
    next: Option<u64>,
}

/// Which rows.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RowsQuery {
    /// The row to go on after.
    after: Option<u64>,
    /// How many at most; 50 unless said otherwise, 200 at most.
    limit: Option<u32>,
    /// A language of `messages/`, such as `en`.
    #[param(value_type = Option<String>)]
    locale: Option<Locale>,
}

/// What happened in a session, oldest first. Agents see their own, people those with a question assigned to them, admins all.
#[utoipa::path(get, path = "/v1/sessions/{sessionId}", tag = "sessions",
    params(("sessionId" = String, Path, description = "The session's id"), RowsQuery),
    responses((status = 200, description = "The session and a page of its rows", body = Timeline), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["agent", "approver", "admin"]))))]
async fn one(
    reader: AgentOrPerson,
    Shared(state): Shared<State>,
    PathId(id): PathId<SessionId>,
    QueryOf(query): QueryOf<RowsQuery>,
) -> Result<Json<Timeline>, Problem> {
    let id = match &reader {
        AgentOrPerson::Agent(agent) => stored_name(&state, agent, &id).await?,
        AgentOrPerson::Person(_) => id,
    };
    let (limit, locale) = (page_size(query.limit), locale(&state, query.locale));
    let after = query.after.map_or(0, cursor);
    let store = state.engine().store();
    let session = store.look(|stored| summary(stored, &id)).await?;
    let session = session.ok_or_else(|| none(&id))?;
    let visible = match &reader {
        AgentOrPerson::Agent(agent) => session.agent.as_ref() == Some(agent),
        AgentOrPerson::Person(person) => {
            person.role == Role::Admin || concerns(&state, &person.principal, &id).await?
        }
    };
    if !visible {
        return Err(none(&id));
    }
    let page = JournalPage::of(&id, after, limit);
    let look = store.look(|stored| {
        let found = stored.journal(&page)?;
        let own = match &reader {
            AgentOrPerson::Agent(agent) => Some(for_owner(stored, agent, &page)?),
            AgentOrPerson::Person(_) => None,
        };
        let told = |row| RowBody::new(row, audit_text::sentence(stored, &row.event, locale));
        let rows = found
            .iter()
            .filter(|row| own.as_ref().is_none_or(|own| own.contains(&row.id)))
            .map(told)
            .collect();
        let next = found.last().filter(|_| found.len() == limit).map(|row| row.id);
        Ok((rows, next))
    });
    let (rows, next) = look.await?;
    Ok(Json(Timeline { session, rows, next }))
}

/// The rows of a page that are for the agent whose session it is, by the same rule as its stream.
fn for_owner(stored: &Snapshot, owner: &AgentId, page: &JournalPage) -> Result<BTreeSet<u64>, Undecided> {
    let rows = stored.journal_raw(page)?;
    stored.require(About::needs(rows)?)?;
    let mut own = BTreeSet::new();
    for raw in rows {
        if About::of(stored, raw)?.is_for_owner(owner) {
            own.insert(raw.id);
        }
    }
    Ok(own)
}

fn none(id: &SessionId) -> Problem {
    Problem::new(Code::NoSuchSession, format!("there is no session `{id}` for you"))
}

/// End a session: nothing runs in it any more, and what is open in it is withdrawn.
#[utoipa::path(post, path = "/v1/sessions/{sessionId}/cancel", tag = "sessions",
    params(("sessionId" = String, Path, description = "The session's id")),
    responses((status = 204, description = "Ended"), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn cancel(
    Admin(person): Admin,
    Shared(state): Shared<State>,
    PathId(id): PathId<SessionId>,
) -> Result<StatusCode, Problem> {
    exists(&state, &id).await?;
    state.engine().broker().end_session(&id, person.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How freely an agent may act.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ModeBody {
    /// `default`, `autoEdit` or `yolo`.
    #[schema(value_type = String, pattern = "^(default|autoEdit|yolo)$")]
    mode: Mode,
}

/// Change how freely the agent of a session may act.
#[utoipa::path(post, path = "/v1/sessions/{sessionId}/mode", tag = "sessions", request_body = ModeBody,
    params(("sessionId" = String, Path, description = "The session's id")),
    responses((status = 204, description = "Changed"), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn set_mode(
    Admin(person): Admin,
    Shared(state): Shared<State>,
    PathId(id): PathId<SessionId>,
    JsonBody(body): JsonBody<ModeBody>,
) -> Result<StatusCode, Problem> {
    exists(&state, &id).await?;
    state.engine().broker().set_mode(&id, body.mode, &person).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Tools to run unasked.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ApprovalTools {
    /// Their names. They are added to those the session has.
    #[schema(value_type = Vec<String>, min_items = 1, max_items = 100)]
    approval_tools: Vec<ToolName>,
}

/// Let a session use tools without asking: its `approvalTools`. A rule that asks, HIGH risk and `strict` still need approval.
#[utoipa::path(post, path = "/v1/sessions/{sessionId}/approval-tools", tag = "sessions", request_body = ApprovalTools,
    params(("sessionId" = String, Path, description = "The session's id")),
    responses((status = 204, description = "Added"), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn allow_tools(
    Admin(person): Admin,
    Shared(state): Shared<State>,
    PathId(id): PathId<SessionId>,
    JsonBody(body): JsonBody<ApprovalTools>,
) -> Result<StatusCode, Problem> {
    if body.approval_tools.is_empty() || body.approval_tools.len() > APPROVAL_TOOLS_MAX {
        let detail = format!("`approvalTools` holds 1 to {APPROVAL_TOOLS_MAX} names");
        return Err(Problem::new(Code::BadRequest, detail));
    }
    exists(&state, &id).await?;
    for tool in &body.approval_tools {
        state.engine().broker().allow_tool(&id, tool, &person).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// The system's own session has no owner, and an unknown one cannot be ended.
async fn exists(state: &State, id: &SessionId) -> Result<(), Problem> {
    let span = state
        .engine()
        .store()
        .look(|stored| stored.session_span(id).cloned());
    let own = id.as_str() == placet_core::journal::SYSTEM_SESSION;
    match span.await? {
        Some(_) if !own => Ok(()),
        _ => Err(none(id)),
    }
}

/// Whether a session is this agent's.
pub(super) async fn owns(state: &State, agent: &AgentId, session: &SessionId) -> Result<bool, StoreError> {
    let store = state.engine().store();
    store
        .look(|stored| Ok(stored.session(session)?.agent.as_ref() == Some(agent)))
        .await
}

/// The stored name of the session that an agent calls `name`. Stored names are unique, so a name that another agent took first
/// is stored under the agent's own: `builder@job-1`. Agents neither see nor block each other's names.
pub(super) async fn stored_name(
    state: &State,
    agent: &AgentId,
    name: &SessionId,
) -> Result<SessionId, Problem> {
    // Kept for the agent it names: no other agent can take it first.
    if let Some((owner, _)) = name.as_str().split_once('@')
        && owner != agent.as_str()
        && state.is_agent(owner)
    {
        return Err(none(name));
    }
    let store = state.engine().store();
    if store
        .look(|stored| Ok(stored.session(name)?.is_open_to(agent)))
        .await?
    {
        return Ok(name.clone());
    }
    Ok(SessionId::new(format!("{agent}@{name}"))?)
}

/// Whether a question of this session was assigned to a person. The newest are looked at first.
pub(super) async fn concerns(
    state: &State,
    principal: &Principal,
    session: &SessionId,
) -> Result<bool, StoreError> {
    let store = state.engine().store();
    let mut cursor = None;
    loop {
        let part = Before {
            cursor,
            limit: QUESTIONS_AT_ONCE,
        };
        let wanted = QuestionsOf {
            session: session.clone(),
            part,
        };
        let page = store.look(|stored| stored.questions_of(&wanted).cloned()).await?;
        let put_to = |asked: &Asked| asked.concerns(principal, true);
        if page.iter().any(|(_, asked)| asked.as_ref().is_some_and(put_to)) {
            return Ok(true);
        }
        match page.last() {
            Some((row, _)) => cursor = Some(*row),
            None => return Ok(false),
        }
    }
}
