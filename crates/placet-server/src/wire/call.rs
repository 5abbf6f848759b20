//! A call on the wire: what agents send, and how far it has come.

use placet_core::call::{Args, ToolCall};
use placet_core::ids::{CallId, ChannelName, ChatId, GroupId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::Locale;
use placet_core::outcome::Outcome;
use placet_core::preview::Preview;
use placet_core::record::{CallRecord, CallState, Grant, GrantState};
use placet_core::steps::Permit;
use placet_core::tool::{Category, Risk};
use placet_core::verdict::Verdict;
use placet_engine::Engine;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::VerdictBody;

/// A call an agent wants to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewCall {
    /// The conversation or job; `channel:chatId` on chat channels.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    pub(crate) session_id: SessionId,
    /// The agent's id for it; made when absent. The same id again returns the same record.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub(crate) call_id: Option<CallId>,
    /// Which tool.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    pub(crate) tool: ToolName,
    /// With what.
    #[schema(value_type = Object)]
    pub(crate) args: Args,
    /// What the agent says its tool is; may raise risk, never lower it.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^(read|write|command|network|ask)$")]
    pub(crate) category: Option<Category>,
    /// What the agent says the risk is; may raise it, never lower it.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^(LOW|MEDIUM|HIGH)$")]
    pub(crate) risk: Option<Risk>,
    /// What it is for, in the agent's words.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// What the tool's definition says about it. People are shown the first 1,000 characters, as text of another party.
    #[serde(default)]
    pub(crate) tool_description: Option<String>,
    /// What the call would do, in the agent's words. People are shown it as such; no rule believes it.
    #[serde(default)]
    pub(crate) preview: Option<PreviewBody>,
    /// The channel it works on. Needs `chatId`.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub(crate) channel: Option<ChannelName>,
    /// The chat it works in. Needs `channel`.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub(crate) chat_id: Option<ChatId>,
    /// Whom it works for: an account on the channel, or a configured name. In a chat it counts for a configured person, and for
    /// an account from which the platform has signed a message in this chat.
    #[serde(default)]
    pub(crate) user_id: Option<String>,
    /// The turn it belongs to: calls of one turn are shown together.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub(crate) group: Option<GroupId>,
    /// Which sub-agent, from the root down.
    #[serde(default)]
    pub(crate) agent_path: Vec<String>,
    /// How many seconds to wait for people before answering `pending`; at most 60.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub(crate) wait: Option<u32>,
    /// Claim the call as soon as it may run, for an agent that runs it at once: the answer then holds `claim`.
    #[serde(default)]
    pub(crate) claim: bool,
    /// With `claim`: within how many seconds a result is promised; an hour unless given, a week at most.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 604_800)]
    pub(crate) lease_seconds: Option<u32>,
}

/// What an agent says a call would do.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PreviewBody {
    /// What would change, as a unified diff.
    #[serde(default)]
    #[schema(max_length = 262_144)]
    diff: Option<String>,
    /// How many rows it would change.
    #[serde(default)]
    rows: Option<u64>,
    /// Where more can be read: http(s) addresses.
    #[serde(default)]
    #[schema(max_items = 20)]
    links: Vec<String>,
    /// `production`, `staging`.
    #[serde(default)]
    #[schema(max_length = 1000)]
    environment: Option<String>,
    /// The working directory.
    #[serde(default)]
    #[schema(max_length = 1000)]
    cwd: Option<String>,
    /// What it would cost.
    #[serde(default)]
    #[schema(max_length = 1000)]
    cost: Option<String>,
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 1000)]
    purpose: Option<String>,
}

impl From<PreviewBody> for Preview {
    fn from(body: PreviewBody) -> Self {
        Self {
            diff: body.diff,
            rows: body.rows,
            links: body.links,
            environment: body.environment,
            cwd: body.cwd,
            cost: body.cost,
            purpose: body.purpose,
        }
    }
}

/// How far a call has come.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallBody {
    /// The agent's id for it.
    #[schema(value_type = String)]
    call_id: CallId,
    /// Its session.
    #[schema(value_type = String)]
    session_id: SessionId,
    /// Its tool.
    #[schema(value_type = String)]
    tool: ToolName,
    /// `allowed denied pending approved rejected retry info skipped terminated expired cancelled`
    status: &'static str,
    /// What policy said.
    verdict: VerdictBody,
    /// The question it waits for, or that settled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    request_id: Option<InteractionId>,
    /// The arguments it may run with: a person's, when a person changed them.
    #[schema(value_type = Object)]
    args: Args,
    /// Whether a person changed the arguments.
    edited: bool,
    /// The reason, feedback or information a person gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    /// Information a person gave, as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    data: Option<Map<String, Value>>,
    /// Something a person adds, to follow the results as a user message.
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
    /// All who decided it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    decided_by: Vec<PersonId>,
    /// What the model should read as the call's result; absent when it may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    for_model: Option<Value>,
    /// The right to run it, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<GrantBody>,
    /// Present in the one answer that hands this right out: run `args` now, once, and send the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<ClaimBody>,
}

