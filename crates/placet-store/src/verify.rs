//! Verifying: does the journal still say what was written, and do the projections say what the journal says?
//!
//! Two passes over one state of the database. The first follows every session's chain and the chain of checkpoints;
//! the second builds the projections again from the journal and compares them. A process that can write the file can also
//! compute hashes, so the passes find damage and careless tampering; against a careful forger keep an [`Anchor`]
//! somewhere else and pass it in. Rows after the last checkpoint are covered by their session's chain and by the
//! anchor; they are covered by a checkpoint on closing, at the latest. The number of outbox items is covered by checkpoints alone: items
//! put there since the last one can hide as many that were removed.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use placet_core::digest::Digest;
use serde::Serialize;

use crate::error::{OpenError, StoreError};
use crate::sql::Connection;
use crate::sqlite::schema;

mod chain;
mod replay;

/// Beyond this limit findings are not listed.
const FINDINGS_MAX: usize = 1000;

/// What was checked, and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// Journal rows.
    pub rows: u64,
    /// Sessions.
    pub sessions: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Stands for everything up to the last row. Keep it elsewhere and pass it to a later check.
    pub anchor: Anchor,
    /// What is wrong; at most a thousand findings. Empty when all is well.
    pub findings: Vec<Finding>,
}

/// A hash that stands for the first `rows` rows of the journal. Written as `rows:hash`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Anchor {
    /// How many rows it covers.
    pub rows: u64,
    /// The hash.
    pub hash: Digest,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// The journal row it was found at, when it was found at one.
    pub row: Option<u64>,
    /// In a sentence.
    pub sentence: String,
}

/// What kind of thing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// A row does not have the content it was written with.
    Changed,
    /// Rows are missing.
    Removed,
    /// Rows are there, but not in the order they were written in.
    Reordered,
    /// All rows of a session are missing.
    SessionRemoved,
    /// The last rows of a session are missing.
    SessionCut,
    /// The chain of checkpoints does not hold.
    CheckpointBroken,
    /// The outbox has lost or gained items.
    OutboxDiffers,
    /// A table beside the journal says something else than the journal.
    ProjectionDiffers,
    /// The journal is not the one the anchor was taken from.
    AnchorDiffers,
}

impl Verified {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.rows, self.hash)
    }
}

/// A text that is not an anchor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an anchor; one looks like `1234:9f86d0…`, with 64 hexadecimal digits")]
pub struct AnchorError(String);

impl FromStr for Anchor {
    type Err = AnchorError;

    fn from_str(text: &str) -> Result<Self, AnchorError> {
        let parse = || {
            let (rows, hash) = text.trim().split_once(':')?;
            let hash = serde_json::from_value(serde_json::Value::from(hash)).ok()?;
            Some(Self {
                rows: rows.parse().ok()?,
                hash,
            })
        };
        parse().ok_or_else(|| AnchorError(text.to_owned()))
    }
}

/// What has been found so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, kind: FindingKind, row: Option<u64>, sentence: String) {
        if self.0.len() < FINDINGS_MAX {
            self.0.push(Finding { kind, row, sentence });
        }
    }
}

/// Checks the database in a file of this version. Only reads it; a running Placet is not disturbed.
pub fn verify_file(path: &Path, expected: Option<&Anchor>) -> Result<Verified, OpenError> {
    let conn = schema::open_verifier(path, Duration::from_secs(5))?;
    Ok(verify(&conn, expected)?)
}

/// Checks the database behind a connection that is not in a transaction.
pub(crate) fn verify(conn: &Connection, expected: Option<&Anchor>) -> Result<Verified, StoreError> {
    // The replay writes to temporary tables of the same names, and statements compiled against one set of tables must
    // not be used on the other.
    conn.forget_statements();
    conn.begin_reading()?;
    let verified = both_passes(conn, expected);
    conn.forget_statements();
    conn.roll_back();
    verified
}

fn both_passes(conn: &Connection, expected: Option<&Anchor>) -> Result<Verified, StoreError> {
    let mut findings = Findings::default();
    let chains = chain::check(conn, expected, &mut findings)?;
    // A journal that does not hold proves nothing about its projections.
    if findings.0.is_empty() {
        replay::check(conn, &mut findings)?;
    }
    Ok(Verified {
        rows: chains.rows,
        sessions: chains.sessions,
        checkpoints: chains.checkpoints,
        anchor: chains.anchor,
        findings: findings.0,
    })
}
