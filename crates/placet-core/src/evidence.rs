//! Evidence beside a question: what a tool can show of the effect before it happens.

use serde::{Deserialize, Serialize};

use crate::preview::Preview;

/// The most evidence kept with one question, in bytes. More is refused by the engine, not cut.
pub const EVIDENCE_BYTES_MAX: usize = 1024 * 1024;

/// Something a tool shows about what its call would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Evidence {
    /// A file before and after. Absent text means the file does not exist.
    Diff {
        /// Which file.
        path: String,
        /// Its text now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
        /// Its text afterwards.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// The real place a path leads to, links followed. The tool acts on this place and no other.
    Place {
        /// As seen from the workspace, or in full when it is outside.
        path: String,
    },
    /// How many rows a statement would touch.
    Rows {
        /// The statement counted.
        statement: String,
        /// How many.
        count: u64,
    },
    /// Anything else worth a line.
    Note {
        /// What it is about.
        title: String,
        /// The text.
        text: String,
    },
    /// What the agent says of the call: its own word, checked by no one.
    Said {
        /// What it says.
        preview: Box<Preview>,
    },
    /// The tool was asked for evidence and could not give any. Shown, because its absence is news too.
    Failed {
        /// Why.
        why: String,
    },
}
