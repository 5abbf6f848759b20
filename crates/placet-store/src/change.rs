//! Operational changes: the outbox, the memory of messages seen, the queue. Kept out of the journal because they say how
//! something is delivered, not what was decided.

use placet_core::ids::{ChannelName, ChatId, InteractionId};
use placet_core::time::{LiveTime, Now, Timestamp};
use rusqlite::{Connection, params};

use crate::error::StoreError;

/// An operational change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Something has to reach a surface. The same key twice is one item.
    Enqueue(Outgoing),
    /// It is about to leave: from here on it may be there, whatever is heard of it.
    Leaving {
        /// Which item.
        id: u64,
        /// What must be assumed of the copy until its surface says more.
        receipt: String,
    },
    /// It reached it.
    Sent {
        /// Which item.
        id: u64,
        /// The surface's own reference, for updating the copy.
        receipt: Option<String>,
    },
    /// It did not, and is tried again.
    Failed {
        /// Which item.
        id: u64,
        /// What the surface said.
        error: String,
        /// When to try again.
        next: LiveTime,
    },
    /// It is not tried any more. A copy may be there if it ever left.
    Dead {
        /// Which item.
        id: u64,
        /// What the surface said.
        error: String,
    },
    /// The surface would not have it, so there is no copy.
    Refused {
        /// Which item.
        id: u64,
        /// What the surface said.
        error: String,
    },
    /// A message came in; the same one again is ignored.
    SeenInbound {
        /// On which channel.
        channel: ChannelName,
        /// The channel's id of it.
        message_id: String,
        /// When.
        at: Timestamp,
    },
    /// The agent took a queued message.
    Took {
        /// Which one.
        queue_id: u64,
    },
    /// Items that were sent or given up before this moment are forgotten, once nobody waits for what their question comes to
    /// and no copy of it is still to be brought up to date.
    ForgetOutbox {
        /// Which moment.
        before: Timestamp,
    },
    /// Messages seen before this moment are forgotten.
    ForgetInbound {
        /// Which moment.
        before: Timestamp,
    },
}

/// Something that has to reach a surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its idempotency key.
    pub key: String,
    /// On which channel.
    pub channel: ChannelName,
    /// In which chat.
    pub chat: ChatId,
    /// The question it is a copy of, if it is one.
    pub interaction: Option<InteractionId>,
    /// What it is.
    pub kind: OutKind,
    /// What to send.
    pub body: String,
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutKind {
    /// A question.
    Question,
    /// What became of a question.
    Decided,
    /// Something else to read.
    Message,
}

/// How far an item has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutState {
    /// It is to be sent.
    Waiting,
    /// It was sent.
    Sent,
    /// It was given up.
    Dead,
}

/// An item of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxItem {
    /// Its number.
    pub id: u64,
    /// Its idempotency key.
    pub key: String,
    /// On which channel.
    pub channel: ChannelName,
    /// In which chat.
    pub chat: ChatId,
    /// The question it is a copy of, if it is one.
    pub interaction: Option<InteractionId>,
    /// What it is.
    pub kind: OutKind,
    /// What to send.
    pub body: String,
    /// How often it was tried.
    pub attempts: u32,
    /// What is known of the copy, or must be assumed; absent when there is none.
    pub receipt: Option<String>,
    /// How far it has come.
    pub state: OutState,
    /// What the surface said last, when it failed.
    pub last_error: Option<String>,
}

impl OutKind {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Decided => "decided",
            Self::Message => "message",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Question, Self::Decided, Self::Message]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

impl OutState {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sent => "sent",
            Self::Dead => "dead",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Waiting, Self::Sent, Self::Dead]
            .into_iter()
            .find(|state| state.as_str() == text)
    }
}

