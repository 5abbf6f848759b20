//! Runs of the built-in agent: somebody says something, the model speaks, the run ends.

use placet_core::call::{Chat, Origin};
use placet_core::config::Workflow;
use placet_core::ids::{PersonId, SessionId};
use placet_core::interaction::Cancellation;
use placet_core::journal::{CallResult, Event};
use placet_core::run::{Limits, ModelTurn, Parent, RunEnd, RunStarted};
use placet_core::time::Now;
use placet_store::{RunHead, Step, StoreError, View};

use super::claim::{FinishRefusal, finish};
use super::session::withdraw_all;
use super::{Draft, say};

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
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Begins a run, or tells the one that is going on.
pub fn tell(view: &View<'_>, now: Now, saying: &Saying) -> Result<Step<Said>, RunRefusal> {
    let session = &saying.session;
    if view.session_ended(session)? {
        return Err(RunRefusal::SessionOver(session.clone()));
    }
    let mut draft = Draft::new(session);
    if let Some(run) = open(view, session)? {
        if let Some(workspace) = view.run_started(&run)?.workspace
            && workspace != saying.workspace
        {
            let session = session.clone();
            return Err(RunRefusal::Elsewhere { session, workspace });
        }
        if saying.workflow.is_some() {
            return Err(RunRefusal::GoingOn(session.clone()));
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
pub fn take_turn(view: &View<'_>, session: &SessionId, turn: ModelTurn) -> Result<Step<()>, RunRefusal> {
    if view.session_ended(session)? {
        return Err(RunRefusal::SessionOver(session.clone()));
    }
    let next = open(view, session)?.map(|run| run.turns.saturating_add(1));
    if next != Some(turn.turn) {
        return Err(RunRefusal::Stale(session.clone()));
    }
    let mut draft = Draft::new(session);
    draft.event(Event::ModelTurn(Box::new(turn)));
    Ok(draft.finish(()))
}

/// Stops what the run of a session is doing, and what it handed on: what is open is withdrawn, what runs is stopped by whoever
/// runs it, and the run ends. Whether one was going on.
pub fn interrupt_run(view: &View<'_>, session: &SessionId, by: &PersonId) -> Result<Step<bool>, StoreError> {
    if open(view, session)?.is_none() {
        return Ok(Step::nothing(false));
    }
    let mut draft = interrupt_one(view, session, by)?;
    for child in view.descendants(session)? {
        draft.append(interrupt_one(view, &child, by)?);
    }
    Ok(draft.finish(true))
}

/// The same for a run that nobody here can go on with: it ends in the same step, and so do those it handed work to.
pub fn interrupt_left_alone(
    view: &View<'_>,
    session: &SessionId,
    by: &PersonId,
) -> Result<Step<bool>, StoreError> {
    let mut step = interrupt_run(view, session, by)?;
    let how = RunEnd::Interrupted { by: by.to_string() };
    let ended = end_family(view, session, &how)?;
    step.events.extend(ended.events);
    step.changes.extend(ended.changes);
    Ok(step)
}

/// Begins a run where one is going on that nobody here can go on with. That one fails first, with those it handed work to.
pub fn tell_instead(
    view: &View<'_>,
    now: Now,
    saying: &Saying,
    why: String,
) -> Result<Step<Said>, RunRefusal> {
    let session = &saying.session;
    if view.session_ended(session)? {
        return Err(RunRefusal::SessionOver(session.clone()));
    }
    let how = RunEnd::Failed { why };
    let mut draft = Draft::new(session);
    let mut family = view.descendants(session)?;
    family.push(session.clone());
    for one in family {
        let mut open = Draft::new(&one);
        withdraw_all(view, &mut open, &Cancellation::Terminated, &how.to_string())?;
        draft.append(open);
    }
    draft.append(end_family(view, session, &how)?);
    draft.event(Event::RunStarted(Box::new(saying.begins(now))));
    Ok(draft.finish(Said::Started))
}

/// Ends the open run of a session and those it handed work to, helpers first: each is the result of a call of the one before.
fn end_family(view: &View<'_>, session: &SessionId, how: &RunEnd) -> Result<Draft, StoreError> {
    let mut family = vec![session.clone()];
    family.extend(view.descendants(session)?);
    let mut draft = Draft::new(session);
    for session in family.into_iter().rev() {
        let Some(run) = open(view, &session)? else {
            continue;
        };
        let mut one = Draft::new(&session);
        one.event(Event::RunEnded { how: how.clone() });
        let ending = Ending {
            session,
            how: how.clone(),
            seen: (run.turns, run.said),
            words: String::new(),
            next: None,
        };
        tell_of_end(view, &mut one, &run, &view.run_started(&run)?, &ending)?;
        draft.append(one);
    }
    Ok(draft)
}

fn interrupt_one(view: &View<'_>, session: &SessionId, by: &PersonId) -> Result<Draft, StoreError> {
    let mut draft = Draft::new(session);
    draft.event(Event::RunInterrupted { by: by.clone() });
    let why = Cancellation::Withdrawn { by: by.to_string() };
    withdraw_all(view, &mut draft, &why, &format!("interrupted by {by}"))?;
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
pub fn end_run(view: &View<'_>, ending: &Ending) -> Result<Step<()>, RunRefusal> {
    let session = &ending.session;
    let run = open(view, session)?.filter(|run| (run.turns, run.said) == ending.seen);
    let run = run.ok_or_else(|| RunRefusal::Stale(session.clone()))?;
    let started = view.run_started(&run)?;
    let mut draft = Draft::new(session);
    // First, so that the calls that wait for them have that as their result. In other cases nothing is open but what may have
    // happened, and people may still say what became of that.
    if let RunEnd::TimedOut | RunEnd::Interrupted { .. } = ending.how {
        let why = Cancellation::Terminated;
        withdraw_all(view, &mut draft, &why, &ending.how.to_string())?;
    }
    draft.event(Event::RunEnded {
        how: ending.how.clone(),
    });
    match &ending.next {
        // However it ended: what they said is answered.
        Some(task) if started.parent.is_none() && !ending.how.ends_the_session() => {
            draft.event(Event::RunStarted(Box::new(RunStarted {
                task: task.clone(),
                workflow: None,
                until: None,
                ..started
            })));
        }
        _ => tell_of_end(view, &mut draft, &run, &started, ending)?,
    }
    Ok(draft.finish(()))
}

/// Whoever waits for a run hears how it ended: the call it did, or the chat that is its session.
fn tell_of_end(
    view: &View<'_>,
    draft: &mut Draft,
    run: &RunHead,
    started: &RunStarted,
    ending: &Ending,
) -> Result<(), StoreError> {
    let session = &ending.session;
    if let Some(parent) = &started.parent {
        report(view, draft, parent, ending)?;
    } else if let Some(chat) = own_chat(session, &started.origin) {
        let key = format!("run:{session}:{}", run.row);
        say(draft, key, chat, last_message(ending));
    }
    Ok(())
}

/// The result of the call that this run did.
fn report(view: &View<'_>, draft: &mut Draft, parent: &Parent, ending: &Ending) -> Result<(), StoreError> {
    let result = match &ending.how {
        RunEnd::Completed => CallResult::new(true, &ending.words),
        how => CallResult::new(
            false,
            &format!("{how}; what it did until then has happened\n{}", ending.words),
        ),
    };
    match finish(view, &parent.call, &result) {
        Ok(finished) => {
            draft.events.extend(finished.events);
            draft.changes.extend(finished.changes);
            Ok(())
        }
        Err(FinishRefusal::Store(error)) => Err(error),
        // Nobody waits for it any more; the run ends all the same.
        Err(
            FinishRefusal::NotFound(_) | FinishRefusal::NotClaimed(_) | FinishRefusal::AlreadyFinished(_),
        ) => Ok(()),
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

fn open(view: &View<'_>, session: &SessionId) -> Result<Option<RunHead>, StoreError> {
    Ok(view.run(session)?.filter(|run| run.ended.is_none()))
}
