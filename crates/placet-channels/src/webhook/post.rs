//! One signed post to a platform: bounded in time and size, redirected nowhere.

use std::time::Duration;

use placet_core::causes;
use placet_core::digest::Digest;
use placet_core::time::Millis;
use placet_engine::channel::DeliveryError;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use serde::Deserialize;

use super::{Trust, WebhookError, signature};

/// Carries the name of what is posted: the same for every attempt.
pub const IDEMPOTENCY_HEADER: &str = "Idempotency-Key";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const TIMEOUT: Duration = Duration::from_secs(10);
/// A platform's answer is a few words.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// A longer name for a message is not kept.
const REFERENCE_BYTES_MAX: usize = 1024;
/// However long a platform asks us to wait, we look again within this time.
const PAUSE_MAX: Millis = Millis::from_secs(60 * 60);

/// A platform's address and how it is reached.
pub(super) struct Post {
    client: Client,
    url: Url,
}

/// What a platform may say about what it was given. All of it is optional.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Ack {
    /// Its own name for the message; comes back with `decided`.
    pub(super) reference: Option<String>,
    /// How much of the text people see there.
    #[serde(default)]
    pub(super) shown: Visible,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Visible {
    #[default]
    Whole,
    Part,
}

impl Post {
    pub(super) fn new(url: &str, trust: &Trust) -> Result<Self, WebhookError> {
        let url = Url::parse(url).map_err(|error| WebhookError::Url(error.to_string()))?;
        let builder = Client::builder()
            .tls_backend_preconfigured(trust.tls(&url)?)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .redirect(Policy::none())
            .user_agent(concat!("placet/", env!("CARGO_PKG_VERSION")));
        // No proxy of the environment knows this machine's own services.
        let builder = if is_loopback(&url) {
            builder.no_proxy()
        } else {
            builder
        };
        let client = builder
            .build()
            .map_err(|error| WebhookError::Client(error.to_string()))?;
        Ok(Self { client, url })
    }

    pub(super) async fn send(&self, body: Vec<u8>, signed: &str, key: &str) -> Result<Ack, DeliveryError> {
        // Keys hold names of chats, which may be in any script; headers are plain.
        let key = Digest::of("placet/idempotency/1", &[key.as_bytes()]).to_string();
        let sent = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(signature::HEADER, signed)
            .header(IDEMPOTENCY_HEADER, key)
            .body(body)
            .send();
        let response = sent
            .await
            .map_err(|error| DeliveryError::Later(explained(error)))?;
        match response.status() {
            status if status.is_success() => Ok(ack(response).await),
            status => Err(refusal(status, response.headers())),
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The platform took it; what it adds is welcome, and not needed.
async fn ack(mut response: Response) -> Ack {
    let mut answer = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        if answer.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Ack::default();
        }
        answer.extend_from_slice(&chunk);
    }
    read_ack(&answer)
}

fn read_ack(answer: &[u8]) -> Ack {
    let mut ack: Ack = serde_json::from_slice(answer).unwrap_or_default();
    ack.reference = ack
        .reference
        .filter(|reference| !reference.is_empty() && reference.len() <= REFERENCE_BYTES_MAX);
    ack
}

fn refusal(status: StatusCode, headers: &HeaderMap) -> DeliveryError {
    let error = format!("the platform answered {status}");
    let worth_another_try = matches!(
        status,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
    );
    if status.is_client_error() && !worth_another_try {
        return DeliveryError::Impossible(error);
    }
    let asked = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    match asked.and_then(|seconds| seconds.trim().parse().ok()) {
        Some(seconds) => DeliveryError::Busy {
            error,
            pause: Millis::from_secs(seconds).min(PAUSE_MAX),
        },
        None => DeliveryError::Later(error),
    }
}

/// Without the address: it may hold a token.
fn explained(error: reqwest::Error) -> String {
    causes(&error.without_url())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn answered(status: u16, retry_after: Option<&'static str>) -> DeliveryError {
        let mut headers = HeaderMap::new();
        if let Some(value) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
        }
        refusal(StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn a_platforms_no_is_final_unless_it_says_later() {
        for status in [400, 401, 403, 404, 410, 413, 422] {
            assert!(
                matches!(answered(status, None), DeliveryError::Impossible(_)),
                "{status}"
            );
        }
        for status in [301, 302, 307, 408, 425, 429, 500, 502, 503, 504] {
            assert!(
                matches!(answered(status, None), DeliveryError::Later(_)),
                "{status}"
            );
        }
    }

    #[test]
    fn a_platform_that_asks_for_time_gets_it_within_reason() {
        let pause = |value| match answered(429, Some(value)) {
            DeliveryError::Busy { pause, .. } => Some(pause),
            _ => None,
        };
        assert_eq!(pause("7"), Some(Millis::from_secs(7)));
        assert_eq!(pause("18446744073709551615"), Some(PAUSE_MAX));
        assert_eq!(pause("Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(pause("-1"), None);
    }

    #[test]
    fn what_a_platform_adds_is_read_when_it_can_be() {
        let named = |reference: &str| Ack {
            reference: Some(reference.into()),
            shown: Visible::Whole,
        };
        assert_eq!(read_ack(br#"{"reference":"om_1","ok":true}"#), named("om_1"));
        assert_eq!(read_ack(br#"{"shown":"part"}"#).shown, Visible::Part);
        for nothing in [&b""[..], b"ok", b"[]", br#"{"reference":""}"#, b"\xff"] {
            assert_eq!(read_ack(nothing), Ack::default());
        }
        let long = format!(r#"{{"reference":"{}"}}"#, "x".repeat(2000));
        assert_eq!(read_ack(long.as_bytes()), Ack::default());
    }

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        for (url, own) in [
            ("http://127.0.0.1:8080/", true),
            ("http://[::1]/", true),
            ("http://localhost:1/", true),
            ("https://chat.example.com/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), own, "{url}");
        }
    }
}
