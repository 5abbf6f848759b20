//! The writer: writes waiting commits one after another in one transaction, and commits them as a group.
//!
//! A commit that was decided on an old version is refused before anything of it is written. One whose events contradict the
//! store is noticed later: on PostgreSQL not before the statements of many commits were sent. That error says that some commit of
//! the group does not fit, and never which. The group is rolled back and written again with a savepoint for each commit, so that
//! one commit is under way at a time. This is rare, and it keeps the common path free of bookkeeping. Any other failure fails
//! the whole group, and no caller is told "done".

use std::cell::{Cell, RefCell};
use std::thread;
use std::time::{Duration, Instant};

use placet_core::lease::Fence;
use placet_core::listing::{Committed, JournalPage};
use placet_core::shared::SharedKind;
use placet_core::step::Commit;
use placet_core::time::Timestamp;

use crate::error::StoreError;
use crate::heads::Heads;
use crate::sql::Connection;
use crate::view::View;
use crate::{checkpoint, sqlite::inline::CommitFault};

mod batch;
#[cfg(test)]
mod tests;

use batch::{Batch, Stamp};

/// How long the server may take to come back before a commit in doubt is reported as such.
const DOUBT_MAX: Duration = Duration::from_secs(20);
const DOUBT_PAUSE: Duration = Duration::from_millis(100);
/// What [`Writer::prove_room`] writes: more than most steps do.
const ROOM_BYTES: usize = 64 * 1024;

/// A commit on its way through a group.
pub(crate) struct Job {
    pub(crate) commit: Commit,
    pub(crate) result: Result<(), StoreError>,
}

impl Job {
    pub(crate) fn new(commit: Commit) -> Self {
        Self {
            commit,
            result: Ok(()),
        }
    }
}

/// Whether the time until the next start is an outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It is: approvers keep the time they have left.
    Stopping,
    /// It is not: approvers can answer through other processes meanwhile.
    Leaving,
}

/// Why a group was not acknowledged.
enum Failed {
    /// Nothing of it is stored.
    Undone(StoreError),
    /// It may be stored: the server was lost during its commit and did not come back.
    InDoubt(StoreError),
}

impl Failed {
    fn into_error(self) -> StoreError {
        match self {
            Self::Undone(error) | Self::InDoubt(error) => error,
        }
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Undone(error)
    }
}

/// A group in an open transaction: the jobs that were written, by their place, with what the journal adds to their events.
struct Written<'w> {
    batch: Batch<'w>,
    done: Vec<(usize, Vec<Stamp>)>,
}

pub(crate) struct Writer {
    pub(crate) conn: Connection,
    /// How many rows may wait for a checkpoint.
    checkpoint_rows: u32,
    /// The last row that was told about. What comes after it and is not ours, another process wrote.
    told: Cell<u64>,
    tail: RefCell<Heads>,
}

impl Writer {
    pub(crate) fn new(conn: Connection, checkpoint_rows: u32) -> Result<Self, StoreError> {
        let told = Cell::new(View::new(&conn).head()?);
        checkpoint::restore_count(&conn)?;
        // Only one process owns a file, so every lease is of one that is gone, and so is every challenge: browsers sign a new one.
        if let Connection::Sqlite(_) = &conn {
            conn.prepare_cached("UPDATE leases SET until = ?1")?
                .execute([i64::MIN])?;
            conn.prepare_cached("DELETE FROM shared WHERE kind = ?1")?
                .execute([SharedKind::Challenge.as_str()])?;
        }
        Ok(Self {
            conn,
            checkpoint_rows,
            told,
            tail: RefCell::default(),
        })
    }

    /// The last moment at which Placet ran. Nothing if it never did, or left its questions open on purpose.
    pub(crate) fn last_alive(&self) -> Result<Option<Timestamp>, StoreError> {
        let mut statement = self.conn.prepare_cached("SELECT alive FROM service")?;
        let alive: Option<i64> = statement.query_row([], |row| row.get(0))?;
        Ok(alive.map(Timestamp::from_millis))
    }

