//! Questions: asked by agents, listed and read by the people they are assigned to.

use std::time::Duration;

use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use placet_core::call::Origin;
use placet_core::ids::{InteractionId, SessionId};
use placet_core::interaction::{Asked, Interaction, InteractionRequest, Locale};
use placet_core::listing::Before;
use placet_core::principal::Principal;
use placet_core::question::Question;
use placet_core::standing::Scope;
use placet_store::StoreError;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::calls::{WAIT_SECONDS_MAX, chat};
use super::sessions::stored_name;
use crate::access::{AgentOnly, AgentOrPerson, PersonOnly, Role};
use crate::intake::{JsonBody, PathId, QueryOf};
use crate::live::asker;
use crate::problem::{Code, Problem};
use crate::state::State;
use crate::wire::new_question::NewQuestion;
use crate::wire::question::{Around, QuestionBody};
use crate::wire::{cursor, page_size};

/// Questions looked at for one page, whether or not they are assigned to the caller.
const LOOKED_AT_MAX: usize = 1000;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(ask, list))
        .routes(routes!(one))
}

/// A question was put.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AskedBody {
    /// Its id.
    #[schema(value_type = String)]
    request_id: InteractionId,
    /// Its short name for typed replies.
    code: String,
}

/// Put a question of any kind to people.
#[utoipa::path(post, path = "/v1/interactions", tag = "questions",
    request_body = NewQuestion,
    responses((status = 201, description = "It is asked", body = AskedBody), Problems),
    security(("token" = [])), extensions(("x-roles" = json!(["agent"]))))]
async fn ask(
    AgentOnly(agent): AgentOnly,
    Shared(state): Shared<State>,
    JsonBody(mut request): JsonBody<InteractionRequest>,
) -> Result<(StatusCode, Json<AskedBody>), Problem> {
    let chat = chat(None, None, &request.session_id, &state.config())?;
    request.session_id = stored_name(&state, &agent, &request.session_id).await?;
    let origin = Origin {
        agent,
        agent_path: Vec::new(),
        chat,
        user: None,
    };
    let asked = state.engine().broker().ask(request, origin).await?;
    let body = AskedBody {
        request_id: asked.id,
        code: asked.code.as_str().to_owned(),
    };
    Ok((StatusCode::CREATED, Json(body)))
}

/// Which questions.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// `pending` (the default), `answered`, `expired`, `cancelled`, `superseded` or `all`.
    #[serde(default)]
    #[param(value_type = Option<String>, pattern = "^(pending|answered|expired|cancelled|superseded|all)$")]
    status: StatusFilter,
    /// Only of this session.
    #[param(value_type = Option<String>)]
    session_id: Option<SessionId>,
    /// The `next` of the page before.
    after: Option<u64>,
    /// How many at most; 50 unless said otherwise, 200 at most.
    limit: Option<u32>,
    /// A language of `messages/`, such as `en`.
    #[param(value_type = Option<String>)]
    locale: Option<Locale>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StatusFilter {
    #[default]
    Pending,
    Answered,
    Expired,
    Cancelled,
    Superseded,
    All,
}

impl StatusFilter {
    fn admits(self, interaction: &Interaction) -> bool {
        let resolution = match interaction {
            Interaction::Pending(_) => return matches!(self, Self::Pending | Self::All),
            Interaction::Resolved(resolved) | Interaction::Processed(resolved) => resolved.resolution.name(),
        };
        match self {
            Self::All => true,
            Self::Pending => false,
            Self::Answered => resolution == "answered",
            Self::Expired => resolution == "expired",
            Self::Cancelled => resolution == "cancelled",
            Self::Superseded => resolution == "superseded",
        }
    }
}

/// A page of questions.
#[derive(Serialize, ToSchema)]
struct QuestionPage {
    items: Vec<QuestionBody>,
    /// Where to go on: the next page's `after`. A page may be short or empty and still have a next one.
    next: Option<u64>,
    /// The server's clock.
    now: String,
}

/// Questions assigned to the caller: pending ones oldest first, others newest first. Admins see all.
#[utoipa::path(get, path = "/v1/interactions", tag = "questions", params(ListQuery),
    responses((status = 200, description = "A page of questions", body = QuestionPage), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn list(
    reader: PersonOnly,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<ListQuery>,
) -> Result<Json<QuestionPage>, Problem> {
    let limit = page_size(query.limit);
    let locale = locale(&state, query.locale);
    let mut items = Vec::new();
    let mut cursor = query.after.map(cursor);
    let mut looked_at = 0;
    let next = loop {
        let page = page(&state, query.status, cursor).await?;
        if page.is_empty() {
            break None;
        }
        for (row, id) in page {
            cursor = Some(row);
            looked_at += 1;
            if let Some(question) = state.engine().broker().readable(&id).await?
                && query.status.admits(&question.interaction)
                && query
                    .session_id
                    .as_ref()
                    .is_none_or(|wanted| *wanted == question.interaction.asked().session)
                && may_see(&reader, &question.interaction)
            {
                let scopes = offered(&state, &question, &reader);
                let body = shown(&state, &question, &reader.principal, scopes, locale).await?;
                items.push(body.masked());
            }
            if items.len() == limit || looked_at == LOOKED_AT_MAX {
                break;
            }
        }
        if items.len() == limit || looked_at == LOOKED_AT_MAX {
            break cursor;
        }
    };
    Ok(Json(QuestionPage {
        items,
        next,
        now: state.now().to_string(),
    }))
}

async fn page(
    state: &State,
    wanted: StatusFilter,
    cursor: Option<u64>,
) -> Result<Vec<(u64, InteractionId)>, StoreError> {
    const ROWS: usize = 100;
    if wanted == StatusFilter::Pending {
        let rows = state.engine().broker().pending(cursor, ROWS).await?;
        return Ok(rows.into_iter().map(|row| (row.cursor, row.id)).collect());
    }
    let part = Before { cursor, limit: ROWS };
    let store = state.engine().store();
    store.look(|stored| stored.questions_before(&part).cloned()).await
}

/// What the query of one question says.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct OneQuery {
    /// A language of `messages/`, such as `en`.
    #[param(value_type = Option<String>)]
    locale: Option<Locale>,
    /// How many seconds to wait for it to be settled; at most 60.
    wait: Option<u32>,
}

