//! One message to an assistant: what it may use, who decides, and what comes of it.

use std::sync::Arc;

use placet_core::ids::{CallId, IdError, SessionId};
use placet_core::interaction::InteractionRequest;
use placet_core::run::{RunEnd, Usage};
use placet_core::steps::{ResumeRefusal, TellRefusal, UserMessage};
use placet_engine::ToolUse;
use placet_engine::callback::{OnQuestion, OnToolApprove, Registered};
use placet_store::{StepError, StoreError};
use serde_json::Value;

use super::Assistant;
use crate::chat::{ChatError, ChatEvent, ChatStream, What};
use crate::user_message::user_message;

/// A message.
#[must_use]
pub struct Message {
    text: String,
    offered: Offered,
    session: Option<SessionId>,
    decides: Option<Arc<dyn OnToolApprove>>,
    answers: Option<Arc<dyn OnQuestion>>,
}

/// Which tools a message may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offered {
    /// Those that read, and those that ask.
    Reading,
    /// All of them.
    All,
}

impl Message {
    /// A message in a session of its own. Only tools that read are offered to the model; one that joins a run that is going on
    /// is read by that run's.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            offered: Offered::Reading,
            session: None,
            decides: None,
            answers: None,
        }
    }

    /// Offers every tool: also those that write, run commands or reach the network. Whether a call may run is decided all the
    /// same.
    pub fn write(mut self) -> Self {
        self.offered = Offered::All;
        self
    }

    /// In this session, which remembers what was said before.
    pub fn session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Who decides what no earlier step has decided: an async closure that returns a `bool` or a
    /// [`ToolApproval`](placet_engine::ToolApproval). One that panics, or takes longer than the approval timeout, has not
    /// approved. It decides until the reply is there.
    pub fn on_tool_approve(mut self, callback: impl OnToolApprove) -> Self {
        self.decides = Some(Arc::new(callback));
        self
    }

    /// Who answers what the model asks with `askUserQuestion`: an async closure that returns a
    /// [`QuestionAnswer`](placet_engine::QuestionAnswer), or `None` when it cannot answer. Without one the question goes to the
    /// assistant's chat or inbox; without either, the call fails as `nobody_to_ask`.
    pub fn on_question(mut self, callback: impl OnQuestion) -> Self {
        self.answers = Some(Arc::new(callback));
        self
    }
}

/// A message on its way: what happens, as it happens.
pub struct Exchange {
    stream: ChatStream,
    reply: Reply,
    ended: Option<RunEnd>,
    _decides: Vec<Registered>,
}

/// What came of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// In which session; another message can go on there.
    pub session: SessionId,
    /// How it ended.
    pub how: RunEnd,
    /// The model's last words.
    pub text: String,
    /// The calls it made, in order.
    pub used: Vec<Used>,
    /// What it cost.
    pub usage: Usage,
}

/// A call that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Used {
    /// Our name for it.
    pub call: CallId,
    /// Which tool.
    pub tool: String,
    /// With what, as the model wrote it.
    pub args: Value,
    /// Whether it ran and succeeded; not known while it has no result.
    pub ok: Option<bool>,
    /// Its output, or a typed reason why it did not run.
    pub output: Value,
}

impl Reply {
    /// Whether the model came to its last word.
    pub fn success(&self) -> bool {
        self.how == RunEnd::Completed
    }
}

/// Why a message has no reply.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// There is nothing to do.
    #[error("the message is empty")]
    Empty,
    /// The session belongs to another user.
    #[error("the session `{0}` is not yours")]
    NotYours(SessionId),
    /// Nothing happens in the session any more.
    #[error("the session `{0}` has been ended")]
    SessionOver(SessionId),
    /// A run that must be alone is going on in the session.
    #[error("a run is going on in the session `{0}`")]
    GoingOn(SessionId),
    /// The run that is going on is one that is left alone here.
    #[error(transparent)]
    LeftAlone(ResumeRefusal),
    /// The assistant was stopped. What was stored goes on at the next start.
    #[error("the assistant was stopped before the reply was there")]
    Stopped,
    /// A name could not be made; a defect of this program.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<StepError<TellRefusal>> for SendError {
    fn from(error: StepError<TellRefusal>) -> Self {
        match error {
            StepError::Refused(TellRefusal::SessionOver(session)) => Self::SessionOver(session),
            StepError::Refused(TellRefusal::NotYours(session)) => Self::NotYours(session),
            StepError::Refused(TellRefusal::Empty) => Self::Empty,
            StepError::Refused(TellRefusal::GoingOn(session)) => Self::GoingOn(session),
            StepError::Refused(TellRefusal::LeftAlone(why)) => Self::LeftAlone(why),
            StepError::Store(error) => Self::Store(error),
        }
    }
}