    /// Writes `jobs` in order and commits them. When that fails, every job fails.
    pub(crate) fn group(&self, jobs: &mut [Job], now: Timestamp, fault: CommitFault) -> Vec<Committed> {
        let written = match self.try_group(jobs, now, fault) {
            // Nothing of it is stored, and a connection that was lost can be made again.
            Err(Failed::Undone(StoreError::Unreachable(_))) => self.try_group(jobs, now, fault),
            written => written,
        };
        match written.map_err(Failed::into_error) {
            Ok(rows) => rows,
            Err(error) => {
                self.forget();
                for job in jobs {
                    job.result = Err(error.clone());
                }
                Vec::new()
            }
        }
    }

    fn try_group(
        &self,
        jobs: &mut [Job],
        now: Timestamp,
        fault: CommitFault,
    ) -> Result<Vec<Committed>, Failed> {
        let Written { batch, done } = match self.together(jobs, now) {
            Err(error) if error.refuses_a_commit() => match &mut *jobs {
                [only] => {
                    only.result = Err(error.in_commit());
                    return Ok(Vec::new());
                }
                jobs => self.one_by_one(jobs, now)?,
            },
            written => written?,
        };
        if done.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows = self.between(self.told.get(), batch.first_row())?;
        let last_row = batch.last_row();
        let committed_now = batch.commit(u64::from(self.checkpoint_rows), fault);
        if let Err(error) = committed_now {
            let last = done.iter().rev().find_map(|(_, stamps)| stamps.last());
            self.find_out(error, last)?;
        }
        self.told.set(last_row);
        for (at, stamps) in done {
            if let Some(job) = jobs.get_mut(at) {
                rows.extend(committed(&mut job.commit, stamps));
            }
        }
        Ok(rows)
    }

    /// Whether a group is stored whose commit failed. The answer to a commit may be lost with the connection; the group's last row
    /// then says what became of it. An error says that it is not stored, or that this cannot be found out.
    fn find_out(&self, error: StoreError, last: Option<&Stamp>) -> Result<(), Failed> {
        if !matches!(error, StoreError::Unreachable(_)) {
            return Err(Failed::Undone(error));
        }
        let Some(last) = last else {
            return Err(Failed::InDoubt(error));
        };
        let began = Instant::now();
        loop {
            match self.is_stored(last) {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(Failed::Undone(error)),
                Err(still) if still.may_pass() && began.elapsed() < DOUBT_MAX => thread::sleep(DOUBT_PAUSE),
                Err(_) => return Err(Failed::InDoubt(error)),
            }
        }
    }

    /// Whether a row is in the journal. The lock says that the transaction in doubt is over.
    fn is_stored(&self, row: &Stamp) -> Result<bool, StoreError> {
        self.forget();
        self.conn.begin_writing()?;
        let found = View::new(&self.conn).row_hash(row.id);
        self.conn.roll_back();
        Ok(found? == Some(row.hash))
    }

