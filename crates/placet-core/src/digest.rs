//! Digests: SHA-256 over a label and length-prefixed fields.
//!
//! The label keeps digests of different things apart; the length prefixes keep `("ab", "c")` and `("a", "bc")` apart.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest. Never truncated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Digests `fields` under `label`.
    pub fn of(label: &str, fields: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for field in std::iter::once(&label.as_bytes()).chain(fields) {
            hasher.update((field.len() as u64).to_be_bytes());
            hasher.update(field);
        }
        Self(hasher.finalize().into())
    }

    /// From 32 stored bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 64];
        hex::encode_to_slice(self.0, &mut text).map_err(|_| fmt::Error)?;
        f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let mut bytes = [0; 32];
        hex::decode_to_slice(text.as_bytes(), &mut bytes).map_err(serde::de::Error::custom)?;
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_a_byte_between_fields_changes_the_digest() {
        assert_ne!(Digest::of("t", &[b"ab", b"c"]), Digest::of("t", &[b"a", b"bc"]));
        assert_ne!(Digest::of("t", &[b"ab"]), Digest::of("ta", &[b"b"]));
        assert_ne!(Digest::of("t", &[b""]), Digest::of("t", &[]));
    }

    #[test]
    fn a_digest_reads_back_from_its_text() {
        let digest = Digest::of("t", &[b"x"]);
        let text = serde_json::to_string(&digest).unwrap();
        assert_eq!(text.len(), 66);
        assert_eq!(serde_json::from_str::<Digest>(&text).unwrap(), digest);
        assert!(serde_json::from_str::<Digest>("\"abcd\"").is_err());
    }
}