impl Assistant {
    /// Sends a message and waits for the reply. The run continues when this future is dropped; its callback does not.
    pub async fn send_message(&self, message: Message) -> Result<Reply, SendError> {
        let mut exchange = self.stream_message(message).await?;
        while exchange.next().await?.is_some() {}
        exchange.reply()
    }

    /// Sends a message and shows what follows: pieces of what the model says, calls, questions, results.
    pub async fn stream_message(&self, message: Message) -> Result<Exchange, SendError> {
        if message.text.trim().is_empty() {
            return Err(SendError::Empty);
        }
        let session = match message.session {
            Some(session) => session,
            None => SessionId::new(format!("msg_{}", uuid::Uuid::now_v7().simple()))?,
        };
        // The callback is also asked what is open already, so another user's session must not get that far.
        if !self.agent.may_tell(&session, &self.person).await? {
            return Err(SendError::NotYours(session));
        }
        let decides = message.decides.map(|callback| {
            let decide = move |tool_use: ToolUse| callback.decide(tool_use);
            self.engine().on_tool_approve_in(&session, decide)
        });
        let answers = message.answers.map(|callback| {
            let answer = move |request: InteractionRequest| callback.answer(request);
            self.engine().on_question_in(&session, answer)
        });
        let stream = self.agent.chat().listen(&session).await;
        let stream = stream.map_err(|error| match error {
            ChatError::Store(error) => SendError::Store(error),
            _ => SendError::NotYours(session.clone()),
        })?;
        self.say(&session, &message.text, message.offered).await?;
        Ok(Exchange {
            stream,
            reply: Reply {
                session,
                how: RunEnd::Completed,
                text: String::new(),
                used: Vec::new(),
                usage: Usage::default(),
            },
            ended: None,
            _decides: decides.into_iter().chain(answers).collect(),
        })
    }

    /// Says it, with the session's allow-list in the same step: nothing can be called before.
    async fn say(&self, session: &SessionId, text: &str, offered: Offered) -> Result<(), SendError> {
        let message = UserMessage {
            model: (offered == Offered::Reading).then(|| self.reader.clone()),
            allowed: self.approval_tools.clone(),
            ..user_message(session, text, &self.person, self.place.clone())
        };
        self.agent.say(message).await?;
        Ok(())
    }
}

impl Exchange {
    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.reply.session
    }

    /// The next event; waits for one. `None` after the last.
    pub async fn next(&mut self) -> Result<Option<ChatEvent>, StoreError> {
        let event = self.stream.next().await?;
        if let Some(event) = &event {
            self.note(&event.what);
        }
        Ok(event)
    }

    /// What came of it, once there is no other event.
    pub fn reply(self) -> Result<Reply, SendError> {
        let how = self.ended.ok_or(SendError::Stopped)?;
        Ok(Reply { how, ..self.reply })
    }

    fn note(&mut self, what: &What) {
        let reply = &mut self.reply;
        match what {
            What::Thinking { text, usage, .. } => {
                reply.text.clone_from(text);
                reply.usage.input_tokens += usage.input_tokens;
                reply.usage.output_tokens += usage.output_tokens;
            }
            What::Action { call, tool, args, .. } => reply.used.push(Used {
                call: call.clone(),
                tool: tool.clone(),
                args: args.clone(),
                ok: None,
                output: Value::Null,
            }),
            What::Observation { call, ok, output } => {
                if let Some(used) = reply.used.iter_mut().find(|used| used.call == *call) {
                    used.ok = Some(*ok);
                    used.output = output.clone();
                }
            }
            What::Completed { how, .. } | What::Error { how } => self.ended = Some(how.clone()),
            What::Started { .. }
            | What::Saying { .. }
            | What::BeginsAgain { .. }
            | What::Interaction { .. }
            | What::InteractionResolved { .. } => {}
        }
    }
}
