//! An open transaction of the writer: what commits are checked against, and what they write.

use std::cell::RefMut;
use std::collections::BTreeMap;

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::interaction::CallKey;
use placet_core::journal::{Event, row_hash};
use placet_core::lease::{Fence, LeaseName};
use placet_core::outgoing::Change;
use placet_core::step::Commit;
use placet_core::time::Timestamp;

use crate::error::StoreError;
use crate::heads::Heads;
use crate::project::{self, At};
use crate::sql::{Connection, params};
use crate::sqlite::inline::CommitFault;
use crate::view::{Position, View};
use crate::{change, checkpoint};

/// What the journal adds to an event.
pub(super) struct Stamp {
    pub(super) id: u64,
    pub(super) seq: u64,
    pub(super) hash: Digest,
}

/// An open transaction. Dropped without a commit, it is rolled back, and what was remembered of it is forgotten.
pub(super) struct Batch<'c> {
    conn: &'c Connection,
    /// When it began.
    now: Timestamp,
    end: End,
    /// The first row this transaction can write.
    first_row: u64,
    state: State,
    /// Heads moved by this transaction are written back once, at its end.
    tail: RefMut<'c, Heads>,
}

/// How far the store has come, as this transaction sees it: read once, and kept up to date by what is written.
#[derive(Clone)]
struct State {
    at: Position,
    /// The end of an outage that was recorded: what the clock shows from here on.
    clock_set: Option<Timestamp>,
    /// The fences that commits under these leases must name; nothing for a lease under which no commit counts.
    fences: BTreeMap<LeaseName, Option<u64>>,
    /// How many items the clean-up removed from the outbox.
    forgotten: u64,
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
    pub(super) fn begin(
        conn: &'c Connection,
        mut tail: RefMut<'c, Heads>,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let generation = conn.begin_writing()?;
        tail.begin(generation);
        let mut batch = Self {
            conn,
            now,
            end: End::Undone,
            first_row: 0,
            state: State {
                at: Position::BEGINNING,
                clock_set: None,
                fences: BTreeMap::new(),
                forgotten: 0,
            },
            tail,
        };
        batch.state.at = View::new(conn).position()?;
        batch.first_row = batch.state.at.head.saturating_add(1);
        Ok(batch)
    }

    /// The first row this transaction can write.
    pub(super) fn first_row(&self) -> u64 {
        self.first_row
    }

    /// The last row of the journal.
    pub(super) fn last_row(&self) -> u64 {
        self.state.at.head
    }