/// One question. Agents see their own, people those assigned to them, admins all.
#[utoipa::path(get, path = "/v1/interactions/{requestId}", tag = "questions",
    params(("requestId" = String, Path, description = "The question's id"), OneQuery),
    responses((status = 200, description = "The question", body = QuestionBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["agent", "approver", "admin"]))))]
async fn one(
    reader: AgentOrPerson,
    Shared(state): Shared<State>,
    PathId(id): PathId<InteractionId>,
    QueryOf(query): QueryOf<OneQuery>,
) -> Result<Json<QuestionBody>, Problem> {
    let mut question = visible(&state, &reader, &id).await?;
    let seconds = query.wait.unwrap_or(0).min(WAIT_SECONDS_MAX);
    if seconds > 0 && matches!(question.interaction, Interaction::Pending(_)) {
        let _counted = state.metrics().long_poll();
        let broker = state.engine().broker();
        let settled = tokio::time::timeout(Duration::from_secs(u64::from(seconds)), broker.wait(&id));
        if let Some(Ok(settled)) = state.stop().run_until_cancelled(settled).await {
            settled?;
        }
        question = visible(&state, &reader, &id).await?;
    }
    let (principal, scopes) = match reader {
        AgentOrPerson::Agent(agent) => {
            // Of its own question only: a call's is told with the call.
            let settled = matches!(question.interaction, Interaction::Resolved(_));
            if settled && question.interaction.asked().call().is_none() {
                state.engine().broker().acknowledge(&id).await?;
            }
            (Principal::Agent { agent }, Vec::new())
        }
        AgentOrPerson::Person(person) => {
            let scopes = offered(&state, &question, &person);
            (person.principal, scopes)
        }
    };
    let locale = locale(&state, query.locale);
    let body = shown(&state, &question, &principal, scopes, locale).await?;
    Ok(Json(match principal {
        Principal::Agent { .. } => body.opened(state.engine()),
        Principal::Person { .. } | Principal::Bot { .. } => body.masked(),
    }))
}

/// A question, if the reader may know that it exists.
pub(super) async fn visible(
    state: &State,
    reader: &AgentOrPerson,
    id: &InteractionId,
) -> Result<Question, Problem> {
    let found = state.engine().broker().question(id).await?;
    let visible = |question: &Question| match reader {
        AgentOrPerson::Agent(agent) => asker(question.interaction.asked()) == agent,
        AgentOrPerson::Person(person) => may_see(person, &question.interaction),
    };
    found.filter(visible).ok_or_else(|| none(id))
}

pub(super) fn none(id: &InteractionId) -> Problem {
    Problem::new(
        Code::NoSuchQuestion,
        format!("there is no question `{id}` for you"),
    )
}

/// Whether a reader is or was among those asked.
pub(super) fn may_see(reader: &PersonOnly, interaction: &Interaction) -> bool {
    let asks = match interaction {
        Interaction::Pending(pending) => pending.asks(&reader.principal),
        // Escalated or not is no longer known, and being told counts for both.
        Interaction::Resolved(resolved) | Interaction::Processed(resolved) => {
            resolved.asked.concerns(&reader.principal, true)
        }
    };
    asks || reader.role == Role::Admin
}

/// The language to answer in.
pub(super) fn locale(state: &State, asked: Option<Locale>) -> Locale {
    asked.unwrap_or_else(|| state.config().locale(None))
}

/// What "don't ask again" may cover for the person who asks, narrowest first.
pub(super) fn offered(state: &State, question: &Question, person: &PersonOnly) -> Vec<Scope> {
    let broker = state.engine().broker();
    broker.offered(question, &person.principal, person.authority())
}

/// A question as a reader sees it.
pub(crate) async fn shown(
    state: &State,
    question: &Question,
    reader: &Principal,
    scopes: Vec<Scope>,
    locale: Locale,
) -> Result<QuestionBody, Problem> {
    let asked = question.interaction.asked();
    let store = state.engine().store();
    let look = store.look(|stored| {
        let in_group = |other: &&Asked| other.group == asked.group;
        let size = match asked.group {
            Some(_) => {
                let open = stored.pending_in_session(&asked.session)?;
                Some(open.iter().filter(in_group).count())
            }
            None => None,
        };
        // People's own words about a request are theirs.
        let comments = match reader {
            Principal::Person { .. } => stored.comments(&asked.id)?.clone(),
            Principal::Agent { .. } | Principal::Bot { .. } => Vec::new(),
        };
        Ok((*stored.asked_at(&asked.id)?, size, comments))
    });
    let (asked_at, group_size, comments) = look.await?;
    let asked_at = asked_at.unwrap_or(store.now());
    let around = Around {
        engine: state.engine(),
        reader,
        locale,
        asked_at,
        group_size,
        scopes,
        comments,
    };
    Ok(QuestionBody::new(question, &around))
}
