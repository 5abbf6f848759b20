//! Lengths of time and lists, as a language writes them.

use super::{Locale, text};
use crate::time::Millis;

/// From the largest; how many milliseconds each has.
const UNITS: [(&str, u64); 5] = [
    ("format.days", 86_400_000),
    ("format.hours", 3_600_000),
    ("format.minutes", 60_000),
    ("format.seconds", 1000),
    ("format.milliseconds", 1),
];

/// The two largest units that are not zero: `1 h 30 min`.
pub(super) fn duration(locale: Locale, time: Millis) -> String {
    let mut rest = time.get();
    let mut parts = Vec::new();
    for (unit, millis) in UNITS {
        let whole = rest / millis;
        rest %= millis;
        if whole > 0 {
            parts.push(format!("{whole} {}", text(locale, unit).unwrap_or(unit)));
        }
    }
    if parts.is_empty() {
        parts.push(format!("0 {}", text(locale, "format.seconds").unwrap_or("s")));
    }
    parts.truncate(2);
    parts.join(" ")
}

/// `lin, wei and ana`.
pub(super) fn list(locale: Locale, items: &[String]) -> String {
    joined(locale, items, text(locale, "format.and").unwrap_or(", "))
}

/// `lin, wei or ana`.
pub(super) fn any_of(locale: Locale, items: &[String]) -> String {
    joined(locale, items, text(locale, "format.or").unwrap_or(", "))
}

fn joined(locale: Locale, items: &[String], last_separator: &str) -> String {
    let [rest @ .., last] = items else {
        return String::new();
    };
    if rest.is_empty() {
        return last.clone();
    }
    let separator = text(locale, "format.separator").unwrap_or(", ");
    format!("{}{last_separator}{last}", rest.join(separator))
}
