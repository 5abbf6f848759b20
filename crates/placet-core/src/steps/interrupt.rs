//! Stopping the run of a session, together with the runs it handed work to.

use crate::ids::{PersonId, SessionId};
use crate::interaction::Cancellation;
use crate::journal::Event;
use crate::run::RunEnd;
use crate::snapshot::{Snapshot, Undecided};
use crate::step::{Decided, Step};

use super::host::{ResumeRefusal, RunHost};
use super::run::{Ending, tell_of_end};
use super::session::withdraw_all;
use super::{Draft, open_run};

/// Stops the run of a session and the runs it handed work to: open questions are withdrawn, the process that runs a call stops
/// it, and the driver ends the run. Returns whether a run was open.
pub fn interrupt_run(
    snapshot: &Snapshot,
    host: &RunHost,
    session: &SessionId,
    by: &PersonId,
) -> Decided<bool> {
    let Some(run) = open_run(snapshot, session)? else {
        return Ok(Step::nothing(false));
    };
    let mut draft = interrupt_one(snapshot, session, by)?;
    for child in snapshot.descendants(session)? {
        draft.append(interrupt_one(snapshot, child, by)?);
    }
    match host.resumes(session, &run.started) {
        // One process has the store, so a run that cannot go on here has no driver that would end it.
        Err(ResumeRefusal::Elsewhere { .. } | ResumeRefusal::NoModel { .. }) => {
            let how = RunEnd::Interrupted { by: by.to_string() };
            draft.append(end_family(snapshot, session, &how)?);
        }
        // Another agent of this process ends its own runs.
        Err(ResumeRefusal::NotYours(_)) | Ok(()) => {}
    }
    Ok(draft.finish(true))
}

fn interrupt_one(snapshot: &Snapshot, session: &SessionId, by: &PersonId) -> Result<Draft, Undecided> {
    let mut draft = Draft::new(session);
    draft.event(Event::RunInterrupted { by: by.clone() });
    let why = Cancellation::Withdrawn { by: by.to_string() };
    withdraw_all(snapshot, &mut draft, &why, &format!("interrupted by {by}"))?;
    Ok(draft)
}

/// Ends a run that has no driver, as failed, with the runs it handed work to.
pub(super) fn fail_family(snapshot: &Snapshot, session: &SessionId, why: &str) -> Result<Draft, Undecided> {
    let how = RunEnd::Failed { why: why.to_owned() };
    let mut draft = Draft::new(session);
    for one in snapshot.descendants(session)?.iter().chain([session]) {
        let mut open = Draft::new(one);
        withdraw_all(snapshot, &mut open, &Cancellation::Terminated, &how.to_string())?;
        draft.append(open);
    }
    draft.append(end_family(snapshot, session, &how)?);
    Ok(draft)
}

/// Ends the open run of a session and the runs it handed work to, children first: each is the result of a call of its parent.
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

#[cfg(test)]
mod tests;
