//! Calls: an agent proposes, waits, claims once, and says what came of it.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use placet_core::call::{Args, Chat, Origin, ToolCall};
use placet_core::config::Config;
use placet_core::ids::{AgentId, CallId, ChannelName, ChatId, PersonId, SessionId};
use placet_core::interaction::CallKey;
use placet_core::journal::CallResult;
use placet_core::listing::Member;
use placet_core::preview::Preview;
use placet_core::record::{CallRecord, CallState};
use placet_core::steps::ProposeRefusal;
use placet_core::time::Millis;
use placet_engine::{GateError, Proposed, Submission};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::sessions::stored_name;
use crate::access::AgentOnly;
use crate::intake::{JsonBody, OptionalBody, PathId, QueryOf};
use crate::problem::{Code, Problem};
use crate::state::State;
use crate::wire::call::{CallBody, NewCall};

/// The longest a request waits for people. They come back as often as they like.
pub(crate) const WAIT_SECONDS_MAX: u32 = 60;
/// How long a claimant has to say what came of a call, unless it says otherwise.
const LEASE_SECONDS: u32 = 60 * 60;
const LEASE_SECONDS_MAX: u32 = 7 * 24 * 60 * 60;
/// Names of sub-agents, from the root down.
const AGENT_PATH_MAX: usize = 32;
const NAME_BYTES_MAX: usize = 256;
/// Whom an agent works for, where no channel says who that is.
const UNLINKED: &str = "http";

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(propose))
        .routes(routes!(look))
        .routes(routes!(claim))
        .routes(routes!(finish))
}

/// Propose a call: policy judges it, and it is allowed, denied, or needs approval.
#[utoipa::path(post, path = "/v1/calls", tag = "calls", request_body = NewCall,
    responses((status = 200, description = "How far it has come", body = CallBody), Problems),
    security(("token" = [])), extensions(("x-roles" = json!(["agent"]))))]
async fn propose(
    AgentOnly(agent): AgentOnly,
    Shared(state): Shared<State>,
    JsonBody(new): JsonBody<NewCall>,
) -> Result<Json<CallBody>, Problem> {
    let wait = new.wait;
    let lease = Lease::asked(new.claim, new.lease_seconds)?;
    let mut submission = submission(new, agent, &state).await?;
    tracing::Span::current().record("session", submission.call.session.as_str());
    let began = Instant::now();
    let gate = state.engine().gate();
    let propose = async |submission| match lease {
        Some(lease) => gate.propose_claiming(submission, Some(lease.millis())).await,
        None => gate.propose(submission).await,
    };
    let proposed = match propose(submission.clone()).await {
        // Another agent took the name in this very moment.
        Err(GateError::Propose(ProposeRefusal::NotYours(name))) => {
            let agent = &submission.call.origin.agent;
            submission.call.session = stored_name(&state, agent, &name).await?;
            propose(submission.clone()).await?
        }
        proposed => proposed?,
    };
    let call = submission.call;
    state.metrics().decided(began.elapsed());
    let body = match proposed {
        Proposed::Settled {
            verdict,
            outcome,
            permit,
        } => {
            let body = CallBody::settled(&call, &verdict, &outcome);
            match (permit, lease) {
                (Some(permit), Some(lease)) => body.claimed(&permit, lease.seconds),
                _ => body,
            }
        }
        Proposed::Parked { verdict, on } if wait.unwrap_or(0) == 0 => {
            CallBody::pending(&call, &verdict, Some(on))
        }
        Proposed::Parked { .. } | Proposed::Known(_) => {
            let key = CallKey {
                agent: call.origin.agent.clone(),
                call: call.id.clone(),
            };
            waited(&state, &key, wait, lease).await?
        }
    };
    Ok(Json(body))
}

/// How long a claimant may take until it says what came of the call.
#[derive(Clone, Copy)]
struct Lease {
    seconds: u32,
}

impl Lease {
    fn new(seconds: Option<u32>) -> Result<Self, Problem> {
        let seconds = seconds.unwrap_or(LEASE_SECONDS);
        if (1..=LEASE_SECONDS_MAX).contains(&seconds) {
            return Ok(Self { seconds });
        }
        Err(Problem::new(
            Code::BadRequest,
            format!("`leaseSeconds` is 1 to {LEASE_SECONDS_MAX}"),
        ))
    }

    /// The lease of a claim that comes with a proposal or a look; a lease without a claim is a mistake.
    fn asked(claim: bool, seconds: Option<u32>) -> Result<Option<Self>, Problem> {
        match (claim, seconds) {
            (true, seconds) => Self::new(seconds).map(Some),
            (false, None) => Ok(None),
            (false, Some(_)) => Err(Problem::new(
                Code::BadRequest,
                "`leaseSeconds` needs `claim: true`",
            )),
        }
    }

