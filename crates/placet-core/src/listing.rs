//! What readers list: journal rows, open questions, sessions, and how much there is of each.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::call::Chat;
use crate::digest::Digest;
use crate::ids::{ChannelName, GroupId, InteractionId, SessionId};
use crate::interaction::{CallKey, Code};
use crate::journal::Event;
use crate::outgoing::OutboxItem;
use crate::snapshot::Undecided;
use crate::standing::StandingGrant;
use crate::time::Timestamp;
use crate::tool::Risk;

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
    pub fn fields<T: DeserializeOwned>(&self) -> Result<T, Undecided> {
        serde_json::from_str(&self.body).map_err(|error| Undecided::Corrupt {
            what: format!("journal row {} cannot be read: {error}", self.id),
        })
    }
}

/// A part of the journal, in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JournalPage {
    /// The row before its first one.
    pub after: u64,
    /// How many rows at most.
    pub limit: usize,
    /// Only rows of this session.
    pub session: Option<SessionId>,
}

impl JournalPage {
    /// Of all sessions.
    pub fn of_all(after: u64, limit: usize) -> Self {
        Self {
            after,
            limit,
            session: None,
        }
    }

    /// Of one session.
    pub fn of(session: &SessionId, after: u64, limit: usize) -> Self {
        Self {
            session: Some(session.clone()),
            ..Self::of_all(after, limit)
        }
    }
}

/// A part of a list, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct After {
    /// The cursor of the last one seen.
    pub cursor: Option<u64>,
    /// How many at most.
    pub limit: usize,
}

/// A part of a list, newest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Before {
    /// The cursor of the last one seen.
    pub cursor: Option<u64>,
    /// How many at most.
    pub limit: usize,
}

/// A part of the calls received since a moment, newest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallsSince {
    /// The moment.
    pub since: Timestamp,
    /// Which part.
    pub part: Before,
}

/// A part of the questions of a session, newest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuestionsOf {
    /// The session.
    pub session: SessionId,
    /// Which part.
    pub part: Before,
}

/// An account in a chat.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// The chat.
    pub chat: Chat,
    /// The platform's name of the account.
    pub account: String,
}

/// What is due by a moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueBy {
    /// The moment.
    pub at: Timestamp,
    /// How many of each kind at most.
    pub limit: usize,
    /// The process that asks. Calls claimed by it are its own to finish.
    pub process: String,
}

/// What time has come for, longest ago first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Due {
    /// Open questions that close.
    pub questions: Vec<InteractionId>,
    /// Open questions that more people should be asked.
    pub escalations: Vec<InteractionId>,
    /// Claimed calls whose result was promised by now, or whose process is gone.
    pub claims: Vec<CallKey>,
}

/// What is to be sent by a moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToSend {
    /// The moment.
    pub at: Timestamp,
    /// Nothing of these channels.
    pub busy: BTreeSet<ChannelName>,
    /// How many items at most.
    pub limit: usize,
}

/// Items of the outbox, longest waiting first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sendable {
    /// Those to be sent.
    pub items: Vec<OutboxItem>,
    /// When the first of all that wait is to be sent.
    pub next: Option<Timestamp>,
}

/// A standing grant and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StandingRow {
    /// The grant.
    pub grant: StandingGrant,
    /// How often it was used.
    pub uses: u32,
    /// Whether it was revoked.
    pub revoked: bool,
}

impl StandingRow {
    /// Whether it still covers calls: `inForce`, `usedUp` or `revoked`.
    pub fn state(&self) -> &'static str {
        match self.grant.uses_max {
            _ if self.revoked => "revoked",
            Some(max) if self.uses >= max => "usedUp",
            _ => "inForce",
        }
    }
}

/// An open question in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingRow {
    /// Where the list goes on: pass it as the cursor.
    pub cursor: u64,
    /// Its id.
    pub id: InteractionId,
    /// Its session.
    pub session: SessionId,
    /// The call it is about, if it is about one.
    pub call: Option<CallKey>,
    /// When it closes.
    pub deadline: Timestamp,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// The risk of the call.
    pub risk: Risk,
    /// The chat it is asked in; the inbox when absent.
    pub chat: Option<Chat>,
    /// The turn it belongs to.
    pub group: Option<GroupId>,
    /// Its short name.
    pub code: Code,
}

/// An open question that cannot be read. It can be named, but not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRow {
    /// Where the list goes on.
    pub cursor: u64,
    /// Its id.
    pub id: InteractionId,
    /// What is wrong with it.
    pub why: String,
}

/// A part of the open questions, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PendingPage {
    /// Those that can be read.
    pub rows: Vec<PendingRow>,
    /// Those that cannot.
    pub damaged: Vec<DamagedRow>,
}

impl PendingPage {
    /// Where the list goes on; nothing at its end.
    pub fn last(&self) -> Option<u64> {
        let (row, damaged) = (self.rows.last(), self.damaged.last());
        row.map(|row| row.cursor).max(damaged.map(|row| row.cursor))
    }
}

/// A session from its first row to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSpan {
    /// When it began.
    pub began_at: Timestamp,
    /// When something last happened in it.
    pub last_at: Timestamp,
    /// How many calls were proposed in it.
    pub calls: u64,
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Journal rows; also the number of the last one.
    pub rows: u64,
    /// Sessions, without the system's own.
    pub sessions: u64,
    /// Open questions.
    pub pending: u64,
    /// Grants claimed and not finished.
    pub claimed: u64,
    /// Outbox items to be sent.
    pub outbox_waiting: u64,
    /// Outbox items given up.
    pub outbox_dead: u64,
    /// Messages waiting for an agent.
    pub queued: u64,
    /// Checkpoints.
    pub checkpoints: u64,
}