    /// Writes the jobs that fit. An error that refuses a commit is about any of those that were written.
    fn together(&self, jobs: &mut [Job], now: Timestamp) -> Result<Written<'_>, StoreError> {
        let mut batch = self.begin_for(jobs, now)?;
        let mut done = Vec::new();
        for (at, job) in jobs.iter_mut().enumerate() {
            job.result = batch.check(&job.commit)?;
            if job.result.is_ok() {
                done.push((at, batch.append(&job.commit)?));
            }
        }
        batch.settle()?;
        Ok(Written { batch, done })
    }

    /// Writes each job before the next one is looked at, and rolls back a job that does not fit.
    fn one_by_one(&self, jobs: &mut [Job], now: Timestamp) -> Result<Written<'_>, StoreError> {
        let mut batch = self.begin_for(jobs, now)?;
        let mut done = Vec::new();
        for (at, job) in jobs.iter_mut().enumerate() {
            match batch.write_alone(&job.commit)? {
                Ok(stamps) => {
                    job.result = Ok(());
                    done.push((at, stamps));
                }
                Err(refusal) => job.result = Err(refusal),
            }
        }
        Ok(Written { batch, done })
    }

    fn begin_for(&self, jobs: &[Job], now: Timestamp) -> Result<Batch<'_>, StoreError> {
        let mut batch = self.begin(now)?;
        batch.prefetch(jobs.iter().map(|job| &job.commit))?;
        Ok(batch)
    }

    fn begin(&self, now: Timestamp) -> Result<Batch<'_>, StoreError> {
        Batch::begin(&self.conn, self.tail.borrow_mut(), now)
    }

    /// Forgets what it remembers of the file: it was changed through this connection.
    pub(crate) fn forget(&self) {
        self.tail.borrow_mut().forget();
    }

    /// What other processes committed without notice to this process.
    pub(crate) fn others(&self) -> Result<Vec<Committed>, StoreError> {
        let head = View::new(&self.conn).head()?;
        let rows = self.between(self.told.get(), head.saturating_add(1))?;
        self.told.set(head);
        Ok(rows)
    }

    /// The rows after `after` and before `before`.
    fn between(&self, after: u64, before: u64) -> Result<Vec<Committed>, StoreError> {
        let count = before.saturating_sub(after).saturating_sub(1);
        if count == 0 {
            return Ok(Vec::new());
        }
        View::new(&self.conn).journal(&JournalPage::of_all(
            after,
            usize::try_from(count).unwrap_or(usize::MAX),
        ))
    }

    /// Covers all rows by a checkpoint, for the process that has the leases of these fences.
    pub(crate) fn checkpoint(&self, now: Timestamp, fences: &[Fence]) -> Result<(), StoreError> {
        let mut batch = self.begin(now)?;
        batch.check_fences(fences)??;
        batch.commit(1, CommitFault::None)
    }

    /// Leaves the store: covers all rows of a file by a checkpoint and folds its write-ahead log back. On a server, the process that
    /// keeps the time covers the rows of all.
    pub(crate) fn close(&self, now: Timestamp, ending: Ending) -> Result<(), StoreError> {
        if let Connection::Sqlite(_) = &self.conn {
            self.checkpoint(now, &[])?;
        }
        if ending == Ending::Leaving {
            self.conn
                .prepare_cached("UPDATE service SET alive = NULL")?
                .execute([])?;
        }
        match &self.conn {
            Connection::Sqlite(conn) => conn.fold_log(),
            Connection::Postgres(_) => Ok(()),
        }
    }

    /// Commits a write of some size, and fails if the disk does not take it. A heartbeat is no proof: it changes a row in
    /// place, which a full disk may still take.
    pub(crate) fn prove_room(&self, now: Timestamp) -> Result<(), StoreError> {
        let batch = self.begin(now)?;
        let sql = "INSERT INTO room (id, filler) SELECT coalesce(max(id), 0) + 1, ?1 FROM room RETURNING id";
        let last: u64 = self
            .conn
            .prepare_cached(sql)?
            .query_row([vec![0_u8; ROOM_BYTES]], |row| row.get(0))?;
        self.conn
            .prepare_cached("DELETE FROM room WHERE id < ?1")?
            .execute([last])?;
        batch.commit(u64::from(self.checkpoint_rows), CommitFault::None)
    }

    /// Stores that Placet runs.
    pub(crate) fn heartbeat(&self, now: Timestamp) -> Result<(), StoreError> {
        self.begin(now)?
            .commit(u64::from(self.checkpoint_rows), CommitFault::None)
    }
}

fn committed(commit: &mut Commit, stamps: Vec<Stamp>) -> impl Iterator<Item = Committed> {
    let at = commit.now;
    let rows = std::mem::take(&mut commit.events).into_iter().zip(stamps);
    rows.map(move |((session, event), stamp)| Committed {
        id: stamp.id,
        session,
        seq: stamp.seq,
        at,
        hash: stamp.hash,
        event,
    })
}
