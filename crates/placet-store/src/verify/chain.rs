//! The first pass: every session's chain, and the chain of checkpoints over all of them.

use std::collections::HashMap;

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::journal::{Checkpoints, Event, checkpoint_hash, genesis, row_hash};
use placet_core::time::Timestamp;

use super::{Anchor, FindingKind, Findings};
use crate::checkpoint::{Covered, Interval, Last, Outbox};
use crate::error::StoreError;
use crate::sql::{Connection, OptionalExtension, Row};

/// How many rows are read at once.
const PAGE: usize = 512;

/// What the pass counted.
pub(super) struct Chains {
    pub(super) rows: u64,
    pub(super) sessions: u64,
    pub(super) checkpoints: u64,
    pub(super) anchor: Anchor,
}

/// A session: what its row says of its head, and how far its chain has been followed.
struct Session {
    name: String,
    head_seq: u64,
    head_hash: Option<Digest>,
    seq: u64,
    hash: Digest,
}

struct Checkpoint {
    id: u64,
    rows: u64,
    at: Timestamp,
    heads: String,
    hash: Option<Digest>,
}

struct JournalRow<'r> {
    id: u64,
    session: u64,
    seq: u64,
    at: Timestamp,
    body: &'r [u8],
    hash: Option<Digest>,
}

struct Pass<'c, 'f> {
    conn: &'c Connection,
    findings: &'f mut Findings,
    expected: Option<&'f Anchor>,
    sessions: HashMap<u64, Session>,
    last_row: u64,
    last_checkpoint: Last,
    interval: Interval,
    /// How much had been found when the interval began: what broke a checkpoint's rows may have been named already.
    found_before: usize,
}

pub(super) fn check(
    conn: &Connection,
    expected: Option<&Anchor>,
    findings: &mut Findings,
) -> Result<Chains, StoreError> {
    let mut pass = Pass {
        conn,
        found_before: findings.0.len(),
        findings,
        expected,
        sessions: sessions(conn)?,
        last_row: 0,
        last_checkpoint: Last::beginning(),
        interval: Interval::default(),
    };
    let mut next = pass.next_checkpoint()?;
    pass.compare_anchor()?;
    let sql = "SELECT id, session, seq, at, body, hash FROM journal WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    loop {
        let read_before = pass.last_row;
        let mut rows = statement.query((read_before, PAGE))?;
        while let Some(row) = rows.next()? {
            let row = JournalRow::read(&row)?;
            while let Some(checkpoint) = next.take_if(|checkpoint| checkpoint.rows < row.id) {
                pass.checkpoint(&checkpoint);
                next = pass.next_checkpoint()?;
            }
            pass.row(&row)?;
            pass.compare_anchor()?;
        }
        if pass.last_row == read_before {
            break;
        }
    }
    let anchor = pass.anchor()?;
    while let Some(checkpoint) = next {
        pass.checkpoint(&checkpoint);
        next = pass.next_checkpoint()?;
    }
    pass.ends(anchor)
}

impl Pass<'_, '_> {
    fn row(&mut self, row: &JournalRow<'_>) -> Result<(), StoreError> {
        let wanted = self.last_row.saturating_add(1);
        if row.id != wanted {
            let last = row.id.saturating_sub(1);
            let sentence = format!("rows {wanted} to {last} of the journal are missing");
            self.findings.add(FindingKind::Removed, Some(wanted), sentence);
        }
        self.last_row = row.id;
        let Some(session) = self.sessions.get(&row.session) else {
            let sentence = format!("row {} belongs to a session that is missing", row.id);
            self.findings
                .add(FindingKind::SessionRemoved, Some(row.id), sentence);
            return Ok(());
        };
        let wanted = session.seq.saturating_add(1);
        if row.seq == wanted {
            self.check_content(row);
        } else {
            self.out_of_step(row, wanted)?;
        }
        if let Some(session) = self.sessions.get_mut(&row.session) {
            session.seq = session.seq.max(row.seq);
            session.hash = row.hash.unwrap_or_else(genesis);
            self.interval.push(&session.name, row.seq, session.hash);
        }
        Ok(())
    }

    fn check_content(&mut self, row: &JournalRow<'_>) {
        let Some(session) = self.sessions.get(&row.session) else {
            return;
        };
        let computed = SessionId::new(session.name.as_str())
            .ok()
            .map(|name| row_hash(&session.hash, &name, row.seq, row.at, row.body));
        if computed.is_none() || computed != row.hash {
            let sentence = format!(
                "row {} is not as it was written (row {} of session `{}`)",
                row.id, row.seq, session.name
            );
            self.findings.add(FindingKind::Changed, Some(row.id), sentence);
            return;
        }
        match serde_json::from_slice::<Event>(row.body) {
            Ok(Event::Started {
                checkpoints: Some(then),
                ..
            }) => self.compare_checkpoints(row.id, then),
            Ok(_) => {}
            Err(error) => {
                let sentence = format!("row {} cannot be read: {error}", row.id);
                self.findings.add(FindingKind::Changed, Some(row.id), sentence);
            }
        }
    }

