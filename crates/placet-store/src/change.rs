//! Applies operational changes: the outbox, the memory of messages seen, the queue.

use placet_core::outgoing::{Change, OutKind, Outgoing};
use placet_core::push::Device;
use placet_core::shared::{SharedKey, SharedValue};
use placet_core::time::{Shift, Timestamp};

use crate::error::StoreError;
use crate::sql::{Affected, Connection, params};

/// When a change is made.
#[derive(Clone, Copy)]
struct Moment {
    now: Timestamp,
    /// How far outages have moved what is pending.
    shift: Shift,
}

impl Moment {
    /// A pending time as its column holds it.
    fn unshifted(self, at: Timestamp) -> i64 {
        (at - self.shift).as_millis()
    }
}

/// Applies one change. Answers how many items it removed from the outbox.
pub(crate) fn apply(
    conn: &Connection,
    change: &Change,
    now: Timestamp,
    shift: Shift,
) -> Result<u64, StoreError> {
    let Change::ForgetOutbox { before } = change else {
        return set(conn, change, Moment { now, shift }).map(|()| 0);
    };
    let sql = "DELETE FROM outbox WHERE state <> 'waiting' AND changed_at < ?1
               AND NOT EXISTS (SELECT 1 FROM interactions WHERE row = question AND interactions.state <> 'processed')
               AND NOT EXISTS (SELECT 1 FROM outbox AS other WHERE other.question = outbox.question AND other.state = 'waiting')";
    let forgotten = conn.prepare_cached(sql)?.execute([before.as_millis()])?;
    Ok(forgotten.count()? as u64)
}

fn set(conn: &Connection, change: &Change, at: Moment) -> Result<(), StoreError> {
    let wall = at.now.as_millis();
    match change {
        Change::Enqueue(item) => enqueue(conn, item, at),
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
                .execute(params![id, error, at.unshifted(*next), wall])?;
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
            at: came_at,
        } => {
            let sql = "INSERT INTO inbound VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            let new = conn.prepare_cached(sql)?.execute(params![
                channel.as_str(),
                message_id,
                came_at.as_millis()
            ])?;
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
        Change::ForgetOutbox { .. } => Ok(()),
        Change::TakeLease { .. }
        | Change::RenewLeases { .. }
        | Change::ReleaseLease(_)
        | Change::ForgetLeases { .. } => lease(conn, change, at),
        Change::AddDevice(device) => add_device(conn, device),
        Change::RemoveDevice(id) => {
            conn.prepare_cached("DELETE FROM devices WHERE id = ?1")?
                .execute([id.as_str()])?;
            Ok(())
        }
        Change::KeepPushKey(key) => {
            let sql = "INSERT INTO push_key VALUES (1, ?1) ON CONFLICT DO NOTHING";
            conn.prepare_cached(sql)?.execute([key])?;
            Ok(())
        }
        Change::ForgetInbound { before } => {
            conn.prepare_cached("DELETE FROM inbound WHERE at < ?1")?
                .execute([before.as_millis()])?;
            Ok(())
        }
        Change::Share { key, was, value } => share(conn, key, was.as_deref(), value),
        Change::ForgetShared { before } => {
            conn.prepare_cached("DELETE FROM shared WHERE until < ?1")?
                .execute([before.as_millis()])?;
            Ok(())
        }
    }
}

fn add_device(conn: &Connection, device: &Device) -> Result<(), StoreError> {
    let sql = "INSERT INTO devices VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO UPDATE SET
                   person = excluded.person, credential = excluded.credential, key = excluded.key, auth = excluded.auth,
                   locale = excluded.locale, added_at = excluded.added_at";
    conn.prepare_cached(sql)?.execute(params![
        device.id.as_str(),
        device.person.as_str(),
        device.credential,
        device.endpoint,
        device.key,
        device.auth,
        device.locale.tag(),
        device.added_at.as_millis(),
    ])?;
    Ok(())
}

