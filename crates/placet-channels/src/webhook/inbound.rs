//! What people write on a platform, on its way in: verified, read, passed on.
//!
//! The sender is who the platform says it is, and the signature proves the platform. Nothing of a message counts before
//! its signature does.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use placet_core::call::Args;
use placet_core::ids::{ChannelName, ChatId, InteractionId};
use placet_core::steps::{Choice, InboundOutcome, SaidTo};
use placet_core::time::Timestamp;
use placet_engine::bus::Author;
use placet_engine::channel::{Host, IncomingMessage, RouteError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Webhook;
use super::signature::{self, SignatureError};

/// What the platform is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Received {
    /// Whether the message is done with: it answered a question, or it had come before. If not, it waits for the agent.
    pub consumed: bool,
}

/// Why a message is not taken. Nothing of it was kept.
#[derive(Debug, thiserror::Error)]
pub enum InboundError {
    /// Not from the platform, or not from now.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// Not a message.
    #[error("the body is not a message: {0}")]
    NotAMessage(String),
    /// Signed by one channel, said to come from another.
    #[error("the message says it comes from `{claimed}`, and is signed by `{signed}`")]
    OtherChannel {
        /// What the body says.
        claimed: ChannelName,
        /// Whose secret it was signed with.
        signed: ChannelName,
    },
}

impl From<InboundError> for RouteError {
    fn from(error: InboundError) -> Self {
        match error {
            InboundError::Signature(_) | InboundError::OtherChannel { .. } => {
                Self::Signature(error.to_string())
            }
            InboundError::NotAMessage(_) => Self::BadRequest(error.to_string()),
        }
    }
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
    edited_args: Option<Args>,
    /// The `reference` of the message it replies to.
    reply_to: Option<String>,
    #[serde(default)]
    is_bot: bool,
}

/// A message whose signature fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// The message. Without a text when a button was pressed.
    pub message: IncomingMessage,
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
                    edited_args: self.edited_args.take(),
                };
                Ok((String::new(), Some(choice)))
            }
            (Some(_), None, None)
                if self.feedback.is_some() || self.data.is_some() || self.edited_args.is_some() =>
            {
                malformed("`feedback`, `data` and `editedArgs` belong to `requestId` and `selectedOptionId`")
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

impl Webhook {
    /// Verifies and reads one message: `signature` is the header's value, `body` the bytes as they came. Does nothing with it.
    pub fn open(&self, signature: &str, body: &[u8], now: Timestamp) -> Result<Opened, InboundError> {
        self.keys.verify(signature, body, now)?;
        let mut message: Written =
            serde_json::from_slice(body).map_err(|error| InboundError::NotAMessage(error.to_string()))?;
        let (text, choice) = message.said()?;
        if message.channel != self.name {
            return Err(InboundError::OtherChannel {
                claimed: message.channel,
                signed: self.name.clone(),
            });
        }
        let message = IncomingMessage {
            id: message.message_id,
            chat: message.chat_id,
            sender: message.sender_id,
            author: if message.is_bot {
                Author::Bot
            } else {
                Author::Human
            },
            text,
            reply_to: message.reply_to,
        };
        Ok(Opened { message, choice })
    }

    /// Takes one message, if this channel's secret signed it.
    pub(super) async fn receive(
        self: Arc<Self>,
        host: Host,
        request: Request<Bytes>,
    ) -> Result<Response<Bytes>, RouteError> {
        let signature = request.headers().get(signature::HEADER);
        let signature = signature
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let Opened { message, choice } = self.open(signature, request.body(), host.now())?;
        let outcome = match choice {
            Some(choice) => host.publish_choice(message, choice, SaidTo::Chat).await?.outcome,
            None => host.publish_inbound(message).await?,
        };
        let consumed = match outcome {
            InboundOutcome::Consumed(_) | InboundOutcome::Duplicate => true,
            InboundOutcome::Queued => false,
        };
        let body = serde_json::to_vec(&Received { consumed }).unwrap_or_default();
        let mut response = Response::new(Bytes::from(body));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        Ok(response)
    }
}
