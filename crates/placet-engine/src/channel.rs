//! A channel: a place where people are shown things and heard. It never decides.
//!
//! | part | what a channel does with it |
//! |---|---|
//! | [`Channel::surface`], [`Channel::forms`] | says what it can show and collect, so that nothing is promised that cannot be kept |
//! | [`Channel::deliver`] | shows a question, what became of one, or a message |
//! | [`Channel::routes`] | takes requests of its platform: webhooks and callbacks of cards |
//! | [`Channel::run`] | keeps a long connection to its platform instead |
//! | [`Host`] | hands on what it hears |
//!
//! The outbox calls [`Channel::deliver`] at least once per item, with the same idempotency key each time. Of several processes on
//! one store, one delivers to a channel and one keeps its connection.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use placet_core::ids::{ChannelName, ChatId};
use placet_core::interaction::{Asked, InteractionOption, Resolution};
use placet_core::render::{Document, Surface};
use placet_core::time::Millis;
use tokio_util::sync::CancellationToken;

pub use placet_core::outgoing::Receipt;

pub(crate) mod connection;
mod health;
mod host;
mod route;

pub(crate) use health::Healths;
pub use health::{ChannelFault, ChannelHealth, ConnectionState};
pub use host::{Host, IncomingMessage};
pub use route::{BODY_BYTES_MAX, INBOUND, NoRoute, Route, RouteError, RouteHandler};

/// A place where people can be shown things.
#[async_trait]
pub trait Channel: Send + Sync {
    /// Its configured name.
    fn name(&self) -> &ChannelName;

    /// What it can show. A surface that is too small for a whole question cannot approve HIGH, whatever its receipts say.
    fn surface(&self) -> Surface;

    /// What it has forms for. Everything else is typed as a reply, or done in the inbox.
    fn forms(&self) -> &'static [FormInput] {
        &[]
    }

    /// The requests it takes from its platform. Read once, when the engine starts.
    fn routes(self: Arc<Self>) -> Vec<Route> {
        Vec::new()
    }

    /// Its long connection to the platform, if it has one. One process at a time runs it; it is started again with growing pauses
    /// whenever it ends before `stop`, also after a panic. It says [`Host::connected`] once it can hear people.
    fn run(self: Arc<Self>, host: Host, stop: CancellationToken) -> Option<ConnectionFuture> {
        let _ = (host, stop);
        None
    }

    /// Shows one thing. Must be safe to repeat: the same key is the same thing.
    async fn deliver(&self, delivery: Delivery<'_>) -> Result<Receipt, DeliveryError>;
}

/// A long connection: ends when it is lost, or when it is told to stop.
pub type ConnectionFuture = Pin<Box<dyn Future<Output = Result<(), ConnectionError>> + Send>>;

/// Why a long connection ended. Variants differ in when it is tried again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionError {
    /// Soon, then with growing pauses.
    #[error("{0}")]
    Lost(String),
    /// When the platform said.
    #[error("{error}")]
    Busy {
        /// What it said.
        error: String,
        /// Not before this has passed.
        pause: Millis,
    },
    /// Every few minutes: the platform refuses the credentials, and that takes a person.
    #[error("{0}")]
    Refused(String),
}

/// What a form collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormInput {
    /// A text: a reason, feedback, or the information asked for.
    Text,
    /// Several fields.
    Data,
    /// Other arguments for the call.
    Edits,
}

/// One thing to show.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// The same for every attempt.
    pub idempotency_key: &'a str,
    /// In which chat.
    pub chat: &'a ChatId,
    /// The page of the question in the inbox, when the inbox has an address.
    pub inbox: Option<&'a str>,
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
    /// Worth another try, and the platform said when. Other things go on.
    #[error("{error}")]
    Busy {
        /// What it said.
        error: String,
        /// Not before this has passed.
        pause: Millis,
    },
    /// The same about everything: nothing is delivered to the channel before that.
    #[error("{error}")]
    Throttled {
        /// What it said.
        error: String,
        /// Not before this has passed.
        pause: Millis,
    },
    /// Never going to work: no such chat, blocked, not permitted.
    #[error("{0}")]
    Impossible(String),
}
