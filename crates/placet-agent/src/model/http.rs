//! Talking to a provider: one request, one stream of events back. Errors are sorted by whether another try may help.

use std::fmt;
use std::time::Duration;

use eventsource_stream::{Event, EventStreamError, Eventsource as _};
use futures_core::Stream;
use futures_util::StreamExt as _;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Proxy, Response, StatusCode, Url};
use serde_json::Value;

use super::ModelError;
use crate::tls::{self, explained};

/// A provider that is silent for so long has gone away; while it thinks it sends pings or pieces.
const SILENCE_MAX: Duration = Duration::from_mins(2);
/// How much of a provider's complaint is read.
const COMPLAINT_BYTES_MAX: usize = 64 * 1024;
/// How much of it is told.
const COMPLAINT_CHARS_MAX: usize = 500;

/// A key. Prints as stars.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key as it was found.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(****)")
    }
}

/// How a provider is reached.
#[derive(Debug, Clone)]
pub struct Access {
    /// Our name for the model.
    pub name: String,
    /// The provider's name for it.
    pub model: String,
    /// Where the provider is; the vendor's own address when absent.
    pub base_url: Option<String>,
    /// What it knows us by. A model on this machine may want none.
    pub key: Option<ApiKey>,
    /// Through which proxy; the environment's when absent.
    pub proxy: Option<String>,
    /// How much it may say in one turn, in tokens; what the provider thinks right when absent.
    pub tokens_max: Option<u32>,
    /// The product that asks, `name/version`, said before our own name.
    pub product: Option<String>,
}

/// Why a model cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// Not a URL.
    #[error("`{url}` is not an address: {why}")]
    Url {
        /// As written.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The key cannot be sent.
    #[error("the key of `{0}` holds characters that cannot be sent")]
    Key(String),
    /// The client cannot be made.
    #[error("no connection can be made: {0}")]
    Client(String),
    /// The product's name cannot be sent.
    #[error("the product `{0}` holds characters that cannot be sent")]
    Product(String),
}

/// A provider's door.
#[derive(Debug, Clone)]
pub(super) struct Door {
    /// Our name for the model behind it.
    name: String,
    client: Client,
    url: Url,
    headers: HeaderMap,
}

impl Door {
    /// The door at `path` below the base address, with the key in `header`.
    pub(super) fn new(
        access: &Access,
        base: &str,
        path: &str,
        header: (HeaderName, &str),
    ) -> Result<Self, AccessError> {
        let base = access.base_url.as_deref().unwrap_or(base).trim_end_matches('/');
        let url = parse(&format!("{base}{path}"))?;
        let mut headers = HeaderMap::new();
        if let Some(ApiKey(key)) = &access.key {
            let (name, prefix) = header;
            let mut value = HeaderValue::from_str(&format!("{prefix}{key}"))
                .map_err(|_| AccessError::Key(access.name.clone()))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self {
            name: access.name.clone(),
            client: client(&url, access)?,
            url,
            headers,
        })
    }

    /// The same, with another header.
    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers
            .insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }

    /// Posts a request and returns the events of the answer.
    pub(super) async fn ask(
        &self,
        body: &Value,
    ) -> Result<impl Stream<Item = Result<Event, ModelError>> + Send + Unpin + use<>, ModelError> {
        let sent = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header("content-type", "application/json")
            .header("accept", "text/event-stream")
            .body(body.to_string())
            .send();
        let response = sent.await.map_err(|error| self.out_of_reach(error))?;
        if !response.status().is_success() {
            return Err(refusal(response).await);
        }
        Ok(Box::pin(
            response
                .bytes_stream()
                .eventsource()
                .map(|event| event.map_err(torn)),
        ))
    }

    /// No response. Of the address only what holds no secret.
    fn out_of_reach(&self, error: reqwest::Error) -> ModelError {
        let (name, address) = (&self.name, self.url.origin().ascii_serialization());
        let why = explained(error);
        ModelError::again(format!(
            "the model `{name}` at {address} cannot be reached: {why}"
        ))
    }
}

fn parse(url: &str) -> Result<Url, AccessError> {
    let wrong = |why: String| AccessError::Url {
        url: url.to_owned(),
        why,
    };
    let parsed = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
    match parsed.scheme() {
        "http" | "https" => Ok(parsed),
        other => Err(wrong(format!("`{other}` is not spoken here"))),
    }
}

/// Who we say we are.
fn user_agent(access: &Access) -> Result<HeaderValue, AccessError> {
    let own = concat!("placet/", env!("CARGO_PKG_VERSION"));
    let Some(product) = &access.product else {
        return Ok(HeaderValue::from_static(own));
    };
    HeaderValue::from_str(&format!("{product} {own}")).map_err(|_| AccessError::Product(product.clone()))
}

fn client(url: &Url, access: &Access) -> Result<Client, AccessError> {
    let failed = |error: &dyn fmt::Display| AccessError::Client(error.to_string());
    let builder = tls::http(url)
        .map_err(|error| failed(&error))?
        .read_timeout(SILENCE_MAX)
        .user_agent(user_agent(access)?);
    let builder = match &access.proxy {
        Some(proxy) => builder.proxy(Proxy::all(proxy).map_err(|error| failed(&error))?),
        // No proxy of the environment knows this machine's own services.
        None if is_loopback(url) => builder.no_proxy(),
        None => builder,
    };
    builder.build().map_err(|error| failed(&error))
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Busy and broken providers are tried again; a no is a no.
async fn refusal(response: Response) -> ModelError {
    let status = response.status();
    let asked = response.headers().get(RETRY_AFTER);
    let after = asked
        .and_then(|value| value.to_str().ok())
        .and_then(|seconds| seconds.trim().parse().ok())
        .map(Duration::from_secs);
    let why = format!("the provider answered {status}: {}", complaint(response).await);
    let worth_another_try = status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT
                | StatusCode::CONFLICT
                | StatusCode::TOO_EARLY
                | StatusCode::TOO_MANY_REQUESTS
        );
    if worth_another_try {
        ModelError::Again { why, after }
    } else {
        ModelError::Never { why }
    }
}

/// What a provider complains of, in its words.
async fn complaint(mut response: Response) -> String {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > COMPLAINT_BYTES_MAX {
            break;
        }
    }
    let text = String::from_utf8_lossy(&body);
    let json: Option<Value> = serde_json::from_str(&text).ok();
    let said = json.as_ref().and_then(message_of).unwrap_or(&text);
    said.chars().take(COMPLAINT_CHARS_MAX).collect()
}

/// The message of an error, where both protocols keep it.
pub(super) fn message_of(body: &Value) -> Option<&str> {
    body.pointer("/error/message")
        .or_else(|| body.get("message"))
        .and_then(Value::as_str)
}

fn torn(error: EventStreamError<reqwest::Error>) -> ModelError {
    match error {
        EventStreamError::Transport(error) => ModelError::again(explained(error)),
        other => ModelError::again(format!("the provider's stream cannot be read: {other}")),
    }
}
