//! The signature both directions carry: `Placet-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256(secret, "<t>.<raw body>")>`.
//!
//! The moment is part of what is signed, so an old message cannot be passed off as a new one. Several `v1` stand side by
//! side while a secret is replaced: one that fits is enough.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use placet_core::time::{Millis, Timestamp};
use sha2::Sha256;

use placet_engine::secret::SecretText;

/// The header's name.
pub const HEADER: &str = "Placet-Signature";
/// How far a signature's moment may be from now, in either direction.
pub const WINDOW: Millis = Millis::from_secs(300);
/// Beyond this limit signatures are not tried.
const SIGNATURES_MAX: usize = 8;

/// Why a signature is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// Not of the form.
    #[error("the signature must read `t=<unix seconds>,v1=<64 hex digits>`")]
    Malformed,
    /// None of them was made with the secret over this body and this moment.
    #[error("the signature does not fit the body and the secret")]
    Wrong,
    /// Signed at another time: a replay, or a clock that is off.
    #[error("the signature's time {signed} is more than 300 s away from {now} (unix seconds)")]
    OutsideWindow {
        /// When it was signed, in unix seconds.
        signed: i64,
        /// When it came.
        now: i64,
    },
}

/// The secrets of one channel: each signs, and any verifies.
#[derive(Clone)]
pub(super) struct Keys(Vec<Hmac<Sha256>>);

impl Keys {
    /// One secret a line, so that an old one can stand beside the new one until both sides have it.
    pub(super) fn new(secret: &SecretText) -> Self {
        let lines = secret
            .expose()
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        // HMAC takes a key of any length; there is nothing to refuse.
        Self(
            lines
                .filter_map(|key| Hmac::new_from_slice(key.as_bytes()).ok())
                .collect(),
        )
    }

    /// The header's value for a body sent now.
    pub(super) fn sign(&self, body: &[u8], now: Timestamp) -> String {
        let signed = seconds(now);
        let mut header = format!("t={signed}");
        for key in &self.0 {
            let code = over(key, signed, body).finalize().into_bytes();
            let _ = write!(header, ",v1={}", hex::encode(code));
        }
        header
    }

    /// Whether the header was made with one of the secrets, over this body, about now.
    pub(super) fn verify(&self, header: &str, body: &[u8], now: Timestamp) -> Result<(), SignatureError> {
        let (signed, codes) = parse(header)?;
        let fits = |key: &Hmac<Sha256>| {
            let mut codes = codes.iter();
            // Compares in constant time.
            codes.any(|code| over(key, signed, body).verify_slice(code).is_ok())
        };
        if !self.0.iter().any(fits) {
            return Err(SignatureError::Wrong);
        }
        let now = seconds(now);
        if signed.abs_diff(now) > WINDOW.get() / 1000 {
            return Err(SignatureError::OutsideWindow { signed, now });
        }
        Ok(())
    }
}

fn over(key: &Hmac<Sha256>, signed: i64, body: &[u8]) -> Hmac<Sha256> {
    key.clone()
        .chain_update(signed.to_string())
        .chain_update(b".")
        .chain_update(body)
}

fn seconds(moment: Timestamp) -> i64 {
    moment.as_millis().div_euclid(1000)
}

