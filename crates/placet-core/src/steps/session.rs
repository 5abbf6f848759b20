//! What is said of a session as a whole: its end, its mode, its allow-list; withdrawing a question or a standing grant.

use crate::ids::{InteractionId, PersonId, SessionId, StandingGrantId, ToolName};
use crate::interaction::{Cancellation, Resolution};
use crate::journal::{Event, SYSTEM_SESSION};
use crate::outcome::Outcome;
use crate::policy::Mode;
use crate::record::SessionRecord;
use crate::snapshot::{Snapshot, Undecided};
use crate::step::{Decided, Refusal, Step};
use crate::time::Timestamp;

use super::settle::settle_waiting;
use super::{Draft, pending, resolve};

/// Ends a session: nothing runs in it any more, and whatever is open is withdrawn.
pub fn end_session(snapshot: &Snapshot, session: &SessionId, by: &str) -> Decided<()> {
    if snapshot.session(session)?.ended {
        return Ok(Step::nothing(()));
    }
    let mut draft = end_one(snapshot, session, by)?;
    // Runs that do its calls end with it, and so does whatever they ask.
    for child in snapshot.descendants(session)? {
        if !snapshot.session(child)?.ended {
            draft.append(end_one(snapshot, child, by)?);
        }
    }
    Ok(draft.finish(()))
}

fn end_one(snapshot: &Snapshot, session: &SessionId, by: &str) -> Result<Draft, Undecided> {
    let mut draft = Draft::new(session);
    draft.event(Event::SessionEnded { by: by.to_owned() });
    let why = Cancellation::Withdrawn { by: by.to_owned() };
    withdraw_all(
        snapshot,
        &mut draft,
        &why,
        &format!("the session was ended by {by}"),
    )?;
    Ok(draft)
}

/// Withdraws every open question of a draft's session; the calls that wait for them are told why.
pub(super) fn withdraw_all(
    snapshot: &Snapshot,
    draft: &mut Draft,
    why: &Cancellation,
    sentence: &str,
) -> Result<(), Undecided> {
    for asked in snapshot.pending_in_session(&draft.session)? {
        resolve(draft, snapshot, asked, Resolution::Cancelled { why: why.clone() })?;
        let outcome = Outcome::Cancelled {
            why: sentence.to_owned(),
        };
        settle_waiting(snapshot, draft, asked, &outcome)?;
    }
    Ok(())
}

/// Withdraws one question. Whether it was still open.
pub fn cancel_question(
    snapshot: &Snapshot,
    id: &InteractionId,
    why: &Cancellation,
    outcome: &Outcome,
) -> Decided<bool> {
    let Some(question) = pending(snapshot, id)? else {
        return Ok(Step::nothing(false));
    };
    let mut draft = Draft::new(&question.asked.session);
    let why = why.clone();
    resolve(
        &mut draft,
        snapshot,
        &question.asked,
        Resolution::Cancelled { why },
    )?;
    settle_waiting(snapshot, &mut draft, &question.asked, outcome)?;
    Ok(draft.finish(true))
}

/// Why a standing grant is not revoked.
#[derive(Debug, thiserror::Error)]
pub enum RevokeRefusal {
    /// No grant of that name is in force.
    #[error("there is no standing grant `{0}` in force")]
    NotFound(StandingGrantId),
}

impl Refusal for RevokeRefusal {}

/// Takes a standing grant back. What it let run before stays as it was.
pub fn revoke_standing(
    snapshot: &Snapshot,
    now: Timestamp,
    id: &StandingGrantId,
    by: &PersonId,
) -> Decided<(), RevokeRefusal> {
    let standing = snapshot.standing(id)?.as_ref();
    let Some(grant) = standing.filter(|grant| grant.ends_at > now) else {
        return Err(RevokeRefusal::NotFound(id.clone()).into());
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
fn everywhere() -> Result<SessionId, Undecided> {
    SessionId::new(SYSTEM_SESSION).map_err(|error| Undecided::Corrupt {
        what: error.to_string(),
    })
}

/// Why a session's settings stay as they are.
#[derive(Debug, thiserror::Error)]
pub enum SettingRefusal {
    /// Nothing happens in it any more.
    #[error("the session `{0}` has been ended")]
    SessionOver(SessionId),
}

impl Refusal for SettingRefusal {}

/// Changes how freely the agent of a session may act.
pub fn set_mode(
    snapshot: &Snapshot,
    session: &SessionId,
    mode: Mode,
    by: &PersonId,
) -> Decided<(), SettingRefusal> {
    let record = snapshot.session(session)?;
    if record.ended {
        return Err(SettingRefusal::SessionOver(session.clone()).into());
    }
    let mut draft = Draft::new(session);
    if record.mode != Some(mode) {
        draft.event(Event::ModeSet { mode, by: by.clone() });
    }
    // Runs that do its calls act as freely as it does, and no freer.
    for child in snapshot.descendants(session)? {
        if snapshot.session(child)?.mode != Some(mode) {
            let mut own = Draft::new(child);
            own.event(Event::ModeSet { mode, by: by.clone() });
            draft.append(own);
        }
    }
    Ok(draft.finish(()))
}

/// Puts a tool on a session's allow-list. HIGH risk, `strict` and rules still ask.
pub fn allow_tool(
    snapshot: &Snapshot,
    session: &SessionId,
    tool: &ToolName,
    by: &PersonId,
) -> Decided<(), SettingRefusal> {
    let record = snapshot.session(session)?;
    if record.ended {
        return Err(SettingRefusal::SessionOver(session.clone()).into());
    }
    let mut draft = Draft::new(session);
    add_to_allow_list(&mut draft, record, tool, by);
    Ok(draft.finish(()))
}

pub(super) fn add_to_allow_list(draft: &mut Draft, record: &SessionRecord, tool: &ToolName, by: &PersonId) {
    if !record.allow_list.contains(tool) {
        draft.event(Event::ToolAllowed {
            tool: tool.clone(),
            by: by.clone(),
        });
    }
}
