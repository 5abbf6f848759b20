//! A conversation with the agent: messages and answers in, events out. Whatever transport carries it, the transport says who
//! is speaking.
//!
//! Events are made from the journal, so a reconnect or a second viewer sees the same ones, and an event's id is enough to go
//! on after it. Pieces of what the model is saying come in between, have no id, and are gone once they were said.

use placet_core::call::Chat as Place;
use placet_core::digest::Digest;
use placet_core::ids::{IdError, InteractionId, PersonId, SessionId};
use placet_core::interaction::{Answer, Shown};
use placet_core::principal::Principal;
use placet_core::steps::{AnswerRefusal, MessageOutcome, ResumeRefusal, TellRefusal};
use placet_engine::Answered;
use placet_store::{StepError, Store, StoreError};
use serde_json::{Map, Value};

use crate::agent::Agent;

mod event;
mod stream;

pub use event::{ChatEvent, EventId, EventIdError, What};
pub use stream::ChatStream;

/// Conversations with an [`Agent`].
#[derive(Clone)]
pub struct Chat {
    agent: Agent,
}

/// Who wants to see a conversation, as the transport recognised them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Viewer {
    /// A person, who sees their own.
    Person(PersonId),
    /// A person who may see all of them.
    Admin,
}

/// A message to the agent.
#[derive(Debug, Clone)]
pub struct Saying {
    /// In which session; a new one when absent.
    pub session: Option<SessionId>,
    /// What.
    pub text: String,
    /// Who, as the transport recognised them.
    pub person: PersonId,
    /// On which chat channel, if on one.
    pub place: Option<Place>,
}

/// An answer to a question of the conversation: the seed's `interaction_response`.
#[derive(Debug, Clone)]
pub struct Response {
    /// In which session.
    pub session: SessionId,
    /// Which question.
    pub request: InteractionId,
    /// Which option.
    pub option: String,
    /// A reason, or feedback.
    pub feedback: Option<String>,
    /// Information asked for.
    pub data: Option<Map<String, Value>>,
    /// The digest of what they saw, when their surface knows it; without it that is unknown, and the journal claims nothing.
    pub shown: Option<Digest>,
}

/// Why a conversation does not go on. Nothing happened.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// There is no such conversation, or it is not theirs. The two look the same, so as not to leak that it exists.
    #[error("there is no conversation `{0}` of yours")]
    NotFound(SessionId),
    /// They have had no conversation yet.
    #[error("you have had no conversation yet; send a message to begin one")]
    NoneYet,
    /// Nothing happens in this session any more.
    #[error("the session `{0}` has been ended")]
    SessionOver(SessionId),
    /// There is nothing to do.
    #[error("the message is empty")]
    Empty,
    /// The run that is going on is one that is left alone here.
    #[error(transparent)]
    LeftAlone(ResumeRefusal),
    /// No event of this conversation can have this id.
    #[error("there is no event `{0}`")]
    NoSuchEvent(EventId),
    /// A name could not be made; a defect of this program.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<StepError<TellRefusal>> for ChatError {
    fn from(error: StepError<TellRefusal>) -> Self {
        match error {
            StepError::Refused(TellRefusal::SessionOver(session)) => Self::SessionOver(session),
            // What is said in a conversation begins no workflow, so none is in its way.
            StepError::Refused(TellRefusal::NotYours(session) | TellRefusal::GoingOn(session)) => {
                Self::NotFound(session)
            }
            StepError::Refused(TellRefusal::Empty) => Self::Empty,
            StepError::Refused(TellRefusal::LeftAlone(why)) => Self::LeftAlone(why),
            StepError::Store(error) => Self::Store(error),
        }
    }
}

impl Agent {
    /// Conversations with it.
    pub fn chat(&self) -> Chat {
        Chat { agent: self.clone() }
    }
}

