//! What people write on a platform, on its way in: verified, read, handed to the bus.
//!
//! The sender is who the platform says it is, and the signature proves the platform. Nothing of a message counts before
//! its signature does.

use placet_core::ids::{ChannelName, ChatId, InteractionId};
use placet_core::journal::InboundMessage;
use placet_core::steps::{Choice, InboundOutcome};
use placet_core::time::Timestamp;
use placet_engine::bus::{self, Author, Bus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::signature::SignatureError;
use super::{Webhook, Webhooks};

/// The largest body taken, in bytes: the longest message, with every character escaped.
pub const BODY_BYTES_MAX: usize = 6 * bus::MESSAGE_BYTES_MAX + 16 * 1024;

/// What the platform is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Received {
    /// Whether the message is done with: it answered a question, or it had come before. If not, it waits for the agent.
    pub consumed: bool,
}

/// Why a message is not taken. Nothing of it was kept.
#[derive(Debug, thiserror::Error)]
pub enum InboundError {
    /// More than a message can be.
    #[error("the body has {0} bytes; at most {BODY_BYTES_MAX} are accepted")]
    TooLarge(usize),
    /// Not from the platform, or not from now.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// Not a message.
    #[error("the body is not a message: {0}")]
    NotAMessage(String),
    /// No webhook has that name.
    #[error("no webhook channel is named `{0}`")]
    UnknownChannel(ChannelName),
    /// Signed by one channel, said to come from another.
    #[error("the message says it comes from `{claimed}`, and is signed by `{signed}`")]
    OtherChannel {
        /// What the body says.
        claimed: ChannelName,
        /// Whose secret it was signed with.
        signed: ChannelName,
    },
    /// The bus did not take it.
    #[error(transparent)]
    Bus(#[from] bus::InboundError),
}

/// The body. A key that is not known is refused: a misspelt `isBot` must not make a bot a person.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    channel: ChannelName,
    chat_id: ChatId,
    sender_id: String,
    message_id: String,
    /// What they wrote; absent when they pressed a button.
    content: Option<String>,
    request_id: Option<InteractionId>,
    selected_option_id: Option<String>,
    feedback: Option<String>,
    data: Option<Map<String, Value>>,
    #[serde(default)]
    is_bot: bool,
}

/// A message whose signature fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// The message. Without content when a button was pressed.
    pub message: InboundMessage,
    /// Whether a person wrote it.
    pub author: Author,
    /// The button that was pressed.
    pub choice: Option<Choice>,
}

impl Written {
    /// The text, or the button that was pressed: exactly one of them.
    fn said(&mut self) -> Result<(String, Option<Choice>), InboundError> {
        let malformed = |why: &str| Err(InboundError::NotAMessage(why.to_owned()));
        match (
            self.content.take(),
            self.request_id.take(),
            self.selected_option_id.take(),
        ) {
            (None, Some(request), Some(option)) => {
                let choice = Choice {
                    request,
                    option,
                    feedback: self.feedback.take(),
                    data: self.data.take(),
                };
                Ok((String::new(), Some(choice)))
            }
            (Some(_), None, None) if self.feedback.is_some() || self.data.is_some() => {
                malformed("`feedback` and `data` belong to `requestId` and `selectedOptionId`")
            }
            (Some(content), None, None) => Ok((content, None)),
            (None, None, None) => malformed("missing field `content`"),
            (None, _, _) => {
                malformed("`requestId` and `selectedOptionId` belong together; one of them is missing")
            }
            (Some(_), _, _) => malformed("it has `content` and `requestId`; a message is a text or a choice"),
        }
    }
}

#[derive(Deserialize)]
struct Addressed {
    channel: ChannelName,
}

impl Webhook {
    /// Verifies and reads one message: `signature` is the header's value, `body` the bytes as they came. Does nothing with it.
    pub fn open(&self, signature: &str, body: &[u8], now: Timestamp) -> Result<Opened, InboundError> {
        measured(body)?;
        self.keys.verify(signature, body, now)?;
        let mut message: Written = read(body)?;
        let (content, choice) = message.said()?;
        if message.channel != self.name {
            return Err(InboundError::OtherChannel {
                claimed: message.channel,
                signed: self.name.clone(),
            });
        }
        let author = if message.is_bot {
            Author::Bot
        } else {
            Author::Human
        };
        let message = InboundMessage {
            channel: message.channel,
            chat_id: message.chat_id,
            sender_id: message.sender_id,
            message_id: message.message_id,
            content,
            author,
        };
        Ok(Opened {
            message,
            author,
            choice,
        })
    }

    /// Takes one message, if this channel's secret signed it.
    pub async fn receive(
        &self,
        bus: &Bus,
        signature: &str,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Received, InboundError> {
        publish(bus, self.open(signature, body, now)?).await
    }
}

impl Webhooks {
    /// [`Webhook::open`] of whichever of the webhooks the message names.
    pub fn open(&self, signature: &str, body: &[u8], now: Timestamp) -> Result<Opened, InboundError> {
        measured(body)?;
        // Only to find the secret; nothing else is believed yet.
        let Addressed { channel } = read(body)?;
        match self.get(&channel) {
            Some(webhook) => webhook.open(signature, body, now),
            None => Err(InboundError::UnknownChannel(channel)),
        }
    }

    /// Takes one message for whichever of the webhooks it names; its secret must have signed it.
    pub async fn receive(
        &self,
        bus: &Bus,
        signature: &str,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Received, InboundError> {
        publish(bus, self.open(signature, body, now)?).await
    }
}

async fn publish(bus: &Bus, opened: Opened) -> Result<Received, InboundError> {
    let Opened {
        message,
        author,
        choice,
    } = opened;
    let outcome = match choice {
        Some(choice) => bus.publish_choice(message, author, choice).await?,
        None => bus.publish_inbound(message, author).await?,
    };
    let consumed = match outcome {
        InboundOutcome::Consumed(_) | InboundOutcome::Duplicate => true,
        InboundOutcome::Queued => false,
    };
    Ok(Received { consumed })
}

fn measured(body: &[u8]) -> Result<(), InboundError> {
    if body.len() > BODY_BYTES_MAX {
        return Err(InboundError::TooLarge(body.len()));
    }
    Ok(())
}

fn read<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, InboundError> {
    serde_json::from_slice(body).map_err(|error| InboundError::NotAMessage(error.to_string()))
}
