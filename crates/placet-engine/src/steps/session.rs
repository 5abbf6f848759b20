//! What is said of a session as a whole: its end, its mode, its allow-list; withdrawing a question or a standing grant.

use placet_core::ids::{InteractionId, PersonId, SessionId, StandingGrantId, ToolName};
use placet_core::interaction::{Cancellation, Resolution};
use placet_core::journal::{Event, SYSTEM_SESSION};
use placet_core::outcome::Outcome;
use placet_core::policy::Mode;
use placet_core::time::Now;
use placet_store::{Step, StoreError, View};

use super::settle::settle_waiting;
use super::{Draft, pending, resolve};

/// Ends a session: nothing runs in it any more, and whatever is open is withdrawn.
pub fn end_session(view: &View<'_>, session: &SessionId, by: &str) -> Result<Step<()>, StoreError> {
    if view.session(session)?.ended {
        return Ok(Step::nothing(()));
    }
    let mut draft = end_one(view, session, by)?;
    // Runs that do its calls end with it, and so does whatever they ask.
    for child in view.descendants(session)? {
        if !view.session_ended(&child)? {
            draft.append(end_one(view, &child, by)?);
        }
    }
    Ok(draft.finish(()))
}

fn end_one(view: &View<'_>, session: &SessionId, by: &str) -> Result<Draft, StoreError> {
    let mut draft = Draft::new(session);
    draft.event(Event::SessionEnded { by: by.to_owned() });
    let why = Cancellation::Withdrawn { by: by.to_owned() };
    withdraw_all(view, &mut draft, &why, &format!("the session was ended by {by}"))?;
    Ok(draft)
}

/// Withdraws every open question of a draft's session; the calls that wait for them are told why.
pub(super) fn withdraw_all(
    view: &View<'_>,
    draft: &mut Draft,
    why: &Cancellation,
    sentence: &str,
) -> Result<(), StoreError> {
    for asked in view.pending_in_session(&draft.session)? {
        resolve(draft, view, &asked, Resolution::Cancelled { why: why.clone() })?;
        let outcome = Outcome::Cancelled {
            why: sentence.to_owned(),
        };
        settle_waiting(view, draft, &asked, &outcome)?;
    }
    Ok(())
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

/// Why a standing grant is not taken back.
#[derive(Debug, thiserror::Error)]
pub enum RevokeRefusal {
    /// There is none by that name in force.
    #[error("there is no standing grant `{0}` in force")]
    NotFound(StandingGrantId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Takes a standing grant back. What it let run before stays as it was.
pub fn revoke_standing(
    view: &View<'_>,
    now: Now,
    id: &StandingGrantId,
    by: &PersonId,
) -> Result<Step<()>, RevokeRefusal> {
    let standing = view.all_standing(now.wall)?;
    let Some((grant, ..)) = standing
        .iter()
        .find(|(grant, _, revoked)| grant.id == *id && !revoked)
    else {
        return Err(RevokeRefusal::NotFound(id.clone()));
    };
    let session = grant.scope.session.clone().map_or_else(everywhere, Ok)?;
    let mut draft = Draft::new(&session);
    draft.event(Event::StandingRevoked {
        id: id.clone(),
        by: by.clone(),
    });
    Ok(draft.finish(()))
}

/// Where events are kept that concern no session in particular.
fn everywhere() -> Result<SessionId, StoreError> {
    SessionId::new(SYSTEM_SESSION).map_err(|error| StoreError::Corrupt {
        what: error.to_string(),
    })
}

/// Why a session's settings stay as they are.
#[derive(Debug, thiserror::Error)]
pub enum SettingRefusal {
    /// Nothing happens in it any more.
    #[error("the session `{0}` has been ended")]
    SessionOver(SessionId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes how freely the agent of a session may act.
pub fn set_mode(
    view: &View<'_>,
    session: &SessionId,
    mode: Mode,
    by: &PersonId,
) -> Result<Step<()>, SettingRefusal> {
    let record = view.session(session)?;
    if record.ended {
        return Err(SettingRefusal::SessionOver(session.clone()));
    }
    let mut draft = Draft::new(session);
    if record.mode != Some(mode) {
        draft.event(Event::ModeSet { mode, by: by.clone() });
    }
    // Runs that do its calls act as freely as it does, and no freer.
    for child in view.descendants(session)? {
        if view.session(&child)?.mode != Some(mode) {
            let mut own = Draft::new(&child);
            own.event(Event::ModeSet { mode, by: by.clone() });
            draft.append(own);
        }
    }
    Ok(draft.finish(()))
}

/// Puts a tool on a session's allow-list. HIGH risk, `strict` and rules are asked about all the same.
pub fn allow_tool(
    view: &View<'_>,
    session: &SessionId,
    tool: &ToolName,
    by: &PersonId,
) -> Result<Step<()>, SettingRefusal> {
    let record = view.session(session)?;
    if record.ended {
        return Err(SettingRefusal::SessionOver(session.clone()));
    }
    let mut draft = Draft::new(session);
    if !record.allow_list.contains(tool) {
        draft.event(Event::ToolAllowed {
            tool: tool.clone(),
            by: by.clone(),
        });
    }
    Ok(draft.finish(()))
}