    fn millis(self) -> Millis {
        Millis::from_secs(u64::from(self.seconds))
    }
}

/// What the query of a look says.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct LookQuery {
    /// How many seconds to wait for people before answering `pending`; at most 60.
    wait: Option<u32>,
    /// Claim the call as soon as it may run: the answer then holds `claim`.
    #[serde(default)]
    claim: bool,
    /// With `claim`: within how many seconds a result is promised; an hour unless given, a week at most.
    #[param(minimum = 1, maximum = 604_800)]
    #[serde(rename = "leaseSeconds")]
    lease_seconds: Option<u32>,
}

/// How far a call has come; waits for people if asked to.
#[utoipa::path(get, path = "/v1/calls/{callId}", tag = "calls",
    params(("callId" = String, Path, description = "The agent's id for the call"), LookQuery),
    responses((status = 200, description = "How far it has come", body = CallBody), Problems),
    security(("token" = [])), extensions(("x-roles" = json!(["agent"]))))]
async fn look(
    AgentOnly(agent): AgentOnly,
    Shared(state): Shared<State>,
    PathId(call): PathId<CallId>,
    QueryOf(query): QueryOf<LookQuery>,
) -> Result<Json<CallBody>, Problem> {
    let key = CallKey { agent, call };
    let lease = Lease::asked(query.claim, query.lease_seconds)?;
    Ok(Json(waited(&state, &key, query.wait, lease).await?))
}

/// The record of a call, after waiting for it to be settled for as long as asked; claimed, if asked to and it may run.
async fn waited(
    state: &State,
    key: &CallKey,
    wait: Option<u32>,
    lease: Option<Lease>,
) -> Result<CallBody, Problem> {
    let seconds = wait.unwrap_or(0).min(WAIT_SECONDS_MAX);
    if seconds > 0 {
        let _counted = state.metrics().long_poll();
        let gate = state.engine().gate();
        let settled = tokio::time::timeout(Duration::from_secs(u64::from(seconds)), gate.wait(key));
        // Neither time nor the server's end changes anything: the question stays open, and the record says so.
        if let Some(Ok(settled)) = state.stop().run_until_cancelled(settled).await {
            settled?;
        }
    }
    let (record, fate) = recorded(state, key).await?;
    if let CallState::Refused {
        question: Some(_), ..
    } = &fate.state
    {
        state.engine().gate().acknowledge(key).await?;
    }
    let body = CallBody::stored(&record, &fate).opened(state.engine());
    match (lease, &fate.state) {
        (Some(lease), CallState::Granted { .. }) => {
            let permit = state.engine().gate().claim(key, Some(lease.millis())).await?;
            Ok(body.claimed(&permit, lease.seconds))
        }
        _ => Ok(body),
    }
}

/// A call, and the call whose fate it shares: usually itself.
async fn recorded(state: &State, key: &CallKey) -> Result<(CallRecord, CallRecord), Problem> {
    let gate = state.engine().gate();
    let none = || Problem::new(Code::NoSuchCall, format!("there is no call `{}`", key.call));
    let record = gate.record(key).await?.ok_or_else(none)?;
    let fate = match &record.state {
        CallState::SameAs(other) => gate.record(other).await?.ok_or_else(none)?,
        CallState::Parked { .. } | CallState::Granted { .. } | CallState::Refused { .. } => record.clone(),
    };
    Ok((record, fate))
}

/// How a call is claimed.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Claim {
    /// Within how many seconds a result is promised; an hour unless said otherwise, a week at most. After that, people are
    /// asked whether it happened.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 604_800)]
    lease_seconds: Option<u32>,
}

/// The right to run exactly this, once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Claimed {
    /// The agent's id for the call.
    #[schema(value_type = String)]
    call_id: CallId,
    /// The number of the grant.
    grant: u32,
    /// The tool.
    tool: String,
    /// The arguments to run it with: a person's, when a person changed them.
    #[schema(value_type = Object)]
    args: Args,
    /// The digest of exactly this call.
    digest: String,
    /// Within how many seconds a result is promised.
    lease_seconds: u32,
}

/// Claim the right to run a call: once, and never again.
#[utoipa::path(post, path = "/v1/calls/{callId}/claim", tag = "calls",
    params(("callId" = String, Path, description = "The agent's id for the call")),
    request_body(content = Option<Claim>, content_type = "application/json"),
    responses((status = 200, description = "It may run now", body = Claimed), Problems),
    security(("token" = [])), extensions(("x-roles" = json!(["agent"]))))]
