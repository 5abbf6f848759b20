//! The generic webhook: the bus for any chat platform, signed both ways.
//!
//! Out: the outbox hands a [`Webhook`] what is to be shown, and it is posted to the channel's `url` as JSON. In: the platform
//! posts to the channel's route, which verifies the body and hands the message on. Both directions carry [`SIGNATURE_HEADER`].
//!
//! A body has `type` (`question`, `decided`, `message`), `channel`, `chatId`, `requestId`, `code`, `text`, `options` and,
//! for questions, the whole `request`. A platform may answer `{"reference": "…"}` with its own name for the message, which
//! comes back with `decided`, and `{"shown": "part"}` when it had to cut the text: then HIGH cannot be approved there.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use http::Method;
use placet_core::config::Secret;
use placet_core::ids::ChannelName;
use placet_core::interaction::Shown;
use placet_core::render::Surface;
use placet_core::time::Timestamp;
use placet_engine::channel::{
    BODY_BYTES_MAX, Channel, Delivery, DeliveryError, FormInput, INBOUND, Receipt, Route,
};

use placet_engine::secret::{self, SecretError, SecretText};

mod body;
mod inbound;
mod post;
mod signature;
mod trust;

pub use inbound::{InboundError, Opened, Received};
pub use post::IDEMPOTENCY_HEADER;
pub use signature::{HEADER as SIGNATURE_HEADER, SignatureError, WINDOW};
pub use trust::{CaError, Trust};

pub(crate) use post::{is_loopback, refusal};

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
    /// The secret is not where it should be.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// Not a URL.
    #[error("the url cannot be used: {0}")]
    Url(String),
    /// What should vouch for the other side does not.
    #[error("`ca` {0}")]
    Ca(CaError),
    /// This machine cannot speak to it.
    #[error("no connection can be prepared: {0}")]
    Client(String),
}

impl Webhook {
    /// A webhook that posts to `url`. Every line of `secret` is a secret: each signs, and any verifies.
    pub fn new(name: ChannelName, url: &str, secret: &SecretText) -> Result<Self, WebhookError> {
        Self::trusting(name, url, secret, &Trust::Machine)
    }

    /// The same, to a platform with its own certificate authority.
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

    /// The webhook of `[channels.NAME]`, whose secrets are looked up.
    pub fn from_config(
        name: &ChannelName,
        url: &str,
        secret: &Secret,
        ca: Option<&Secret>,
    ) -> Result<Self, WebhookError> {
        let trust = match ca {
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

    /// Whatever the platform can: it says in its answer when it had to cut the text.
    fn surface(&self) -> Surface {
        Surface::UNBOUNDED
    }

    fn forms(&self) -> &'static [FormInput] {
        &[FormInput::Text, FormInput::Data, FormInput::Edits]
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        let receive = move |host, request| Arc::clone(&self).receive(host, request);
        vec![Route::new(Method::POST, INBOUND, BODY_BYTES_MAX, receive)]
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

/// A platform checks against its own clock, so this must be the machine's and no other.
fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
