//! A view: what a step or a reader may look at. Reads only.

use placet_core::call::{CallDigest, Chat};
use placet_core::digest::Digest;
use placet_core::ids::{ChannelName, GroupId, IdError, InteractionId, SessionId};
use placet_core::interaction::{CallKey, Code};
use placet_core::journal::Event;
use placet_core::time::{LiveTime, Timestamp};
use placet_core::tool::Risk;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::de::DeserializeOwned;

use crate::error::StoreError;

mod calls;
mod memory;
mod outbox;
mod questions;
mod rows;
mod runs;
mod surroundings;

pub(crate) use memory::mode_name;
pub use runs::RunHead;

/// What a step or a reader may look at: one state of the store, not changing while it is looked at.
pub struct View<'a> {
    conn: &'a Connection,
}

/// An open question in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingRow {
    /// Where the list goes on: pass it as `after`.
    pub cursor: u64,
    /// Its id.
    pub id: InteractionId,
    /// Its session.
    pub session: SessionId,
    /// The call it is about, if it is about one.
    pub call: Option<CallKey>,
    /// When it closes.
    pub deadline: LiveTime,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// The risk of what is asked about.
    pub risk: Risk,
    /// The chat it is asked in; the inbox when absent.
    pub chat: Option<Chat>,
    /// The turn it belongs to.
    pub group: Option<GroupId>,
    /// Its short name.
    pub code: Code,
}

/// An open question that cannot be read. It can only be named; nobody can answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRow {
    /// Where the list goes on.
    pub cursor: u64,
    /// Its id.
    pub id: InteractionId,
    /// What is wrong with it.
    pub why: String,
}

/// A part of the open questions, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PendingPage {
    /// Those that can be read.
    pub rows: Vec<PendingRow>,
    /// Those that cannot.
    pub damaged: Vec<DamagedRow>,
}

impl PendingPage {
    /// Where the list goes on; nothing at its end.
    pub fn last(&self) -> Option<u64> {
        let (row, damaged) = (self.rows.last(), self.damaged.last());
        row.map(|row| row.cursor).max(damaged.map(|row| row.cursor))
    }
}

/// A session from its first row to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSpan {
    /// When it began.
    pub began_at: Timestamp,
    /// When something last happened in it.
    pub last_at: Timestamp,
    /// How many calls were proposed in it.
    pub calls: u64,
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Journal rows; also the number of the last one.
    pub rows: u64,
    /// Sessions.
    pub sessions: u64,
    /// Open questions.
    pub pending: u64,
    /// Grants claimed and not finished.
    pub claimed: u64,
    /// Outbox items to be sent.
    pub outbox_waiting: u64,
    /// Outbox items given up.
    pub outbox_dead: u64,
    /// Messages waiting for an agent.
    pub queued: u64,
    /// Checkpoints.
    pub checkpoints: u64,
}

impl<'a> View<'a> {
    pub(crate) fn new(conn: &'a Connection) -> Self {
        Self { conn }
    }

    /// How much there is.
    pub fn counts(&self) -> Result<Counts, StoreError> {
        let sql = "SELECT (SELECT ifnull(max(id), 0) FROM journal), (SELECT count(*) FROM sessions),
                   (SELECT count(*) FROM pending), (SELECT count(*) FROM calls WHERE grant_state = 'claimed'),
                   (SELECT count(*) FROM outbox WHERE state = 'waiting'),
                   (SELECT count(*) FROM outbox WHERE state = 'dead'), (SELECT count(*) FROM queue),
                   (SELECT checkpoints FROM service)";
        Ok(self.conn.prepare_cached(sql)?.query_row([], |row| {
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

    /// The number of the newest journal row; 0 when there is none.
    pub fn head(&self) -> Result<u64, StoreError> {
        let sql = "SELECT ifnull(max(id), 0) FROM journal";
        Ok(self.conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
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
            let body = found.get_ref(1)?.as_bytes().unwrap_or_default();
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
            Some(found) => read(found),
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
    let body = row
        .get_ref(column)?
        .as_bytes()
        .map_err(|_| StoreError::corrupt(format!("journal row {id} has no body")))?;
    serde_json::from_slice(body)
        .map_err(|error| StoreError::corrupt(format!("journal row {id} cannot be read: {error}")))
}

/// The journal row that asked a question.
pub(crate) fn question_row(conn: &Connection, id: &InteractionId) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT row FROM interactions WHERE id = ?1";
    Ok(conn
        .prepare_cached(sql)?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?)
}

/// An id read from the database was checked when it was written.
fn stored<T>(id: Result<T, IdError>) -> Result<T, StoreError> {
    id.map_err(|error| StoreError::corrupt(format!("a stored id is not one: {error}")))
}

fn digest_bytes(digest: &CallDigest) -> &[u8] {
    digest.0.as_bytes()
}

fn digest_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
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