    /// Compares the checkpoints before a row with those that the row says there were.
    fn compare_checkpoints(&mut self, row: u64, then: Checkpoints) {
        let Last { id, hash, .. } = self.last_checkpoint;
        if (then.count, then.head) != (id, hash) {
            let sentence = format!(
                "row {row} was written after {} checkpoints, and {id} of them are there as they were",
                then.count
            );
            self.findings
                .add(FindingKind::CheckpointBroken, Some(row), sentence);
        }
    }

    /// A row that is not the next of its session: either rows before it are missing, or it is in the wrong place.
    fn out_of_step(&mut self, row: &JournalRow<'_>, wanted: u64) -> Result<(), StoreError> {
        let Some(session) = self.sessions.get(&row.session) else {
            return Ok(());
        };
        let sql = "SELECT 1 FROM journal WHERE session = ?1 AND seq = ?2";
        let elsewhere = self.conn.prepare_cached(sql)?.exists((row.session, wanted))?;
        let (kind, what) = if elsewhere || row.seq < wanted {
            (FindingKind::Reordered, "should come at another place")
        } else {
            (
                FindingKind::Removed,
                "comes too early: rows before it are missing",
            )
        };
        let sentence = format!(
            "row {} is number {} of session `{}`, where number {wanted} should be; it {what}",
            row.id, row.seq, session.name
        );
        self.findings.add(kind, Some(row.id), sentence);
        Ok(())
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) {
        let wanted = self.last_checkpoint.id.saturating_add(1);
        let broken = |id: u64, what: &str| format!("checkpoint {id} {what}");
        let computed = checkpoint_hash(
            &self.last_checkpoint.hash,
            checkpoint.rows,
            checkpoint.at,
            checkpoint.heads.as_bytes(),
        );
        if checkpoint.id != wanted {
            let sentence = broken(wanted, "is missing");
            self.findings.add(FindingKind::CheckpointBroken, None, sentence);
        } else if checkpoint.hash != Some(computed) {
            let sentence = broken(checkpoint.id, "is not as it was written");
            self.findings.add(FindingKind::CheckpointBroken, None, sentence);
        } else {
            self.check_heads(checkpoint);
        }
        self.last_checkpoint = Last {
            id: checkpoint.id,
            rows: checkpoint.rows,
            hash: checkpoint.hash.unwrap_or(computed),
            outbox: self.last_checkpoint.outbox,
        };
        self.interval = Interval::default();
        self.found_before = self.findings.0.len();
    }

    /// Compares the rows since the checkpoint before with what the checkpoint says of them.
    fn check_heads(&mut self, checkpoint: &Checkpoint) {
        let Ok(stored) = serde_json::from_str::<Covered>(&checkpoint.heads) else {
            let sentence = format!("checkpoint {} cannot be read", checkpoint.id);
            self.findings.add(FindingKind::CheckpointBroken, None, sentence);
            return;
        };
        let mut followed = self.interval.heads();
        followed.outbox = stored.outbox;
        self.last_checkpoint.outbox = stored.outbox.unwrap_or(self.last_checkpoint.outbox);
        if stored == followed {
            return;
        }
        for (name, seq, hash) in &stored.heads {
            let session = self.sessions.values().find(|session| session.name == *name);
            let head = followed.heads.iter().find(|head| head.0 == *name);
            match (session, head) {
                (None, _) => {
                    let sentence = format!("session `{name}` is missing; it had {seq} rows");
                    self.findings.add(FindingKind::SessionRemoved, None, sentence);
                }
                (Some(session), _) if session.seq < *seq => {
                    let sentence = format!("session `{name}` had {seq} rows and has {} now", session.seq);
                    self.findings.add(FindingKind::SessionCut, None, sentence);
                }
                (Some(_), Some(head)) if (head.1, head.2) != (*seq, *hash) => {
                    let sentence = format!(
                        "row {seq} of session `{name}` is not the one that checkpoint {} covers",
                        checkpoint.id
                    );
                    self.findings.add(FindingKind::Changed, None, sentence);
                }
                (Some(_), _) => {}
            }
        }
        if self.findings.0.len() == self.found_before {
            let sentence = format!(
                "rows {} to {} are not in the order that checkpoint {} covers",
                self.last_checkpoint.rows.saturating_add(1),
                checkpoint.rows,
                checkpoint.id
            );
            self.findings.add(FindingKind::Reordered, None, sentence);
        }
    }

