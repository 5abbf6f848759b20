//! Runs of the built-in agent: somebody says something, the model speaks, the run ends.

use crate::call::{Chat, Origin};
use crate::config::Workflow;
use crate::ids::{PersonId, SessionId};
use crate::interaction::Cancellation;
use crate::journal::{CallResult, Event};
use crate::record::RunRecord;
use crate::run::{Limits, ModelTurn, Parent, RunEnd, RunStarted};
use crate::snapshot::{Snapshot, Undecided};
use crate::step::{Decided, Refusal, Step, Stop};
use crate::time::Now;

use super::claim::{FinishRefusal, finish};
use super::session::withdraw_all;
use super::{Draft, open_run, say};

/// What somebody says to the built-in agent.
#[derive(Debug, Clone)]
pub struct Saying {
    /// In which session.
    pub session: SessionId,
    /// What.
    pub text: String,
    /// Where it comes from; the person is in here.
    pub origin: Origin,
    /// The model of a run that begins with it.
    pub model: String,
    /// The folder in which a run that begins with it works.
    pub workspace: String,
    /// The limits of a run that begins with it.
    pub limits: Limits,
    /// The workflow of a run that begins with it. A run that is going on keeps its own, so it cannot be told in another.
    pub workflow: Option<Box<Workflow>>,
}

impl Saying {
    /// The run that begins with it.
    fn begins(&self, now: Now) -> RunStarted {
        RunStarted {
            task: self.text.clone(),
            model: self.model.clone(),
            limits: self.limits,
            origin: self.origin.clone(),
            workspace: Some(self.workspace.clone()),
            parent: None,
            until: self
                .workflow
                .as_ref()
                .and_then(|workflow| Some(now.live + workflow.timeout?)),
            workflow: self.workflow.clone(),
        }
    }
}

/// What became of a saying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// It began a run.
    Started,
    /// A run is going on; the model reads it after the turn.
    Queued,
}

/// Why a step of a run is not taken.
#[derive(Debug, thiserror::Error)]
pub enum RunRefusal {
    /// Nothing happens in this session any more.
    #[error("the session `{0}` has been ended")]
    SessionOver(SessionId),
    /// Something happened since the step was thought of: whoever wants it looks again.
    #[error("the run of session `{0}` has gone on meanwhile")]
    Stale(SessionId),
    /// A workflow begins a run; one is going on.
    #[error("a run is going on in the session `{0}`; a workflow begins one of its own")]
    GoingOn(SessionId),
    /// The run that is going on works in another folder.
    #[error("the run of session `{session}` works in `{workspace}`; go on with it from there")]
    Elsewhere {
        /// Which session.
        session: SessionId,
        /// Which folder.
        workspace: String,
    },
}

impl Refusal for RunRefusal {}

/// Begins a run, or tells the one that is going on.
pub fn tell(snapshot: &Snapshot, now: Now, saying: &Saying) -> Decided<Said, RunRefusal> {
    let session = &saying.session;
    if snapshot.session(session)?.ended {
        return Err(RunRefusal::SessionOver(session.clone()).into());
    }
    let mut draft = Draft::new(session);
    if let Some(run) = open_run(snapshot, session)? {
        if let Some(workspace) = run.started.workspace.clone()
            && workspace != saying.workspace
        {
            let session = session.clone();
            return Err(RunRefusal::Elsewhere { session, workspace }.into());
        }
        if saying.workflow.is_some() {
            return Err(RunRefusal::GoingOn(session.clone()).into());
        }
        draft.event(Event::UserSaid {
            text: saying.text.clone(),
            by: saying.origin.user.clone(),
        });
        return Ok(draft.finish(Said::Queued));
    }
    draft.event(Event::RunStarted(Box::new(saying.begins(now))));
    Ok(draft.finish(Said::Started))
}

