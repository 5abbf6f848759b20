//! The short code of a question (`K7QP`), by which a typed reply names it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// Letters and digits that are not mistaken for one another, read aloud or typed on a phone.
const ALPHABET: &[u8; 30] = b"23456789ABCDEFGHJKMNPQRTUVWXYZ";
const LENGTH: usize = 4;

/// Four characters that name an open question within its chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code([u8; LENGTH]);

impl Code {
    /// The code for a random number. Every code is about equally likely.
    pub fn from_random(mut random: u64) -> Self {
        let mut code = [b'2'; LENGTH];
        for place in &mut code {
            let letter = usize::try_from(random % 30).unwrap_or(0);
            *place = ALPHABET.get(letter).copied().unwrap_or(b'2');
            random /= 30;
        }
        Self(code)
    }

    /// Reads a code as a person types it, in either case.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; LENGTH] = text.as_bytes().try_into().ok()?;
        let code = bytes.map(|byte| byte.to_ascii_uppercase());
        code.iter()
            .all(|byte| ALPHABET.contains(byte))
            .then_some(Self(code))
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a question's code"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_reads_back_in_either_case() {
        for random in [0, 1, 29, 30, 809_999, u64::MAX] {
            let code = Code::from_random(random);
            assert_eq!(Code::parse(&code.as_str().to_lowercase()), Some(code));
        }
    }

    #[test]
    fn letters_that_look_like_digits_are_not_codes() {
        assert_eq!(Code::parse("O0I1"), None);
        assert_eq!(Code::parse("K7Q"), None);
        assert_eq!(Code::parse("K7QPX"), None);
        assert_eq!(Code::parse("確認"), None);
    }
}
