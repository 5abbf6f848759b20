//! Checkpoints: a second chain, over the journal as a whole.
//!
//! A session's own chain cannot show that the session was cut short or removed with its chain, nor in which order rows
//! of different sessions came. A checkpoint covers the rows since the one before it: their order, and the head of every
//! session among them. Rows after the last checkpoint are covered by their session's chain only, until the next one is
//! written: every `checkpoint_rows` rows, on request, and on closing.
//!
//! It also covers the outbox, which is not part of the journal: how many items were put into it, and how many of them the clean-up
//! removed. A clean-up therefore writes a checkpoint in its own transaction. An item removed by anything else is missed.

use std::collections::BTreeMap;

use placet_core::digest::Digest;
use placet_core::journal::{checkpoint_hash, genesis};
use placet_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::heads::Heads;
use crate::sql::{Connection, OptionalExtension, params};

/// The newest checkpoint; before the first one there is a beginning with no rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Last {
    pub(crate) id: u64,
    /// Up to which row it covers the journal.
    pub(crate) rows: u64,
    pub(crate) hash: Digest,
    pub(crate) outbox: Outbox,
}

/// Items of the outbox, counted from the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outbox {
    pub(crate) queued: u64,
    /// How many of them the clean-up removed.
    pub(crate) forgotten: u64,
}

impl Last {
    pub(crate) fn beginning() -> Self {
        Self {
            id: 0,
            rows: 0,
            hash: genesis(),
            outbox: Outbox::default(),
        }
    }

    pub(crate) fn read(conn: &Connection) -> Result<Self, StoreError> {
        #[derive(Deserialize)]
        struct OfOutbox {
            #[serde(default)]
            outbox: Outbox,
        }
        let sql = "SELECT id, rows, hash, heads FROM checkpoints ORDER BY id DESC LIMIT 1";
        let found = conn
            .prepare_cached(sql)?
            .query_row([], |row| {
                Ok(Self {
                    id: row.get(0)?,
                    rows: row.get(1)?,
                    hash: Digest::from_bytes(row.get(2)?),
                    // Checkpoints of older versions, and damaged ones, say nothing about the outbox.
                    outbox: serde_json::from_slice(row.bytes(3)?)
                        .map(|covered: OfOutbox| covered.outbox)
                        .unwrap_or_default(),
                })
            })
            .optional()?;
        Ok(found.unwrap_or_else(Self::beginning))
    }
}

/// The rows between two checkpoints, as far as a checkpoint covers them.
#[derive(Debug, Default)]
pub(crate) struct Interval {
    hashes: Vec<u8>,
    heads: BTreeMap<String, (u64, Digest)>,
}

/// What a checkpoint's hash covers, as stored.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Covered {
    /// The digest of the rows' hashes, in the order of the rows.
    pub(crate) order: Digest,
    /// Session, number and hash of each head, by name.
    pub(crate) heads: Vec<(String, u64, Digest)>,
    /// Missing in checkpoints of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outbox: Option<Outbox>,
}

impl Interval {
    pub(crate) fn push(&mut self, session: &str, seq: u64, hash: Digest) {
        self.hashes.extend_from_slice(hash.as_bytes());
        match self.heads.get_mut(session) {
            Some(head) => *head = (seq, hash),
            None => {
                self.heads.insert(session.to_owned(), (seq, hash));
            }
        }
    }

    pub(crate) fn heads(&self) -> Covered {
        Covered {
            order: Digest::of("placet/order/1", &[&self.hashes]),
            heads: self
                .heads
                .iter()
                .map(|(session, (seq, hash))| (session.clone(), *seq, *hash))
                .collect(),
            outbox: None,
        }
    }
}

impl Covered {
    pub(crate) fn text(&self) -> Result<String, StoreError> {
        serde_json::to_string(self).map_err(|error| StoreError::Io(error.to_string()))
    }
}

/// Writes a checkpoint when at least `rows_min` of the journal's `rows` rows are not covered by one, or when the caller's
/// transaction removed `forgotten` items of the outbox. With a `rows_min` of 1 items that were put there count like rows.
pub(crate) fn write(
    conn: &Connection,
    tail: &mut Heads,
    rows: u64,
    rows_min: u64,
    forgotten: u64,
    at: Timestamp,
) -> Result<(), StoreError> {
    let last = tail.last_checkpoint(conn)?;
    let is_due = rows.saturating_sub(last.rows) >= rows_min.max(1) || forgotten > 0;
    if !is_due && rows_min > 1 {
        return Ok(());
    }
    let outbox = Outbox {
        queued: queued(conn)?.max(last.outbox.queued),
        forgotten: last.outbox.forgotten.saturating_add(forgotten),
    };
    if !is_due && outbox == last.outbox {
        return Ok(());
    }
    let mut heads = tail.uncovered(conn, &last)?.heads();
    heads.outbox = Some(outbox);
    let text = heads.text()?;
    let hash = checkpoint_hash(&last.hash, rows, at, text.as_bytes());
    let id = last.id.saturating_add(1);
    conn.prepare_cached("INSERT INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![id, rows, at.as_millis(), text, hash.as_bytes()])?;
    conn.prepare_cached("UPDATE service SET checkpoints = ?1, queued = ?2")?
        .execute((id, outbox.queued))?;
    tail.covered(Last {
        id,
        rows,
        hash,
        outbox,
    });
    Ok(())
}

fn queued(conn: &Connection) -> Result<u64, StoreError> {
    let sql = "SELECT queued FROM service";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// Restores the count of the outbox to at least what the newest checkpoint says. New items would make up for a lowered count,
/// and nothing would be missed any more.
pub(crate) fn restore_count(conn: &Connection) -> Result<(), StoreError> {
    let covered = Last::read(conn)?.outbox.queued;
    conn.prepare_cached("UPDATE service SET queued = ?1 WHERE queued < ?1")?
        .execute([covered])?;
    conn.flush()
}

/// The rows after row `covered`.
pub(crate) fn uncovered(conn: &Connection, covered: u64) -> Result<Interval, StoreError> {
    let sql = "SELECT name, seq, hash FROM journal JOIN sessions ON sessions.id = journal.session
               WHERE journal.id > ?1 ORDER BY journal.id";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([covered])?;
    let mut interval = Interval::default();
    while let Some(row) = rows.next()? {
        let hash = Digest::from_bytes(row.get(2)?);
        interval.push(row.text(0)?, row.get(1)?, hash);
    }
    Ok(interval)
}