/// Applies one change.
pub(crate) fn apply(conn: &Connection, change: &Change, now: Now) -> Result<(), StoreError> {
    let wall = now.wall.as_millis();
    match change {
        Change::Enqueue(item) => enqueue(conn, item, now),
        Change::Leaving { id, receipt } => {
            let sql = "UPDATE outbox SET receipt = ?2 WHERE id = ?1 AND state = 'waiting'";
            let leaving = conn.prepare_cached(sql)?.execute(params![id, receipt])?;
            one(leaving, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::Sent { id, receipt } => {
            let sql =
                "UPDATE outbox SET state = 'sent', attempts = attempts + 1, receipt = ?2, changed_at = ?3
                       WHERE id = ?1 AND state = 'waiting'";
            let sent = conn.prepare_cached(sql)?.execute(params![id, receipt, wall])?;
            one(sent, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::Failed { id, error, next } => {
            let sql = "UPDATE outbox SET attempts = attempts + 1, last_error = ?2, next = ?3, changed_at = ?4
                       WHERE id = ?1 AND state = 'waiting'";
            let failed = conn
                .prepare_cached(sql)?
                .execute(params![id, error, next.as_millis(), wall])?;
            one(failed, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::Dead { id, error } => {
            let sql = "UPDATE outbox SET state = 'dead', last_error = ?2, changed_at = ?3
                       WHERE id = ?1 AND state = 'waiting'";
            let dead = conn.prepare_cached(sql)?.execute(params![id, error, wall])?;
            one(dead, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::Refused { id, error } => {
            let sql = "UPDATE outbox SET state = 'dead', receipt = NULL, last_error = ?2, changed_at = ?3
                       WHERE id = ?1 AND state = 'waiting'";
            let refused = conn.prepare_cached(sql)?.execute(params![id, error, wall])?;
            one(refused, || format!("outbox item {id} is not waiting to be sent"))
        }
        Change::SeenInbound {
            channel,
            message_id,
            at,
        } => {
            let sql = "INSERT INTO inbound VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            conn.prepare_cached(sql)?
                .execute(params![channel.as_str(), message_id, at.as_millis()])?;
            Ok(())
        }
        Change::Took { queue_id } => {
            let taken = conn
                .prepare_cached("DELETE FROM queue WHERE row = ?1")?
                .execute([queue_id])?;
            one(taken, || format!("message {queue_id} is not in the queue"))
        }
        Change::ForgetOutbox { before } => {
            let sql = "DELETE FROM outbox WHERE state <> 'waiting' AND changed_at < ?1
                       AND NOT EXISTS (SELECT 1 FROM interactions WHERE row = question AND interactions.state <> 'processed')
                       AND NOT EXISTS (SELECT 1 FROM outbox AS other WHERE other.question = outbox.question AND other.state = 'waiting')";
            conn.prepare_cached(sql)?.execute([before.as_millis()])?;
            Ok(())
        }
        Change::ForgetInbound { before } => {
            conn.prepare_cached("DELETE FROM inbound WHERE at < ?1")?
                .execute([before.as_millis()])?;
            Ok(())
        }
    }
}

fn enqueue(conn: &Connection, item: &Outgoing, now: Now) -> Result<(), StoreError> {
    let question = match &item.interaction {
        Some(id) => Some(crate::view::question_row(conn, id)?.ok_or_else(|| {
            StoreError::corrupt(format!(
                "outbox item `{}` is a copy of {id}, which was never asked",
                item.key
            ))
        })?),
        None => None,
    };
    let sql = "INSERT INTO outbox (key, channel, chat, question, kind, body, state, next, changed_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'waiting', ?7, ?8) ON CONFLICT (key) DO NOTHING";
    let added = conn.prepare_cached(sql)?.execute(params![
        item.key,
        item.channel.as_str(),
        item.chat.as_str(),
        question,
        item.kind.as_str(),
        item.body,
        now.live.as_millis(),
        now.wall.as_millis(),
    ])?;
    if added > 0 {
        conn.prepare_cached("UPDATE service SET queued = queued + 1")?
            .execute([])?;
    }
    let sql = match item.kind {
        OutKind::Question => "INSERT INTO copies VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        OutKind::Decided => "DELETE FROM copies WHERE channel = ?1 AND chat = ?2 AND question = ?3",
        OutKind::Message => return Ok(()),
    };
    let copy = params![item.channel.as_str(), item.chat.as_str(), question];
    conn.prepare_cached(sql)?.execute(copy)?;
    Ok(())
}

/// A compare-and-set must have hit exactly one row.
pub(crate) fn one(rows: usize, otherwise: impl FnOnce() -> String) -> Result<(), StoreError> {
    if rows == 1 {
        Ok(())
    } else {
        Err(StoreError::corrupt(otherwise()))
    }
}
