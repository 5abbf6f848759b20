//! Time: moments, lengths, and how far outages move a deadline.
//!
//! There is one clock, the store's. It stamps journal rows, closes questions and ends grants. While Placet is not running,
//! or when the clock is set, an [`Outage`](crate::journal::Event::Outage) moves every pending deadline by its [`Shift`], so
//! that neither uses up an approver's time.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// A moment on the wall clock, in milliseconds since 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// A length of time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(u64);

/// How far outages move what is pending, in milliseconds. Negative when the clock was set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shift(i64);

/// Time in which approvers could not be served, as a process noticed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// The last moment before it, on the clock of that time.
    pub from: Timestamp,
    /// The first moment after it.
    pub until: Timestamp,
    /// The journal row of the outage before it. If there is another one by now, another process recorded this one.
    pub after: u64,
}

impl Timestamp {
    /// From milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// As milliseconds since 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// How long from `now` until this moment; zero when it has passed.
    pub fn remaining_from(self, now: Self) -> Millis {
        Millis(u64::try_from(self.0.saturating_sub(now.0)).unwrap_or(0))
    }
}

impl Shift {
    /// Before the first outage.
    pub const NONE: Self = Self(0);

    /// What an outage moves deadlines by.
    pub const fn between(from: Timestamp, until: Timestamp) -> Self {
        Self(until.0.saturating_sub(from.0))
    }

    /// From milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// As milliseconds.
    pub const fn as_millis(self) -> i64 {
        self.0
    }
}

impl Millis {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// From milliseconds.
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// From seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// In whole seconds, rounded up: what people read on a countdown.
    #[must_use]
    pub const fn in_seconds(self) -> Self {
        Self::from_secs(self.0.div_ceil(1000))
    }

    /// As milliseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    fn signed(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }
}

impl Add<Millis> for Timestamp {
    type Output = Self;

    fn add(self, by: Millis) -> Self {
        Self(self.0.saturating_add(by.signed()))
    }
}

impl Add<Shift> for Timestamp {
    type Output = Self;

    fn add(self, by: Shift) -> Self {
        Self(self.0.saturating_add(by.0))
    }
}

impl Add for Shift {
    type Output = Self;

    fn add(self, by: Self) -> Self {
        Self(self.0.saturating_add(by.0))
    }
}

impl Sub<Shift> for Timestamp {
    type Output = Self;

    fn sub(self, by: Shift) -> Self {
        Self(self.0.saturating_sub(by.0))
    }
}

/// RFC 3339 in UTC, to the millisecond.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// The largest whole unit first: `90s` is `1m30s`.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, name) in [
            (86_400_000, "d"),
            (3_600_000, "h"),
            (60_000, "m"),
            (1000, "s"),
            (1, "ms"),
        ] {
            if rest >= unit {
                write!(f, "{}{name}", rest / unit)?;
                rest %= unit;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_people_write_them() {
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Millis::from_secs(90).to_string(), "1m30s");
        assert_eq!(Millis::new(0).to_string(), "0s");
        assert_eq!(Millis::new(1500).to_string(), "1s500ms");
    }

    #[test]
    fn arithmetic_at_the_ends_of_time_saturates() {
        assert_eq!(
            Timestamp::from_millis(i64::MAX) + Millis::new(u64::MAX),
            Timestamp::from_millis(i64::MAX)
        );
        let late = Timestamp::from_millis(i64::MAX);
        assert_eq!(Timestamp::from_millis(5).remaining_from(late), Millis::ZERO);
    }
}