fn share(
    conn: &Connection,
    key: &SharedKey,
    was: Option<&str>,
    value: &SharedValue,
) -> Result<(), StoreError> {
    let (kind, name, text) = (key.kind.as_str(), key.name.as_str(), value.text.as_str());
    let until = value.until.map(Timestamp::as_millis);
    let set = match was {
        None => conn
            .prepare_cached("INSERT INTO shared VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING")?
            .execute(params![kind, name, text, until])?,
        Some(was) => conn
            .prepare_cached(
                "UPDATE shared SET value = ?3, until = ?4 WHERE kind = ?1 AND name = ?2 AND value = ?5",
            )?
            .execute(params![kind, name, text, until, was])?,
    };
    one(set, || format!("the shared {kind} `{name}` has another value"))
}

fn lease(conn: &Connection, change: &Change, at: Moment) -> Result<(), StoreError> {
    match change {
        Change::TakeLease { fence, owner, until } => {
            let sql = "INSERT INTO leases SELECT ?1, ?2, ?3, ?4
                           WHERE ?3 = 1 + coalesce((SELECT fence FROM leases WHERE name = ?1), 0)
                       ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = excluded.fence, until = excluded.until";
            let until = at.unshifted(*until);
            let taken = conn.prepare_cached(sql)?.execute(params![
                fence.lease.as_str(),
                owner,
                fence.number,
                until
            ])?;
            one(taken, || format!("the lease `{}` was taken before", fence.lease))
        }
        Change::RenewLeases { owner, until } => {
            // Also those that are over: no other process took them, or it would be their owner.
            let sql = "UPDATE leases SET until = ?2 WHERE owner = ?1 AND until < ?2";
            conn.prepare_cached(sql)?
                .execute(params![owner, at.unshifted(*until)])?;
            Ok(())
        }
        Change::ReleaseLease(fence) => {
            let sql = "UPDATE leases SET owner = '', until = ?3 WHERE name = ?1 AND fence = ?2";
            let until = at.unshifted(at.now);
            conn.prepare_cached(sql)?
                .execute(params![fence.lease.as_str(), fence.number, until])?;
            Ok(())
        }
        Change::ForgetLeases { before } => {
            conn.prepare_cached("DELETE FROM leases WHERE until < ?1")?
                .execute([at.unshifted(*before)])?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn enqueue(conn: &Connection, item: &Outgoing, at: Moment) -> Result<(), StoreError> {
    let question = match &item.interaction {
        Some(id) => Some(crate::view::question_row(conn, id)?.ok_or_else(|| {
            StoreError::corrupt(format!(
                "outbox item `{}` is a copy of {id}, which was never asked",
                item.key
            ))
        })?),
        None => None,
    };
    // Before the item is there: one that is there already is not counted again.
    let sql = "UPDATE service SET queued = queued + 1 WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE key = ?1)";
    conn.prepare_cached(sql)?.execute([&item.key])?;
    let sql = "INSERT INTO outbox (key, channel, chat, question, kind, body, state, next, changed_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'waiting', ?7, ?8) ON CONFLICT (key) DO NOTHING";
    conn.prepare_cached(sql)?.execute(params![
        item.key,
        item.channel.as_str(),
        item.chat.as_str(),
        question,
        item.kind.as_str(),
        item.body,
        at.unshifted(at.now),
        at.now.as_millis(),
    ])?;
    let sql = match item.kind {
        OutKind::Question => "INSERT INTO copies VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        OutKind::Decided => "DELETE FROM copies WHERE channel = ?1 AND chat = ?2 AND question = ?3",
        OutKind::Message => return Ok(()),
    };
    conn.prepare_cached(sql)?
        .execute((item.channel.as_str(), item.chat.as_str(), question))?;
    Ok(())
}

/// A compare-and-set must have hit exactly one row.
pub(crate) fn one(affected: Affected<'_>, otherwise: impl FnOnce() -> String) -> Result<(), StoreError> {
    affected.one(otherwise)
}
