//! Runs of the built-in agent: begun, resumed, and waited for.

use std::time::Duration;

use axum::Json;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use placet_agent::chat::ChatStream;
use placet_agent::{Agent, Rest, ResumeError, WorkflowError, configured};
use placet_core::config::Workflow;
use placet_core::ids::{InteractionId, SessionId};
use placet_core::render::mask;
use placet_core::run::RunEnd;
use placet_core::steps::TellRefusal;
use placet_core::variables::Variables;
use placet_core::wire::run::{NewRun, RunBody};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::calls::WAIT_SECONDS_MAX;
use super::chat::{agent, follow};
use super::interactions::locale;
use crate::access::{PersonOnly, Role};
use crate::intake::{JsonBody, PathId, QueryOf};
use crate::problem::{Code, Problem};
use crate::state::State;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(workflows))
        .routes(routes!(begin))
        .routes(routes!(one))
        .routes(routes!(resume))
}

/// A workflow of the configuration.
#[derive(Serialize, ToSchema)]
struct WorkflowBody {
    /// Its name in `[workflows]`.
    name: String,
    /// Its variables with their first values; secrets masked.
    #[serde(skip_serializing_if = "Variables::is_empty")]
    #[schema(value_type = Object)]
    variables: Variables,
    /// Why it cannot be started, when its file cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

/// The workflows that can be started.
#[derive(Serialize, ToSchema)]
struct WorkflowList {
    items: Vec<WorkflowBody>,
}

/// The workflows of the configuration, as their files say now.
#[utoipa::path(get, path = "/v1/workflows", tag = "runs",
    responses((status = 200, description = "Each with its variables", body = WorkflowList), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn workflows(_: PersonOnly, Shared(state): Shared<State>) -> Json<WorkflowList> {
    let config = state.config();
    let described = |name: &String| {
        let (variables, fault) = match configured::workflow(&config, name) {
            Ok(workflow) => (masked(workflow.variables), None),
            Err(error) => (Variables::new(), Some(error.to_string())),
        };
        WorkflowBody {
            name: name.clone(),
            variables,
            fault,
        }
    };
    Json(WorkflowList {
        items: config.workflows.keys().map(described).collect(),
    })
}

fn masked(variables: Variables) -> Variables {
    match mask::json(&variables.into()) {
        Value::Object(variables) => variables,
        _ => Variables::new(),
    }
}

/// A run was begun.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BegunBody {
    /// Its session.
    #[schema(value_type = String)]
    session_id: SessionId,
}

/// Begin a run of the built-in agent: a task, or a workflow. With `Accept: text/event-stream` the answer is what happens in it,
/// as `/api/agent/chat/react/stream` tells it.
#[utoipa::path(post, path = "/v1/runs", tag = "runs", request_body = NewRun,
    responses((status = 201, description = "It has begun", body = BegunBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn begin(
    person: PersonOnly,
    Shared(state): Shared<State>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<NewRun>,
) -> Result<Response, Problem> {
    let agent = agent(&state)?.clone();
    let session = match body.session_id {
        Some(session) => session,
        None => SessionId::new(format!("run_{}", uuid::Uuid::now_v7().simple()))
            .map_err(|error| Problem::new(Code::Internal, error.to_string()))?,
    };
    let workflow = match (body.workflow, body.workflow_text) {
        (None, None) => None,
        (Some(name), None) => {
            let configured = configured::workflow(&state.config(), &name);
            Some(configured.map_err(|error| Problem::new(Code::BadRequest, error.to_string()))?)
        }
        (name, Some(text)) if person.seat(&state).is_some() => {
            Some(parsed(&text, name.as_deref().unwrap_or("workflow"))?)
        }
        // It may bring approvals of its own, so it must come from the operator.
        (_, Some(_)) => {
            return Err(Problem::new(
                Code::Forbidden,
                "`workflowText` is only taken on the socket of the data folder; name one of `[workflows]`",
            ));
        }
    };
    let workspace = state.engine().workspace();
    if let Some(wanted) = body.workspace.filter(|wanted| wanted != workspace) {
        return Err(Problem::new(
            Code::NotHere,
            format!(
                "this placet works in `{workspace}`, not in `{wanted}`; start the run there, or give it a data folder of its \
                 own (--data)"
            ),
        ));
    }
    // Opened before the run begins, so that nothing of it is missed.
    let events = agent.chat().listen(&session).await?;
    match (workflow, body.task.as_deref()) {
        (Some(workflow), task) => {
            let begun = agent.start_workflow(&session, &workflow, task, &person.person, None);
            begun.await?;
        }
        (None, Some(task)) => {
            agent.tell(&session, task, &person.person, None).await?;
        }
        (None, None) => return Err(Problem::new(Code::EmptyMessage, "say what is to be done: `task`")),
    }
    Ok(begun(state, person, &headers, session, events))
}

fn begun(
    state: State,
    person: PersonOnly,
    headers: &HeaderMap,
    session_id: SessionId,
    events: ChatStream,
) -> Response {
    let streamed = headers
        .get(header::ACCEPT)
        .is_some_and(|accept| accept == "text/event-stream");
    if streamed {
        let locale = locale(&state, None);
        return follow(state, person, locale, events);
    }
    (StatusCode::CREATED, Json(BegunBody { session_id })).into_response()
}

fn parsed(text: &str, source: &str) -> Result<Workflow, Problem> {
    Workflow::parse(text, source).map_err(|error| Problem::new(Code::BadRequest, error.to_string()))
}

/// Continue a run that this process left alone when it started.
#[utoipa::path(post, path = "/v1/runs/{sessionId}/resume", tag = "runs",
    params(("sessionId" = String, Path, description = "The session of the run")),
    responses((status = 201, description = "It goes on", body = BegunBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn resume(
    person: PersonOnly,
    Shared(state): Shared<State>,
    headers: HeaderMap,
    PathId(session): PathId<SessionId>,
) -> Result<Response, Problem> {
    let agent = agent(&state)?.clone();
    if agent.owner(&session).await?.as_ref() != Some(&person.person) {
        return Err(none(&session));
    }
    let events = agent.chat().listen(&session).await?;
    agent.resume(&session).await?;
    Ok(begun(state, person, &headers, session, events))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct OneQuery {
    /// How many seconds to wait until it has ended or waits for people; at most 60.
    wait: Option<u32>,
}

/// Where a run stands.
#[utoipa::path(get, path = "/v1/runs/{sessionId}", tag = "runs",
    params(("sessionId" = String, Path, description = "The session of the run"), OneQuery),
    responses((status = 200, description = "Where it stands", body = RunBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn one(
    person: PersonOnly,
    Shared(state): Shared<State>,
    PathId(session): PathId<SessionId>,
    QueryOf(query): QueryOf<OneQuery>,
) -> Result<Json<RunBody>, Problem> {
    let agent = agent(&state)?;
    let owner = agent.owner(&session).await?.ok_or_else(|| none(&session))?;
    if owner != person.person && person.role != Role::Admin {
        return Err(none(&session));
    }
    let _counted = state.metrics().long_poll();
    let seconds = query.wait.unwrap_or(0).min(WAIT_SECONDS_MAX);
    let rest = rest(&state, agent, &session, Duration::from_secs(u64::from(seconds))).await?;
    let run = state
        .engine()
        .store()
        .look(|stored| stored.run(&session).cloned());
    let variables = run.await?.map(|run| masked(run.variables)).unwrap_or_default();
    Ok(Json(RunBody {
        variables,
        ..body(session, rest)
    }))
}

/// Where a run came to rest; none while it is under way.
async fn rest(
    state: &State,
    agent: &Agent,
    session: &SessionId,
    patience: Duration,
) -> Result<Option<Rest>, Problem> {
    if patience.is_zero() {
        return Ok(agent.resting(session).await?);
    }
    let resting = tokio::time::timeout(patience, agent.rest(session));
    match state.stop().run_until_cancelled(resting).await {
        Some(Ok(rest)) => Ok(Some(rest?)),
        Some(Err(_)) | None => Ok(None),
    }
}

fn body(session_id: SessionId, rest: Option<Rest>) -> RunBody {
    let (state, text, request_ids): (&str, String, Vec<InteractionId>) = match rest {
        None => ("running", String::new(), Vec::new()),
        Some(Rest::Never) => ("never", String::new(), Vec::new()),
        Some(Rest::Parked { questions }) => ("parked", String::new(), questions),
        Some(Rest::Ended {
            how: RunEnd::Completed,
            text,
        }) => (RunEnd::Completed.name(), text, Vec::new()),
        Some(Rest::Ended { how, .. }) => (how.name(), how.to_string(), Vec::new()),
    };
    RunBody {
        session_id,
        state: state.to_owned(),
        text,
        request_ids,
        variables: Variables::new(),
    }
}

fn none(session: &SessionId) -> Problem {
    Problem::new(
        Code::NoSuchSession,
        format!("there is no run `{session}` of yours"),
    )
}

impl From<TellRefusal> for Problem {
    fn from(refusal: TellRefusal) -> Self {
        let code = match &refusal {
            TellRefusal::SessionOver(_) => Code::SessionOver,
            TellRefusal::GoingOn(_) => Code::BadRequest,
            TellRefusal::NotYours(_) => Code::NoSuchSession,
            TellRefusal::Empty => Code::EmptyMessage,
            TellRefusal::LeftAlone(_) => Code::NotHere,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<WorkflowError> for Problem {
    fn from(error: WorkflowError) -> Self {
        match error {
            WorkflowError::Unknown { .. } => Self::new(Code::BadRequest, error.to_string()),
            WorkflowError::Tell(refusal) => refusal.into(),
        }
    }
}

impl From<ResumeError> for Problem {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::Refused(why) => Self::new(Code::NotHere, why.to_string()),
            ResumeError::Store(error) => error.into(),
        }
    }
}
