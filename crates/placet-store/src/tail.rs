//! The end of the journal, as the writer remembers it: the heads of sessions, and the rows no checkpoint covers yet.
//!
//! All of it is in the file too. Remembering it saves two look-ups for every row written, and reading every row a second
//! time for its checkpoint. What another process may have changed, or a rollback has undone, is forgotten and read again.

use std::collections::HashMap;

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::journal::genesis;
use rusqlite::{Connection, OptionalExtension, params};

use crate::checkpoint::{self, Interval, Last};
use crate::error::StoreError;
use crate::view::View;

/// The most sessions remembered; beyond it all are forgotten, which costs a look-up each.
const SESSIONS_MAX: usize = 4096;

/// The end of a session's chain.
pub(crate) struct Head {
    pub(crate) session: u64,
    pub(crate) seq: u64,
    pub(crate) hash: Digest,
    version: u64,
    moved: bool,
}

impl Head {
    /// The session has one row more.
    pub(crate) fn advance(&mut self, seq: u64, hash: Digest) {
        (self.seq, self.hash, self.moved) = (seq, hash, true);
    }

    /// What decisions about its calls look at has changed.
    pub(crate) fn change(&mut self) {
        self.version = self.version.saturating_add(1);
    }
}

#[derive(Default)]
pub(crate) struct Tail {
    /// SQLite's count of changes made by other connections, when this was remembered.
    version: i64,
    heads: HashMap<SessionId, Head>,
    uncovered: Option<(Last, Interval)>,
}

impl Tail {
    /// To be called first in every transaction.
    pub(crate) fn begin(&mut self, conn: &Connection) -> Result<(), StoreError> {
        let version: i64 = conn
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        if version != self.version {
            self.forget();
            self.version = version;
        } else if self.heads.len() > SESSIONS_MAX {
            self.heads.clear();
        }
        Ok(())
    }

    /// To be called when a transaction was not committed.
    pub(crate) fn forget(&mut self) {
        self.heads.clear();
        self.uncovered = None;
    }

    /// The end of a session's chain; the session is made when it is new.
    pub(crate) fn head(&mut self, conn: &Connection, name: &SessionId) -> Result<&mut Head, StoreError> {
        if !self.heads.contains_key(name) {
            let head = read_head(conn, name)?;
            self.heads.insert(name.clone(), head);
        }
        self.heads
            .get_mut(name)
            .ok_or_else(|| StoreError::corrupt("a session's head was lost"))
    }

    /// The version of a session; 0 when nothing has happened in it.
    pub(crate) fn session_version(&self, conn: &Connection, name: &SessionId) -> Result<u64, StoreError> {
        match self.heads.get(name) {
            Some(head) => Ok(head.version),
            None => View::new(conn).session_version(name),
        }
    }

    /// A row was written.
    pub(crate) fn push(&mut self, session: &SessionId, seq: u64, hash: Digest) {
        if let Some((_, interval)) = &mut self.uncovered {
            interval.push(session.as_str(), seq, hash);
        }
    }

    /// Writes back the heads that moved.
    pub(crate) fn write_heads(&mut self, conn: &Connection) -> Result<(), StoreError> {
        let mut statement = conn.prepare_cached(
            "UPDATE sessions SET head_seq = ?2, head_hash = ?3, version = ?4 WHERE id = ?1",
        )?;
        for head in self.heads.values_mut().filter(|head| head.moved) {
            statement.execute(params![
                head.session,
                head.seq,
                head.hash.as_bytes(),
                head.version
            ])?;
            head.moved = false;
        }
        Ok(())
    }

    /// The newest checkpoint and the rows after it.
    pub(crate) fn uncovered(&mut self, conn: &Connection) -> Result<&mut (Last, Interval), StoreError> {
        if self.uncovered.is_none() {
            let last = Last::read(conn)?;
            self.uncovered = Some((last, checkpoint::uncovered(conn, last.rows)?));
        }
        self.uncovered
            .as_mut()
            .ok_or_else(|| StoreError::corrupt("the rows without a checkpoint were lost"))
    }
}

fn read_head(conn: &Connection, name: &SessionId) -> Result<Head, StoreError> {
    let sql = "SELECT id, head_seq, head_hash, version FROM sessions WHERE name = ?1";
    let found = conn
        .prepare_cached(sql)?
        .query_row([name.as_str()], |row| {
            Ok(Head {
                session: row.get(0)?,
                seq: row.get(1)?,
                hash: Digest::from_bytes(row.get(2)?),
                version: row.get(3)?,
                moved: false,
            })
        })
        .optional()?;
    if let Some(head) = found {
        return Ok(head);
    }
    let hash = genesis();
    let session = conn
        .prepare_cached("INSERT INTO sessions (name, head_seq, head_hash) VALUES (?1, 0, ?2)")?
        .insert(params![name.as_str(), hash.as_bytes()])?;
    Ok(Head {
        session: u64::try_from(session)
            .map_err(|_| StoreError::corrupt("a session has a negative number"))?,
        seq: 0,
        hash,
        version: 0,
        moved: false,
    })
}
