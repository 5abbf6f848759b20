//! Web push: tells a person's browser of a new request, also while the page is closed (RFC 8030, RFC 8291, RFC 8292).
//!
//! A message says that a request needs approval and links to it; it approves nothing and shows nothing of the request unless the operator
//! allows that. It is encrypted for one device: the push service of the browser's maker sees who talks to whom, and no word of it.

mod encrypt;
mod vapid;

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use placet_core::causes;
use placet_core::ids::{ChannelName, ChatId};
use placet_core::interaction::Shown;
use placet_core::journal::genesis;
use placet_core::render::Surface;
use placet_engine::channel::{Channel, Content, Delivery, DeliveryError, Receipt};
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::webhook::{Trust, WebhookError, is_loopback, refusal};
pub use encrypt::{EncryptError, encrypt};
pub use vapid::{VapidError, VapidKey};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const TIMEOUT: Duration = Duration::from_secs(10);
/// How many devices that are gone can wait to be forgotten. One that does not fit is told again, and refused again.
const GONE_MAX: usize = 256;

/// What the outbox keeps for a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PushMessage {
    /// Where the push service takes it.
    pub endpoint: String,
    /// The device's public key, in hex.
    pub key: String,
    /// The secret that the browser shares with us, in hex.
    pub auth: String,
    /// When the request closes, in milliseconds since 1970: after that the message is worth nothing.
    pub until: i64,
    /// What the page's service worker gets.
    pub payload: String,
}

/// The channel to all devices.
pub struct WebPush {
    name: ChannelName,
    client: Client,
    key: OnceLock<VapidKey>,
    contact: String,
    gone: mpsc::Sender<ChatId>,
}

impl WebPush {
    /// The channel, and the devices that it finds gone. It sends nothing before it has a key.
    pub fn new(name: ChannelName, contact: &str) -> Result<(Self, mpsc::Receiver<ChatId>), WebhookError> {
        let any = Url::parse("https://push.invalid").map_err(|error| WebhookError::Url(error.to_string()))?;
        let client = Client::builder()
            .tls_backend_preconfigured(Trust::Machine.tls(&any)?)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .redirect(Policy::none())
            .user_agent(concat!("placet/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| WebhookError::Client(error.to_string()))?;
        let (gone, found_gone) = mpsc::channel(GONE_MAX);
        let channel = Self {
            name,
            client,
            key: OnceLock::new(),
            contact: contact.to_owned(),
            gone,
        };
        Ok((channel, found_gone))
    }

    /// Signs messages with this key from now on. The first one stays.
    pub fn sign_with(&self, key: VapidKey) -> &VapidKey {
        self.key.get_or_init(|| key)
    }

    async fn send(&self, chat: &ChatId, message: &PushMessage) -> Result<(), DeliveryError> {
        let never = |error: &dyn std::fmt::Display| DeliveryError::Impossible(error.to_string());
        let key = self
            .key
            .get()
            .ok_or_else(|| DeliveryError::Later("there is no key to sign with yet".into()))?;
        let url = Url::parse(&message.endpoint).map_err(|error| never(&error))?;
        if url.scheme() != "https" && !is_loopback(&url) {
            return Err(never(&"a push service must be reached over https"));
        }
        let now = now_ms();
        let Some(left) = u64::try_from(message.until - now).ok().filter(|left| *left > 0) else {
            return Err(never(&"the request has closed"));
        };
        let device = hex::decode(&message.key).map_err(|error| never(&error))?;
        let auth = hex::decode(&message.auth).map_err(|error| never(&error))?;
        let body = encrypt(message.payload.as_bytes(), &device, &auth).map_err(|error| never(&error))?;
        let authorization = key.authorization(&url, &self.contact, now / 1000);
        let sent = self
            .client
            .post(url)
            .header(AUTHORIZATION, authorization.map_err(|error| never(&error))?)
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(CONTENT_ENCODING, "aes128gcm")
            .header("TTL", left.div_ceil(1000))
            .header("Urgency", "high")
            .body(body)
            .send();
        let response = sent
            .await
            .map_err(|error| DeliveryError::Later(causes(&error.without_url())))?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status @ (StatusCode::NOT_FOUND | StatusCode::GONE) => {
                // The browser took the permission back, or is no more.
                let _ = self.gone.try_send(chat.clone());
                Err(refusal(status, response.headers()))
            }
            status => Err(refusal(status, response.headers())),
        }
    }
}

#[async_trait]
impl Channel for WebPush {
    fn name(&self) -> &ChannelName {
        &self.name
    }

    /// A line that says where to look; nothing is answered from here.
    fn surface(&self) -> Surface {
        Surface::UNBOUNDED
    }

    async fn deliver(&self, delivery: Delivery<'_>) -> Result<Receipt, DeliveryError> {
        let Content::Message { text } = delivery.content else {
            return Err(DeliveryError::Impossible(
                "a device shows no whole request".into(),
            ));
        };
        let message: PushMessage =
            serde_json::from_str(text).map_err(|error| DeliveryError::Impossible(error.to_string()))?;
        self.send(delivery.chat, &message).await?;
        Ok(Receipt {
            reference: None,
            shown: Shown::Part(genesis()),
        })
    }
}

/// Push services compare with their own clocks, so this is the machine's and no other.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