impl Chat {
    /// Says something, and shows what follows from it. The stream ends with the run.
    pub async fn send(&self, saying: Saying) -> Result<(MessageOutcome, ChatStream), ChatError> {
        let session = match saying.session {
            Some(session) => session,
            None => SessionId::new(format!("chat_{}", uuid::Uuid::now_v7().simple()))?,
        };
        let stream = self.listen(&session).await?;
        let told = self
            .agent
            .tell(&session, &saying.text, &saying.person, saying.place);
        Ok((told.await?, stream))
    }

    /// What happens in a session from now on. Opened before something is said, so that nothing of what follows is missed: the
    /// model may begin to speak at once. The caller has checked the right to see it.
    pub async fn listen(&self, session: &SessionId) -> Result<ChatStream, ChatError> {
        let head = self.agent.engine().head().await?;
        ChatStream::open(&self.agent, session.clone(), EventId::after_row(head)).await
    }

    /// Shows a conversation: from after an event on, or from the beginning of its newest run. Waits for the next run if none is
    /// going on.
    pub async fn attach(
        &self,
        session: &SessionId,
        viewer: &Viewer,
        after: Option<EventId>,
    ) -> Result<ChatStream, ChatError> {
        self.check_viewer(session, viewer).await?;
        let after = match after {
            Some(after) if after.row() <= self.agent.engine().head().await? => after,
            Some(forged) => return Err(ChatError::NoSuchEvent(forged)),
            None => {
                let store = self.agent.engine().store();
                let run = store.look(|stored| stored.run(session).cloned()).await?;
                EventId::after_row(run.map_or(0, |run| run.row.saturating_sub(1)))
            }
        };
        ChatStream::open(&self.agent, session.clone(), after).await
    }

    /// The conversation in which a person last began a run.
    pub async fn newest(&self, person: &PersonId) -> Result<SessionId, ChatError> {
        let store = self.agent.engine().store();
        let newest = store.look(|stored| stored.newest_run_of(person).cloned()).await?;
        newest.ok_or(ChatError::NoneYet)
    }

    /// Takes an answer to a question of a conversation. Who answers is `by`, and nothing in the response.
    pub async fn respond(
        &self,
        response: Response,
        by: Principal,
    ) -> Result<Answered, StepError<AnswerRefusal>> {
        let broker = self.agent.engine().broker();
        let question = broker.question(&response.request).await?;
        let asked_in = question.map(|question| question.interaction.asked().session.clone());
        let here = match asked_in {
            Some(session) => is_within(self.agent.engine().store(), &session, &response.session).await?,
            None => false,
        };
        if !here {
            return Err(StepError::Refused(AnswerRefusal::NotFound(response.request)));
        }
        let answer = Answer {
            by,
            option: response.option,
            feedback: response.feedback,
            data: response.data,
            edited_args: None,
            instruction: None,
            remember: None,
            shown: response.shown.map_or(Shown::Program, Shown::Whole),
        };
        broker.answer(&response.request, answer).await
    }

    async fn check_viewer(&self, session: &SessionId, viewer: &Viewer) -> Result<(), ChatError> {
        let owner = self.agent.owner(session).await?;
        let theirs = match (viewer, &owner) {
            (_, None) => false,
            (Viewer::Admin, Some(_)) => true,
            (Viewer::Person(person), Some(owner)) => person == owner,
        };
        theirs
            .then_some(())
            .ok_or_else(|| ChatError::NotFound(session.clone()))
    }
}

/// Whether a session is `root`, or a task delegated from it.
pub async fn is_within(store: &Store, session: &SessionId, root: &SessionId) -> Result<bool, StoreError> {
    let within = store.look(|stored| {
        let mut session = session;
        while session != root {
            let run = stored.run(session)?.as_ref();
            let Some(parent) = run.and_then(|run| run.started.parent.as_ref()) else {
                return Ok(false);
            };
            session = &parent.session;
        }
        Ok(true)
    });
    within.await
}
