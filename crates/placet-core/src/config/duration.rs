//! Durations in configuration: `"30m"`, `"1h 30m"`, `"24h"`, or a number of milliseconds.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use crate::time::Millis;

/// A duration as written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConfigDuration(pub(super) Millis);

/// Shorter than a second as a bare number: almost surely seconds were meant, and the seeds' documents used both.
const NUMBER_MIN: u64 = 1000;

impl ConfigDuration {
    fn from_text(text: &str) -> Option<Self> {
        let span: jiff::Span = text.trim().parse().ok()?;
        let days = jiff::SpanRelativeTo::days_are_24_hours();
        let total = span.to_duration(days).ok()?.as_millis();
        u64::try_from(total).ok().map(|millis| Self(Millis::new(millis)))
    }
}

impl<'de> Deserialize<'de> for ConfigDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LastingVisitor)
    }
}

struct LastingVisitor;

impl Visitor<'_> for LastingVisitor {
    type Value = ConfigDuration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"30m\", or a number of milliseconds")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ConfigDuration, E> {
        ConfigDuration::from_text(text).ok_or_else(|| {
            E::custom(format_args!(
                "`{text}` is not a duration such as \"30s\", \"30m\" or \"24h\""
            ))
        })
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<ConfigDuration, E> {
        match u64::try_from(number) {
            Ok(millis) if millis == 0 || millis >= NUMBER_MIN => Ok(ConfigDuration(Millis::new(millis))),
            Ok(millis) => Err(E::custom(format_args!(
                "`{millis}` is {millis} milliseconds; write \"{millis}s\" if seconds are meant"
            ))),
            Err(_) => Err(E::custom(format_args!("`{number}` is a negative duration"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_read_as_people_write_them() {
        for (text, seconds) in [
            ("30m", 1800),
            ("1h 30m", 5400),
            ("1h30m", 5400),
            ("24h", 86_400),
            ("1d", 86_400),
            ("0s", 0),
        ] {
            assert_eq!(
                ConfigDuration::from_text(text),
                Some(ConfigDuration(Millis::from_secs(seconds))),
                "{text}"
            );
        }
        assert_eq!(
            ConfigDuration::from_text("1500ms"),
            Some(ConfigDuration(Millis::new(1500)))
        );
        for text in ["", "30", "m", "-5m", "5m ago", "1 month", "soon"] {
            assert_eq!(ConfigDuration::from_text(text), None, "{text}");
        }
    }
}
