//! Times as a prompt shows them.

use placet_core::interaction::Locale;
use placet_core::messages::prompt;
use placet_core::time::Millis;

/// `4:05`, or `1:00:00`.
pub(super) fn clock(left: Millis) -> String {
    // What is left of a second is a second: a question with time left never reads 0:00.
    let seconds = left.get().div_ceil(1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// `15 minutes`, `8 hours`, `1 day`.
pub(super) fn lasting(time: Millis, locale: Locale) -> String {
    let minutes = time.get() / 60_000;
    let message = match minutes {
        m if m % 1440 == 0 => prompt::days(m / 1440),
        m if m % 60 == 0 => prompt::hours(m / 60),
        m => prompt::minutes(m),
    };
    message.say(locale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_at_a_glance() {
        assert_eq!(clock(Millis::new(59_001)), "1:00");
        assert_eq!(clock(Millis::new(1)), "0:01");
        assert_eq!(clock(Millis::from_secs(86_400)), "24:00:00");
        assert_eq!(lasting(Millis::from_secs(900), Locale::English), "15 minutes");
        assert_eq!(lasting(Millis::from_secs(86_400), Locale::English), "1 day");
        assert_eq!(
            lasting(Millis::from_secs(28_800), Locale::Chinese),
            prompt::hours(8_u32).say(Locale::Chinese)
        );
    }
}
