//! A step: what a decision wants stored, and what it becomes once stored.

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::journal::Event;
use placet_core::time::Timestamp;
use serde::de::DeserializeOwned;

use crate::change::Change;
use crate::error::StoreError;

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

/// A journal row as it is stored, its body not yet read.
#[derive(Debug, Clone, PartialEq)]
pub struct RawRow {
    /// Its number in the whole journal.
    pub id: u64,
    /// Its session.
    pub session: SessionId,
    /// Its number in the session.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What happened, as JSON: an object that begins with its `type`.
    pub body: String,
}

impl RawRow {
    /// The name of the event, without reading the rest of the body.
    pub fn kind(&self) -> &str {
        let rest = self.body.strip_prefix("{\"type\":\"").unwrap_or_default();
        rest.split('"').next().unwrap_or_default()
    }

    /// The body, or those fields of it that `T` wants.
    pub fn fields<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        serde_json::from_str(&self.body)
            .map_err(|error| StoreError::corrupt(format!("journal row {} cannot be read: {error}", self.id)))
    }
}
