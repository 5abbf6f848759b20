//! Moments as people write them: `2026-11-03T10:00:00Z`, `2026-11-03`, or `2h` for two hours ago.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp as Instant};
use placet_core::messages::usage;
use placet_core::time::{Millis, Timestamp};

use crate::locale;

/// Reads a moment on the command line.
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    read(text, Instant::now())
        .map(|at| Timestamp::from_millis(at.as_millisecond()))
        .ok_or_else(|| locale::say(&usage::moment()))
}

/// Reads a duration: `15m`, `8h`, `7d`.
pub(crate) fn length(text: &str) -> Result<Millis, String> {
    let span = text.parse::<Span>().ok();
    let length = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    length
        .and_then(|length| u64::try_from(length.as_millis()).ok())
        .filter(|millis| *millis > 0)
        .map(Millis::new)
        .ok_or_else(|| locale::say(&usage::duration()))
}

fn read(text: &str, now: Instant) -> Option<Instant> {
    if let Ok(at) = text.parse::<Instant>() {
        return Some(at);
    }
    if let Ok(day) = text.parse::<Date>() {
        return Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp());
    }
    let ago = text
        .parse::<Span>()
        .ok()?
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .ok()?;
    if ago.is_negative() {
        return None;
    }
    now.checked_sub(ago).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_as_people_write_them() {
        assert_eq!(length("15m"), Ok(Millis::from_secs(900)));
        assert_eq!(length("7d"), Ok(Millis::from_secs(7 * 86_400)));
        for text in ["", "0s", "-1h", "soon"] {
            assert!(length(text).is_err(), "{text}");
        }
    }

    #[test]
    fn moments_read_as_people_write_them() {
        let now: Instant = "2026-11-03T10:00:00Z".parse().unwrap();
        let shown = |text| read(text, now).map(|at| at.to_string());
        assert_eq!(
            shown("2026-11-03T08:00:00+01:00").as_deref(),
            Some("2026-11-03T07:00:00Z")
        );
        assert_eq!(shown("2026-11-02").as_deref(), Some("2026-11-02T00:00:00Z"));
        assert_eq!(shown("2h").as_deref(), Some("2026-11-03T08:00:00Z"));
        assert_eq!(shown("1d 30m").as_deref(), Some("2026-11-02T09:30:00Z"));
        for text in ["", "yesterday", "-2h", "2026-13-01", "2 moons"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
