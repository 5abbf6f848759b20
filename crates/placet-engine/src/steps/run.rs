//! Runs of the built-in agent: somebody says something, the model speaks, the run ends.

use placet_core::call::Origin;
use placet_core::ids::{PersonId, SessionId};
use placet_core::journal::Event;
use placet_core::run::{Limits, ModelTurn, RunEnd, RunStarted};
use placet_store::{RunHead, Step, StoreError, View};

use super::Draft;
use super::session::withdraw_all;

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
    /// The limits of a run that begins with it.
    pub limits: Limits,
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
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Begins a run, or tells the one that is going on.
pub fn tell(view: &View<'_>, saying: &Saying) -> Result<Step<Said>, RunRefusal> {
    let session = &saying.session;
    if view.session_ended(session)? {
        return Err(RunRefusal::SessionOver(session.clone()));
    }
    let mut draft = Draft::new(session);
    if open(view, session)?.is_some() {
        draft.event(Event::UserSaid {
            text: saying.text.clone(),
            by: saying.origin.user.clone(),
        });
        return Ok(draft.finish(Said::Queued));
    }
    draft.event(Event::RunStarted(Box::new(RunStarted {
        task: saying.text.clone(),
        model: saying.model.clone(),
        limits: saying.limits,
        origin: saying.origin.clone(),
    })));
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

/// Stops what the run of a session is doing: what is open in it is withdrawn, what runs is stopped by whoever runs it, and the
/// run ends. Whether one was going on.
pub fn interrupt_run(view: &View<'_>, session: &SessionId, by: &PersonId) -> Result<Step<bool>, StoreError> {
    if open(view, session)?.is_none() {
        return Ok(Step::nothing(false));
    }
    let mut draft = Draft::new(session);
    draft.event(Event::RunInterrupted { by: by.clone() });
    withdraw_all(view, &mut draft, by.as_str(), &format!("interrupted by {by}"))?;
    Ok(draft.finish(true))
}

/// Ends a run that has come as far as `seen`: `turns` of the model and `said` messages. What is said last is still heard.
pub fn end_run(
    view: &View<'_>,
    session: &SessionId,
    how: RunEnd,
    (turns, said): (u32, u32),
) -> Result<Step<()>, RunRefusal> {
    let seen = open(view, session)?.is_some_and(|run| run.turns == turns && run.said == said);
    if !seen {
        return Err(RunRefusal::Stale(session.clone()));
    }
    let mut draft = Draft::new(session);
    draft.event(Event::RunEnded { how });
    Ok(draft.finish(()))
}

fn open(view: &View<'_>, session: &SessionId) -> Result<Option<RunHead>, StoreError> {
    Ok(view.run(session)?.filter(|run| run.ended.is_none()))
}
