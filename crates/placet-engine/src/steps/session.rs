//! Ending a session, and withdrawing a question.

use placet_core::ids::{InteractionId, SessionId};
use placet_core::interaction::{Cancellation, Resolution};
use placet_core::journal::Event;
use placet_core::outcome::Outcome;
use placet_store::{Step, StoreError, View};

use super::settle::settle_waiting;
use super::{Draft, pending, resolve};

/// Ends a session: nothing runs in it any more, and whatever is open is withdrawn.
pub fn end_session(view: &View<'_>, session: &SessionId, by: &str) -> Result<Step<()>, StoreError> {
    if view.session(session)?.ended {
        return Ok(Step::nothing(()));
    }
    let mut draft = Draft::new(session);
    draft.event(Event::SessionEnded { by: by.to_owned() });
    for asked in view.pending_in_session(session)? {
        let why = Cancellation::Withdrawn { by: by.to_owned() };
        resolve(&mut draft, view, &asked, Resolution::Cancelled { why })?;
        settle_waiting(
            view,
            &mut draft,
            &asked,
            &Outcome::Cancelled {
                why: format!("the session was ended by {by}"),
            },
        )?;
    }
    Ok(draft.finish(()))
}

/// Withdraws one question. Whether it was still open.
pub fn cancel_question(
    view: &View<'_>,
    id: &InteractionId,
    why: Cancellation,
    outcome: &Outcome,
) -> Result<Step<bool>, StoreError> {
    let Some(question) = pending(view, id)? else {
        return Ok(Step::nothing(false));
    };
    let mut draft = Draft::new(&question.asked.session);
    resolve(&mut draft, view, &question.asked, Resolution::Cancelled { why })?;
    settle_waiting(view, &mut draft, &question.asked, outcome)?;
    Ok(draft.finish(true))
}
