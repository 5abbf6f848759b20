//! Checkpoints: a second chain, over the journal as a whole.
//!
//! A session's own chain cannot show that the session was cut short or removed with its chain, nor in which order rows
//! of different sessions came. A checkpoint covers the rows since the one before it: their order, and the head of every
//! session among them. Rows after the last checkpoint are covered by their session's chain only, until the next one is
//! written: every `checkpoint_rows` rows, on request, and on closing.

use std::collections::BTreeMap;

use placet_core::digest::Digest;
use placet_core::journal::{checkpoint_hash, genesis};
use placet_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::tail::Tail;

/// The newest checkpoint; before the first one there is a beginning with no rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Last {
    pub(crate) id: u64,
    /// Up to which row it covers the journal.
    pub(crate) rows: u64,
    pub(crate) hash: Digest,
}

impl Last {
    pub(crate) fn beginning() -> Self {
        Self {
            id: 0,
            rows: 0,
            hash: genesis(),
        }
    }

    pub(crate) fn read(conn: &Connection) -> Result<Self, StoreError> {
        let sql = "SELECT id, rows, hash FROM checkpoints ORDER BY id DESC LIMIT 1";
        let found = conn
            .prepare_cached(sql)?
            .query_row([], |row| {
                Ok(Self {
                    id: row.get(0)?,
                    rows: row.get(1)?,
                    hash: Digest::from_bytes(row.get(2)?),
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
pub(crate) struct Heads {
    /// The digest of the rows' hashes, in the order of the rows.
    pub(crate) order: Digest,
    /// Session, number and hash of each head, by name.
    pub(crate) heads: Vec<(String, u64, Digest)>,
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

    pub(crate) fn heads(&self) -> Heads {
        Heads {
            order: Digest::of("placet/order/1", &[&self.hashes]),
            heads: self
                .heads
                .iter()
                .map(|(session, (seq, hash))| (session.clone(), *seq, *hash))
                .collect(),
        }
    }
}

impl Heads {
    pub(crate) fn text(&self) -> Result<String, StoreError> {
        serde_json::to_string(self).map_err(|error| StoreError::Io(error.to_string()))
    }
}

/// Writes a checkpoint when at least `rows_min` of the journal's `rows` rows are not covered by one. Inside the caller's
/// transaction.
pub(crate) fn write(
    conn: &Connection,
    tail: &mut Tail,
    rows: u64,
    rows_min: u64,
    at: Timestamp,
) -> Result<(), StoreError> {
    let (last, interval) = tail.uncovered(conn)?;
    if rows.saturating_sub(last.rows) < rows_min.max(1) {
        return Ok(());
    }
    let text = std::mem::take(interval).heads().text()?;
    let hash = checkpoint_hash(&last.hash, rows, at, text.as_bytes());
    let id = last.id.saturating_add(1);
    conn.prepare_cached("INSERT INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![id, rows, at.as_millis(), text, hash.as_bytes()])?;
    conn.prepare_cached("UPDATE service SET checkpoints = ?1")?
        .execute([id])?;
    *last = Last { id, rows, hash };
    Ok(())
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
        interval.push(row.get_ref(0)?.as_str().unwrap_or_default(), row.get(1)?, hash);
    }
    Ok(interval)
}
