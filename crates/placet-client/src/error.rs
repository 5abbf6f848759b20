//! What can go wrong with a request. Variants differ in what the caller does next.

use std::io;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing listens there: the server is not running. Nothing was sent.
    #[error("no server listens at `{at}`: {source}")]
    NotRunning {
        /// Where.
        at: String,
        /// What the system says.
        source: io::Error,
    },
    /// The process that listens there is not trusted with the request. Nothing was sent.
    #[error("`{at}` belongs to another user ({uid}); remove it, and check who can write to its folder")]
    Stranger {
        /// Where.
        at: String,
        /// Whose process it is.
        uid: u32,
    },
    /// The connection broke. What was sent may have been done.
    #[error("the connection to the server was lost: {0}")]
    Lost(String),
    /// The server refuses, and says why.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// The server speaks another version of the contract.
    #[error("the server's answer cannot be read; it may be of another version: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl Error {
    /// The stable code of a refusal.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) => Some(&problem.code),
            _ => None,
        }
    }

    /// Whether the server is gone: a request may be sent again once there is one.
    pub const fn is_gone(&self) -> bool {
        matches!(self, Self::NotRunning { .. } | Self::Lost(_))
    }
}

/// A refusal (`application/problem+json`).
#[derive(Debug, Clone, PartialEq, Deserialize, thiserror::Error)]
#[error("{detail}")]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// A stable name for programs.
    pub code: String,
    /// What happened, in a sentence.
    pub detail: String,
    /// What else is known, by code.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}
