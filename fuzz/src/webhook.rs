//! What a platform posts: nothing counts that the secret did not sign, and what counts is what was written.

use std::sync::LazyLock;

use placet_channels::webhook::{InboundError, Opened, SignatureError, Webhook};
use placet_core::ids::ChannelName;
use placet_core::time::Timestamp;
use placet_engine::bus::Author;
use placet_engine::secret::SecretText;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{Broken, must, text};

const SECRET: &str = "topsecret";
/// When every message comes, in unix seconds.
const NOW: i64 = 1_767_225_600;

/// The channel `ops`.
static OPS: LazyLock<Result<Webhook, Broken>> = LazyLock::new(|| {
    let broken = |error: &dyn ToString| format!("no webhook can be made: {}", error.to_string());
    let name = ChannelName::new("ops").map_err(|error| broken(&error))?;
    let secret = SecretText::new(SECRET).ok_or_else(|| broken(&"the secret is empty"))?;
    Webhook::new(name, "http://127.0.0.1:9/", &secret).map_err(|error| broken(&error))
});

fn now() -> Timestamp {
    Timestamp::from_millis(NOW * 1000)
}

/// The first line is the header, the rest the body. A header is taken exactly if it holds a moment within the window, and the
/// code of that moment and this body.
pub fn signature(data: &[u8]) -> Result<(), Broken> {
    let ops = OPS.as_ref().map_err(Clone::clone)?;
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let (header, body) = (
        text(parts.next().unwrap_or_default()),
        parts.next().unwrap_or_default(),
    );
    let verified = ops.verify(&header, body, now());
    let otherwise = || format!("`{header}` over {body:?} was found {verified:?}");
    must(
        verified.is_err() || is_made_with_the_secret(&header, body),
        otherwise,
    )?;

    let own = ops.sign(body, now());
    must(ops.verify(&own, body, now()).is_ok(), || {
        format!("`{own}` is not taken")
    })?;
    must(is_made_with_the_secret(&own, body), || {
        format!("`{own}` is another signature than the page describes")
    })?;
    let longer = [body, b"!"].concat();
    must(
        ops.verify(&own, &longer, now()) == Err(SignatureError::Wrong),
        || format!("`{own}` counts for another body"),
    )
}

/// The whole data is the body. Without a signature nothing of it counts; with one it means what it says, field by field.
pub fn inbound(data: &[u8]) -> Result<(), Broken> {
    let ops = OPS.as_ref().map_err(Clone::clone)?;
    let forged = format!("t={NOW},v1={}", "0".repeat(64));
    must(
        matches!(
            ops.open(&forged, data, now()),
            Err(InboundError::Signature(SignatureError::Wrong))
        ),
        || "something was believed before its signature".to_owned(),
    )?;

    let signed = ops.sign(data, now());
    let Ok(Opened { message, choice }) = ops.open(&signed, data, now()) else {
        return Ok(());
    };
    let otherwise = || format!("{:?} was read as {message:?}", text(data));
    let written: Value = serde_json::from_slice(data).map_err(|_| otherwise())?;
    let says = |field: &str, value: &str| written.get(field).and_then(Value::as_str) == Some(value);
    must(says("channel", "ops"), otherwise)?;
    must(says("chatId", message.chat.as_str()), otherwise)?;
    must(says("senderId", &message.sender), otherwise)?;
    must(says("messageId", &message.id), otherwise)?;
    // A text, or a button with what was given to it; never both.
    let said = match &choice {
        None => {
            must(says("content", &message.text), otherwise)?;
            1
        }
        Some(choice) => {
            must(says("requestId", choice.request.as_str()), otherwise)?;
            must(says("selectedOptionId", &choice.option), otherwise)?;
            2 + ["content", "feedback", "data", "editedArgs"]
                .iter()
                .filter(|field| written.get(**field).is_some())
                .count()
        }
    };
    let is_bot = written.get("isBot") == Some(&Value::Bool(true));
    must(is_bot == (message.author == Author::Bot), otherwise)?;
    let replies = message.reply_to.as_deref();
    must(replies.is_none_or(|to| says("replyTo", to)), otherwise)?;
    let fields = written.as_object().map_or(0, serde_json::Map::len);
    must(
        fields
            == 4 + said
                + ["isBot", "replyTo"]
                    .iter()
                    .filter(|field| written.get(**field).is_some())
                    .count(),
        otherwise,
    )
}

/// The page's sentence about signatures, written down a second time, from SHA-256 up.
fn is_made_with_the_secret(header: &str, body: &[u8]) -> bool {
    let parts: Vec<_> = header
        .split(',')
        .filter_map(|part| part.trim().split_once('='))
        .collect();
    let of = |name: &'static str| parts.iter().filter(move |(own, _)| *own == name);
    of("t").count() == 1
        && of("t").any(|(_, signed)| {
            let near = signed
                .parse::<i64>()
                .is_ok_and(|signed| signed.abs_diff(NOW) <= 300);
            let expected = hmac(&[signed.as_bytes(), b".", body].concat());
            near && of("v1").any(|(_, code)| code.to_ascii_lowercase() == expected)
        })
}

/// HMAC-SHA256 in hex, by its definition: H(key ⊕ opad, H(key ⊕ ipad, message)).
fn hmac(message: &[u8]) -> String {
    let padded = |pad: u8| {
        let mut block = [pad; 64];
        for (byte, key) in block.iter_mut().zip(SECRET.bytes()) {
            *byte ^= key;
        }
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message);
    let outer = Sha256::new()
        .chain_update(padded(0x5c))
        .chain_update(inner.finalize());
    outer
        .finalize()
        .iter()
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}