    /// Reads the heads of the sessions that commits are about, where each would cost a round trip.
    pub(super) fn prefetch<'n>(
        &mut self,
        commits: impl Iterator<Item = &'n Commit>,
    ) -> Result<(), StoreError> {
        let sessions = commits.flat_map(|commit| {
            let written = commit.events.iter().map(|(session, _)| session);
            written.chain(commit.versions.keys())
        });
        self.tail.prefetch(self.conn, sessions)
    }

    /// Whether a commit may be written: the store is as it was when the commit was decided, and its events are complete. The inner
    /// error refuses this commit. The outer one may be about what was written before it.
    pub(super) fn check(&mut self, commit: &Commit) -> Result<Result<(), StoreError>, StoreError> {
        if let Err(incomplete) = leaves_no_call_in_the_air(&commit.events) {
            return Ok(Err(incomplete.in_commit()));
        }
        if let Err(stale) = self.check_fences(&commit.fences)? {
            return Ok(Err(stale));
        }
        Ok(self
            .lost_race(commit)?
            .map_or(Ok(()), |what| Err(StoreError::Conflict { what })))
    }

    /// Whether what is written under these fences counts: no other process has taken one of the leases since.
    pub(super) fn check_fences(&mut self, fences: &[Fence]) -> Result<Result<(), StoreError>, StoreError> {
        for fence in fences {
            if self.fence(&fence.lease)? != Some(fence.number) {
                let lease = fence.lease.clone();
                return Ok(Err(StoreError::Fenced { lease }));
            }
        }
        Ok(Ok(()))
    }

    /// What has changed since a commit was decided.
    fn lost_race(&self, commit: &Commit) -> Result<Option<String>, StoreError> {
        if commit.epoch.is_some_and(|epoch| epoch != self.state.at.epoch) {
            return Ok(Some("an outage has moved its deadlines".to_owned()));
        }
        for (session, version) in &commit.versions {
            if self.tail.session_version(self.conn, session)? != *version {
                return Ok(Some(format!("the session `{session}` has changed")));
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
                return Ok(Some("there are other checkpoints by now".to_owned()));
            }
        }
        Ok(None)
    }

    fn fence(&mut self, lease: &LeaseName) -> Result<Option<u64>, StoreError> {
        if let Some(known) = self.state.fences.get(lease) {
            return Ok(*known);
        }
        let stored = View::new(self.conn).fence(lease, (self.now - self.state.at.shift).as_millis())?;
        self.state.fences.insert(lease.clone(), stored);
        Ok(stored)
    }

    /// Writes a commit that was checked.
    pub(super) fn append(&mut self, commit: &Commit) -> Result<Vec<Stamp>, StoreError> {
        let mut stamps = Vec::with_capacity(commit.events.len());
        for (session, event) in &commit.events {
            stamps.push(self.append_event(session, event, commit.now)?);
        }
        for change in &commit.changes {
            self.change(change, commit.now)?;
        }
        Ok(stamps)
    }

    fn append_event(&mut self, name: &SessionId, event: &Event, at: Timestamp) -> Result<Stamp, StoreError> {
        let body = serde_json::to_string(event).map_err(|error| StoreError::corrupt(error.to_string()))?;
        let id = self.last_row().saturating_add(1);
        let head = self.tail.head(self.conn, name)?;
        let seq = head.seq.saturating_add(1);
        let hash = row_hash(&head.hash, name, seq, at, body.as_bytes());
        head.advance(seq, hash);
        let session = head.session;
        self.tail.push(name, seq, hash);
        self.conn
            .prepare_cached("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![id, session, seq, at.as_millis(), body, hash.as_bytes()])?;
        self.state.at.head = id;
        let stored_at = At {
            row: id,
            session,
            name,
            wall: at.as_millis(),
            shift: self.state.at.shift,
        };
        self.state.at.shift = project::apply(self.conn, stored_at, event)?;
        if let Event::Outage { until, .. } = event {
            self.state.at.epoch = id;
            self.state.clock_set = Some(*until);
        }
        let head = self.tail.head(self.conn, name)?;
        let has_new_owner = project::owner(event).is_some() && head.own();
        if has_new_owner || event.changes_session() {
            head.change();
        }
        Ok(Stamp { id, seq, hash })
    }

    fn change(&mut self, change: &Change, now: Timestamp) -> Result<(), StoreError> {
        let forgotten = change::apply(self.conn, change, now, self.state.at.shift)?;
        self.state.forgotten = self.state.forgotten.saturating_add(forgotten);
        match change {
            Change::TakeLease {
                fence: Fence { lease, number },
                ..
            } => {
                self.state.fences.insert(lease.clone(), Some(*number));
            }
            Change::RenewLeases { .. } | Change::ReleaseLease(_) | Change::ForgetLeases { .. } => {
                self.state.fences.clear();
            }
            _ => {}
        }
        Ok(())
    }

    /// Waits until everything is written, and checks that it fits.
    pub(super) fn settle(&self) -> Result<(), StoreError> {
        self.conn.flush()
    }

    /// Checks and writes one commit while nothing else is under way. What does not fit is this commit then, and nothing of it stays.
    pub(super) fn write_alone(
        &mut self,
        commit: &Commit,
    ) -> Result<Result<Vec<Stamp>, StoreError>, StoreError> {
        let before = self.state.clone();
        self.conn.set_savepoint()?;
        match self.try_alone(commit) {
            Ok(stamps) => {
                self.conn.release_savepoint()?;
                Ok(Ok(stamps))
            }
            Err(refusal) if refusal.refuses_a_commit() => {
                self.conn.roll_back_to_savepoint()?;
                self.state = before;
                self.tail.forget();
                Ok(Err(refusal.in_commit()))
            }
            Err(error) => Err(error),
        }
    }

    fn try_alone(&mut self, commit: &Commit) -> Result<Vec<Stamp>, StoreError> {
        self.check(commit)??;
        let stamps = self.append(commit)?;
        // What is remembered of these heads may be forgotten with the next commit.
        self.tail.write_heads(self.conn)?;
        self.settle()?;
        Ok(stamps)
    }

    pub(super) fn commit(mut self, checkpoint_rows: u64, fault: CommitFault) -> Result<(), StoreError> {
        let now = self.now;
        self.tail.write_heads(self.conn)?;
        self.conn
            .prepare_cached("UPDATE service SET alive = ?1")?
            .execute([self.state.clock_set.unwrap_or(now).as_millis()])?;
        checkpoint::write(
            self.conn,
            &mut self.tail,
            self.state.at.head,
            checkpoint_rows,
            self.state.forgotten,
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

/// A call that is not settled when it is received must be parked on a question, joined or settled in the same step: otherwise a caller
/// would wait for it forever.
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
