//! A view: what a step or a reader may look at. Reads only.

use placet_core::call::CallDigest;
use placet_core::digest::Digest;
use placet_core::ids::{ChannelName, IdError, InteractionId};
use placet_core::journal::{Event, SYSTEM_SESSION};
use placet_core::listing::{Before, Counts};
use placet_core::snapshot::Epoch;
use placet_core::time::{Shift, Timestamp};
use serde::de::DeserializeOwned;

use crate::error::StoreError;
use crate::sql::{Connection, OptionalExtension, Row};

mod calls;
mod devices;
mod history;
mod insights;
mod leases;
mod memory;
mod outbox;
mod questions;
mod rows;
mod runs;
mod shared;
mod surroundings;

pub(crate) use memory::mode_name;
pub(crate) use runs::RunHead;

/// What a step or a reader may look at: one state of the store, not changing while it is looked at.
pub(crate) struct View<'a> {
    conn: &'a Connection,
}

/// How far the store has come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    /// The number of the newest journal row; 0 when the journal is empty.
    pub(crate) head: u64,
    /// The journal row of the last outage; 0 before the first.
    pub(crate) epoch: u64,
    /// How far outages have moved what is pending. Columns with pending times are less this.
    pub(crate) shift: Shift,
}

impl Position {
    /// Of an empty store.
    pub(crate) const BEGINNING: Self = Self {
        head: 0,
        epoch: 0,
        shift: Shift::NONE,
    };
}

impl<'a> View<'a> {
    pub(crate) fn new(conn: &'a Connection) -> Self {
        Self { conn }
    }

    /// How much there is.
    pub(crate) fn counts(&self) -> Result<Counts, StoreError> {
        let sql = "SELECT (SELECT coalesce(max(id), 0) FROM journal), (SELECT count(*) FROM sessions WHERE name <> ?1),
                   (SELECT count(*) FROM pending), (SELECT count(*) FROM calls WHERE grant_state = 'claimed'),
                   (SELECT count(*) FROM outbox WHERE state = 'waiting'),
                   (SELECT count(*) FROM outbox WHERE state = 'dead'), (SELECT count(*) FROM queue),
                   (SELECT checkpoints FROM service)";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .query_row([SYSTEM_SESSION], |row| {
                Ok(Counts {
                    rows: row.get(0)?,
                    sessions: row.get(1)?,
                    pending: row.get(2)?,
                    claimed: row.get(3)?,
                    outbox_waiting: row.get(4)?,
                    outbox_dead: row.get(5)?,
                    queued: row.get(6)?,
                    checkpoints: row.get(7)?,
                })
            })?)
    }

    /// The number of the newest journal row; 0 when the journal is empty.
    pub(crate) fn head(&self) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(max(id), 0) FROM journal";
        Ok(self.conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// How far the store has come.
    pub(crate) fn position(&self) -> Result<Position, StoreError> {
        let sql = "SELECT (SELECT coalesce(max(id), 0) FROM journal),
                   coalesce((SELECT row FROM outages ORDER BY row DESC LIMIT 1), 0),
                   coalesce((SELECT shift FROM outages ORDER BY row DESC LIMIT 1), 0)";
        Ok(self.conn.prepare_cached(sql)?.query_row([], |row| {
            Ok(Position {
                head: row.get(0)?,
                epoch: row.get(1)?,
                shift: Shift::from_millis(row.get(2)?),
            })
        })?)
    }

    /// How far outages have moved what is pending.
    pub(crate) fn shift(&self) -> Result<Shift, StoreError> {
        let sql = "SELECT shift FROM outages ORDER BY row DESC LIMIT 1";
        let shift: Option<i64> = self
            .conn
            .prepare_cached(sql)?
            .query_row([], |row| row.get(0))
            .optional()?;
        Ok(Shift::from_millis(shift.unwrap_or(0)))
    }

    /// A time as its column holds it: less the shift.
    pub(crate) fn unshifted(&self, at: Timestamp) -> Result<i64, StoreError> {
        Ok((at - self.shift()?).as_millis())
    }

    /// The time since the last outage.
    pub(crate) fn epoch(&self) -> Result<Epoch, StoreError> {
        let sql = "SELECT row, until FROM outages ORDER BY row DESC LIMIT 1";
        let epoch = self
            .conn
            .prepare_cached(sql)?
            .query_row([], |row| {
                Ok(Epoch {
                    row: row.get(0)?,
                    until: Timestamp::from_millis(row.get(1)?),
                })
            })
            .optional()?;
        Ok(epoch.unwrap_or(Epoch {
            row: 0,
            until: Timestamp::from_millis(i64::MIN),
        }))
    }

    /// What happened in a journal row, and when.
    fn event(&self, row: u64) -> Result<(Timestamp, Event), StoreError> {
        self.journal_row(row, |found| {
            Ok((Timestamp::from_millis(found.get(0)?), parse_body(found, 1, row)?))
        })
    }

    /// The fields of a row whose kind is known. Reading a whole [`Event`] would first copy the body into a tree, to look
    /// for its kind there; this is several times faster, and calls are read in every step.
    fn fields<T: DeserializeOwned>(&self, row: u64, kind: &'static str) -> Result<T, StoreError> {
        self.journal_row(row, |found| {
            let body = found.bytes(1)?;
            let named = body
                .strip_prefix(b"{\"type\":\"")
                .and_then(|rest| rest.strip_prefix(kind.as_bytes()))
                .is_some_and(|rest| rest.starts_with(b"\""));
            // A body that is damaged at its beginning is reported as such, and not as another kind of event.
            if named {
                parse_body(found, 1, row)
            } else {
                Err(unexpected(row, kind, &parse_body(found, 1, row)?))
            }
        })
    }

    fn journal_row<T>(
        &self,
        row: u64,
        read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT at, body FROM journal WHERE id = ?1")?;
        let mut rows = statement.query([row])?;
        match rows.next()? {
            Some(found) => read(&found),
            None => Err(StoreError::corrupt(format!("journal row {row} is missing"))),
        }
    }
}

/// Reads a body as it was stored. A body that does not parse is corruption, not bad input.
pub(crate) fn parse_body<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    id: u64,
) -> Result<T, StoreError> {
    serde_json::from_slice(row.bytes(column)?)
        .map_err(|error| StoreError::corrupt(format!("journal row {id} cannot be read: {error}")))
}

/// The journal row that asked a question.
pub(crate) fn question_row(conn: &Connection, id: &InteractionId) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT row FROM interactions WHERE id = ?1";
    conn.prepare_cached(sql)?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()
}

/// The row before which a part of a list begins.
fn before(part: &Before) -> i64 {
    part.cursor
        .map_or(i64::MAX, |cursor| i64::try_from(cursor).unwrap_or(i64::MAX))
}

/// An id read from the database was checked when it was written.
fn stored<T>(id: Result<T, IdError>) -> Result<T, StoreError> {
    id.map_err(|error| StoreError::corrupt(format!("a stored id is not one: {error}")))
}

fn digest_bytes(digest: &CallDigest) -> &[u8] {
    digest.0.as_bytes()
}

fn digest_at(row: &Row<'_>, column: usize) -> Result<Digest, StoreError> {
    Ok(Digest::from_bytes(row.get(column)?))
}

fn unexpected(row: u64, wanted: &str, event: &Event) -> StoreError {
    StoreError::corrupt(format!(
        "journal row {row} should be `{wanted}`, but is `{}`",
        event.name()
    ))
}

fn channel(text: String) -> Result<ChannelName, StoreError> {
    stored(ChannelName::new(text))
}
