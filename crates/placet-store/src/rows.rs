//! Journal rows as the store hands them out.

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::journal::Event;
use placet_core::time::Timestamp;
use serde::de::DeserializeOwned;

use crate::error::StoreError;

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
