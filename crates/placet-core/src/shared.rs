//! Small values that every process of a store knows, besides the journal: what was used up, who signed out, how a tool first looked.
//!
//! Each is written by compare-and-set, so of two processes that use the same one-time code one gets it. Most have an end, after which the
//! clean-up removes them. None of them lets a reader of the database act: codes are stored as digests, tokens sealed.

use crate::time::Timestamp;

/// What a shared value is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SharedKind {
    /// A challenge that browsers sign.
    Challenge,
    /// A one-time code, by its digest; its value names the credential it signs in with, or says that it was used.
    Code,
    /// A browser's proof that was used, by its challenge and id.
    Proof,
    /// The fingerprint of the key that seals secrets.
    SealingKey,
    /// A browser's ticket that was signed out.
    SignedOut,
    /// A token that was made at the first start, by its role; its value is sealed.
    Token,
    /// How a tool of an MCP server looked when it was first seen, or when a person last approved its change.
    Tool,
}

impl SharedKind {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Challenge => "challenge",
            Self::Code => "code",
            Self::Proof => "proof",
            Self::SealingKey => "sealing-key",
            Self::SignedOut => "signed-out",
            Self::Token => "token",
            Self::Tool => "tool",
        }
    }

    /// The key of one of them.
    pub fn named(self, name: impl Into<String>) -> SharedKey {
        SharedKey {
            kind: self,
            name: name.into(),
        }
    }
}

/// The key of a shared value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedKey {
    /// What it is about.
    pub kind: SharedKind,
    /// Which one.
    pub name: String,
}

/// A shared value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedValue {
    /// The value.
    pub text: String,
    /// When it ends; nothing for a value that stays.
    pub until: Option<Timestamp>,
}

impl SharedValue {
    /// A value that stays.
    pub fn lasting(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            until: None,
        }
    }

    /// A value with an end.
    pub fn ending(text: impl Into<String>, until: Timestamp) -> Self {
        Self {
            text: text.into(),
            until: Some(until),
        }
    }

    /// Whether it has not ended.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}
