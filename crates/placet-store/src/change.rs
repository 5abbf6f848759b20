//! Applies operational changes: the outbox, the memory of messages seen, the queue.

use placet_core::outgoing::{Change, OutKind, Outgoing};
use placet_core::time::Now;
use rusqlite::{Connection, params};

use crate::error::StoreError;

/// Applies one change.
pub(crate) fn apply(conn: &Connection, change: &Change, now: Now) -> Result<(), StoreError> {
    let wall = now.wall.as_millis();
    match change {
        Change::Enqueue(item) => enqueue(conn, item, now),
        Change::Leaving { id, receipt } => {
            let sql = "UPDATE outbox SET receipt = ?2 WHERE id = ?1 AND state = 'waiting'";
            let leaving = conn.prepare_cached(sql)?.execute(params![id, receipt])?;
            one(leaving, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::Sent { id, receipt } => {
            let sql =
                "UPDATE outbox SET state = 'sent', attempts = attempts + 1, receipt = ?2, changed_at = ?3
                       WHERE id = ?1 AND state = 'waiting'";
            let sent = conn.prepare_cached(sql)?.execute(params![id, receipt, wall])?;
            one(sent, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::Failed { id, error, next } => {
            let sql = "UPDATE outbox SET attempts = attempts + 1, last_error = ?2, next = ?3, changed_at = ?4
                       WHERE id = ?1 AND state = 'waiting'";
            let failed = conn
                .prepare_cached(sql)?
                .execute(params![id, error, next.as_millis(), wall])?;
            one(failed, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::Dead { id, error } => {
            let sql = "UPDATE outbox SET state = 'dead', last_error = ?2, changed_at = ?3
                       WHERE id = ?1 AND state = 'waiting'";
            let dead = conn.prepare_cached(sql)?.execute(params![id, error, wall])?;
            one(dead, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::Refused { id, error } => {
            let sql = "UPDATE outbox SET state = 'dead', receipt = NULL, last_error = ?2, changed_at = ?3
                       WHERE id = ?1 AND state = 'waiting'";
            let refused = conn.prepare_cached(sql)?.execute(params![id, error, wall])?;
            one(refused, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::SeenInbound {
            channel,
            message_id,
            at,
        } => {
            let sql = "INSERT INTO inbound VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            let new =
                conn.prepare_cached(sql)?
                    .execute(params![channel.as_str(), message_id, at.as_millis()])?;
            one(new, || {
                format!("message `{message_id}` of `{channel}` came in before")
            })
        }
        Change::Took { queue_id } => {
            let taken = conn
                .prepare_cached("DELETE FROM queue WHERE row = ?1")?
                .execute([queue_id])?;
            one(taken, || format!("message {queue_id} is not in the queue"))
        }
        Change::ForgetOutbox { before } => {
            let sql = "DELETE FROM outbox WHERE state <> 'waiting' AND changed_at < ?1
                       AND NOT EXISTS (SELECT 1 FROM interactions WHERE row = question AND interactions.state <> 'processed')
                       AND NOT EXISTS (SELECT 1 FROM outbox AS other WHERE other.question = outbox.question AND other.state = 'waiting')";
            conn.prepare_cached(sql)?.execute([before.as_millis()])?;
            Ok(())
        }
        Change::ForgetInbound { before } => {
            conn.prepare_cached("DELETE FROM inbound WHERE at < ?1")?
                .execute([before.as_millis()])?;
            Ok(())
        }
    }
}

fn enqueue(conn: &Connection, item: &Outgoing, now: Now) -> Result<(), StoreError> {
    let question = match &item.interaction {
        Some(id) => Some(crate::view::question_row(conn, id)?.ok_or_else(|| {
            StoreError::corrupt(format!(
                "outbox item `{}` is a copy of {id}, which was never asked",
                item.key
            ))
        })?),
        None => None,
    };
    let sql = "INSERT INTO outbox (key, channel, chat, question, kind, body, state, next, changed_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'waiting', ?7, ?8) ON CONFLICT (key) DO NOTHING";
    let added = conn.prepare_cached(sql)?.execute(params![
        item.key,
        item.channel.as_str(),
        item.chat.as_str(),
        question,
        item.kind.as_str(),
        item.body,
        now.live.as_millis(),
        now.wall.as_millis(),
    ])?;
    if added > 0 {
        conn.prepare_cached("UPDATE service SET queued = queued + 1")?
            .execute([])?;
    }
    let sql = match item.kind {
        OutKind::Question => "INSERT INTO copies VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        OutKind::Decided => "DELETE FROM copies WHERE channel = ?1 AND chat = ?2 AND question = ?3",
        OutKind::Message => return Ok(()),
    };
    let copy = params![item.channel.as_str(), item.chat.as_str(), question];
    conn.prepare_cached(sql)?.execute(copy)?;
    Ok(())
}

/// A compare-and-set must have hit exactly one row.
pub(crate) fn one(rows: usize, otherwise: impl FnOnce() -> String) -> Result<(), StoreError> {
    if rows == 1 {
        Ok(())
    } else {
        Err(StoreError::corrupt(otherwise()))
    }
}
