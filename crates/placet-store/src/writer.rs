//! The writer: writes waiting commits one after another in one transaction, and commits them as a group.
//!
//! A commit whose sessions have changed since it was decided is a conflict, found before anything is written. Commits cost
//! no savepoint: one whose events contradict the store has already written something when that shows. The transaction is
//! then rolled back, and the commits before it are checked and written again. This is rare and keeps the common path free
//! of bookkeeping. Any other failure fails the whole group, and no caller is told "done".

use std::cell::{Cell, RefCell, RefMut};

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::interaction::CallKey;
use placet_core::journal::{Event, row_hash};
use placet_core::outgoing::Change;
use placet_core::step::Commit;
use placet_core::time::{LiveTime, Now, Timestamp};
use rusqlite::{Connection, params};

use crate::change;
use crate::clock::Written;
use crate::error::StoreError;
use crate::project::{self, At, Owner};
use crate::rows::Committed;
use crate::tail::Tail;
use crate::view::View;
use crate::{checkpoint, inline::CommitFault};

#[cfg(test)]
mod tests;

/// What [`Writer::prove_room`] writes: more than most steps do.
const ROOM_BYTES: u32 = 64 * 1024;

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

/// What a writer is to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It keeps live time.
    Owner,
    /// Live time is not its to move, nor the rows of others to cover.
    Guest,
}

pub(crate) struct Writer {
    pub(crate) conn: Connection,
    role: Role,
    /// Whether it has committed anything.
    wrote: Cell<bool>,
    /// How many rows may wait for a checkpoint.
    checkpoint_rows: u32,
    /// The last row that was told about. What comes after it and is not ours, another process wrote.
    told: Cell<u64>,
    tail: RefCell<Tail>,
}

impl Writer {
    pub(crate) fn new(conn: Connection, checkpoint_rows: u32, role: Role) -> Result<Self, StoreError> {
        let told = Cell::new(View::new(&conn).head()?);
        if role == Role::Owner {
            checkpoint::restore_count(&conn)?;
        }
        Ok(Self {
            conn,
            role,
            wrote: Cell::new(false),
            checkpoint_rows,
            told,
            tail: RefCell::default(),
        })
    }

