//! Runs of the built-in agent: the model speaks, the run ends.

use crate::call::{Chat, Origin};
use crate::ids::SessionId;
use crate::interaction::Cancellation;
use crate::journal::{CallResult, Event};
use crate::record::RunRecord;
use crate::run::{ModelTurn, Parent, RunEnd, RunStarted};
use crate::snapshot::{Snapshot, Undecided};
use crate::step::{Decided, Refusal, Stop};

use super::claim::{FinishRefusal, finish};
use super::session::withdraw_all;
use super::{Draft, open_run, say};

/// Why a step of a run is not taken.
#[derive(Debug, thiserror::Error)]
pub enum RunRefusal {
    /// Nothing happens in this session any more.
    #[error("the session `{0}` has been ended")]
    SessionOver(SessionId),
    /// Something happened since the step was thought of: the caller looks again.
    #[error("the run of session `{0}` has gone on meanwhile")]
    Stale(SessionId),
}

impl Refusal for RunRefusal {}

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
    /// Messages that came after the interruption: another run begins with that.
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

/// Tells how a run ended: the call it did, or the chat that is its session.
pub(super) fn tell_of_end(
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
    match finish(snapshot, &parent.call, None, &result) {
        Ok(finished) => {
            draft.events.extend(finished.events);
            draft.changes.extend(finished.changes);
            Ok(())
        }
        Err(Stop::Undecided(undecided)) => Err(undecided),
        // The call has its result already, or is gone. The run ends all the same.
        Err(Stop::Refused(
            FinishRefusal::NotFound(_)
            | FinishRefusal::NotClaimed(_)
            | FinishRefusal::Superseded(_)
            | FinishRefusal::AlreadyFinished(_),
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
