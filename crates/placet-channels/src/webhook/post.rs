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
use serde_json::Value;

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
/// People see all of the text.
const WHOLE: &str = "whole";

/// A platform's address and how it is reached.
pub(super) struct Post {
    client: Client,
    url: Url,
}

/// What a platform said about what it was given. All of it is optional.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ack {
    /// Its own name for the message; comes back with `decided`.
    pub(super) reference: Option<String>,
    /// How much of the text people see there.
    pub(super) shown: Visible,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visible {
    Whole,
    Part,
}

/// An acknowledgement as it is written. Each field is read for itself: what is wrong with one says nothing about the other.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    reference: Value,
    /// A platform that says nothing shows the text as it got it; one that says anything but `whole` does not.
    #[serde(default = "whole")]
    shown: Value,
}

fn whole() -> Value {
    WHOLE.into()
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

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The platform took it, so this never fails. An answer that cannot be read may have said that the text was cut.
async fn ack(mut response: Response) -> Ack {
    let mut answer = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if answer.len() + chunk.len() <= ANSWER_BYTES_MAX => {
                answer.extend_from_slice(&chunk);
            }
            Ok(None) => return read_ack(&answer),
            Ok(Some(_)) | Err(_) => return UNREADABLE,
        }
    }
}

const UNREADABLE: Ack = Ack {
    reference: None,
    shown: Visible::Part,
};

fn read_ack(answer: &[u8]) -> Ack {
    // `ok`, a page, nothing: a platform that knows nothing of acknowledgements shows what it got.
    if !answer.trim_ascii_start().starts_with(b"{") {
        return Ack {
            reference: None,
            shown: Visible::Whole,
        };
    }
    let Ok(written) = serde_json::from_slice::<Written>(answer) else {
        return UNREADABLE;
    };
    let fits = |reference: &&str| !reference.is_empty() && reference.len() <= REFERENCE_BYTES_MAX;
    Ack {
        reference: written.reference.as_str().filter(fits).map(str::to_owned),
        shown: match written.shown.as_str() {
            Some(WHOLE) => Visible::Whole,
            _ => Visible::Part,
        },
    }
}

pub(crate) fn refusal(status: StatusCode, headers: &HeaderMap) -> DeliveryError {
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
        let said = |reference: Option<&str>, shown| Ack {
            reference: reference.map(str::to_owned),
            shown,
        };
        let named = br#"{"reference":"om_1","ok":true}"#;
        assert_eq!(read_ack(named), said(Some("om_1"), Visible::Whole));
        let cut = br#"{"reference":"om_1","shown":"part"}"#;
        assert_eq!(read_ack(cut), said(Some("om_1"), Visible::Part));
        for silent in [
            &b""[..],
            b" \r\n",
            b"ok",
            b"<p>[]</p>",
            b"\xff",
            b"{}",
            br#"{"shown":"whole"}"#,
            br#"{"reference":""}"#,
        ] {
            assert_eq!(read_ack(silent), said(None, Visible::Whole));
        }
        let long = format!(r#"{{"reference":"{}"}}"#, "x".repeat(2000));
        assert_eq!(read_ack(long.as_bytes()), said(None, Visible::Whole));
    }

    /// A platform that cut the text and says so in an unknown way must not count as one that showed all of it.
    #[test]
    fn an_acknowledgement_that_cannot_be_read_has_shown_a_part() {
        for odd in [
            &br#"{"reference":42,"shown":"part"}"#[..],
            br#"{"shown":"PART"}"#,
            br#"{"shown":"most of it"}"#,
            br#"{"shown":null}"#,
            br#"{"shown":false}"#,
            br#"{"shown":"part","shown":"whole"}"#,
            br#"{"reference":"om_1","shown":"pa"#,
            b"{ok",
        ] {
            let read = read_ack(odd);
            assert_eq!(read.shown, Visible::Part, "{}", String::from_utf8_lossy(odd));
        }
        let both = read_ack(br#"{"reference":"om_1","shown":"most of it"}"#);
        assert_eq!(both.reference.as_deref(), Some("om_1"));
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