/// The moment and the codes. Names that are not known yet are passed over, so that a later `v2` can stand beside `v1`.
fn parse(header: &str) -> Result<(i64, Vec<[u8; 32]>), SignatureError> {
    let (mut signed, mut codes) = (None, Vec::new());
    for part in header.split(',') {
        match part.trim().split_once('=').ok_or(SignatureError::Malformed)? {
            // Only what prints the same again: the digits are what was signed.
            ("t", digits) if signed.is_none() => {
                signed = digits.parse::<i64>().ok().filter(|t| t.to_string() == digits);
            }
            ("t", _) => return Err(SignatureError::Malformed),
            ("v1", _) if codes.len() == SIGNATURES_MAX => return Err(SignatureError::Malformed),
            ("v1", code) => {
                let mut bytes = [0; 32];
                hex::decode_to_slice(code, &mut bytes).map_err(|_| SignatureError::Malformed)?;
                codes.push(bytes);
            }
            _ => {}
        }
    }
    match signed {
        Some(signed) if !codes.is_empty() => Ok((signed, codes)),
        _ => Err(SignatureError::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn keys(secret: &str) -> Keys {
        Keys::new(&SecretText::new(secret).unwrap())
    }

    fn later(seconds: i64) -> Timestamp {
        Timestamp::from_millis(NOW.as_millis() + seconds * 1000)
    }

    /// The wire format, as `openssl dgst -sha256 -hmac` computes it.
    #[test]
    fn the_format_is_pinned() {
        assert_eq!(
            keys("topsecret").sign(b"{\"a\":1}", NOW),
            "t=1767225600,v1=4fe3c47468405ef2cad64bcbf4ce28b3077d4978f27c8082e5bc2a941bf2e6ac"
        );
    }

    #[test]
    fn what_was_signed_verifies_and_nothing_else_does() {
        let keys = keys("topsecret");
        let header = keys.sign(b"body", NOW);
        assert_eq!(keys.verify(&header, b"body", NOW), Ok(()));
        assert_eq!(keys.verify(&header, b"bodx", NOW), Err(SignatureError::Wrong));
        assert_eq!(
            self::keys("other").verify(&header, b"body", NOW),
            Err(SignatureError::Wrong)
        );
        let moved = header.replace("t=1767225600", "t=1767225601");
        assert_eq!(keys.verify(&moved, b"body", NOW), Err(SignatureError::Wrong));
    }

    #[test]
    fn a_signature_counts_for_300_seconds_in_either_direction() {
        let keys = keys("topsecret");
        let header = keys.sign(b"body", NOW);
        for off in [-300, 0, 300] {
            assert_eq!(keys.verify(&header, b"body", later(off)), Ok(()), "{off}");
        }
        for off in [-301, 301, 86_400] {
            let refused = keys.verify(&header, b"body", later(off));
            assert!(
                matches!(refused, Err(SignatureError::OutsideWindow { .. })),
                "{off}"
            );
        }
    }

    #[test]
    fn while_a_secret_is_replaced_either_one_is_enough() {
        let (old, new, both) = (keys("old"), keys("new"), keys("new\nold\n"));
        let header = both.sign(b"body", NOW);
        assert_eq!(header.matches(",v1=").count(), 2);
        for receiver in [&old, &new, &both] {
            assert_eq!(receiver.verify(&header, b"body", NOW), Ok(()));
        }
        assert_eq!(both.verify(&old.sign(b"body", NOW), b"body", NOW), Ok(()));
        assert_eq!(
            keys("third").verify(&header, b"body", NOW),
            Err(SignatureError::Wrong)
        );
    }

    #[test]
    fn what_is_not_a_signature_is_malformed() {
        let keys = keys("topsecret");
        let code = "0".repeat(64);
        let nine = format!("t=1{}", format!(",v1={code}").repeat(9));
        let bad = [
            String::new(),
            "t=1".into(),
            format!("v1={code}"),
            format!("t=,v1={code}"),
            format!("t=+1,v1={code}"),
            format!("t=01,v1={code}"),
            format!("t=1,t=2,v1={code}"),
            "t=1,v1=00".into(),
            format!("t=1,v1={}", "g".repeat(64)),
            format!("t=99999999999999999999,v1={code}"),
            nine,
        ];
        for header in bad {
            assert_eq!(
                keys.verify(&header, b"", NOW),
                Err(SignatureError::Malformed),
                "{header}"
            );
        }
        let unknown = format!("{},v2=abc", keys.sign(b"", NOW));
        assert_eq!(keys.verify(&unknown, b"", NOW), Ok(()));
    }
}
