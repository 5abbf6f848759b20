//! The sample agent: a newcomer presses a button, and a request is there to be decided. It goes through the ordinary gate; whatever is
//! decided, nothing is executed, and the result says so.

use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use placet_core::call::{Args, Origin, ToolCall};
use placet_core::ids::{AgentId, CallId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::CallKey;
use placet_core::journal::CallResult;
use placet_core::messages::{Locale, sample};
use placet_core::record::{CallRecord, CallState, Grant, GrantState};
use placet_engine::{GateError, Proposed, Submission};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::interactions::locale;
use super::sessions::stored_name;
use super::{LocaleQuery, Problems};
use crate::access::PersonOnly;
use crate::intake::QueryOf;
use crate::problem::{Code, Problem};
use crate::state::State;

/// The agent of every sample. No credential speaks for it.
pub(crate) const AGENT: &str = "sample-agent";
const TOOL: &str = "bash";
const COMMAND: &str = "git push origin main";
/// The samples one person can play. The journal keeps them all.
const SAMPLES_MAX: u32 = 100;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(play))
}

/// A sample request.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SampleBody {
    /// The session of the sample agent.
    #[schema(value_type = String)]
    session_id: SessionId,
    /// The request to decide; absent where policy decided without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    request_id: Option<InteractionId>,
}

/// Let a built-in sample agent propose a harmless call. Nothing is executed, whatever is decided. A person has one pending sample at most:
/// while it is pending, the same one is returned.
#[utoipa::path(post, path = "/v1/sample", tag = "people", params(LocaleQuery),
    responses((status = 200, description = "The sample that is pending already", body = SampleBody),
        (status = 201, description = "A new sample", body = SampleBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn play(
    person: PersonOnly,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<LocaleQuery>,
) -> Result<(StatusCode, Json<SampleBody>), Problem> {
    let locale = locale(&state, query.locale);
    let gate = state.engine().gate();
    for number in 1..=SAMPLES_MAX {
        let key = key(&person.person, number)?;
        // Two presses at the same time propose the same call, which is one request.
        match gate.record(&key).await? {
            None => return Ok((StatusCode::CREATED, Json(propose(&state, key, locale).await?))),
            Some(CallRecord {
                call,
                state: CallState::Parked { on },
                ..
            }) => {
                let body = SampleBody {
                    session_id: call.session,
                    request_id: Some(on),
                };
                return Ok((StatusCode::OK, Json(body)));
            }
            Some(_) => {}
        }
    }
    Err(Problem::new(
        Code::TooManyQuestions,
        format!("{SAMPLES_MAX} samples were played already; connect an agent instead"),
    ))
}

/// The name of a person's sample, in the order they were played.
fn key(person: &PersonId, number: u32) -> Result<CallKey, Problem> {
    Ok(CallKey {
        agent: AgentId::new(AGENT)?,
        call: CallId::new(format!("sample-{number}-{person}"))?,
    })
}

async fn propose(state: &State, key: CallKey, locale: Locale) -> Result<SampleBody, Problem> {
    let name = SessionId::new(key.call.as_str())?;
    let session = stored_name(state, &key.agent, &name).await?;
    let call = ToolCall {
        id: key.call.clone(),
        tool: ToolName::new(TOOL)?,
        args: Args::from_value(json!({"command": COMMAND}))?,
        session: session.clone(),
        origin: Origin {
            agent: key.agent.clone(),
            agent_path: Vec::new(),
            chat: None,
            user: None,
        },
        group: None,
        description: Some(sample::note().say(locale)),
    };
    let submission = Submission {
        tool_description: Some(sample::tool().say(locale)),
        ..Submission::from(call)
    };
    let request_id = match state.engine().gate().propose(submission).await? {
        Proposed::Parked { on, .. } => Some(on),
        Proposed::Known(record) => match record.state {
            CallState::Parked { on } => Some(on),
            CallState::SameAs(_) | CallState::Granted { .. } | CallState::Refused { .. } => None,
        },
        Proposed::Settled { .. } => None,
    };
    if request_id.is_none() {
        follow(state, &key, locale).await?;
    }
    Ok(SampleBody {
        session_id: session,
        request_id,
    })
}

/// What comes after the decision about a sample: a result that says that nothing was executed.
pub(super) async fn follow(state: &State, key: &CallKey, locale: Locale) -> Result<(), GateError> {
    if key.agent.as_str() != AGENT {
        return Ok(());
    }
    let gate = state.engine().gate();
    let Some(record) = gate.record(key).await? else {
        return Ok(());
    };
    if let CallState::Granted {
        grant: Grant {
            state: GrantState::Issued,
            ..
        },
        ..
    } = record.state
    {
        let permit = gate.claim(key, None).await?;
        let result = CallResult::new(true, &sample::result().say(locale));
        gate.finish(permit.key(), result).await?;
    }
    Ok(())
}