    /// Stands for all rows so far: what a checkpoint at this row would hash to, at no particular time.
    ///
    /// Right after a row this does not depend on whether a checkpoint covers exactly that row, because a checkpoint
    /// closes its interval only when the next row comes.
    fn anchor(&self) -> Result<Anchor, StoreError> {
        let heads = self.interval.heads().text()?;
        Ok(Anchor {
            rows: self.last_row,
            hash: checkpoint_hash(
                &self.last_checkpoint.hash,
                self.last_row,
                Timestamp::from_millis(0),
                heads.as_bytes(),
            ),
        })
    }

    fn compare_anchor(&mut self) -> Result<(), StoreError> {
        let Some(expected) = self.expected.filter(|expected| expected.rows == self.last_row) else {
            return Ok(());
        };
        if self.anchor()? != *expected {
            let sentence = format!(
                "the first {} rows are not those the anchor stands for",
                expected.rows
            );
            self.findings
                .add(FindingKind::AnchorDiffers, Some(expected.rows), sentence);
        }
        Ok(())
    }

    /// Compares where the chains end with where they should.
    fn ends(self, anchor: Anchor) -> Result<Chains, StoreError> {
        let mut sessions: Vec<_> = self.sessions.values().collect();
        sessions.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for session in sessions {
            let Session {
                name, head_seq, seq, ..
            } = session;
            if *seq == 0 && *head_seq > 0 {
                let sentence = format!("all {head_seq} rows of session `{name}` are missing");
                self.findings.add(FindingKind::SessionRemoved, None, sentence);
            } else if seq < head_seq {
                let sentence = format!("session `{name}` had {head_seq} rows and has {seq} now");
                self.findings.add(FindingKind::SessionCut, None, sentence);
            } else if seq > head_seq || session.head_hash != Some(session.hash) {
                let sentence = format!("session `{name}` does not end where its head says");
                self.findings.add(FindingKind::ProjectionDiffers, None, sentence);
            }
        }
        if let Some(expected) = self.expected.filter(|expected| expected.rows > self.last_row) {
            let sentence = format!(
                "the anchor stands for {} rows, and there are {}",
                expected.rows, self.last_row
            );
            self.findings.add(FindingKind::AnchorDiffers, None, sentence);
        }
        let written: u64 = self
            .conn
            .prepare_cached("SELECT checkpoints FROM service")?
            .query_row([], |row| row.get(0))?;
        if written != self.last_checkpoint.id {
            let sentence = format!(
                "{written} checkpoints were written, and {} are there",
                self.last_checkpoint.id
            );
            self.findings.add(FindingKind::CheckpointBroken, None, sentence);
        }
        let sql = "SELECT queued, (SELECT count(*) FROM outbox) FROM service";
        let (counted, there): (u64, u64) = self
            .conn
            .prepare_cached(sql)?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let Outbox { queued, forgotten } = self.last_checkpoint.outbox;
        let wanted = counted.max(queued).saturating_sub(forgotten);
        if wanted != there {
            let sentence = format!("the outbox should hold {wanted} items, and holds {there}");
            self.findings.add(FindingKind::OutboxDiffers, None, sentence);
        }
        Ok(Chains {
            rows: self.last_row,
            sessions: self.sessions.len() as u64,
            checkpoints: self.last_checkpoint.id,
            anchor,
        })
    }

    fn next_checkpoint(&self) -> Result<Option<Checkpoint>, StoreError> {
        let sql = "SELECT id, rows, at, heads, hash FROM checkpoints WHERE id > ?1 ORDER BY id LIMIT 1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let found = statement.query_row([self.last_checkpoint.id], |row| {
            Ok(Checkpoint {
                id: row.get(0)?,
                rows: row.get(1)?,
                at: Timestamp::from_millis(row.get(2)?),
                heads: String::from_utf8_lossy(row.bytes(3)?).into_owned(),
                hash: hash(row, 4)?,
            })
        });
        found.optional()
    }
}

impl<'r> JournalRow<'r> {
    fn read(row: &Row<'r>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.get(0)?,
            session: row.get(1)?,
            seq: row.get(2)?,
            at: Timestamp::from_millis(row.get(3)?),
            body: row.bytes(4)?,
            hash: hash(row, 5)?,
        })
    }
}

fn sessions(conn: &Connection) -> Result<HashMap<u64, Session>, StoreError> {
    let mut statement = conn.prepare_cached("SELECT id, name, head_seq, head_hash FROM sessions")?;
    let sessions = statement.query_map([], |row| {
        Ok((
            row.get(0)?,
            Session {
                name: row.get(1)?,
                head_seq: row.get(2)?,
                head_hash: hash(row, 3)?,
                seq: 0,
                hash: genesis(),
            },
        ))
    })?;
    Ok(sessions.into_iter().collect())
}

/// A stored hash; `None` when it has not the length of one.
fn hash(row: &Row<'_>, column: usize) -> Result<Option<Digest>, StoreError> {
    Ok(<[u8; 32]>::try_from(row.bytes(column)?)
        .ok()
        .map(Digest::from_bytes))
}
