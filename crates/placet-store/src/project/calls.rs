//! What events change about calls and their grants.

use placet_core::call::{CallDigest, ToolCall};
use placet_core::findings::Judgement;
use placet_core::ids::InteractionId;
use placet_core::interaction::CallKey;
use placet_core::outcome::Outcome;
use placet_core::snapshot::place;
use placet_core::time::Timestamp;
use placet_core::verdict::Verdict;

use super::At;
use crate::change::one;
use crate::error::StoreError;
use crate::sql::{Connection, params};

/// A call that is settled at once is granted or refused; another stays `received` until a later event of the same step says more.
pub(super) fn received(
    conn: &Connection,
    at: At<'_>,
    call: &ToolCall,
    digest: CallDigest,
    verdict: &Verdict,
    outcome: Option<&Outcome>,
) -> Result<(), StoreError> {
    if call.session != *at.name {
        return Err(StoreError::corrupt(format!(
            "call `{}` of session `{}` was received in session `{}`",
            call.id, call.session, at.name
        )));
    }
    let (state, number, grant): (_, Option<u32>, _) = match outcome.map(Outcome::permits) {
        Some(true) => ("granted", Some(1), Some("issued")),
        Some(false) => ("refused", None, None),
        None => ("received", None, None),
    };
    let sql = "INSERT INTO calls (id, agent, call, session, digest, tool, place, memorable, state, grant_number, grant_state, rule)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    conn.prepare_cached(sql)?.execute(params![
        at.row,
        call.origin.agent.as_str(),
        call.id.as_str(),
        at.session,
        digest.0.as_bytes(),
        call.tool.as_str(),
        place(call),
        verdict.is_memorable(),
        state,
        number,
        grant,
        verdict.rule,
    ])?;
    Ok(())
}

pub(super) fn joined(
    conn: &Connection,
    at: At<'_>,
    call: &CallKey,
    same_as: &CallKey,
    interaction: &InteractionId,
) -> Result<(), StoreError> {
    let sql = "UPDATE calls SET state = 'same', same_as =
                   (SELECT id FROM calls AS other WHERE other.agent = ?4 AND other.call = ?5)
               WHERE agent = ?1 AND call = ?2 AND session = ?3 AND state = 'received'
                   AND EXISTS (SELECT 1 FROM calls AS other JOIN interactions ON interactions.row = other.parked_on
                       WHERE other.agent = ?4 AND other.call = ?5 AND other.state = 'parked' AND interactions.id = ?6)";
    let joined = conn.prepare_cached(sql)?.execute(params![
        call.agent.as_str(),
        call.call.as_str(),
        at.session,
        same_as.agent.as_str(),
        same_as.call.as_str(),
        interaction.as_str(),
    ])?;
    one(joined, || {
        format!(
            "call `{}` cannot wait for {interaction} with `{}`",
            call.call, same_as.call
        )
    })
}

/// Parks a call on a question. A call moves to another question only when its old one is settled or its grant unknown.
pub(super) fn park(conn: &Connection, at: At<'_>, call: &CallKey) -> Result<(), StoreError> {
    let sql = "UPDATE calls SET state = 'parked', parked_on = ?4
               WHERE agent = ?1 AND call = ?2 AND session = ?3 AND (
                   state = 'received'
                   OR (state = 'parked' AND NOT EXISTS (SELECT 1 FROM pending WHERE row = parked_on))
                   OR (state = 'granted' AND grant_state = 'unknown'))";
    let parked = conn.prepare_cached(sql)?.execute(params![
        call.agent.as_str(),
        call.call.as_str(),
        at.session,
        at.row
    ])?;
    one(parked, || {
        format!(
            "call `{}` of `{}` cannot be parked: it is decided, or its question is still open",
            call.call, call.agent
        )
    })
}

pub(super) fn settled(
    conn: &Connection,
    at: At<'_>,
    call: &CallKey,
    outcome: &Outcome,
    grant: Option<u32>,
) -> Result<(), StoreError> {
    if outcome.permits() != grant.is_some() {
        return Err(StoreError::corrupt(format!(
            "call `{}` was settled as {} with {} grant",
            call.call,
            outcome.status().as_str(),
            if grant.is_some() { "a" } else { "no" }
        )));
    }
    let sql =
        "UPDATE calls SET question = parked_on, parked_on = NULL, settled = ?4, lease = NULL, process = NULL,
                   state = CASE WHEN ?5 IS NULL THEN 'refused' ELSE 'granted' END,
                   grant_number = coalesce(?5, grant_number),
                   grant_state = CASE WHEN ?5 IS NULL THEN grant_state ELSE 'issued' END
               WHERE agent = ?1 AND call = ?2 AND session = ?3
                   AND (state IN ('received', 'parked') OR (state = 'granted' AND grant_state = 'unknown'))
                   AND (?5 IS NULL OR ?5 = coalesce(grant_number, 0) + 1)
                   AND NOT EXISTS (SELECT 1 FROM pending WHERE row = parked_on)";
    let settled = conn.prepare_cached(sql)?.execute(params![
        call.agent.as_str(),
        call.call.as_str(),
        at.session,
        at.row,
        grant
    ])?;
    one(settled, || {
        format!(
            "call `{}` of `{}` cannot be settled: it does not wait, its question is still open, or its grant is not the next",
            call.call, call.agent
        )
    })?;
    match outcome {
        Outcome::Approved {
            digest,
            edited,
            remembered_until,
            ..
        } => {
            if edited.is_some() {
                changed(conn, call, outcome.judgement())?;
            }
            approved(conn, at, call, *digest, *remembered_until)
        }
        Outcome::Rejected { .. } => rejected(conn, at, call),
        _ => Ok(()),
    }
}

