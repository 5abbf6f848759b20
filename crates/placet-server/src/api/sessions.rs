//! Sessions: what happened in each, and ending one.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use placet_core::ids::{AgentId, SessionId};
use placet_core::interaction::Locale;
use placet_core::policy::Mode;
use placet_core::principal::Principal;
use placet_engine::chronicle;
use placet_store::{StoreError, View};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::interactions::locale;
use crate::access::{Admin, AgentOrPerson, PersonOnly, Role};
use crate::intake::{JsonBody, PathId, QueryOf};
use crate::problem::{Code, Problem};
use crate::state::State;
use crate::tail::About;
use crate::wire::row::RowBody;
use crate::wire::{cursor, page_size};

/// Sessions looked at for one page, whether or not they are shown.
const LOOKED_AT_MAX: usize = 2000;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(one))
        .routes(routes!(cancel))
        .routes(routes!(set_mode))
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
}

/// A page of sessions.
#[derive(Serialize, ToSchema)]
struct SessionPage {
    items: Vec<SessionBody>,
    /// The next page's `after`. A page may be short or empty and still have a next one.
    next: Option<u64>,
}

/// Sessions, newest first: those with a question put to the caller; admins see all.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(ListQuery),
    responses((status = 200, description = "A page of sessions", body = SessionPage), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn list(
    reader: PersonOnly,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<ListQuery>,
) -> Result<Json<SessionPage>, Problem> {
    let limit = page_size(query.limit);
    let read = state.engine().store().read(move |view, _| {
        let mut page = SessionPage {
            items: Vec::new(),
            next: None,
        };
        let found = view.sessions_before(query.after, LOOKED_AT_MAX)?;
        let all = found.len() < LOOKED_AT_MAX;
        for (row, id) in found {
            let named = query
                .q
                .as_ref()
                .is_none_or(|wanted| id.as_str().contains(wanted.as_str()));
            if named && (reader.role == Role::Admin || put_to(view, &reader.principal, &id)?) {
                if page.items.len() == limit {
                    return Ok(page);
                }
                page.items.extend(summary(view, id)?);
            }
            page.next = Some(row);
        }
        if all {
            page.next = None;
        }
        Ok(page)
    });
    Ok(Json(read.await?))
}

fn summary(view: &View<'_>, id: SessionId) -> Result<Option<SessionBody>, StoreError> {
    let Some(span) = view.session_span(&id)? else {
        return Ok(None);
    };
    let record = view.session(&id)?;
    Ok(Some(SessionBody {
        agent: record.agent,
        session_id: id,
        started_at: span.began_at.to_string(),
        last_at: span.last_at.to_string(),
        state: if record.ended { "ended" } else { "open" },
        calls: span.calls,
        open: record.open_questions,
        mode: record.mode,
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
    /// `en` or `zh`.
    #[param(value_type = Option<String>, pattern = "^(en|zh)$")]
    locale: Option<Locale>,
}

/// What happened in a session, oldest first. Agents see their own, people those with a question put to them, admins all.
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
    let wanted = id.clone();
    let read = state.engine().store().read(move |view, _| {
        let Some(session) = summary(view, wanted.clone())? else {
            return Ok(None);
        };
        let visible = match &reader {
            AgentOrPerson::Agent(agent) => session.agent.as_ref() == Some(agent),
            AgentOrPerson::Person(person) => {
                person.role == Role::Admin || put_to(view, &person.principal, &wanted)?
            }
        };
        if !visible {
            return Ok(None);
        }
        let found = view.journal(after, limit, Some(&wanted))?;
        let next = (found.len() == limit)
            .then(|| found.last().map(|row| row.id))
            .flatten();
        let own = match &reader {
            AgentOrPerson::Agent(agent) => Some(for_owner(view, agent, &wanted, after, limit)?),
            AgentOrPerson::Person(_) => None,
        };
        let told = |row| RowBody::new(row, chronicle::sentence(view, &row.event, locale));
        let rows = found
            .iter()
            .filter(|row| own.as_ref().is_none_or(|own| own.contains(&row.id)))
            .map(told)
            .collect();
        Ok(Some(Timeline { session, rows, next }))
    });
    read.await?.map(Json).ok_or_else(|| none(&id))
}

/// The rows of a page that are for the agent whose session it is, by the same rule as its stream.
fn for_owner(
    view: &View<'_>,
    owner: &AgentId,
    session: &SessionId,
    after: u64,
    limit: usize,
) -> Result<BTreeSet<u64>, StoreError> {
    let mut own = BTreeSet::new();
    for raw in view.journal_raw(after, limit, Some(session))? {
        if About::of(view, &raw)?.is_for_owner(owner) {
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

/// The system's own session is nobody's, and what never was cannot be ended.
async fn exists(state: &State, id: &SessionId) -> Result<(), Problem> {
    let wanted = id.clone();
    let span = state
        .engine()
        .store()
        .read(move |view, _| view.session_span(&wanted));
    let own = id.as_str() == placet_core::journal::SYSTEM_SESSION;
    match span.await? {
        Some(_) if !own => Ok(()),
        _ => Err(none(id)),
    }
}

/// Whether a session is this agent's.
pub(super) async fn owns(state: &State, agent: &AgentId, session: &SessionId) -> Result<bool, StoreError> {
    let (agent, session) = (agent.clone(), session.clone());
    let store = state.engine().store();
    let record = store.read(move |view, _| view.session(&session)).await?;
    Ok(record.agent == Some(agent))
}

/// The stored name of the session that an agent calls `name`. Stored names are unique, so a name that another agent took first
/// is stored under the agent's own: `builder@job-1`. Agents neither see nor block each other's names.
pub(super) async fn stored_name(
    state: &State,
    agent: &AgentId,
    name: &SessionId,
) -> Result<SessionId, Problem> {
    // Kept for the agent it names: nobody else takes it first.
    if let Some((owner, _)) = name.as_str().split_once('@')
        && owner != agent.as_str()
        && state.is_agent(owner)
    {
        return Err(none(name));
    }
    let wanted = name.clone();
    let store = state.engine().store();
    let record = store.read(move |view, _| view.session(&wanted)).await?;
    if record.is_open_to(agent) {
        return Ok(name.clone());
    }
    Ok(SessionId::new(format!("{agent}@{name}"))?)
}

/// Whether a question of this session was put to somebody.
pub(super) async fn concerns(
    state: &State,
    principal: &Principal,
    session: &SessionId,
) -> Result<bool, StoreError> {
    let (principal, session) = (principal.clone(), session.clone());
    let read = state
        .engine()
        .store()
        .read(move |view, _| put_to(view, &principal, &session));
    read.await
}

fn put_to(view: &View<'_>, principal: &Principal, session: &SessionId) -> Result<bool, StoreError> {
    view.any_question_of_session(session, |asked| asked.concerns(principal, true))
}
