//! What events change about questions.

use placet_core::history::Ending;
use placet_core::ids::InteractionId;
use placet_core::interaction::{Asked, Audience, Resolution, Subject};
use placet_core::journal::Event;
use placet_core::time::Timestamp;

use super::{At, calls};
use crate::change::one;
use crate::error::StoreError;
use crate::sql::{Connection, params};
use crate::view::{View, question_row};

pub(super) fn asked(conn: &Connection, at: At<'_>, asked: &Asked) -> Result<(), StoreError> {
    if asked.session != *at.name {
        return Err(StoreError::corrupt(format!(
            "{} of session `{}` was asked in session `{}`",
            asked.id, asked.session, at.name
        )));
    }
    listed(conn, at, asked)?;
    // Only a question about a call itself can be shared by the same call dispatched again.
    let digest = match &asked.subject {
        Subject::Call { digest, .. } => Some(digest.0.as_bytes()),
        Subject::UnknownOutcome { .. } | Subject::Breaker { .. } | Subject::Request { .. } => None,
    };
    let sql = "INSERT INTO pending VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    conn.prepare_cached(sql)?.execute(params![
        at.row,
        at.session,
        at.unshifted(asked.deadline),
        asked
            .escalation
            .as_ref()
            .map(|escalation| at.unshifted(escalation.at)),
        asked.chat.as_ref().map(|chat| chat.channel.as_str()),
        asked.chat.as_ref().map(|chat| chat.id.as_str()),
        digest,
        asked.agent().as_str(),
    ])?;
    if let Audience::People(people) = &asked.audience {
        let mut statement = conn.prepare_cached("INSERT INTO asks VALUES (?1, ?2)")?;
        for person in people {
            statement.execute((person.as_str(), at.row))?;
        }
    }
    if let Some(call) = asked.call() {
        calls::park(conn, at, call)?;
    }
    if let Subject::Breaker { .. } = asked.subject {
        // Asking how to go on answers for the rejections so far: counting starts again.
        conn.prepare_cached("UPDATE sessions SET rejections = 0 WHERE id = ?1")?
            .execute([at.session])?;
    }
    Ok(())
}

/// What lists of questions search and count. Tool and rule are those of the call; of changed arguments, the rule that judged those.
fn listed(conn: &Connection, at: At<'_>, asked: &Asked) -> Result<(), StoreError> {
    let sql = "INSERT INTO interactions (row, id, session, state, asked_at, risk, edited, tool, rule) VALUES (?1, ?2, ?3, 'pending', ?4, ?5, ?6,
                   (SELECT tool FROM calls WHERE agent = ?7 AND call = ?8),
                   CASE WHEN ?9 = 1 THEN ?10 ELSE (SELECT rule FROM calls WHERE agent = ?7 AND call = ?8) END)";
    let (call, judgement) = (asked.call(), asked.judgement());
    conn.prepare_cached(sql)?.execute(params![
        at.row,
        asked.id.as_str(),
        at.session,
        at.wall,
        asked.risk.as_str(),
        asked.edited_args().is_some(),
        call.map(|call| call.agent.as_str()),
        call.map(|call| call.call.as_str()),
        judgement.is_some(),
        judgement.and_then(|judgement| judgement.verdict.rule.as_deref()),
    ])?;
    Ok(())
}

/// A vote or an escalation. Rare, so the question is read and evolved: what core refuses is refused here.
pub(super) fn progressed(
    conn: &Connection,
    at: At<'_>,
    id: &InteractionId,
    event: &Event,
) -> Result<(), StoreError> {
    let unknown = || StoreError::corrupt(format!("{id} was never asked"));
    let interaction = View::new(conn).interaction(id)?.ok_or_else(unknown)?;
    interaction
        .evolve(event, Timestamp::from_millis(at.wall))
        .map_err(|error| StoreError::corrupt(error.to_string()))?;
    let question = question_row(conn, id)?.ok_or_else(unknown)?;
    conn.prepare_cached("INSERT INTO progress VALUES (?1, ?2)")?
        .execute((question, at.row))?;
    if matches!(event, Event::Escalated { .. }) {
        conn.prepare_cached("UPDATE pending SET escalate_at = NULL WHERE row = ?1")?
            .execute([question])?;
    }
    Ok(())
}

pub(super) fn commented(conn: &Connection, at: At<'_>, id: &InteractionId) -> Result<(), StoreError> {
    let sql = "INSERT INTO comments SELECT row, ?2 FROM interactions WHERE id = ?1 AND session = ?3";
    let kept = conn
        .prepare_cached(sql)?
        .execute(params![id.as_str(), at.row, at.session])?;
    one(kept, || format!("{id} was never asked in this session"))
}

pub(super) fn resolved(
    conn: &Connection,
    at: At<'_>,
    id: &InteractionId,
    resolution: &Resolution,
) -> Result<(), StoreError> {
    let sql = "UPDATE interactions SET state = ?3, resolved = ?4, settled_at = ?5, outcome = ?6
               WHERE id = ?1 AND state = 'pending' AND session = ?2";
    let resolved = conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        at.session,
        resolution.name(),
        at.row,
        at.wall,
        Ending::of(resolution).as_str(),
    ])?;
    one(resolved, || {
        format!(
            "{id} cannot be {}: it is not open in this session",
            resolution.name()
        )
    })?;
    let sql = "DELETE FROM asks WHERE question = (SELECT row FROM interactions WHERE id = ?1)";
    conn.prepare_cached(sql)?.execute([id.as_str()])?;
    let sql = "DELETE FROM pending WHERE row = (SELECT row FROM interactions WHERE id = ?1)";
    let closed = conn.prepare_cached(sql)?.execute([id.as_str()])?;
    one(closed, || format!("{id} is open, but not listed as such"))?;
    if let Resolution::Answered { by, .. } = resolution {
        let sql =
            "INSERT INTO deciders SELECT row, ?2 FROM interactions WHERE id = ?1 ON CONFLICT DO NOTHING";
        let mut statement = conn.prepare_cached(sql)?;
        for person in by {
            statement.execute((id.as_str(), person.as_str()))?;
        }
    }
    Ok(())
}

pub(super) fn processed(conn: &Connection, id: &InteractionId) -> Result<(), StoreError> {
    let sql =
        "UPDATE interactions SET state = 'processed' WHERE id = ?1 AND state NOT IN ('pending', 'processed')";
    let processed = conn.prepare_cached(sql)?.execute([id.as_str()])?;
    one(processed, || {
        format!("{id} cannot be processed: it is open, or was processed before")
    })
}
