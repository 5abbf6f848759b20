//! A step: what a decision wants stored, and what it becomes once stored.

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::journal::Event;
use placet_core::time::Timestamp;

use crate::change::Change;

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

/// A journal row.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// Its number in the whole journal, counted from 1 without gaps.
    pub id: u64,
    /// Its session.
    pub session: SessionId,
    /// Its number in the session, counted from 1 without gaps.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// Its hash, which covers the session's row before it.
    pub hash: Digest,
    /// What happened.
    pub event: Event,
}