/// A claim that was made together with the request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimBody {
    /// The digest of exactly this call.
    digest: String,
    /// Within how many seconds a result is promised.
    lease_seconds: u32,
}

/// The right to run a call.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GrantBody {
    /// Counted from 1.
    number: u32,
    /// `issued`, `claimed`, `done` or `unknown`.
    state: &'static str,
}

impl From<&Grant> for GrantBody {
    fn from(grant: &Grant) -> Self {
        Self {
            number: grant.number,
            state: match grant.state {
                GrantState::Issued => "issued",
                GrantState::Claimed { .. } => "claimed",
                GrantState::Done(_) => "done",
                GrantState::Unknown => "unknown",
            },
        }
    }
}

/// What the agent calls the session: without the agent's name before it (see `api::sessions::stored_name`).
fn name_for_agent(call: &ToolCall) -> SessionId {
    let own = call.session.as_str().strip_prefix(call.origin.agent.as_str());
    own.and_then(|rest| SessionId::new(rest.strip_prefix('@')?).ok())
        .unwrap_or_else(|| call.session.clone())
}

impl CallBody {
    /// A call that waits for people.
    pub(crate) fn pending(call: &ToolCall, verdict: &Verdict, on: Option<InteractionId>) -> Self {
        Self {
            call_id: call.id.clone(),
            session_id: name_for_agent(call),
            tool: call.tool.clone(),
            status: "pending",
            verdict: VerdictBody::new(verdict, Locale::English),
            request_id: on,
            args: call.args.clone(),
            edited: false,
            feedback: None,
            data: None,
            instruction: None,
            decided_by: Vec::new(),
            for_model: None,
            grant: None,
            claim: None,
        }
    }

    /// A call with its outcome.
    pub(crate) fn settled(call: &ToolCall, verdict: &Verdict, outcome: &Outcome) -> Self {
        // What runs is what policy said last: about a person's arguments, when a person changed them.
        let changed = outcome.judgement().map(|judgement| &judgement.verdict);
        let mut body = Self::pending(call, changed.unwrap_or(verdict), None);
        body.status = outcome.status().as_str();
        body.instruction = outcome.instruction().map(str::to_owned);
        body.for_model = outcome.result_for_model();
        if outcome.permits() {
            body.grant = Some(GrantBody {
                number: 1,
                state: "issued",
            });
        }
        body.decide(outcome);
        body
    }

    /// A call as it is stored; `fate` is the call whose fate it shares, when it shares one.
    pub(crate) fn stored(record: &CallRecord, fate: &CallRecord) -> Self {
        let (outcome, question, grant) = match &fate.state {
            CallState::Parked { on } => {
                return Self::pending(&record.call, &record.verdict, Some(on.clone()));
            }
            CallState::SameAs(_) => return Self::pending(&record.call, &record.verdict, None),
            CallState::Granted {
                outcome,
                grant,
                question,
            } => (outcome, question, Some(GrantBody::from(grant))),
            CallState::Refused { outcome, question } => (outcome, question, None),
        };
        let mut body = Self::settled(&record.call, &record.verdict, outcome);
        body.request_id.clone_from(question);
        body.grant = grant;
        body
    }

    /// The same for the agent that made it: with the secrets that people gave as answers.
    pub(crate) fn opened(mut self, engine: &Engine) -> Self {
        if let Some(feedback) = &mut self.feedback {
            *feedback = engine.open_sealed(feedback).into_owned();
        }
        for value in self
            .data
            .iter_mut()
            .flat_map(Map::values_mut)
            .chain(&mut self.for_model)
        {
            engine.open_sealed_in(value);
        }
        self
    }

    /// The same, handing out the right to run it.
    pub(crate) fn claimed(mut self, permit: &Permit, lease_seconds: u32) -> Self {
        self.args = permit.call().args.clone();
        self.grant = Some(GrantBody {
            number: permit.grant(),
            state: "claimed",
        });
        self.claim = Some(ClaimBody {
            digest: permit.digest().to_string(),
            lease_seconds,
        });
        self
    }

    fn decide(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Allowed
            | Outcome::Denied { .. }
            | Outcome::Expired { .. }
            | Outcome::Cancelled { .. } => {}
            Outcome::Approved { by, edited, .. } => {
                self.decided_by.clone_from(by);
                if let Some(args) = edited {
                    self.args = args.clone();
                    self.edited = true;
                }
            }
            Outcome::Rejected { by, reason, .. } | Outcome::Terminated { by, reason } => {
                self.decided_by = vec![by.clone()];
                self.feedback.clone_from(reason);
            }
            Outcome::Retry { by, feedback, .. } => {
                self.decided_by = vec![by.clone()];
                self.feedback = Some(feedback.clone());
            }
            Outcome::Info {
                by, feedback, data, ..
            } => {
                self.decided_by = vec![by.clone()];
                self.feedback.clone_from(feedback);
                self.data.clone_from(data);
            }
            Outcome::Skipped { by, .. } => self.decided_by = vec![by.clone()],
            Outcome::MayHaveRun { then } => self.decide(then),
        }
    }
}
