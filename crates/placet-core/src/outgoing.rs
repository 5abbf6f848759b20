//! What has to reach people: the outbox, and the operational changes that are not part of the journal.
//!
//! Operational changes say how something is delivered, not what was decided.

use serde::{Deserialize, Serialize};

use crate::ids::{ChannelName, ChatId, InteractionId};
use crate::interaction::Shown;
use crate::journal::genesis;
use crate::lease::Fence;
use crate::push::Device;
use crate::shared::{SharedKey, SharedValue};
use crate::time::Timestamp;

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
        next: Timestamp,
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
    /// Removes items that were sent or given up before this moment, once their question is processed and every copy of it
    /// is up to date.
    ForgetOutbox {
        /// Which moment.
        before: Timestamp,
    },
    /// A process takes a lease. Refused if its fence is not the next.
    TakeLease {
        /// The lease, with its new fence.
        fence: Fence,
        /// The process.
        owner: String,
        /// When it ends, unless it is renewed.
        until: Timestamp,
    },
    /// A process renews every lease that it has and that is not over.
    RenewLeases {
        /// The process.
        owner: String,
        /// When it ends, unless it is renewed.
        until: Timestamp,
    },
    /// A process gives a lease back.
    ReleaseLease(Fence),
    /// Removes leases that were over before this moment.
    ForgetLeases {
        /// Which moment.
        before: Timestamp,
    },
    /// A person lets a device be told of new requests. The same device again has new keys.
    AddDevice(Device),
    /// A device is told of nothing any more.
    RemoveDevice(ChatId),
    /// The key that signs what devices are told; the first one stays.
    KeepPushKey(Vec<u8>),
    /// Messages seen before this moment are forgotten.
    ForgetInbound {
        /// Which moment.
        before: Timestamp,
    },
    /// Sets a value that all processes share. Refused if another value is there by now.
    Share {
        /// Which one.
        key: SharedKey,
        /// What is there; nothing if none is.
        was: Option<String>,
        /// What will be there.
        value: SharedValue,
    },
    /// Removes shared values that ended before this moment.
    ForgetShared {
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
    /// The receipt of the copy, confirmed or assumed. Absent when no copy was sent.
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

    /// Reads what [`as_str`](Self::as_str) writes.
    pub fn parse(text: &str) -> Option<Self> {
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

    /// Reads what [`as_str`](Self::as_str) writes.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Waiting, Self::Sent, Self::Dead]
            .into_iter()
            .find(|state| state.as_str() == text)
    }
}

/// What a channel knows of something it has shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The platform's own name for it, for updating it later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What was shown, and whether it was all.
    pub shown: Shown,
}

impl Receipt {
    /// What must be assumed of a copy until its surface confirms it: it may be there, in whole or in part.
    pub fn unacknowledged() -> Self {
        Self {
            reference: None,
            shown: Shown::Part(genesis()),
        }
    }

    /// Reads a stored receipt.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}