/// A person approved other arguments: the question is listed as edited, with their risk.
fn changed(conn: &Connection, call: &CallKey, judgement: Option<&Judgement>) -> Result<(), StoreError> {
    let sql = "UPDATE interactions SET edited = 1, risk = coalesce(?3, risk)
               WHERE row = (SELECT question FROM calls WHERE agent = ?1 AND call = ?2)";
    let risk = judgement.map(|judgement| judgement.verdict.risk.as_str());
    conn.prepare_cached(sql)?
        .execute(params![call.agent.as_str(), call.call.as_str(), risk])?;
    Ok(())
}

fn approved(
    conn: &Connection,
    at: At<'_>,
    call: &CallKey,
    digest: CallDigest,
    until: Option<Timestamp>,
) -> Result<(), StoreError> {
    let reset = "UPDATE sessions SET rejections = 0 WHERE id = ?1 AND rejections > 0";
    conn.prepare_cached(reset)?.execute([at.session])?;
    let Some(until) = until else { return Ok(()) };
    let sql = "INSERT INTO memory SELECT place, tool, ?3, ?4 FROM calls WHERE agent = ?1 AND call = ?2
               ON CONFLICT (place, tool, digest) DO UPDATE SET until = excluded.until";
    conn.prepare_cached(sql)?.execute(params![
        call.agent.as_str(),
        call.call.as_str(),
        digest.0.as_bytes(),
        until.as_millis(),
    ])?;
    Ok(())
}

fn rejected(conn: &Connection, at: At<'_>, call: &CallKey) -> Result<(), StoreError> {
    let count = "UPDATE sessions SET rejections = rejections + 1 WHERE id = ?1";
    conn.prepare_cached(count)?.execute([at.session])?;
    let sql = "INSERT INTO rejected SELECT ?1, digest, ?2 FROM calls WHERE agent = ?3 AND call = ?4
               ON CONFLICT (session, digest) DO UPDATE SET row = excluded.row";
    conn.prepare_cached(sql)?.execute(params![
        at.session,
        at.row,
        call.agent.as_str(),
        call.call.as_str()
    ])?;
    Ok(())
}

pub(super) fn claimed(
    conn: &Connection,
    at: At<'_>,
    call: &CallKey,
    grant: u32,
    (lease, process): (Option<Timestamp>, Option<&str>),
) -> Result<(), StoreError> {
    let sql = "UPDATE calls SET grant_state = 'claimed', lease = ?5, process = ?6
               WHERE agent = ?1 AND call = ?2 AND session = ?3 AND state = 'granted'
                   AND grant_number = ?4 AND grant_state = 'issued'";
    let claimed = conn.prepare_cached(sql)?.execute(params![
        call.agent.as_str(),
        call.call.as_str(),
        at.session,
        grant,
        lease.map(|lease| at.unshifted(lease)),
        process,
    ])?;
    one(claimed, || cannot(call, grant, "claimed"))
}

/// A late result of a call whose outcome was unknown counts too, even while a request about it is pending.
pub(super) fn finished(conn: &Connection, at: At<'_>, call: &CallKey, grant: u32) -> Result<(), StoreError> {
    let sql = "UPDATE calls SET state = 'granted', parked_on = NULL, grant_state = 'done', lease = NULL, process = NULL, result = ?5
               WHERE agent = ?1 AND call = ?2 AND session = ?3 AND state IN ('granted', 'parked')
                   AND grant_number = ?4 AND grant_state IN ('claimed', 'unknown')";
    let finished = conn.prepare_cached(sql)?.execute(params![
        call.agent.as_str(),
        call.call.as_str(),
        at.session,
        grant,
        at.row,
    ])?;
    one(finished, || cannot(call, grant, "finished"))
}

pub(super) fn lost_track(
    conn: &Connection,
    at: At<'_>,
    call: &CallKey,
    grant: u32,
) -> Result<(), StoreError> {
    let sql = "UPDATE calls SET grant_state = 'unknown', lease = NULL, process = NULL
               WHERE agent = ?1 AND call = ?2 AND session = ?3 AND state = 'granted'
                   AND grant_number = ?4 AND grant_state = 'claimed'";
    let lost = conn.prepare_cached(sql)?.execute(params![
        call.agent.as_str(),
        call.call.as_str(),
        at.session,
        grant
    ])?;
    one(lost, || cannot(call, grant, "unknown"))
}

fn cannot(call: &CallKey, grant: u32, become_what: &str) -> String {
    format!(
        "grant {grant} of call `{}` of `{}` cannot become {become_what}",
        call.call, call.agent
    )
}