/// Stores what the model said, if it is still its turn.
pub fn take_turn(snapshot: &Snapshot, session: &SessionId, turn: &ModelTurn) -> Decided<(), RunRefusal> {
    if snapshot.session(session)?.ended {
        return Err(RunRefusal::SessionOver(session.clone()).into());
    }
    let next = open_run(snapshot, session)?.map(|run| run.turns.saturating_add(1));
    if next != Some(turn.turn) {
        return Err(RunRefusal::Stale(session.clone()).into());
    }
    let mut draft = Draft::new(session);
    draft.event(Event::ModelTurn(Box::new(turn.clone())));
    Ok(draft.finish(()))
}

/// Stops what the run of a session is doing, and what it handed on: what is open is withdrawn, what runs is stopped by whoever
/// runs it, and the run ends. Whether one was going on.
pub fn interrupt_run(snapshot: &Snapshot, session: &SessionId, by: &PersonId) -> Decided<bool> {
    if open_run(snapshot, session)?.is_none() {
        return Ok(Step::nothing(false));
    }
    let mut draft = interrupt_one(snapshot, session, by)?;
    for child in snapshot.descendants(session)? {
        draft.append(interrupt_one(snapshot, child, by)?);
    }
    Ok(draft.finish(true))
}

/// The same for a run that nobody here can go on with: it ends in the same step, and so do those it handed work to.
pub fn interrupt_left_alone(snapshot: &Snapshot, session: &SessionId, by: &PersonId) -> Decided<bool> {
    let mut step = interrupt_run(snapshot, session, by)?;
    let how = RunEnd::Interrupted { by: by.to_string() };
    let ended = end_family(snapshot, session, &how)?;
    step.events.extend(ended.events);
    step.changes.extend(ended.changes);
    Ok(step)
}

/// Begins a run where one is going on that nobody here can go on with. That one fails first, with those it handed work to.
pub fn tell_instead(snapshot: &Snapshot, now: Now, saying: &Saying, why: &str) -> Decided<Said, RunRefusal> {
    let session = &saying.session;
    if snapshot.session(session)?.ended {
        return Err(RunRefusal::SessionOver(session.clone()).into());
    }
    let how = RunEnd::Failed { why: why.to_owned() };
    let mut draft = Draft::new(session);
    for one in snapshot.descendants(session)?.iter().chain([session]) {
        let mut open = Draft::new(one);
        withdraw_all(snapshot, &mut open, &Cancellation::Terminated, &how.to_string())?;
        draft.append(open);
    }
    draft.append(end_family(snapshot, session, &how)?);
    draft.event(Event::RunStarted(Box::new(saying.begins(now))));
    Ok(draft.finish(Said::Started))
}

/// Ends the open run of a session and those it handed work to, helpers first: each is the result of a call of the one before.
fn end_family(snapshot: &Snapshot, session: &SessionId, how: &RunEnd) -> Result<Draft, Undecided> {
    let mut draft = Draft::new(session);
    for session in snapshot.descendants(session)?.iter().rev().chain([session]) {
        let Some(run) = open_run(snapshot, session)? else {
            continue;
        };
        let mut one = Draft::new(session);
        one.event(Event::RunEnded { how: how.clone() });
        let ending = Ending {
            session: session.clone(),
            how: how.clone(),
            seen: (run.turns, run.said),
            words: String::new(),
            next: None,
        };
        tell_of_end(snapshot, &mut one, run, &ending)?;
        draft.append(one);
    }
    Ok(draft)
}

fn interrupt_one(snapshot: &Snapshot, session: &SessionId, by: &PersonId) -> Result<Draft, Undecided> {
    let mut draft = Draft::new(session);
    draft.event(Event::RunInterrupted { by: by.clone() });
    let why = Cancellation::Withdrawn { by: by.to_string() };
    withdraw_all(snapshot, &mut draft, &why, &format!("interrupted by {by}"))?;
    Ok(draft)
}

