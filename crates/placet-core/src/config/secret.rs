//! Secrets in configuration: a place to find them, never the secret itself.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Where a secret is kept. The program looks there when it needs it; nothing here prints it.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// In this environment variable.
    Env(String),
    /// In this file.
    File(String),
}

impl Secret {
    /// Reads `env:NAME` or `file:PATH`. `None` for anything else, which may be the secret itself: do not print it.
    pub fn parse(text: &str) -> Option<Self> {
        let named = |rest: &str| (!rest.trim().is_empty()).then(|| rest.to_owned());
        match text.split_once(':')? {
            ("env", rest) => named(rest).map(Self::Env),
            ("file", rest) => named(rest).map(Self::File),
            _ => None,
        }
    }
}

/// What is wrong with a text that is not a [`Secret`], without repeating the text.
pub(super) const NOT_A_SECRET: &str =
    "a secret is written as `env:NAME` or `file:PATH`, never in the file itself";

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Env(_) => "Secret(env:****)",
            Self::File(_) => "Secret(file:****)",
        })
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(NOT_A_SECRET))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_a_place_and_prints_as_stars() {
        assert_eq!(
            Secret::parse("env:OPS_SECRET"),
            Some(Secret::Env("OPS_SECRET".into()))
        );
        assert_eq!(
            Secret::parse("file:/run/secrets/ops"),
            Some(Secret::File("/run/secrets/ops".into()))
        );
        for text in ["hunter2", "env:", "https://x", ""] {
            assert_eq!(Secret::parse(text), None);
        }
        assert_eq!(
            format!("{:?}", Secret::Env("OPS_SECRET".into())),
            "Secret(env:****)"
        );
    }
}
