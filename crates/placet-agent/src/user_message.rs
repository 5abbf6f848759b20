//! Telling the agent something: a run begins with it, or the one that is going on hears it.

use std::collections::BTreeSet;

use placet_core::call::Chat;
use placet_core::config::Workflow;
use placet_core::ids::{PersonId, SessionId};
use placet_core::step::Step;
use placet_core::steps::{self, MessageOutcome, TellRefusal, UserMessage};
use placet_store::{StepError, StoreError};

use crate::agent::{Agent, ResumeError};

/// What a workflow is told that is begun without an input.
const BEGIN: &str = "Begin.";

/// Why a workflow does not begin. Nothing happened.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    /// It cannot run here.
    #[error("the workflow names the {what} `{name}`, which does not exist")]
    Unknown {
        /// What it names.
        what: &'static str,
        /// By which name.
        name: String,
    },
    /// The agent was not told.
    #[error(transparent)]
    Tell(#[from] StepError<TellRefusal>),
}

impl Agent {
    /// Tells the agent something: begins a run, or is read after the turn that is under way. The person is whom the transport
    /// recognised. A session belongs to the person who began it.
    pub async fn tell(
        &self,
        session: &SessionId,
        text: &str,
        person: &PersonId,
        chat: Option<Chat>,
    ) -> Result<MessageOutcome, StepError<TellRefusal>> {
        self.say(user_message(session, text, person, chat)).await
    }

    /// Whether a user may write to the agent in a session.
    pub(crate) async fn may_tell(&self, session: &SessionId, person: &PersonId) -> Result<bool, StoreError> {
        let host = &self.inner.host;
        let may = self.inner.engine.transact(|snapshot, _| {
            let may = steps::may_tell(snapshot, host, session, person)?;
            Ok(Step::nothing(may))
        });
        may.await.map_err(StepError::into_store_error)
    }

    /// Begins a run in a workflow, and keeps that workflow for it as it is now. Without an input the prompt has to say it all.
    pub async fn start_workflow(
        &self,
        session: &SessionId,
        workflow: &Workflow,
        input: Option<&str>,
        person: &PersonId,
        chat: Option<Chat>,
    ) -> Result<(), WorkflowError> {
        self.check_workflow(workflow)?;
        let text = input.filter(|input| !input.trim().is_empty()).unwrap_or(BEGIN);
        let mut message = user_message(session, text, person, chat);
        message.model.clone_from(&workflow.model);
        message.workflow = Some(Box::new(workflow.clone()));
        self.say(message).await?;
        Ok(())
    }

    fn check_workflow(&self, workflow: &Workflow) -> Result<(), WorkflowError> {
        let unknown = |what, name: &str| {
            let name = name.to_owned();
            Err(WorkflowError::Unknown { what, name })
        };
        if let Some(model) = workflow.model.as_deref()
            && !self.inner.models.contains_key(model)
        {
            return unknown("model", model);
        }
        let mut tools = workflow.tools.iter().flatten();
        match tools.find(|tool| self.inner.tools.get(tool.as_str()).is_none()) {
            Some(tool) => unknown("tool", tool.as_str()),
            None => Ok(()),
        }
    }

    pub(crate) async fn say(&self, message: UserMessage) -> Result<MessageOutcome, StepError<TellRefusal>> {
        let host = &self.inner.host;
        let tell = self
            .inner
            .engine
            .transact(|snapshot, now| steps::tell(snapshot, now, host, &message));
        let said = tell.await?;
        // This process may have left the open run alone until now.
        if said == MessageOutcome::Queued {
            self.resume(&message.session).await.map_err(|error| match error {
                ResumeError::Refused(why) => StepError::Refused(TellRefusal::LeftAlone(why)),
                ResumeError::Store(error) => StepError::Store(error),
            })?;
        }
        Ok(said)
    }
}

/// A message that begins a run with the usual model and without a workflow.
pub(crate) fn user_message(
    session: &SessionId,
    text: &str,
    person: &PersonId,
    chat: Option<Chat>,
) -> UserMessage {
    UserMessage {
        session: session.clone(),
        text: text.to_owned(),
        by: person.clone(),
        chat,
        model: None,
        workflow: None,
        allowed: BTreeSet::new(),
    }
}
