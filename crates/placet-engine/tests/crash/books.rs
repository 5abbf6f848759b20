//! The books: what the journal says happened, checked row by row, and then against what is on disk and what was acknowledged.
//!
//! They judge by the scene alone and share nothing with the engine but the journal's format. They are read on after every
//! kill, so a history that goes wrong is found in the round it goes wrong in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use placet_core::call::{CallDigest, ToolCall};
use placet_core::ids::{AgentId, InteractionId, PersonId, SessionId};
use placet_core::interaction::{Asked, CallKey, Resolution};
use placet_core::journal::Event;
use placet_core::outcome::CallStatus;
use rusqlite::{Connection, OpenFlags};

use crate::Failure;
use crate::logs::{ACKS, Ack, DATABASE, EFFECTS, SideEffect, lines_after};

// By their paths, so that other tests can have the books by theirs.
#[path = "books/audit.rs"]
mod audit;
#[path = "books/rows.rs"]
mod rows;

const ROWS_AFTER: &str =
    "SELECT journal.id, name, body FROM journal JOIN sessions ON sessions.id = journal.session
                   WHERE journal.id > ?1 ORDER BY journal.id";

/// Everything known about a history so far.
#[derive(Default)]
pub(crate) struct Books {
    row: u64,
    effects_read: u64,
    acks_read: u64,
    calls: BTreeMap<CallKey, Call>,
    questions: BTreeMap<InteractionId, Question>,
    ended: BTreeSet<SessionId>,
    effects: Vec<SideEffect>,
    acks: Vec<Ack>,
    /// What is wrong.
    pub(crate) findings: Vec<String>,
    /// What the history has met.
    pub(crate) tally: Tally,
}

/// How often a history has met what it is made for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) effects: usize,
    pub(crate) acks: usize,
    /// Killed between claim and result.
    pub(crate) lost: usize,
    /// Of those, killed after the effect.
    pub(crate) lost_after_effect: usize,
    /// Read-only calls that were simply run again.
    pub(crate) rerun: usize,
    /// Calls that a person had run again.
    pub(crate) run_again: usize,
    pub(crate) edited: usize,
    pub(crate) joined: usize,
    pub(crate) expired: usize,
}

struct Call {
    made: ToolCall,
    question: Option<InteractionId>,
    same_as: Option<CallKey>,
    grants: Vec<Grant>,
    refused: Option<CallStatus>,
}

struct Grant {
    digest: CallDigest,
    state: GrantState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrantState {
    Issued,
    Claimed,
    Lost,
    Done,
    /// Lost, and then settled by a person, or by running a read-only call again.
    Settled,
}

struct Question {
    asked: Asked,
    votes: BTreeSet<PersonId>,
    resolution: Option<Resolution>,
    /// A question lets one call run once.
    used: bool,
}

impl Books {
    /// Reads what has been added since the last time, and checks everything. The worker must be dead.
    pub(crate) fn read_on(&mut self, dir: &Path) -> Result<(), Failure> {
        if has_journal(dir)? {
            self.read_journal(dir)?;
        }
        let effects = lines_after::<SideEffect>(&dir.join(EFFECTS), &mut self.effects_read)?;
        let acks = lines_after::<Ack>(&dir.join(ACKS), &mut self.acks_read)?;
        self.compare_with(effects, acks)
    }

    /// Compares the journal with what ran and what was acknowledged since the last time.
    pub(crate) fn compare_with(&mut self, effects: Vec<SideEffect>, acks: Vec<Ack>) -> Result<(), Failure> {
        self.effects.extend(effects);
        self.acks.extend(acks);
        self.audit_effects()?;
        self.audit_acks();
        (self.tally.effects, self.tally.acks) = (self.effects.len(), self.acks.len());
        Ok(())
    }

    fn read_journal(&mut self, dir: &Path) -> Result<(), Failure> {
        let journal = open(dir)?;
        let mut rows = journal.prepare(ROWS_AFTER)?;
        let mut rows = rows.query([self.row])?;
        while let Some(row) = rows.next()? {
            let (id, session, body): (u64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            self.enter_row(id, session, &body)?;
        }
        Ok(())
    }

    /// Enters the next row of the journal.
    pub(crate) fn enter_row(&mut self, id: u64, session: String, body: &str) -> Result<(), Failure> {
        if id != self.row + 1 {
            self.find(format!("journal row {id} follows row {}", self.row));
        }
        self.row = id;
        self.enter(SessionId::new(session)?, serde_json::from_str::<Event>(body)?)
    }

    /// The calls of an agent, each with how often it was claimed.
    pub(crate) fn calls_of(&self, agent: &AgentId) -> impl Iterator<Item = (&ToolCall, usize)> {
        let calls = self.calls.iter().filter(move |(key, _)| key.agent == *agent);
        calls.map(|(_, call)| {
            let claimed = call
                .grants
                .iter()
                .filter(|grant| grant.state != GrantState::Issued);
            (&call.made, claimed.count())
        })
    }

    fn find(&mut self, finding: String) {
        self.findings.push(finding);
    }

    /// A call, following a call that shares another's fate.
    fn real(&self, key: &CallKey) -> Option<&Call> {
        self.calls.get(self.same_as(key))
    }

    /// The call whose fate a call shares: usually itself.
    fn same_as<'k>(&'k self, key: &'k CallKey) -> &'k CallKey {
        let other = self.calls.get(key).and_then(|call| call.same_as.as_ref());
        other.unwrap_or(key)
    }

    fn grant(&self, key: &CallKey, grant: u32) -> Option<&Grant> {
        let index = usize::try_from(grant.checked_sub(1)?).ok()?;
        self.calls.get(key)?.grants.get(index)
    }
}

/// Read-only, so that the next worker finds the file exactly as the killed one left it.
fn open(dir: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(dir.join(DATABASE), flags)
}

/// Whether there are tables yet. The first workers may be killed while they make them; what they leave is theirs to roll back.
fn has_journal(dir: &Path) -> rusqlite::Result<bool> {
    let half_made = dir.join(format!("{DATABASE}-journal")).exists();
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'journal'";
    Ok(dir.join(DATABASE).exists() && !half_made && open(dir)?.query_row(tables, [], |row| row.get(0))?)
}
