//! A channel: how to show something in a chat. Never how to decide.
//!
//! The outbox calls [`Channel::deliver`] at least once per item, with the same idempotency key each time. What a channel
//! hears, it passes to [`Bus::publish_inbound`](crate::bus::Bus::publish_inbound).

use async_trait::async_trait;
use placet_core::ids::{ChannelName, ChatId};
use placet_core::interaction::{Asked, InteractionOption, Resolution};
use placet_core::render::Document;
use placet_core::time::Millis;

pub use placet_core::outgoing::Receipt;

/// A place where people can be shown things.
#[async_trait]
pub trait Channel: Send + Sync {
    /// Its configured name.
    fn name(&self) -> &ChannelName;

    /// Shows one thing. Must be safe to repeat: the same key is the same thing.
    async fn deliver(&self, delivery: Delivery<'_>) -> Result<Receipt, DeliveryError>;
}

/// One thing to show.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// The same for every attempt.
    pub idempotency_key: &'a str,
    /// In which chat.
    pub chat: &'a ChatId,
    /// What.
    pub content: Content<'a>,
}

/// What to show.
#[derive(Debug)]
pub enum Content<'a> {
    /// A question.
    Question {
        /// As asked.
        asked: &'a Asked,
        /// Everything a person must see.
        document: &'a Document,
        /// The ways to answer.
        options: &'a [InteractionOption],
    },
    /// What became of a question shown before: update or withdraw that copy.
    Decided {
        /// As asked.
        asked: &'a Asked,
        /// What became of it.
        resolution: &'a Resolution,
        /// What to show now.
        document: &'a Document,
        /// The copy's receipt. One that was never acknowledged has no reference, and may not be there.
        copy: &'a Receipt,
    },
    /// A plain message.
    Message {
        /// Its text, safe to show.
        text: &'a str,
    },
}

/// Why something was not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// Worth another try.
    #[error("{0}")]
    Later(String),
    /// Worth another try, and the platform said when.
    #[error("{error}")]
    Busy {
        /// What it said.
        error: String,
        /// Not before this has passed.
        pause: Millis,
    },
    /// Never going to work: no such chat, blocked, not permitted.
    #[error("{0}")]
    Impossible(String),
}
