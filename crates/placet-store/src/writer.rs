//! The writer: writes waiting commits one after another in one transaction, and commits them as a group.
//!
//! A commit whose sessions have changed since it was decided is a conflict, found before anything is written. Commits cost
//! no savepoint: one whose events contradict the store has already written something when that shows. The transaction is
//! then rolled back, and the commits before it are checked and written again. This is rare and keeps the common path free
//! of bookkeeping. Any other failure fails the whole group, and no caller is told "done".

use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::interaction::CallKey;
use placet_core::journal::{Event, row_hash};
use placet_core::listing::{Committed, JournalPage};
use placet_core::step::Commit;
use placet_core::time::Timestamp;

use crate::change;
use crate::error::StoreError;
use crate::project::{self, At};
use crate::sql::{Connection, params};
use crate::tail::Tail;
use crate::view::View;
use crate::{checkpoint, sqlite::inline::CommitFault};

#[cfg(test)]
mod tests;

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

/// How an attempt to write a group ended.
enum Attempt {
    /// These rows are durable.
    Written(Vec<Committed>),
    /// Nothing was written, because this job contradicts the store.
    Refused(usize, StoreError),
}

pub(crate) struct Writer {
    pub(crate) conn: Connection,
    /// How many rows may wait for a checkpoint.
    checkpoint_rows: u32,
    /// The last row that was told about. What comes after it and is not ours, another process wrote.
    told: Cell<u64>,
    tail: RefCell<Tail>,
}

