//! A message to the built-in agent: it begins a run, or the open run reads it after the turn.

use std::collections::BTreeSet;

use crate::call::{Chat, Origin};
use crate::config::Workflow;
use crate::ids::{PersonId, SessionId, ToolName};
use crate::journal::Event;
use crate::record::RunRecord;
use crate::run::{Limits, RunStarted};
use crate::snapshot::{Activity, Snapshot, Undecided};
use crate::step::{Decided, Refusal};
use crate::time::Timestamp;

use super::host::{ResumeRefusal, RunHost};
use super::session::add_to_allow_list;
use super::{Draft, open_run};

/// What a person says to the built-in agent.
#[derive(Debug, Clone)]
pub struct UserMessage {
    /// The session.
    pub session: SessionId,
    /// The text.
    pub text: String,
    /// The person, as the transport recognised them.
    pub by: PersonId,
    /// The chat it was written in, if in one.
    pub chat: Option<Chat>,
    /// The model of a run that begins with it; the host's usual one when absent.
    pub model: Option<String>,
    /// The workflow of a run that begins with it. An open run keeps its own and cannot be told in another one.
    pub workflow: Option<Box<Workflow>>,
    /// Tools put on the session's allow-list in the same step.
    pub allowed: BTreeSet<ToolName>,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageOutcome {
    /// It began a run.
    Started,
    /// A run is open; the model reads it after the turn.
    Queued,
}

/// Why a message is not taken. Nothing happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TellRefusal {
    /// There is nothing to do.
    #[error("the message is empty")]
    Empty,
    /// The session belongs to another person or another agent.
    #[error("the session `{0}` is not yours")]
    NotYours(SessionId),
    /// Nothing happens in this session any more.
    #[error("the session `{0}` has been ended")]
    SessionOver(SessionId),
    /// A workflow begins a run of its own, and one is open.
    #[error("a run is going on in the session `{0}`; a workflow begins one of its own")]
    GoingOn(SessionId),
    /// This process cannot continue the open run.
    #[error(transparent)]
    LeftAlone(ResumeRefusal),
}

impl Refusal for TellRefusal {}

/// Begins a run with a message, or adds the message to the open run.
pub fn tell(
    snapshot: &Snapshot,
    now: Timestamp,
    host: &RunHost,
    message: &UserMessage,
) -> Decided<MessageOutcome, TellRefusal> {
    let session = &message.session;
    if message.text.trim().is_empty() {
        return Err(TellRefusal::Empty.into());
    }
    if !may_tell(snapshot, host, session, &message.by)? {
        return Err(TellRefusal::NotYours(session.clone()).into());
    }
    let open = open_run(snapshot, session)?;
    // No process would read what is said to a run that cannot go on here.
    if let Some(run) = open {
        let resumes = host.resumes(session, &run.started);
        resumes.map_err(TellRefusal::LeftAlone)?;
    }
    let record = snapshot.session(session)?;
    if record.ended {
        return Err(TellRefusal::SessionOver(session.clone()).into());
    }
    if open.is_some() && message.workflow.is_some() {
        return Err(TellRefusal::GoingOn(session.clone()).into());
    }
    let mut draft = Draft::new(session);
    // Before the run begins: its first call may need them.
    for tool in &message.allowed {
        add_to_allow_list(&mut draft, record, tool, &message.by);
    }
    let said = message.put(&mut draft, now, host, open);
    Ok(draft.finish(said))
}

/// Whether a person may talk to the agent in a session. A new session is open to everyone; later it belongs to the person who
/// began its first run.
pub fn may_tell(
    snapshot: &Snapshot,
    host: &RunHost,
    session: &SessionId,
    person: &PersonId,
) -> Result<bool, Undecided> {
    if !snapshot.session(session)?.is_open_to(&host.agent) {
        return Ok(false);
    }
    if let Some(owner) = snapshot.run_owner(session)? {
        return Ok(owner == person);
    }
    Ok(match snapshot.activity(session)? {
        Activity::None => true,
        // A session that a person set up before the first message is theirs, too.
        Activity::SetUpBy(by) => by == person,
        Activity::Messages | Activity::Used => false,
    })
}

impl UserMessage {
    /// Adds the message to the open run, or begins one with it.
    pub(super) fn put(
        &self,
        draft: &mut Draft,
        now: Timestamp,
        host: &RunHost,
        open: Option<&RunRecord>,
    ) -> MessageOutcome {
        if open.is_some() {
            draft.event(Event::UserSaid {
                text: self.text.clone(),
                by: Some(self.by.clone()),
            });
            return MessageOutcome::Queued;
        }
        draft.event(Event::RunStarted(Box::new(self.begins(now, host))));
        MessageOutcome::Started
    }

    fn begins(&self, now: Timestamp, host: &RunHost) -> RunStarted {
        let workflow = self.workflow.as_ref();
        let turns_max = workflow.and_then(|workflow| workflow.steps_max);
        RunStarted {
            task: self.text.clone(),
            model: self.model.clone().unwrap_or_else(|| host.usual_model.clone()),
            limits: Limits {
                turns_max: turns_max.unwrap_or(host.limits.turns_max),
                ..host.limits
            },
            origin: Origin {
                agent: host.agent.clone(),
                agent_path: Vec::new(),
                chat: self.chat.clone(),
                user: Some(self.by.clone()),
            },
            workspace: Some(host.workspace.clone()),
            parent: None,
            until: workflow.and_then(|workflow| Some(now + workflow.timeout?)),
            workflow: self.workflow.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
