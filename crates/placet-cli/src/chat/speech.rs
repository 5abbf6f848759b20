//! What the model is saying: pieces in, lines out. Blocks that cannot change any more are printed for good; the last one is
//! drawn again with every piece.

use placet_channels::terminal::line::{Line, SpanStyle};
use placet_core::interaction::Locale;
use placet_core::messages::talk;
use placet_core::render::SafeText;

use super::markdown;

/// A turn of the model while it is said.
#[derive(Debug, Default)]
pub(super) struct Speech {
    thoughts: String,
    /// Bytes of the thoughts that are printed.
    thoughts_printed: usize,
    text: String,
    /// Bytes of the text that are printed.
    printed: usize,
}

impl Speech {
    /// A piece of the model's words.
    pub(super) fn says(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    /// A piece of its thoughts.
    pub(super) fn thinks(&mut self, piece: &str) {
        self.thoughts.push_str(piece);
    }

    /// It begins again. What is printed already is void, and a silence has its reason.
    pub(super) fn begins_again(&mut self, why: &str, locale: Locale) -> Line {
        *self = Self::default();
        Line::new(
            SpanStyle::Faint,
            talk::begins_again(SafeText::line(why)).say(locale),
        )
    }

    /// What can be printed for good by now.
    pub(super) fn settled(&mut self, cols: usize) -> Vec<Line> {
        let rest = self.thoughts.get(self.thoughts_printed..).unwrap_or_default();
        let whole = if self.text.is_empty() {
            rest.rfind('\n').map_or(0, |at| at + 1)
        } else {
            rest.len()
        };
        let mut lines = thoughts(rest.get(..whole).unwrap_or_default());
        self.thoughts_printed += whole;
        let rest = self.text.get(self.printed..).unwrap_or_default();
        let settled = markdown::settled(rest);
        if settled > 0 {
            lines.extend(spaced(markdown::lines(
                rest.get(..settled).unwrap_or_default(),
                cols,
            )));
            self.printed += settled;
        }
        lines
    }

    /// What may still change.
    pub(super) fn growing(&self, cols: usize) -> Vec<Line> {
        let mut lines = thoughts(self.thoughts.get(self.thoughts_printed..).unwrap_or_default());
        let rest = self.text.get(self.printed..).unwrap_or_default();
        lines.extend(spaced(markdown::lines(rest, cols)));
        lines
    }

    /// The listener is gone: what was heard and not printed stays as it is.
    pub(super) fn breaks_off(&mut self, cols: usize) -> Vec<Line> {
        std::mem::take(self).growing(cols)
    }

    /// The turn is over: everything that is not printed yet. What was stored is what counts; pieces may have been missed.
    pub(super) fn ends(&mut self, text: &str, thinking: Option<&str>, cols: usize) -> Vec<Line> {
        let heard = std::mem::take(self);
        let thinking = thinking.unwrap_or_default();
        let unsaid = |whole: &str, said: &str, printed: usize| match said.get(..printed) {
            Some(said) if whole.starts_with(said) => whole.get(printed..).unwrap_or_default().to_owned(),
            _ => whole.to_owned(),
        };
        let mut lines = thoughts(&unsaid(thinking, &heard.thoughts, heard.thoughts_printed));
        lines.extend(spaced(markdown::lines(
            &unsaid(text, &heard.text, heard.printed),
            cols,
        )));
        lines
    }
}

/// Blocks are printed one after the other: each with an empty line behind it.
fn spaced(mut lines: Vec<Line>) -> Vec<Line> {
    if !lines.is_empty() {
        lines.push(Line::default());
    }
    lines
}

fn thoughts(text: &str) -> Vec<Line> {
    let text = SafeText::block(text.trim_end());
    let lines = text.as_str().split('\n').filter(|line| !line.is_empty());
    lines.map(|line| Line::new(SpanStyle::Faint, line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Line]) -> Vec<String> {
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn a_block_is_printed_once_when_the_next_one_begins() {
        let mut speech = Speech::default();
        speech.says("First");
        assert!(speech.settled(80).is_empty());
        assert_eq!(texts(&speech.growing(80)), ["First", ""]);
        speech.says(" block.\n\nSecond");
        assert_eq!(texts(&speech.settled(80)), ["First block.", ""]);
        assert_eq!(texts(&speech.growing(80)), ["Second", ""]);
        let last = speech.ends("First block.\n\nSecond block.", None, 80);
        assert_eq!(texts(&last), ["Second block.", ""]);
    }

    #[test]
    fn what_was_missed_or_said_otherwise_is_shown_as_it_was_stored() {
        let mut speech = Speech::default();
        speech.says("One.\n\nTwo.\n\nThr");
        speech.settled(80);
        assert_eq!(
            texts(&speech.ends("Something else.", None, 80)),
            ["Something else.", ""]
        );
        let mut speech = Speech::default();
        assert_eq!(
            texts(&speech.ends("Unheard.", Some("hm"), 80)),
            ["hm", "Unheard.", ""]
        );
    }

    #[test]
    fn thoughts_come_first_and_are_faint() {
        let mut speech = Speech::default();
        speech.thinks("let me see\nwell");
        assert_eq!(texts(&speech.settled(80)), ["let me see"]);
        speech.says("Here.");
        let lines = speech.settled(80);
        assert_eq!(
            (texts(&lines), lines[0].spans[0].role),
            (vec!["well".to_owned()], SpanStyle::Faint)
        );
    }

    #[test]
    fn a_model_that_begins_again_says_why_and_what_it_said_is_void() {
        let mut speech = Speech::default();
        speech.says("One.\n\nTwo");
        speech.settled(80);
        let line = speech.begins_again("nobody answers", Locale::English);
        assert_eq!(line.text(), "… the model starts over: nobody answers");
        assert!(speech.growing(80).is_empty());
    }
}
