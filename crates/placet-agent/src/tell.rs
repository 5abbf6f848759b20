//! Telling the agent something: a run begins with it, or the one that is going on hears it.

use std::collections::BTreeSet;
use std::sync::Arc;

use placet_core::call::Chat;
use placet_core::config::Workflow;
use placet_core::ids::{AgentId, PersonId, SessionId, ToolName};
use placet_core::journal::Event;
use placet_core::time::Now;
use placet_engine::steps::{self, RunRefusal, Said, Saying, SettingRefusal};
use placet_store::{Committed, Step, StepError, StoreError, View};

use crate::agent::{Agent, Inner, ResumeError};

/// What a workflow is told that is begun without an input.
const BEGIN: &str = "Begin.";
/// Rows of a session that are looked at to find out whose it is.
const ROWS_SEEN_MAX: usize = 512;

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
        let (session, person, agent) = (session.clone(), person.clone(), self.inner.agent.clone());
        let store = self.inner.engine.store();
        let may = store.read(move |view, _| may_tell(view, &session, &agent, &person));
        may.await
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
        let session = saying.session.clone();
        let inner = Arc::clone(&self.inner);
        let step = move |view: &View<'_>, now| tell(&inner, view, now, &saying, &allowed);
        let told = self.inner.engine.store().step(step).await;
        let said = told.map_err(|error| match error {
            StepError::Refused(refusal) => refusal,
            StepError::Store(error) => TellError::Store(error),
        })?;
        // A run that was going on may be one that this process has left alone until now.
        if said == Said::Queued {
            self.resume(&session).await.map_err(TellError::LeftAlone)?;
        }
        Ok(said)
    }
}

/// The step of telling, for whoever may.
fn tell(
    inner: &Inner,
    view: &View<'_>,
    now: Now,
    saying: &Saying,
    allowed: &BTreeSet<ToolName>,
) -> Result<Step<Said>, TellError> {
    let not_yours = || TellError::NotYours(saying.session.clone());
    let person = saying.origin.user.as_ref().ok_or_else(not_yours)?;
    if !may_tell(view, &saying.session, &saying.origin.agent, person)? {
        return Err(not_yours());
    }
    // What is said to a run that cannot go on here would wait for nobody knows whom.
    if let Some(run) = view.run(&saying.session)?.filter(|run| run.ended.is_none()) {
        let drives = inner.drives(&saying.session, &view.run_started(&run)?);
        drives.map_err(TellError::LeftAlone)?;
    }
    let mut told = steps::tell(view, now, saying).map_err(|refusal| match refusal {
        RunRefusal::SessionOver(session) | RunRefusal::Stale(session) => TellError::SessionOver(session),
        RunRefusal::GoingOn(session) => TellError::GoingOn(session),
        RunRefusal::Elsewhere { session, workspace } => {
            TellError::LeftAlone(ResumeError::Elsewhere { session, workspace })
        }
        RunRefusal::Store(error) => TellError::Store(error),
    })?;
    for tool in allowed {
        let allowed = steps::allow_tool(view, &saying.session, tool, person);
        let allowed = allowed.map_err(|refusal| match refusal {
            SettingRefusal::SessionOver(session) => TellError::SessionOver(session),
            SettingRefusal::Store(error) => TellError::Store(error),
        })?;
        // Before the run begins: its first call may need it.
        told.events.splice(0..0, allowed.events);
    }
    Ok(told)
}

/// A new session is anybody's; a known one belongs to whoever first talked to the agent in it, and is no agent's of others.
fn may_tell(
    view: &View<'_>,
    session: &SessionId,
    agent: &AgentId,
    person: &PersonId,
) -> Result<bool, StoreError> {
    if !view.session(session)?.is_open_to(agent) {
        return Ok(false);
    }
    if let Some(owner) = view.run_owner(session)? {
        return Ok(owner == *person);
    }
    // What they set before they first spoke is theirs too.
    let own = |row: &Committed| match &row.event {
        Event::ModeSet { by, .. } | Event::ToolAllowed { by, .. } => by == person,
        _ => false,
    };
    let rows = view.journal(0, ROWS_SEEN_MAX, Some(session))?;
    Ok(rows.len() < ROWS_SEEN_MAX && rows.iter().all(own))
}
