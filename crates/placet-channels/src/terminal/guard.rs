//! The moment before a key counts.

use std::time::Duration;

/// A key this soon after a question appeared was meant for something else.
pub const REACTION: Duration = Duration::from_millis(300);

/// Whether keys count yet: not before the question was drawn, nor until the person can have read a word of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Guard {
    from: Option<Duration>,
}

impl Guard {
    /// The question is in front of the person since `now`. Said again, it changes nothing.
    pub fn drawn(&mut self, now: Duration) {
        self.from.get_or_insert(now.saturating_add(REACTION));
    }

    /// Whether a key pressed at `now` counts.
    pub fn counts(&self, now: Duration) -> bool {
        self.from.is_some_and(|from| from <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_counts_only_after_the_question_was_drawn_and_a_moment_has_passed() {
        let at = Duration::from_millis;
        let mut guard = Guard::default();
        assert!(!guard.counts(at(10_000)), "never drawn");
        guard.drawn(at(1000));
        assert!(!guard.counts(at(1000)));
        assert!(!guard.counts(at(1299)));
        guard.drawn(at(1250));
        assert!(guard.counts(at(1300)), "drawing again does not start anew");
    }
}