    /// Live time as last stored, and the wall clock then.
    pub(crate) fn last_alive(&self) -> Result<Written, StoreError> {
        let sql = "SELECT live, wall FROM service";
        let (live, wall): (i64, Option<i64>) = self
            .conn
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Written {
            live: LiveTime::from_millis(live),
            wall: wall.map(Timestamp::from_millis),
        })
    }

    /// Writes `jobs` in order and commits them. When that fails, every job fails.
    pub(crate) fn group(&self, jobs: &mut [Job], now: Now, fault: CommitFault) -> Vec<Committed> {
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

    fn try_group(
        &self,
        jobs: &mut [Job],
        now: Now,
        fault: CommitFault,
    ) -> Result<Vec<Committed>, StoreError> {
        let mut batch = self.begin()?;
        let mut done: Vec<(usize, Vec<Stamp>)> = Vec::new();
        for at in 0..jobs.len() {
            let Some(job) = jobs.get_mut(at) else { break };
            if let Err(error) = batch.check(&job.commit) {
                job.result = Err(error);
                continue;
            }
            match batch.append(&job.commit) {
                Ok(stamps) => done.push((at, stamps)),
                Err(error @ StoreError::Conflict { .. }) => {
                    job.result = Err(error);
                    drop(batch);
                    batch = self.begin()?;
                    for (at, stamps) in &mut done {
                        let Some(job) = jobs.get(*at) else { continue };
                        batch.check(&job.commit)?;
                        *stamps = batch.append(&job.commit)?;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if done.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows = self.between(self.told.get(), batch.first_row)?;
        let last_row = batch.last_row;
        batch.commit(now, u64::from(self.checkpoint_rows), fault)?;
        self.told.set(last_row);
        self.wrote.set(true);
        for (at, stamps) in done {
            if let Some(job) = jobs.get_mut(at) {
                rows.extend(committed(&mut job.commit, stamps));
            }
        }
        Ok(rows)
    }

    fn begin(&self) -> Result<Batch<'_>, StoreError> {
        Batch::begin(&self.conn, self.role, self.tail.borrow_mut())
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
        View::new(&self.conn).journal(after, usize::try_from(count).unwrap_or(usize::MAX), None)
    }

    /// Covers all rows by a checkpoint. A guest that wrote none leaves that to the owner: it may not even be able to.
    pub(crate) fn checkpoint(&self, now: Now) -> Result<(), StoreError> {
        match self.role {
            Role::Guest if !self.wrote.get() => Ok(()),
            Role::Guest | Role::Owner => self.begin()?.commit(now, 1, CommitFault::None),
        }
    }

    /// Covers all rows by a checkpoint and folds the write-ahead log back into the file; a guest's is folded back by
    /// whoever is the last to go.
    pub(crate) fn close(&self, now: Now) -> Result<(), StoreError> {
        self.checkpoint(now)?;
        if self.role == Role::Guest {
            return Ok(());
        }
        // Readers may still hold on to the log; then it stays, which is only untidy.
        Ok(self
            .conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }

    /// Commits a write of some size, and fails if the disk does not take it. A heartbeat is no proof: it changes a row in
    /// place, which a full disk may still take.
    pub(crate) fn prove_room(&self, now: Now) -> Result<(), StoreError> {
        if self.role == Role::Guest {
            return Ok(());
        }
        let batch = self.begin()?;
        let last = self
            .conn
            .prepare_cached("INSERT INTO room (filler) VALUES (zeroblob(?1))")?
            .insert([ROOM_BYTES])?;
        self.conn
            .prepare_cached("DELETE FROM room WHERE id < ?1")?
            .execute([last])?;
        batch.commit(now, u64::from(self.checkpoint_rows), CommitFault::None)
    }

    /// Stores how far live time has come.
    pub(crate) fn heartbeat(&self, now: Now) -> Result<(), StoreError> {
        match self.role {
            Role::Guest => Ok(()),
            Role::Owner => self
                .begin()?
                .commit(now, u64::from(self.checkpoint_rows), CommitFault::None),
        }
    }
}

fn committed(commit: &mut Commit, stamps: Vec<Stamp>) -> impl Iterator<Item = Committed> {
    let at = commit.now.wall;
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
    role: Role,
    end: End,
    /// The first row this transaction can write.
    first_row: u64,
    last_row: u64,
    /// How many items the clean-up removed from the outbox.
    forgotten: u64,
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
    fn begin(conn: &'c Connection, role: Role, tail: RefMut<'c, Tail>) -> Result<Self, StoreError> {
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut batch = Self {
            conn,
            role,
            end: End::Undone,
            first_row: 0,
            last_row: 0,
            forgotten: 0,
            tail,
        };
        batch.tail.begin(conn)?;
        batch.last_row = View::new(conn).head()?;
        batch.first_row = batch.last_row.saturating_add(1);
        Ok(batch)
    }

    /// Whether the sessions are as they were when the commit was decided, and its events are complete.
    fn check(&self, commit: &Commit) -> Result<(), StoreError> {
        leaves_no_call_in_the_air(&commit.events).map_err(StoreError::in_commit)?;
        for (session, version) in &commit.versions {
            if self.tail.session_version(self.conn, session)? != *version {
                let what = format!("the session `{session}` has changed");
                return Err(StoreError::Conflict { what });
            }
        }
        Ok(())
    }

    fn append(&mut self, commit: &Commit) -> Result<Vec<Stamp>, StoreError> {
        let mut stamps = Vec::with_capacity(commit.events.len());
        for (session, event) in &commit.events {
            let stamp = self.append_event(session, event, commit.now.wall);
            stamps.push(stamp.map_err(StoreError::in_commit)?);
        }
        for change in &commit.changes {
            change::apply(self.conn, change, commit.now).map_err(StoreError::in_commit)?;
            if let Change::ForgetOutbox { .. } = change {
                self.forgotten = self.forgotten.saturating_add(self.conn.changes());
            }
        }
        Ok(stamps)
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
        let owner = project::apply(self.conn, stored_at, event)?;
        if owner == Owner::New || event.changes_session() {
            self.tail.head(self.conn, name)?.change();
        }
        Ok(Stamp { id, seq, hash })
    }

    fn commit(mut self, now: Now, checkpoint_rows: u64, fault: CommitFault) -> Result<(), StoreError> {
        self.tail.write_heads(self.conn)?;
        if self.role == Role::Owner {
            self.conn
                .prepare_cached("UPDATE service SET live = max(live, ?1), wall = ?2")?
                .execute((now.live.as_millis(), now.wall.as_millis()))?;
        }
        checkpoint::write(
            self.conn,
            &mut self.tail,
            self.last_row,
            checkpoint_rows,
            self.forgotten,
            now.wall,
        )?;
        self.conn
            .prepare_cached("DELETE FROM memory WHERE until <= ?1")?
            .execute([now.wall.as_millis()])?;
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
        self.conn.prepare_cached("COMMIT")?.execute([])?;
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
        if !self.conn.is_autocommit() {
            // A rollback that fails leaves the transaction open, and the next `BEGIN` reports it.
            let _ = self.conn.execute_batch("ROLLBACK");
        }
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