async fn claim(
    AgentOnly(agent): AgentOnly,
    Shared(state): Shared<State>,
    PathId(call): PathId<CallId>,
    OptionalBody(claim): OptionalBody<Option<Claim>>,
) -> Result<Json<Claimed>, Problem> {
    let lease = Lease::new(claim.unwrap_or_default().lease_seconds)?;
    let key = CallKey { agent, call };
    let permit = state.engine().gate().claim(&key, Some(lease.millis())).await?;
    Ok(Json(Claimed {
        call_id: key.call,
        grant: permit.grant(),
        tool: permit.call().tool.to_string(),
        args: permit.call().args.clone(),
        digest: permit.digest().to_string(),
        lease_seconds: lease.seconds,
    }))
}

/// What came of a call.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Finish {
    /// Whether it succeeded.
    ok: bool,
    /// What it returned, as text. The first 64 KiB are kept, and the digest of all of it.
    output: String,
}

/// Say what came of a claimed call. The same result twice is one result.
#[utoipa::path(post, path = "/v1/calls/{callId}/result", tag = "calls",
    params(("callId" = String, Path, description = "The agent's id for the call")), request_body = Finish,
    responses((status = 204, description = "Recorded"), Problems),
    security(("token" = [])), extensions(("x-roles" = json!(["agent"]))))]
async fn finish(
    AgentOnly(agent): AgentOnly,
    Shared(state): Shared<State>,
    PathId(call): PathId<CallId>,
    JsonBody(result): JsonBody<Finish>,
) -> Result<StatusCode, Problem> {
    let key = CallKey { agent, call };
    let result = CallResult::new(result.ok, &result.output);
    state.engine().gate().finish(&key, result).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn submission(new: NewCall, agent: AgentId, state: &State) -> Result<Submission, Problem> {
    if new.agent_path.len() > AGENT_PATH_MAX || new.agent_path.iter().any(|name| name.len() > NAME_BYTES_MAX)
    {
        return Err(Problem::new(Code::BadRequest, "`agentPath` is too long"));
    }
    let preview = new.preview.map(|preview| Preview::from(preview).checked());
    let preview = preview
        .transpose()
        .map_err(|error| Problem::new(Code::BadRequest, error.to_string()))?;
    let id = match new.call_id {
        Some(id) => id,
        None => CallId::new(format!("call_{}", uuid::Uuid::now_v7().simple()))?,
    };
    let chat = chat(new.channel, new.chat_id, &new.session_id, &state.config())?;
    let session = stored_name(state, &agent, &new.session_id).await?;
    let origin = Origin {
        agent,
        agent_path: new.agent_path,
        user: user(new.user_id.as_deref(), chat.as_ref(), state).await?,
        chat,
    };
    Ok(Submission {
        call: ToolCall {
            id,
            tool: new.tool,
            args: new.args,
            session,
            origin,
            group: new.group,
            description: new.description,
        },
        category: new.category,
        risk: new.risk,
        run: None,
        tool_description: new.tool_description,
        confinement: None,
        preview: preview.map(Box::new),
    })
}

/// The chat that was named, else the one that the session of a configured channel is.
pub(crate) fn chat(
    channel: Option<ChannelName>,
    id: Option<ChatId>,
    session: &SessionId,
    config: &Config,
) -> Result<Option<Chat>, Problem> {
    match (channel, id) {
        (Some(channel), Some(id)) => Ok(Some(Chat { channel, id })),
        (None, None) => Ok(session.as_str().split_once(':').and_then(|(channel, id)| {
            let channel = ChannelName::new(channel).ok()?;
            let id = ChatId::new(id).ok()?;
            config
                .channels
                .contains_key(&channel)
                .then_some(Chat { channel, id })
        })),
        _ => Err(Problem::new(
            Code::BadRequest,
            "`channel` and `chatId` belong together; one of them is missing",
        )),
    }
}

/// Whom an agent says it works for. That is only its word: in a chat it counts for a configured person, and for an account
/// that the platform vouched for by a signed message in that chat. An agent cannot name other approvers.
pub(crate) async fn user(
    id: Option<&str>,
    chat: Option<&Chat>,
    state: &State,
) -> Result<Option<PersonId>, Problem> {
    let Some(id) = id else { return Ok(None) };
    // As a name of its own first: an empty one would match every user.
    let named = PersonId::new(id)?;
    let config = state.config();
    let Some(chat) = chat else {
        return Ok(Some(match config.people.person(id) {
            Some(_) => named,
            None => PersonId::unlinked(&ChannelName::new(UNLINKED)?, id)?,
        }));
    };
    let person = config.people.person_for(&chat.channel, id)?;
    if person.is_configured() {
        return Ok(Some(person));
    }
    let member = Member {
        chat: chat.clone(),
        account: id.to_owned(),
    };
    let store = state.engine().store();
    let vouched = store.look(|stored| stored.wrote_in(&member).copied()).await?;
    Ok(vouched.then_some(person))
}
