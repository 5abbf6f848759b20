//! The end of the journal, as the writer remembers it: the heads of sessions, and the rows no checkpoint covers yet.
//!
//! All of it is in the file too. Remembering it saves two look-ups for every row written, and reading every row a second
//! time for its checkpoint. What another process may have changed, or a rollback has undone, is forgotten and read again.

use std::collections::{BTreeSet, HashMap};

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::journal::genesis;

use crate::checkpoint::{self, Interval, Last};
use crate::error::StoreError;
use crate::sql::{Connection, Generation, OptionalExtension, Row, params};
use crate::view::View;

/// The most sessions remembered; beyond it all are forgotten, which costs a look-up each.
const SESSIONS_MAX: usize = 4096;

/// The end of a session's chain.
pub(crate) struct Head {
    pub(crate) session: u64,
    pub(crate) seq: u64,
    pub(crate) hash: Digest,
    version: u64,
    /// Whether it belongs to an agent.
    owned: bool,
    moved: bool,
}

/// The columns of a head.
const HEAD: &str = "id, head_seq, head_hash, version, agent IS NOT NULL";

impl Head {
    fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            session: row.get(0)?,
            seq: row.get(1)?,
            hash: Digest::from_bytes(row.get(2)?),
            version: row.get(3)?,
            owned: row.get(4)?,
            moved: false,
        })
    }

    /// The session has one row more.
    pub(crate) fn advance(&mut self, seq: u64, hash: Digest) {
        (self.seq, self.hash, self.moved) = (seq, hash, true);
    }

    /// The session belongs to an agent from now on. Whether it did not before.
    pub(crate) fn own(&mut self) -> bool {
        !std::mem::replace(&mut self.owned, true)
    }

    /// What decisions about its calls look at has changed.
    pub(crate) fn change(&mut self) {
        self.version = self.version.saturating_add(1);
    }
}

#[derive(Default)]
pub(crate) struct Heads {
    /// Which writes of other connections this takes into account.
    generation: Generation,
    sessions: HashMap<SessionId, Head>,
    last: Option<Last>,
    /// The rows after the newest checkpoint; missing until a checkpoint is due.
    uncovered: Option<Interval>,
}

impl Heads {
    /// To be called first in every transaction.
    pub(crate) fn begin(&mut self, generation: Generation) {
        if generation != self.generation {
            self.forget();
            self.generation = generation;
        } else if self.sessions.len() > SESSIONS_MAX {
            self.sessions.clear();
        }
    }

    /// To be called last before a transaction is committed.
    pub(crate) fn stamp(&mut self, conn: &Connection) -> Result<(), StoreError> {
        self.generation = conn.stamp(self.generation)?;
        Ok(())
    }

    /// To be called when a transaction was not committed.
    pub(crate) fn forget(&mut self) {
        self.sessions.clear();
        self.last = None;
        self.uncovered = None;
    }

    /// The end of a session's chain; the session is made when it is new.
    pub(crate) fn head(&mut self, conn: &Connection, name: &SessionId) -> Result<&mut Head, StoreError> {
        if !self.sessions.contains_key(name) {
            let head = read_head(conn, name)?;
            self.sessions.insert(name.clone(), head);
        }
        self.sessions
            .get_mut(name)
            .ok_or_else(|| StoreError::corrupt("a session's head was lost"))
    }

    /// The version of a session; 0 when nothing has happened in it.
    pub(crate) fn session_version(&self, conn: &Connection, name: &SessionId) -> Result<u64, StoreError> {
        match self.sessions.get(name) {
            Some(head) => Ok(head.version),
            None => View::new(conn).session_version(name),
        }
    }

    /// A row was written.
    pub(crate) fn push(&mut self, session: &SessionId, seq: u64, hash: Digest) {
        if let Some(interval) = &mut self.uncovered {
            interval.push(session.as_str(), seq, hash);
        }
    }

    /// Writes back the heads that moved.
    pub(crate) fn write_heads(&mut self, conn: &Connection) -> Result<(), StoreError> {
        let mut statement = conn.prepare_cached(
            "UPDATE sessions SET head_seq = ?2, head_hash = ?3, version = ?4 WHERE id = ?1",
        )?;
        for head in self.sessions.values_mut().filter(|head| head.moved) {
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

    /// The newest checkpoint.
    pub(crate) fn last_checkpoint(&mut self, conn: &Connection) -> Result<Last, StoreError> {
        match self.last {
            Some(last) => Ok(last),
            None => Ok(*self.last.insert(Last::read(conn)?)),
        }
    }

    /// The rows that a checkpoint written now covers.
    pub(crate) fn uncovered(&mut self, conn: &Connection, last: &Last) -> Result<Interval, StoreError> {
        match self.uncovered.take() {
            Some(interval) => Ok(interval),
            None => checkpoint::uncovered(conn, last.rows),
        }
    }

    /// A checkpoint that covers every row was written.
    pub(crate) fn covered(&mut self, by: Last) {
        (self.last, self.uncovered) = (Some(by), Some(Interval::default()));
    }

    /// Reads the heads of several sessions at once, where each would cost a round trip.
    pub(crate) fn prefetch<'n>(
        &mut self,
        conn: &Connection,
        names: impl Iterator<Item = &'n SessionId>,
    ) -> Result<(), StoreError> {
        let unknown: BTreeSet<&SessionId> = names.filter(|name| !self.sessions.contains_key(*name)).collect();
        if matches!(conn, Connection::Sqlite(_)) || unknown.len() < 2 {
            return Ok(());
        }
        let list = serde_json::to_string(&unknown).map_err(|error| StoreError::corrupt(error.to_string()))?;
        let sql = format!(
            "SELECT {HEAD}, name FROM sessions WHERE name IN ({})",
            conn.members_of("?1")
        );
        let found = conn.prepare_cached(&sql)?.query_map([list], |row| {
            let name = SessionId::new(row.get::<String>(5)?)
                .map_err(|error| StoreError::corrupt(error.to_string()))?;
            Ok((name, Head::read(row)?))
        })?;
        self.sessions.extend(found);
        Ok(())
    }
}

fn read_head(conn: &Connection, name: &SessionId) -> Result<Head, StoreError> {
    let sql = format!("SELECT {HEAD} FROM sessions WHERE name = ?1");
    let found = conn
        .prepare_cached(&sql)?
        .query_row([name.as_str()], Head::read)
        .optional()?;
    if let Some(head) = found {
        return Ok(head);
    }
    let hash = genesis();
    let sql = "INSERT INTO sessions (id, name, head_seq, head_hash)
               SELECT coalesce(max(id), 0) + 1, ?1, 0, ?2 FROM sessions RETURNING id";
    let session = conn
        .prepare_cached(sql)?
        .query_row((name.as_str(), hash.as_bytes()), |row| row.get(0))?;
    Ok(Head {
        session,
        seq: 0,
        hash,
        version: 0,
        owned: false,
        moved: false,
    })
}
