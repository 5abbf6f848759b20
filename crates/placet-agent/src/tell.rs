//! Telling the agent something: a run begins with it, or the one that is going on hears it.

use std::collections::BTreeSet;

use placet_core::call::Chat;
use placet_core::config::Workflow;
use placet_core::ids::{AgentId, PersonId, SessionId, ToolName};
use placet_core::snapshot::{Activity, Snapshot, Undecided};
use placet_core::step::{Decided, Refusal, Step};
use placet_core::steps::{self, RunRefusal, Said, Saying, SettingRefusal};
use placet_core::time::Now;
use placet_store::{StepError, StoreError};

use crate::agent::{Agent, Inner, ResumeError};

/// What a workflow is told that is begun without an input.
const BEGIN: &str = "Begin.";

/// Why the agent was not told something. Nothing happened.
#[derive(Debug, thiserror::Error)]
pub enum TellError {
    /// Nothing happens in this session any more.
    #[error("the session `{0}` has been ended")]
    SessionOver(SessionId),
    /// The session is another person's, or another agent's.
    #[error("the session `{0}` is not yours")]
    NotYours(SessionId),
    /// There is nothing to do.
    #[error("the message is empty")]
    Empty,
    /// A workflow begins a run of its own, and one is going on.
    #[error("a run is going on in the session `{0}`; a workflow begins one of its own")]
    GoingOn(SessionId),
    /// The run that is going on is one that is left alone here.
    #[error(transparent)]
    LeftAlone(ResumeError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Refusal for TellError {}

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
    Tell(#[from] TellError),
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
    ) -> Result<Said, TellError> {
        if text.trim().is_empty() {
            return Err(TellError::Empty);
        }
        let mut saying = self.inner.saying(session, text, chat);
        saying.origin.user = Some(person.clone());
        self.say(saying, BTreeSet::new()).await
    }

    /// Whether somebody may tell the agent something in a session.
    pub(crate) async fn may_tell(&self, session: &SessionId, person: &PersonId) -> Result<bool, StoreError> {
        let agent = &self.inner.agent;
        let may = self.inner.engine.transact(|snapshot, _| {
            let may = may_tell(snapshot, session, agent, person)?;
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
        let mut saying = self.inner.saying(session, text, chat);
        saying.origin.user = Some(person.clone());
        if let Some(model) = &workflow.model {
            saying.model.clone_from(model);
        }
        if let Some(steps) = workflow.steps_max {
            saying.limits.turns_max = steps;
        }
        saying.workflow = Some(Box::new(workflow.clone()));
        self.say(saying, BTreeSet::new()).await?;
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

    /// Tells, and puts these tools on the session's allow-list: both or neither.
    pub(crate) async fn say(&self, saying: Saying, allowed: BTreeSet<ToolName>) -> Result<Said, TellError> {
        let session = &saying.session;
        let tell = self
            .inner
            .engine
            .transact(|snapshot, now| tell(&self.inner, snapshot, now, &saying, &allowed));
        let said = tell.await.map_err(|error| match error {
            StepError::Refused(refusal) => refusal,
            StepError::Store(error) => TellError::Store(error),
        })?;
        // A run that was going on may be one that this process has left alone until now.
        if said == Said::Queued {
            self.resume(session).await.map_err(TellError::LeftAlone)?;
        }
        Ok(said)
    }
}

/// The step of telling, for whoever may.
fn tell(
    inner: &Inner,
    snapshot: &Snapshot,
    now: Now,
    saying: &Saying,
    allowed: &BTreeSet<ToolName>,
) -> Decided<Said, TellError> {
    let not_yours = || TellError::NotYours(saying.session.clone());
    let person = saying.origin.user.as_ref().ok_or_else(not_yours)?;
    if !may_tell(snapshot, &saying.session, &saying.origin.agent, person)? {
        return Err(not_yours().into());
    }
    // What is said to a run that cannot go on here would wait for nobody knows whom.
    if let Some(run) = snapshot.run(&saying.session)?.as_ref().filter(|run| !run.ended) {
        let drives = inner.drives(&saying.session, &run.started);
        drives.map_err(TellError::LeftAlone)?;
    }
    let mut told = steps::tell(snapshot, now, saying).map_err(|stop| {
        stop.map(|refusal| match refusal {
            RunRefusal::SessionOver(session) | RunRefusal::Stale(session) => TellError::SessionOver(session),
            RunRefusal::GoingOn(session) => TellError::GoingOn(session),
            RunRefusal::Elsewhere { session, workspace } => {
                TellError::LeftAlone(ResumeError::Elsewhere { session, workspace })
            }
        })
    })?;
    for tool in allowed {
        let allowed = steps::allow_tool(snapshot, &saying.session, tool, person);
        let allowed = allowed.map_err(|stop| {
            stop.map(|SettingRefusal::SessionOver(session)| TellError::SessionOver(session))
        })?;
        // Before the run begins: its first call may need it.
        told.events.splice(0..0, allowed.events);
    }
    Ok(told)
}

/// A new session is anybody's; a known one belongs to whoever first talked to the agent in it, and is no agent's of others.
fn may_tell(
    snapshot: &Snapshot,
    session: &SessionId,
    agent: &AgentId,
    person: &PersonId,
) -> Result<bool, Undecided> {
    if !snapshot.session(session)?.is_open_to(agent) {
        return Ok(false);
    }
    if let Some(owner) = snapshot.run_owner(session)? {
        return Ok(owner == person);
    }
    Ok(match snapshot.activity(session)? {
        Activity::None => true,
        // What they set before they first spoke is theirs too.
        Activity::SetUpBy(by) => by == person,
        Activity::Messages | Activity::Used => false,
    })
}