/// How a run is to end.
#[derive(Debug, Clone)]
pub struct Ending {
    /// In which session.
    pub session: SessionId,
    /// How.
    pub how: RunEnd,
    /// How far it had come when that was found: turns of the model, and messages. What is said last is still heard.
    pub seen: (u32, u32),
    /// What the model said last.
    pub words: String,
    /// What people said after they interrupted it: another run begins with that.
    pub next: Option<String>,
}

/// Ends a run. If it does a call of another run, that call has its result in the same step; if a chat is its session, the chat
/// is told.
pub fn end_run(snapshot: &Snapshot, ending: &Ending) -> Decided<(), RunRefusal> {
    let session = &ending.session;
    let run = open_run(snapshot, session)?.filter(|run| (run.turns, run.said) == ending.seen);
    let run = run.ok_or_else(|| RunRefusal::Stale(session.clone()))?;
    let mut draft = Draft::new(session);
    // First, so that the calls that wait for them have that as their result. In other cases nothing is open but what may have
    // happened, and people may still say what became of that.
    if let RunEnd::TimedOut | RunEnd::Interrupted { .. } = ending.how {
        let why = Cancellation::Terminated;
        withdraw_all(snapshot, &mut draft, &why, &ending.how.to_string())?;
    }
    draft.event(Event::RunEnded {
        how: ending.how.clone(),
    });
    match &ending.next {
        // However it ended: what they said is answered.
        Some(task) if run.started.parent.is_none() && !ending.how.ends_the_session() => {
            draft.event(Event::RunStarted(Box::new(RunStarted {
                task: task.clone(),
                workflow: None,
                until: None,
                ..run.started.clone()
            })));
        }
        _ => tell_of_end(snapshot, &mut draft, run, ending)?,
    }
    Ok(draft.finish(()))
}

/// Whoever waits for a run hears how it ended: the call it did, or the chat that is its session.
fn tell_of_end(
    snapshot: &Snapshot,
    draft: &mut Draft,
    run: &RunRecord,
    ending: &Ending,
) -> Result<(), Undecided> {
    let session = &ending.session;
    if let Some(parent) = &run.started.parent {
        report(snapshot, draft, parent, ending)?;
    } else if let Some(chat) = own_chat(session, &run.started.origin) {
        let key = format!("run:{session}:{}", run.row);
        say(draft, key, chat, last_message(ending));
    }
    Ok(())
}

/// The result of the call that this run did.
fn report(snapshot: &Snapshot, draft: &mut Draft, parent: &Parent, ending: &Ending) -> Result<(), Undecided> {
    let result = match &ending.how {
        RunEnd::Completed => CallResult::new(true, &ending.words),
        how => CallResult::new(
            false,
            &format!("{how}; what it did until then has happened\n{}", ending.words),
        ),
    };
    match finish(snapshot, &parent.call, &result) {
        Ok(finished) => {
            draft.events.extend(finished.events);
            draft.changes.extend(finished.changes);
            Ok(())
        }
        Err(Stop::Undecided(undecided)) => Err(undecided),
        // The call has its result already, or is gone. The run ends all the same.
        Err(Stop::Refused(
            FinishRefusal::NotFound(_) | FinishRefusal::NotClaimed(_) | FinishRefusal::AlreadyFinished(_),
        )) => Ok(()),
    }
}

/// The chat whose session this is. Runs that merely ask in a chat answer where they were begun.
fn own_chat<'o>(session: &SessionId, origin: &'o Origin) -> Option<&'o Chat> {
    let chat = origin.chat.as_ref()?;
    let own = SessionId::of_chat(&chat.channel, &chat.id).is_ok_and(|own| own == *session);
    own.then_some(chat)
}

fn last_message(ending: &Ending) -> String {
    match &ending.how {
        RunEnd::Completed if !ending.words.trim().is_empty() => ending.words.clone(),
        how => how.to_string(),
    }
}
