//! What a channel may ask of the engine. It hands on what people write and press; who may decide is found out there.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use placet_core::call::Chat;
use placet_core::ids::{ChannelName, ChatId, InteractionId};
use placet_core::interaction::Locale;
use placet_core::journal::{Author, InboundMessage};
use placet_core::lease::LeaseName;
use placet_core::outgoing::{OutKind, Receipt};
use placet_core::snapshot::MessageKey;
use placet_core::steps::{Choice, InboundOutcome, Reaction, SaidTo};
use placet_core::time::Timestamp;
use placet_store::StoreError;

use crate::bus::{Bus, InboundError};
use crate::engine::Engine;
use crate::leases::Held;

/// How long a stop waits for work that goes on after a response.
const AFTERWORK: Duration = Duration::from_secs(30);

/// The engine, as one channel sees it. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    engine: Engine,
    channel: ChannelName,
    /// The lease of the connection that hears for it. Webhooks come to any process, and have none.
    lease: Option<Arc<OnceLock<Held>>>,
}

/// A message in a chat of a channel, as its platform vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingMessage {
    /// The platform's name of it. The same name twice is one message.
    pub id: String,
    /// In which chat.
    pub chat: ChatId,
    /// The account that wrote it.
    pub sender: String,
    /// Whether a person wrote it.
    pub author: Author,
    /// The text; empty when a button was pressed.
    pub text: String,
    /// The platform's name of the message it replies to: the reference of a receipt.
    pub reply_to: Option<String>,
}

impl Host {
    pub(crate) fn new(engine: Engine, channel: ChannelName) -> Self {
        Self {
            engine,
            channel,
            lease: None,
        }
    }

    /// For a connection that is kept under a lease, and what to fill in that lease in before it is made.
    pub(crate) fn connecting(engine: Engine, channel: ChannelName) -> (Self, Arc<OnceLock<Held>>) {
        let lease = Arc::<OnceLock<Held>>::default();
        let host = Self {
            lease: Some(Arc::clone(&lease)),
            ..Self::new(engine, channel)
        };
        (host, lease)
    }

    /// The bus, for what this host hears: once another process keeps the connection, nothing of it is stored, and its platform
    /// repeats it there.
    fn bus(&self) -> Result<Bus, StoreError> {
        let bus = self.engine.bus();
        match &self.lease {
            None => Ok(bus),
            Some(lease) => match lease.get() {
                Some(lease) => Ok(bus.under(lease)),
                None => Err(StoreError::Fenced {
                    lease: LeaseName::connection(&self.channel),
                }),
            },
        }
    }

    /// The channel.
    pub fn channel(&self) -> &ChannelName {
        &self.channel
    }

    /// The clock that deadlines and signatures are compared with.
    pub fn now(&self) -> Timestamp {
        self.engine.store().now()
    }

    /// The language of the channel's people.
    pub fn locale(&self) -> Locale {
        self.engine
            .with_config(|config| config.locale(Some(&self.channel)))
    }

    /// Hands on a text. It answers an open question or waits for the agent; what is said about it goes to the chat.
    pub async fn publish_inbound(&self, message: IncomingMessage) -> Result<InboundOutcome, InboundError> {
        let reply_to = message.reply_to.clone();
        let (message, author) = self.inbound(message);
        let bus = self.bus()?;
        let received = bus.receive(message, author, reply_to, None, SaidTo::Chat);
        Ok(received.await?.outcome)
    }

    /// Hands on the press of a button, or a form that was sent: an answer to the question it names. It never waits for the agent.
    /// With [`SaidTo::Channel`] nothing is said in the chat, and the channel shows what is returned.
    pub async fn publish_choice(
        &self,
        message: IncomingMessage,
        choice: Choice,
        said_to: SaidTo,
    ) -> Result<Reaction, InboundError> {
        let (message, author) = self.inbound(message);
        let bus = self.bus()?;
        bus.receive(message, author, None, Some(choice), said_to).await
    }

    fn inbound(&self, message: IncomingMessage) -> (InboundMessage, Author) {
        let inbound = InboundMessage {
            channel: self.channel.clone(),
            chat_id: message.chat,
            sender_id: message.sender,
            message_id: message.id,
            content: message.text,
            author: message.author,
        };
        (inbound, message.author)
    }

    /// Whether a message was taken before. Taking it again changes nothing; this is for skipping work that comes before that.
    pub async fn is_duplicate(&self, message_id: &str) -> Result<bool, StoreError> {
        let key = MessageKey {
            channel: self.channel.clone(),
            message_id: message_id.to_owned(),
        };
        let look = self.engine.store().look(|stored| stored.is_seen(&key).copied());
        look.await
    }

    /// The receipt of a question's copy in a chat of this channel, when one was sent there.
    pub async fn receipt(
        &self,
        chat: &ChatId,
        question: &InteractionId,
    ) -> Result<Option<Receipt>, StoreError> {
        let look = self
            .engine
            .store()
            .look(|stored| stored.copies(question).cloned());
        let mut copies = look.await?.into_iter().filter(|copy| {
            copy.kind == OutKind::Question && copy.channel == self.channel && copy.chat == *chat
        });
        Ok(copies.find_map(|copy| Receipt::parse(copy.receipt.as_deref()?)))
    }

    /// The open question that a chat of this channel was shown as the message of that name.
    pub async fn question_shown_as(
        &self,
        chat: &ChatId,
        reference: &str,
    ) -> Result<Option<InteractionId>, StoreError> {
        let here = Chat {
            channel: self.channel.clone(),
            id: chat.clone(),
        };
        let look = self.engine.store().look(|stored| {
            let open = &stored.pending_in_chat(&here)?.asked;
            Ok(open.iter().map(|asked| asked.id.clone()).collect::<Vec<_>>())
        });
        for question in look.await? {
            let receipt = self.receipt(chat, &question).await?;
            if receipt.is_some_and(|receipt| receipt.reference.as_deref() == Some(reference)) {
                return Ok(Some(question));
            }
        }
        Ok(None)
    }

    /// Says something in a chat, at least once. The same key is the same message.
    pub async fn say(&self, chat: &ChatId, key: &str, text: &str) -> Result<(), StoreError> {
        let chat = Chat {
            channel: self.channel.clone(),
            id: chat.clone(),
        };
        let key = format!("{}:{key}", self.channel);
        self.bus()?.publish_outbound(&chat, &key, text).await
    }

    /// The long connection is up: people are heard from now on.
    pub fn connected(&self) {
        let since = self.now();
        self.engine.inner.healths.connected(&self.channel, since);
    }

    /// Continues work after a response. A stop waits for it, half a minute at most; a crash loses it, so the platform must not have
    /// been told that it is done.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let channel = self.channel.clone();
        self.engine.inner.tasks.spawn(async move {
            if tokio::time::timeout(AFTERWORK, work).await.is_err() {
                tracing::warn!(%channel, "work after a response did not end in time");
            }
        });
    }
}
