//! The generic webhook: the bus for any chat platform, signed both ways.
//!
//! Out: the outbox hands a [`Webhook`] what is to be shown, and it is posted to the channel's `url` as JSON. In: whoever
//! listens for the platform's posts (a server, or an embedding program) hands header and body to [`Webhooks::receive`],
//! which verifies them and passes the message to the bus. Both directions carry [`SIGNATURE_HEADER`].
//!
//! A body has `type` (`question`, `decided`, `message`), `channel`, `chatId`, `requestId`, `code`, `text`, `options` and,
//! for questions, the whole `request`. A platform may answer `{"reference": "…"}` with its own name for the message, which
//! comes back with `decided`, and `{"shown": "part"}` when it had to cut the text: then HIGH cannot be approved there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use placet_core::config::{self, ChannelKind, Config};
use placet_core::ids::ChannelName;
use placet_core::interaction::Shown;
use placet_core::time::Timestamp;
use placet_engine::channel::{Channel, Delivery, DeliveryError, Receipt};

use crate::secret::{self, SecretError, SecretText};

mod body;
mod inbound;
mod post;
mod signature;
mod trust;

pub use inbound::{BODY_BYTES_MAX, InboundError, Opened, Received};
pub use post::IDEMPOTENCY_HEADER;
pub use signature::{HEADER as SIGNATURE_HEADER, SignatureError, WINDOW};
pub use trust::{CaError, Trust};

use post::{Ack, Post, Visible};
use signature::Keys;

/// A channel that is any platform behind a URL.
pub struct Webhook {
    name: ChannelName,
    keys: Keys,
    post: Post,
}

/// Why a webhook cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The configuration says where to post, or what to sign with, incompletely.
    #[error("the webhook needs a `url` and a `secret`")]
    Incomplete,
    /// The secret is not where it should be.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The address is none.
    #[error("the url cannot be used: {0}")]
    Url(String),
    /// What should vouch for the other side does not.
    #[error("`ca` {0}")]
    Ca(CaError),
    /// This machine cannot speak to it.
    #[error("no connection can be prepared: {0}")]
    Client(String),
}

/// Why the webhooks of a configuration cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the channel `{channel}` cannot be used: {source}")]
pub struct WebhooksError {
    /// Which one.
    pub channel: ChannelName,
    /// Why not.
    pub source: WebhookError,
}

impl Webhook {
    /// A webhook that posts to `url`. Every line of `secret` is a secret: each signs, and any verifies.
    pub fn new(name: ChannelName, url: &str, secret: &SecretText) -> Result<Self, WebhookError> {
        Self::trusting(name, url, secret, &Trust::Machine)
    }

    /// The same, to a platform that somebody else vouches for.
    pub fn trusting(
        name: ChannelName,
        url: &str,
        secret: &SecretText,
        trust: &Trust,
    ) -> Result<Self, WebhookError> {
        Ok(Self {
            name,
            keys: Keys::new(secret),
            post: Post::new(url, trust)?,
        })
    }

    /// The webhook of `[channels.NAME]`.
    pub fn from_config(name: &ChannelName, channel: &config::Channel) -> Result<Self, WebhookError> {
        let (Some(url), Some(secret)) = (&channel.url, &channel.secret) else {
            return Err(WebhookError::Incomplete);
        };
        let trust = match &channel.ca {
            Some(ca) => Trust::only(secret::resolve(ca)?.expose()).map_err(WebhookError::Ca)?,
            None => Trust::Machine,
        };
        Self::trusting(name.clone(), url, &secret::resolve(secret)?, &trust)
    }

    /// The value of [`SIGNATURE_HEADER`] for a body, as either side makes it.
    pub fn sign(&self, body: &[u8], now: Timestamp) -> String {
        self.keys.sign(body, now)
    }

    /// Whether a body was signed with this channel's secret, about now.
    pub fn verify(&self, signature: &str, body: &[u8], now: Timestamp) -> Result<(), SignatureError> {
        self.keys.verify(signature, body, now)
    }
}

#[async_trait]
impl Channel for Webhook {
    fn name(&self) -> &ChannelName {
        &self.name
    }

    async fn deliver(&self, delivery: Delivery<'_>) -> Result<Receipt, DeliveryError> {
        let (body, shown) = body::body(&self.name, &delivery);
        let body = serde_json::to_vec(&body)
            .map_err(|error| DeliveryError::Impossible(format!("it cannot be written as JSON: {error}")))?;
        let signed = self.keys.sign(&body, wall_clock());
        let Ack {
            reference,
            shown: visible,
        } = self.post.send(body, &signed, delivery.idempotency_key).await?;
        let shown = match (visible, shown) {
            (Visible::Part, Shown::Whole(digest)) => Shown::Part(digest),
            (Visible::Whole | Visible::Part, shown) => shown,
        };
        Ok(Receipt { reference, shown })
    }
}

/// All webhooks of a configuration, for whoever listens: a message says which one it is for.
#[derive(Default)]
pub struct Webhooks(BTreeMap<ChannelName, Arc<Webhook>>);

impl Webhooks {
    /// Every `[channels.NAME]` of type `webhook`.
    pub fn from_config(config: &Config) -> Result<Self, WebhooksError> {
        let configured = config
            .channels
            .iter()
            .filter(|(_, channel)| channel.kind == ChannelKind::Webhook);
        let made = configured.map(|(name, channel)| match Webhook::from_config(name, channel) {
            Ok(webhook) => Ok((name.clone(), Arc::new(webhook))),
            Err(source) => Err(WebhooksError {
                channel: name.clone(),
                source,
            }),
        });
        Ok(Self(made.collect::<Result<_, _>>()?))
    }

    /// One of them.
    pub fn get(&self, name: &ChannelName) -> Option<&Arc<Webhook>> {
        self.0.get(name)
    }

    /// Each of them, to be given to [`Builder::channel`](placet_engine::Builder::channel).
    pub fn channels(&self) -> impl Iterator<Item = Arc<dyn Channel>> + '_ {
        self.0
            .values()
            .map(|webhook| Arc::clone(webhook) as Arc<dyn Channel>)
    }
}

impl FromIterator<Webhook> for Webhooks {
    fn from_iter<I: IntoIterator<Item = Webhook>>(webhooks: I) -> Self {
        let named = |webhook: Webhook| (webhook.name.clone(), Arc::new(webhook));
        Self(webhooks.into_iter().map(named).collect())
    }
}

/// A platform checks against its own clock, so this must be the machine's and no other.
fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
