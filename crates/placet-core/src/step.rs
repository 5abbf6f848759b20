//! A step: what a decision wants stored, and how it gets there.
//!
//! Load, decide, commit: [`turn`] is the middle one. The driver loads what it asks for, commits what it returns, and
//! on a conflict begins again with a new snapshot.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::SessionId;
use crate::journal::Event;
use crate::lease::Fence;
use crate::outgoing::Change;
use crate::snapshot::{Need, Snapshot, Undecided};
use crate::time::Timestamp;

/// What one decision wants stored, all or nothing, and what it answers once that is durable.
#[derive(Debug)]
#[must_use = "a step does nothing until the store gets it"]
pub struct Step<T> {
    /// What happened, in order, each in its session.
    pub events: Vec<(SessionId, Event)>,
    /// Operational changes that are not part of the journal. Applied after the events.
    pub changes: Vec<Change>,
    /// The answer.
    pub value: T,
}

impl<T> Step<T> {
    /// Stores nothing.
    pub fn nothing(value: T) -> Self {
        Self::new(value)
    }

    /// A step to add events and changes to.
    pub fn new(value: T) -> Self {
        Self {
            events: Vec::new(),
            changes: Vec::new(),
            value,
        }
    }

    /// Adds something that happened.
    pub fn event(mut self, session: SessionId, event: Event) -> Self {
        self.events.push((session, event));
        self
    }

    /// Adds an operational change.
    pub fn change(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }
}

/// Why a decision stores nothing: it refuses, or it could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop<E> {
    /// The decision is no.
    Refused(E),
    /// There is no decision yet.
    Undecided(Undecided),
}

impl<E> Stop<E> {
    /// The same with another refusal.
    pub fn map<F>(self, refusal: impl FnOnce(E) -> F) -> Stop<F> {
        match self {
            Self::Refused(error) => Stop::Refused(refusal(error)),
            Self::Undecided(undecided) => Stop::Undecided(undecided),
        }
    }
}

/// A reason to refuse, which is told to the caller.
pub trait Refusal: std::error::Error {}

impl Refusal for std::convert::Infallible {}

impl<E: Refusal> From<E> for Stop<E> {
    fn from(refusal: E) -> Self {
        Self::Refused(refusal)
    }
}

impl<E> From<Undecided> for Stop<E> {
    fn from(undecided: Undecided) -> Self {
        Self::Undecided(undecided)
    }
}

/// What a decision returns.
pub type Decided<T, E = std::convert::Infallible> = Result<Step<T>, Stop<E>>;

/// What a step wants stored, and the versions of the sessions that it was decided on.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// When it was decided.
    pub now: Timestamp,
    /// The versions that must still be the newest.
    pub versions: BTreeMap<SessionId, u64>,
    /// The journal row of the outage that must still be the last one. Nothing where no time was compared.
    pub epoch: Option<u64>,
    /// The leases it is made under. Each must still have this fence.
    pub fences: Vec<Fence>,
    /// What happened, in order, each in its session.
    pub events: Vec<(SessionId, Event)>,
    /// Operational changes, applied after the events.
    pub changes: Vec<Change>,
}

/// What comes after a turn.
#[derive(Debug)]
pub enum Turn<T, E> {
    /// Load these, and decide again on a new snapshot.
    Load(BTreeSet<Need>),
    /// Commit this, then answer.
    Commit(Commit, T),
    /// Answer; there is nothing to commit.
    Answer(T),
    /// The decision is no.
    Refused(E),
    /// What is stored contradicts itself.
    Corrupt(String),
}

/// Decides on a snapshot.
pub fn turn<T, E>(
    snapshot: &mut Snapshot,
    now: Timestamp,
    decide: impl FnOnce(&Snapshot, Timestamp) -> Decided<T, E>,
) -> Turn<T, E> {
    let decided = decide(snapshot, now);
    // Also where the decision went on without a value: it decides again with it.
    if let Some(needs) = snapshot.wanting() {
        return Turn::Load(needs);
    }
    match decided {
        Ok(step) if step.events.is_empty() && step.changes.is_empty() => Turn::Answer(step.value),
        Ok(step) => Turn::Commit(
            Commit {
                now,
                versions: snapshot.versions().clone(),
                epoch: snapshot.epoch().map(|epoch| epoch.row),
                fences: Vec::new(),
                events: step.events,
                changes: step.changes,
            },
            step.value,
        ),
        Err(Stop::Refused(refusal)) => Turn::Refused(refusal),
        Err(Stop::Undecided(Undecided::Corrupt { what })) => Turn::Corrupt(what),
        Err(Stop::Undecided(Undecided::NotLoaded)) => {
            Turn::Corrupt("a decision lacks a value that it did not ask for".to_owned())
        }
    }
}
