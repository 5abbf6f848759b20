//! A journal row on the wire.

use placet_core::listing::Committed;
use placet_core::render::{SafeText, mask};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A journal row, in words and as it is stored; secrets masked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RowBody {
    /// Its number in the whole journal.
    pub(crate) id: u64,
    /// Its session.
    session_id: String,
    /// Its number in the session.
    seq: u64,
    /// When.
    at: String,
    /// The name of the event.
    #[serde(rename = "type")]
    kind: &'static str,
    /// In one safe sentence.
    #[schema(value_type = String)]
    pub(crate) text: SafeText,
    /// The hash that chains it to the row before.
    hash: String,
    /// The event, secrets masked.
    #[schema(value_type = Object)]
    pub(crate) event: Value,
}

impl RowBody {
    pub(crate) fn new(row: &Committed, text: SafeText) -> Self {
        Self {
            id: row.id,
            session_id: row.session.to_string(),
            seq: row.seq,
            at: row.at.to_string(),
            kind: row.event.name(),
            text,
            hash: row.hash.to_string(),
            event: mask::json(&row.event.readable()),
        }
    }
}
