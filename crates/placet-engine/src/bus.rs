//! The bus: messages in, messages out, and requests between the parts of an embedding program.
//!
//! [`Bus::publish_inbound`] offers a message to the broker first: if it answers an open question it is consumed and never
//! reaches the agent; otherwise it is queued for the agent. [`Bus::publish_outbound`] goes through the durable outbox.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use placet_core::call::{Args, ArgsError, Chat, Origin, ToolCall};
use placet_core::ids::{AgentId, CallId, ID_BYTES_MAX, IdError, PersonId, SessionId, ToolName};
use placet_core::interaction::CallKey;
pub use placet_core::journal::Author;
use placet_core::journal::{CallResult, InboundMessage};
use placet_core::outcome::Outcome;
use placet_core::outgoing::{Change, OutKind, Outgoing};
use placet_core::principal::Principal;
use placet_core::question::Question;
use placet_core::step::Step;
use placet_core::steps::{
    self, Choice, ClaimRefusal, Edit, Inbound, InboundOutcome, Patience, Proposed, Reaction, SaidTo,
    chat_member,
};
use placet_core::tool::Category;
use placet_store::{StepError, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::callback::{Callback, ToolApproval, ToolUse};
use crate::engine::Engine;
use crate::gate::{GateError, Submission};
use crate::leases::Held;

/// The bus of an [`Engine`].
#[derive(Clone)]
pub struct Bus {
    engine: Engine,
    lease: Option<Held>,
}

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
pub enum InboundError {
    /// The sender's account, or the chat, cannot be a name.
    #[error(transparent)]
    Name(#[from] IdError),
    /// Without an id of its own, a message cannot be told from another one.
    #[error("the message id has {0} bytes; 1 to {ID_BYTES_MAX} are accepted")]
    MessageId(usize),
    /// More than a person types.
    #[error("the message has {0} bytes; at most {MESSAGE_BYTES_MAX} are accepted")]
    TooLong(usize),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How long a reply waits for the record of its question's delivery, which a fast reply can precede by milliseconds. Shorter than a delivery
/// may take: a platform that replies before it has answered the delivery would otherwise wait for itself.
const RECORD_WAIT: Duration = Duration::from_secs(5);

/// The longest message taken from a chat, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024;

fn check(message: &InboundMessage) -> Result<(), InboundError> {
    if message.message_id.is_empty() || message.message_id.len() > ID_BYTES_MAX {
        return Err(InboundError::MessageId(message.message_id.len()));
    }
    if message.content.len() > MESSAGE_BYTES_MAX {
        return Err(InboundError::TooLong(message.content.len()));
    }
    SessionId::of_chat(&message.channel, &message.chat_id)?;
    // The account as a name of its own first: an empty one would match every user.
    PersonId::new(message.sender_id.as_str())?;
    PersonId::unlinked(&message.channel, &message.sender_id)?;
    Ok(())
}

/// Why a request on the bus got no answer. Nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// No handler for such requests.
    #[error("no handler for `{0}`")]
    NoHandler(String),
    /// The request is malformed.
    #[error("the request is malformed: {0}")]
    Malformed(String),
    /// The gate could not decide.
    #[error(transparent)]
    Gate(#[from] GateError),
}

impl Engine {
    /// The bus.
    pub fn bus(&self) -> Bus {
        Bus {
            engine: self.clone(),
            lease: None,
        }
    }
}

impl Bus {
    /// The same for a process that must have this lease: once another process has taken it, nothing is stored.
    pub(crate) fn under(self, lease: &Held) -> Self {
        Self {
            lease: Some(lease.clone()),
            ..self
        }
    }

    /// Takes a message from a chat. The same message twice is one message.
    ///
    /// ```
    /// use placet_core::config::Config;
    /// use placet_core::ids::{ChannelName, ChatId, SessionId};
    /// use placet_core::journal::InboundMessage;
    /// use placet_core::steps::InboundOutcome;
    /// use placet_engine::{Engine, bus::Author};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::builder(Config::builtin(placet_inspect::builtin())).start_in_memory().await?;
    /// let message = InboundMessage {
    ///     channel: ChannelName::new("feishu")?,
    ///     chat_id: ChatId::new("oc_1")?,
    ///     sender_id: "ou_lin".into(),
    ///     message_id: "om_1".into(),
    ///     content: "please tidy up the build".into(),
    ///     author: Author::Human,
    /// };
    /// // No question is open, so it is for the agent.
    /// assert_eq!(engine.bus().publish_inbound(message.clone(), Author::Human).await?, InboundOutcome::Queued);
    /// assert_eq!(engine.bus().publish_inbound(message.clone(), Author::Human).await?, InboundOutcome::Duplicate);
    /// let session = SessionId::new("feishu:oc_1")?;
    /// assert_eq!(engine.bus().consume_inbound(&session).await?, message);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn publish_inbound(
        &self,
        message: InboundMessage,
        author: Author,
    ) -> Result<InboundOutcome, InboundError> {
        let received = self.receive(message, author, None, None, SaidTo::Chat);
        Ok(received.await?.outcome)
    }

    /// Takes the press of a button in a chat: an answer to the question it names, by the same people who may type one. `message` has
    /// no content. It is never queued for the agent.
    pub async fn publish_choice(
        &self,
        message: InboundMessage,
        author: Author,
        choice: Choice,
    ) -> Result<InboundOutcome, InboundError> {
        let received = self.receive(message, author, None, Some(choice), SaidTo::Chat);
        Ok(received.await?.outcome)
    }

    pub(crate) async fn receive(
        &self,
        message: InboundMessage,
        author: Author,
        reply_to: Option<String>,
        mut choice: Option<Choice>,
        said_to: SaidTo,
    ) -> Result<Reaction, InboundError> {
        check(&message)?;
        let in_force = self.engine.in_force();
        let chat = Chat {
            channel: message.channel.clone(),
            id: message.chat_id.clone(),
        };
        let sender = match author {
            Author::Human => chat_member(
                in_force
                    .config
                    .people
                    .person_for(&chat.channel, &message.sender_id)?,
                &chat,
            ),
            Author::Bot => Principal::Bot {
                channel: chat.channel.clone(),
                user: message.sender_id.clone(),
            },
        };
        let edit = match &mut choice {
            Some(choice) => self.edit(choice, &sender).await?,
            None => None,
        };
        let mut inbound = Inbound {
            message: InboundMessage { author, ..message },
            sender,
            reply_to,
            choice,
            edit,
            said_to,
            patience: Patience::Wait,
            fresh: Engine::fresh()?,
        };
        let mut committed = self.engine.inner.committed.clone();
        let patience = tokio::time::sleep(RECORD_WAIT);
        tokio::pin!(patience);
        let received = loop {
            committed.mark_unchanged();
            let receive = self.engine.transact_under(&self.lease, |snapshot, now| {
                steps::receive(&in_force.rules(), snapshot, now, &inbound)
            });
            if let Some(received) = receive.await.map_err(StepError::into_store_error)? {
                break received;
            }
            tokio::select! {
                () = &mut patience => inbound.patience = Patience::Over,
                changed = committed.changed() => changed.map_err(|_| StoreError::Closed)?,
            }
        };
        // What is said back may be all that came of it, and that alone is no event.
        self.engine.inner.outbox_work.notify_one();
        Ok(received)
    }

    /// What the arguments that a form sent would do. Those that are unchanged are no edit.
    async fn edit(&self, choice: &mut Choice, sender: &Principal) -> Result<Option<Edit>, StoreError> {
        let Some(args) = &choice.edited_args else {
            return Ok(None);
        };
        let broker = self.engine.broker();
        let question = broker.question(&choice.request).await?;
        let concerns = |question: &Question| question.interaction.asked().concerns(sender, true);
        // The step refuses what is not theirs to answer; nothing is looked up for them.
        let Some(question) = question.filter(concerns) else {
            return Ok(None);
        };
        let edited = broker.edit(&question, args.clone()).await;
        let (args, edit) = edited.unzip();
        choice.edited_args = args;
        Ok(edit.flatten())
    }

    /// Sends a message to a chat, at least once. The same key is the same message.
    pub async fn publish_outbound(&self, chat: &Chat, key: &str, text: &str) -> Result<(), StoreError> {
        let outgoing = Outgoing {
            key: format!("message:{key}"),
            channel: chat.channel.clone(),
            chat: chat.id.clone(),
            interaction: None,
            kind: OutKind::Message,
            body: text.to_owned(),
        };
        let enqueue = Change::Enqueue(outgoing);
        self.engine
            .store_change_under(self.lease.as_ref(), enqueue)
            .await?;
        self.engine.inner.outbox_work.notify_one();
        Ok(())
    }

    /// The next message queued for an agent, taken out of the queue; waits for one.
    pub async fn consume_inbound(&self, session: &SessionId) -> Result<InboundMessage, StoreError> {
        let mut committed = self.engine.inner.committed.clone();
        loop {
            committed.mark_unchanged();
            let take = self.engine.transact(|snapshot, _| {
                let Some((queue_id, message)) = snapshot.next_queued(session)?.clone() else {
                    return Ok(Step::nothing(None));
                };
                Ok(Step::new(Some(message)).change(Change::Took { queue_id }))
            });
            if let Some(message) = take.await.map_err(StepError::into_store_error)? {
                return Ok(message);
            }
            if committed.changed().await.is_err() {
                return Err(StoreError::Closed);
            }
        }
    }

    /// Registers a handler for requests of one type. `toolApproval` replaces the people policy would ask.
    pub fn register_handler<F, Fut>(&self, kind: &str, handler: F)
    where
        F: Fn(Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Value> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |request| Box::pin(handler(request)));
        if kind == TOOL_APPROVAL {
            let callback = Callback::new(move |tool_use| approval_by(Arc::clone(&handler), tool_use));
            self.engine
                .change_callbacks(|callbacks| callbacks.decide_everywhere(callback));
            return;
        }
        let mut handlers = self
            .engine
            .inner
            .handlers
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        handlers.insert(kind.to_owned(), handler);
    }

    /// Makes a request. `toolApproval` takes `{toolUse: {name, params, callId}, category, sessionId}`, goes through policy
    /// like any call, and answers `{approved, params, denyReason}`.
    pub async fn request(&self, kind: &str, request: Value) -> Result<Value, RequestError> {
        if kind == TOOL_APPROVAL {
            return self.request_tool_approval(request).await;
        }
        let handler = self.engine.inner.handlers.get(kind);
        let handler = handler.ok_or_else(|| RequestError::NoHandler(kind.to_owned()))?;
        Ok(handler(request).await)
    }

    async fn request_tool_approval(&self, request: Value) -> Result<Value, RequestError> {
        let mut submission =
            tool_approval(request).map_err(|error| RequestError::Malformed(error.to_string()))?;
        // The embedding program speaks for the agent whose session it names.
        let session = &submission.call.session;
        let agent = self
            .engine
            .store()
            .look(|stored| Ok(stored.session(session)?.agent.clone()));
        if let Some(agent) = agent.await.map_err(GateError::from)? {
            submission.call.origin.agent = agent;
        }
        let gate = self.engine.gate();
        let key = CallKey::of(&submission.call);
        let outcome = match gate.propose(submission).await? {
            Proposed::Settled { outcome, .. } => outcome,
            Proposed::Parked { .. } | Proposed::Known(_) => gate.wait(&key).await?,
        };
        if !outcome.permits() {
            gate.acknowledge(&key).await?;
            let reason = outcome.result_for_model().unwrap_or_default();
            return Ok(json!({ "approved": false, "denyReason": deny_reason(&outcome), "outcome": reason }));
        }
        // The requester runs it and reports nothing back, so being told is all there is to record. Told once: asked again
        // with the same id, the answer is no.
        let permit = match gate.claim(&key, None).await {
            Ok(permit) => permit,
            Err(GateError::Claim(
                refusal @ (ClaimRefusal::AlreadyClaimed(_)
                | ClaimRefusal::SessionOver(_)
                | ClaimRefusal::RunStopped(_)),
            )) => {
                return Ok(json!({ "approved": false, "denyReason": refusal.to_string() }));
            }
            Err(error) => return Err(error.into()),
        };
        gate.finish_claimed(&permit, CallResult::new(true, "handed to the requester"))
            .await?;
        Ok(json!({ "approved": true, "params": permit.call().args.as_value() }))
    }
}

pub(crate) const TOOL_APPROVAL: &str = "toolApproval";

type Handler = Arc<dyn Fn(Value) -> Pin<Box<dyn Future<Output = Value> + Send>> + Send + Sync>;

/// Registered handlers, by type of request.
#[derive(Default)]
pub(crate) struct Handlers(RwLock<HashMap<String, Handler>>);

impl Handlers {
    pub(crate) fn get(&self, kind: &str) -> Option<Handler> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(kind)
            .cloned()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToolApprovalRequest {
    tool_use: ToolUseFields,
    #[serde(default)]
    category: Option<Category>,
    #[serde(default)]
    session_id: Option<SessionId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToolUseFields {
    name: ToolName,
    params: Args,
    call_id: CallId,
}

#[derive(Debug, thiserror::Error)]
enum MalformedError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Id(#[from] IdError),
    #[error(transparent)]
    Args(#[from] ArgsError),
}

fn tool_approval(request: Value) -> Result<Submission, MalformedError> {
    let request: ToolApprovalRequest = serde_json::from_value(request)?;
    let session = match request.session_id {
        Some(session) => session,
        None => SessionId::new("bus")?,
    };
    Ok(Submission {
        call: ToolCall {
            id: request.tool_use.call_id,
            tool: request.tool_use.name,
            args: request.tool_use.params,
            session,
            origin: Origin {
                agent: AgentId::new("bus")?,
                agent_path: Vec::new(),
                chat: None,
                user: None::<PersonId>,
            },
            group: None,
            description: None,
        },
        category: request.category,
        preview: None,
        risk: None,
        run: None,
        tool_description: None,
        confinement: None,
    })
}

/// A handler's word on a tool use. What it says that cannot be understood approves nothing.
async fn approval_by(handler: Handler, tool_use: ToolUse) -> ToolApproval {
    let request = json!({
        "toolUse": { "name": tool_use.name, "params": tool_use.params, "callId": tool_use.call_id },
        "category": tool_use.category,
        "sessionId": tool_use.session_id,
    });
    let said = handler(request).await;
    if let Some(approved) = said.as_bool() {
        return approved.into();
    }
    match serde_json::from_value::<ToolApprovalAnswer>(said) {
        Ok(answer) => ToolApproval {
            approved: answer.approved,
            params: answer.params,
            deny_reason: answer.deny_reason,
        },
        Err(error) => ToolApproval::deny(format!("the handler's answer cannot be understood: {error}")),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToolApprovalAnswer {
    approved: bool,
    #[serde(default)]
    params: Option<Args>,
    #[serde(default)]
    deny_reason: Option<String>,
}

fn deny_reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Rejected {
            reason: Some(reason), ..
        } => reason.clone(),
        Outcome::Denied { denial } => denial.to_string(),
        Outcome::Retry { feedback, .. } => feedback.clone(),
        Outcome::Expired { after, .. } => format!("no approver answered within {after}"),
        Outcome::Cancelled { why } => why.clone(),
        other => other.status().as_str().to_owned(),
    }
}
