//! Standing grants: "don't ask again", within an exact scope and for a limited time.
//!
//! A standing grant names one tool and says which arguments it covers. For a shell tool it always names commands: "any
//! bash" cannot be said. It ends at a moment, can be revoked, and each use is counted.

use serde::{Deserialize, Serialize};

use crate::ids::{PersonId, SessionId, StandingGrantId, ToolName};
use crate::time::Timestamp;

/// A person's "don't ask again".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StandingGrant {
    /// Its id.
    pub id: StandingGrantId,
    /// What it covers.
    pub scope: Scope,
    /// Who gave it.
    pub by: PersonId,
    /// When.
    pub given_at: Timestamp,
    /// When it ends. There is always an end.
    pub ends_at: Timestamp,
    /// How often it may be used at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses_max: Option<u32>,
}

/// Exactly what a standing grant covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scope {
    /// The tool.
    pub tool: ToolName,
    /// Only in this session; everywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Which arguments.
    pub covers: Covers,
}

/// Which arguments a standing grant covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Covers {
    /// This digest and no other.
    Exactly(crate::call::CallDigest),
    /// Shell lines of which every simple command is one of these patterns (the `command` patterns of rules).
    Commands(Vec<String>),
    /// Writes to paths under one of these workspace-relative globs.
    Paths(Vec<String>),
    /// Requests to one of these hosts.
    Hosts(Vec<String>),
}