impl Writer {
    pub(crate) fn new(conn: Connection, checkpoint_rows: u32) -> Result<Self, StoreError> {
        let told = Cell::new(View::new(&conn).head()?);
        checkpoint::restore_count(&conn)?;
        // Only one process owns a file, so every lease is of one that is gone.
        if let Connection::Sqlite(_) = &conn {
            conn.prepare_cached("UPDATE leases SET until = ?1")?
                .execute([i64::MIN])?;
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
        match self.try_group(jobs, now, fault) {
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

    /// Writes the jobs until none contradicts the store. Each one that does is left out of the next attempt, and the jobs that
    /// were checked against it are checked again.
    fn try_group(
        &self,
        jobs: &mut [Job],
        now: Timestamp,
        fault: CommitFault,
    ) -> Result<Vec<Committed>, StoreError> {
        let mut refused = BTreeMap::new();
        loop {
            match self.attempt(jobs, &refused, now, fault)? {
                Attempt::Written(rows) => {
                    for (job, error) in refused {
                        if let Some(job) = jobs.get_mut(job) {
                            job.result = Err(error);
                        }
                    }
                    return Ok(rows);
                }
                Attempt::Refused(job, error) => {
                    if refused.insert(job, error.clone()).is_some() {
                        return Err(error);
                    }
                }
            }
        }
    }

    fn attempt(
        &self,
        jobs: &mut [Job],
        refused: &BTreeMap<usize, StoreError>,
        now: Timestamp,
        fault: CommitFault,
    ) -> Result<Attempt, StoreError> {
        let mut batch = self.begin()?;
        let sessions = jobs.iter().flat_map(|job| {
            let written = job.commit.events.iter().map(|(session, _)| session);
            written.chain(job.commit.versions.keys())
        });
        batch.tail.prefetch(&self.conn, sessions)?;
        let mut done: Vec<(usize, Vec<Stamp>)> = Vec::new();
        for (at, job) in jobs.iter_mut().enumerate() {
            if refused.contains_key(&at) {
                continue;
            }
            self.conn.set_job(at);
            job.result = batch.check(&job.commit);
            if job.result.is_err() {
                continue;
            }
            match batch.append(&job.commit) {
                Ok(stamps) => done.push((at, stamps)),
                Err(error) => return self.refused(at, error),
            }
        }
        if let Err(error) = batch.settle() {
            let last = done.last().map_or(0, |(at, _)| *at);
            return self.refused(last, error);
        }
        if done.is_empty() {
            return Ok(Attempt::Written(Vec::new()));
        }
        let mut rows = self.between(self.told.get(), batch.first_row)?;
        let last_row = batch.last_row;
        batch.commit(now, u64::from(self.checkpoint_rows), fault)?;
        self.told.set(last_row);
        for (at, stamps) in done {
            if let Some(job) = jobs.get_mut(at) {
                rows.extend(committed(&mut job.commit, stamps));
            }
        }
        Ok(Attempt::Written(rows))
    }

    /// Which job contradicts the store. On PostgreSQL it may be one before the one that was just written.
    fn refused(&self, at: usize, error: StoreError) -> Result<Attempt, StoreError> {
        match error {
            StoreError::Conflict { .. } => Ok(Attempt::Refused(self.conn.failed_job().unwrap_or(at), error)),
            error => Err(error),
        }
    }

    fn begin(&self) -> Result<Batch<'_>, StoreError> {
        Batch::begin(&self.conn, self.tail.borrow_mut())
    }

    /// Forgets what it remembers of the file: somebody changed it through this very connection.
    pub(crate) fn forget(&self) {
        self.tail.borrow_mut().forget();
    }

    /// What other processes committed and nobody here was told of.
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

    /// Covers all rows by a checkpoint.
    pub(crate) fn checkpoint(&self, now: Timestamp) -> Result<(), StoreError> {
        self.begin()?.commit(now, 1, CommitFault::None)
    }

    /// Covers all rows by a checkpoint and folds the write-ahead log back into the file.
    pub(crate) fn close(&self, now: Timestamp, ending: Ending) -> Result<(), StoreError> {
        self.checkpoint(now)?;
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
        let batch = self.begin()?;
        let sql = "INSERT INTO room (id, filler) SELECT coalesce(max(id), 0) + 1, ?1 FROM room RETURNING id";
        let last: u64 = self
            .conn
            .prepare_cached(sql)?
            .query_row([vec![0_u8; ROOM_BYTES]], |row| row.get(0))?;
        self.conn
            .prepare_cached("DELETE FROM room WHERE id < ?1")?
            .execute([last])?;
        batch.commit(now, u64::from(self.checkpoint_rows), CommitFault::None)
    }

    /// Stores that Placet runs.
    pub(crate) fn heartbeat(&self, now: Timestamp) -> Result<(), StoreError> {
        self.begin()?
            .commit(now, u64::from(self.checkpoint_rows), CommitFault::None)
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

/// What the journal adds to an event.
struct Stamp {
    id: u64,
    seq: u64,
    hash: Digest,
}

/// An open transaction. Dropped without a commit, it is rolled back, and what was remembered of it is forgotten.
struct Batch<'c> {
    conn: &'c Connection,
    end: End,
    /// The first row this transaction can write.
    first_row: u64,
    last_row: u64,
    /// How many items the clean-up removed from the outbox.
    forgotten: u64,
    /// The end of an outage that was recorded: what the clock shows from here on.
    clock_set: Option<Timestamp>,
    /// Heads moved by this transaction are written back once, at its end.
    tail: RefMut<'c, Tail>,
}

/// How a transaction ended, as far as its writer knows.
#[derive(PartialEq, Eq)]
enum End {
    /// Not yet, or not in the file.
    Undone,
    /// In the file.
    Committed,
}

impl<'c> Batch<'c> {
    fn begin(conn: &'c Connection, tail: RefMut<'c, Tail>) -> Result<Self, StoreError> {
        let generation = conn.begin_writing()?;
        let mut batch = Self {
            conn,
            end: End::Undone,
            first_row: 0,
            last_row: 0,
            forgotten: 0,
            clock_set: None,
            tail,
        };
        batch.tail.begin(generation);
        batch.last_row = View::new(conn).head()?;
        batch.first_row = batch.last_row.saturating_add(1);
        Ok(batch)
    }

    /// Whether the sessions are as they were when the commit was decided, and its events are complete.
    fn check(&self, commit: &Commit) -> Result<(), StoreError> {
        leaves_no_call_in_the_air(&commit.events).map_err(StoreError::in_commit)?;
        for fence in &commit.fences {
            if !View::new(self.conn).has_fence(fence)? {
                let lease = fence.lease.clone();
                return Err(StoreError::Fenced { lease });
            }
        }
        if let Some(epoch) = commit.epoch
            && View::new(self.conn).epoch()?.row != epoch
        {
            let what = "an outage has moved its deadlines".to_owned();
            return Err(StoreError::Conflict { what });
        }
        for (session, version) in &commit.versions {
            if self.tail.session_version(self.conn, session)? != *version {
                let what = format!("the session `{session}` has changed");
                return Err(StoreError::Conflict { what });
            }
        }
        for (_, event) in &commit.events {
            // Another process may have covered rows since it was decided.
            if let Event::Started {
                checkpoints: Some(then),
                ..
            } = event
                && View::new(self.conn).checkpoints()? != *then
            {
                let what = "there are other checkpoints by now".to_owned();
                return Err(StoreError::Conflict { what });
            }
        }
        Ok(())
    }

    fn append(&mut self, commit: &Commit) -> Result<Vec<Stamp>, StoreError> {
        let mut stamps = Vec::with_capacity(commit.events.len());
        for (session, event) in &commit.events {
            let stamp = self.append_event(session, event, commit.now);
            stamps.push(stamp.map_err(StoreError::in_commit)?);
        }
        for change in &commit.changes {
            let forgotten = change::apply(self.conn, change, commit.now).map_err(StoreError::in_commit)?;
            self.forgotten = self.forgotten.saturating_add(forgotten);
        }
        Ok(stamps)
    }

    /// Waits until everything is written, and checks that nothing contradicts the store.
    fn settle(&self) -> Result<(), StoreError> {
        self.conn.flush().map_err(StoreError::in_commit)
    }

    fn append_event(&mut self, name: &SessionId, event: &Event, at: Timestamp) -> Result<Stamp, StoreError> {
        let body = serde_json::to_string(event).map_err(|error| StoreError::corrupt(error.to_string()))?;
        let id = self.last_row.saturating_add(1);
        let head = self.tail.head(self.conn, name)?;
        let seq = head.seq.saturating_add(1);
        let hash = row_hash(&head.hash, name, seq, at, body.as_bytes());
        head.advance(seq, hash);
        let session = head.session;
        self.tail.push(name, seq, hash);
        self.conn
            .prepare_cached("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![id, session, seq, at.as_millis(), body, hash.as_bytes()])?;
        self.last_row = id;
        let stored_at = At {
            row: id,
            session,
            name,
            wall: at.as_millis(),
        };
        project::apply(self.conn, stored_at, event)?;
        if let Event::Outage { until, .. } = event {
            self.clock_set = Some(*until);
        }
        let head = self.tail.head(self.conn, name)?;
        let has_new_owner = project::owner(event).is_some() && head.own();
        if has_new_owner || event.changes_session() {
            head.change();
        }
        Ok(Stamp { id, seq, hash })
    }

    fn commit(mut self, now: Timestamp, checkpoint_rows: u64, fault: CommitFault) -> Result<(), StoreError> {
        self.tail.write_heads(self.conn)?;
        self.conn
            .prepare_cached("UPDATE service SET alive = ?1")?
            .execute([self.clock_set.unwrap_or(now).as_millis()])?;
        checkpoint::write(
            self.conn,
            &mut self.tail,
            self.last_row,
            checkpoint_rows,
            self.forgotten,
            now,
        )?;
        self.conn
            .prepare_cached("DELETE FROM memory WHERE until <= ?1")?
            .execute([now.as_millis()])?;
        self.tail.stamp(self.conn)?;
        match fault {
            CommitFault::None => self.seal(),
            CommitFault::LoseBeforeCommit => Err(StoreError::Io("lost before the commit".into())),
            CommitFault::CommitButLoseAck => {
                self.seal()?;
                Err(StoreError::Io("lost after the commit".into()))
            }
        }
    }

    fn seal(&mut self) -> Result<(), StoreError> {
        self.conn.commit()?;
        self.end = End::Committed;
        Ok(())
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if self.end == End::Committed {
            return;
        }
        // Also where SQLite rolled back by itself, as it does on a full disk: the tail knows rows and checkpoints that
        // never came to be.
        self.tail.forget();
        self.conn.roll_back();
    }
}

/// A call that is not settled when it is received must be asked about, joined or settled in the same step: a call nobody
/// waits for would hang for ever.
fn leaves_no_call_in_the_air(events: &[(SessionId, Event)]) -> Result<(), StoreError> {
    for (_, event) in events {
        let Event::CallReceived { call, outcome, .. } = event else {
            continue;
        };
        if outcome.is_some() {
            continue;
        }
        let key = CallKey {
            agent: call.origin.agent.clone(),
            call: call.id.clone(),
        };
        let goes_on = events.iter().any(|(_, event)| match event {
            Event::Asked(asked) => asked.call() == Some(&key),
            Event::Joined { call, .. } | Event::Settled { call, .. } => *call == key,
            _ => false,
        });
        if !goes_on {
            return Err(StoreError::corrupt(format!(
                "call `{}` was received, but neither asked about nor settled",
                key.call
            )));
        }
    }
    Ok(())
}
