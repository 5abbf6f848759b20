//! The store without threads, for the simulator: the same writer and the same projections, in memory, under a clock that
//! is passed in, with faults on demand.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::sync::OnceLock;

use placet_core::snapshot::{Need, Snapshot, Undecided};
use placet_core::step::Commit;
use placet_core::time::Timestamp;
use rusqlite::MAIN_DB;

use super::{Connection, schema};
use crate::error::{OpenError, StoreError};
use crate::load::{self, Purpose};
use crate::sql;
use crate::verify::{Anchor, Verified};
use crate::view::View;
use crate::writer::{Job, Writer};
use placet_core::listing::Committed;

/// What goes wrong with the next commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitFault {
    /// Nothing.
    None,
    /// The process dies before the commit: nothing of the group is stored.
    LoseBeforeCommit,
    /// The process dies after the commit: all of it is stored, and no caller is told.
    CommitButLoseAck,
}

/// The whole store as bytes.
#[derive(Clone)]
pub struct Image(Vec<u8>);

/// The store without threads.
pub struct InlineStore {
    writer: Writer,
    fault: CommitFault,
    committed: Vec<Committed>,
}

impl InlineStore {
    /// An empty store in memory.
    pub fn new() -> Result<Self, OpenError> {
        static EMPTY: OnceLock<Vec<u8>> = OnceLock::new();
        let image = if let Some(image) = EMPTY.get() {
            image
        } else {
            let mut conn = schema::open_raw_in_memory()?;
            let image = conn.serialize(MAIN_DB).map_err(StoreError::from)?.to_vec();
            EMPTY.get_or_init(|| image)
        };
        Ok(Self {
            writer: Writer::new(open(image)?, 64)?,
            fault: CommitFault::None,
            committed: Vec::new(),
        })
    }

    /// Loads what a decision asks for.
    pub fn load(&self, needs: BTreeSet<Need>) -> Result<Snapshot, StoreError> {
        load::load(&View::new(&self.writer.conn), needs, Purpose::Deciding)
    }

    /// Makes a step durable, unless it was decided on an old state.
    pub fn commit(&mut self, commit: Commit) -> Result<(), StoreError> {
        self.group(vec![commit]).pop().unwrap_or(Err(StoreError::Closed))
    }

    /// Makes several steps durable in one transaction.
    pub fn group(&mut self, commits: Vec<Commit>) -> Vec<Result<(), StoreError>> {
        let Some(now) = commits.last().map(|commit| commit.now) else {
            return Vec::new();
        };
        let mut jobs: Vec<Job> = commits.into_iter().map(Job::new).collect();
        let fault = std::mem::replace(&mut self.fault, CommitFault::None);
        let rows = self.writer.group(&mut jobs, now, fault);
        self.committed.extend(rows);
        jobs.into_iter().map(|job| job.result).collect()
    }

    /// Looks at what is stored; see [`crate::Store::look`].
    pub fn look<T>(&self, read: impl Fn(&Snapshot) -> Result<T, Undecided>) -> Result<T, StoreError> {
        let mut snapshot = Snapshot::default();
        loop {
            let seen = read(&snapshot);
            match snapshot.wanting() {
                Some(needs) => snapshot = self.load(needs)?,
                None => return Ok(seen?),
            }
        }
    }

    /// The rows committed since this was last called; what `on_commit` gets from the store with threads.
    pub fn take_committed(&mut self) -> Vec<Committed> {
        std::mem::take(&mut self.committed)
    }

    /// Lets the next commit go wrong.
    pub fn fail_next_commit(&mut self, fault: CommitFault) {
        self.fault = fault;
    }

    /// When something was last committed, or the last heartbeat came.
    pub fn last_alive(&self) -> Result<Option<Timestamp>, StoreError> {
        self.writer.last_alive()
    }

    /// Stores that Placet runs.
    pub fn heartbeat(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.writer.heartbeat(now)
    }

    /// Whether a write of some size can be committed; see [`crate::Store::prove_room`].
    pub fn prove_room(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.writer.prove_room(now)
    }

    /// Covers all rows by a checkpoint.
    pub fn checkpoint(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.writer.checkpoint(now, &[])
    }

    /// Checks everything stored; see [`crate::Store::verify`].
    pub fn verify(&mut self, expected: Option<&Anchor>) -> Result<Verified, StoreError> {
        crate::verify::verify(&self.writer.conn, expected)
    }

    fn raw(&mut self) -> Result<&mut rusqlite::Connection, StoreError> {
        match &mut self.writer.conn {
            sql::Connection::Sqlite(conn) => Ok(&mut conn.0),
            sql::Connection::Postgres(_) => Err(StoreError::Closed),
        }
    }

    /// Everything stored, as bytes.
    pub fn image(&mut self) -> Result<Image, StoreError> {
        Ok(Image(self.raw()?.serialize(MAIN_DB)?.to_vec()))
    }

    /// Goes back to an image: what a disk does that said it had synced and had not.
    pub fn restore(&mut self, image: &Image) -> Result<(), StoreError> {
        self.writer.conn = open(&image.0)?;
        self.writer.forget();
        Ok(())
    }

    /// Limits the database to this many pages, as a disk of that size would.
    pub fn limit_pages(&mut self, pages: u32) -> Result<(), StoreError> {
        let set = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        self.raw()?
            .pragma_update_and_check(None, "max_page_count", pages, set)?;
        Ok(())
    }

    /// How many pages the database has.
    pub fn pages(&self) -> Result<u32, StoreError> {
        let mut statement = self.writer.conn.prepare_cached("PRAGMA page_count")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// Makes every write fail, as on a disk mounted read-only.
    pub fn set_read_only(&mut self, read_only: ReadOnly) -> Result<(), StoreError> {
        let on = read_only == ReadOnly::Yes;
        Ok(self.raw()?.pragma_update(None, "query_only", on)?)
    }

    /// Runs SQL as another program would, to see what is found afterwards.
    pub fn tamper(&mut self, sql: &str) -> Result<(), StoreError> {
        self.writer.forget();
        self.writer.conn.execute_batch(sql)
    }
}

/// Whether a store can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    /// It cannot.
    Yes,
    /// It can.
    No,
}

fn open(image: &[u8]) -> Result<sql::Connection, StoreError> {
    let mut conn = rusqlite::Connection::open_in_memory()?;
    conn.deserialize_read_exact(MAIN_DB, Cursor::new(image), image.len(), false)?;
    schema::prepare(&conn, std::time::Duration::ZERO)?;
    Ok(sql::Connection::Sqlite(Connection(conn)))
}
