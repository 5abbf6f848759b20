//! Lines of a screen: text with roles instead of colours, so that one drawing serves every kind of terminal.

use placet_core::tool::Risk;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What a piece of a line is. A palette makes a colour of it, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanStyle {
    /// Text like any other.
    Plain,
    /// What the eye should find first.
    Strong,
    /// What it may pass over.
    Faint,
    /// A line that comes.
    Added,
    /// A line that goes.
    Removed,
    /// Something to be careful about.
    Caution,
    /// A key to press.
    Key,
    /// The one that is chosen.
    Selected,
    /// Something about as risky as this.
    Risk(Risk),
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub role: SpanStyle,
    /// What it says. Safe to write to a terminal.
    pub text: String,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    /// Its pieces, from left to right.
    pub spans: Vec<Span>,
}

impl Line {
    /// A line in one role.
    pub fn new(role: SpanStyle, text: impl Into<String>) -> Self {
        Self::default().and(role, text)
    }

    /// The same with something behind it.
    #[must_use]
    pub fn and(mut self, role: SpanStyle, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(Span { role, text });
        }
        self
    }

    /// The same, drawn faint: keys that do not count yet look like this.
    #[must_use]
    pub fn faint(mut self) -> Self {
        for span in &mut self.spans {
            span.role = SpanStyle::Faint;
        }
        self
    }

    /// How many columns it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| span.text.width()).sum()
    }

    /// Its text alone.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// Broken into lines of at most `cols` columns, after a space where there is one. No character is lost.
    pub fn broken(self, cols: usize) -> Vec<Self> {
        if self.width() <= cols {
            return vec![self];
        }
        let mut rest: Vec<(SpanStyle, char)> = self
            .spans
            .iter()
            .flat_map(|span| span.text.chars().map(|c| (span.role, c)))
            .collect();
        let mut lines = Vec::new();
        while !rest.is_empty() {
            let after = rest.split_off(fitting(&rest, cols));
            lines.push(rest.into_iter().collect());
            rest = after;
        }
        lines
    }
}

/// How many characters fit on a line; at least one, or nothing would ever come of it.
fn fitting(chars: &[(SpanStyle, char)], cols: usize) -> usize {
    let mut used = 0;
    let mut after_space = None;
    for (at, (_, c)) in chars.iter().enumerate() {
        used += c.width().unwrap_or(0);
        if used > cols {
            return after_space.unwrap_or(at).max(1);
        }
        // A break early in the line would waste most of it: Chinese has few spaces.
        if *c == ' ' && used > cols / 2 {
            after_space = Some(at + 1);
        }
    }
    chars.len()
}

impl FromIterator<(SpanStyle, char)> for Line {
    fn from_iter<T: IntoIterator<Item = (SpanStyle, char)>>(chars: T) -> Self {
        let mut line = Self::default();
        for (role, c) in chars {
            match line.spans.last_mut() {
                Some(span) if span.role == role => span.text.push(c),
                _ => line.spans.push(Span {
                    role,
                    text: c.to_string(),
                }),
            }
        }
        line
    }
}

/// Short items one behind the other, as many on a line as fit; an item is broken only when it is wider than a line.
pub(crate) fn flow(items: Vec<Line>, cols: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(last) if last.width() + 2 + item.width() <= cols => {
                last.spans.push(Span {
                    role: SpanStyle::Plain,
                    text: "  ".to_owned(),
                });
                last.spans.extend(item.spans);
            }
            _ => lines.extend(item.broken(cols)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaking_a_line_loses_no_character_and_knows_that_chinese_takes_two_columns() {
        let line = Line::new(SpanStyle::Strong, "一二三四").and(SpanStyle::Faint, "abcdef");
        let broken = line.clone().broken(5);
        assert!(broken.iter().all(|line| line.width() <= 5), "{broken:?}");
        assert_eq!(broken.iter().map(Line::text).collect::<String>(), line.text());
        assert_eq!(broken[0].text(), "一二");
        let words = Line::new(SpanStyle::Plain, "no session but this one").broken(12);
        assert_eq!(
            words.iter().map(Line::text).collect::<Vec<_>>(),
            ["no session ", "but this one"]
        );
    }

    #[test]
    fn items_flow_and_stay_whole() {
        let items = ["[y] approve", "[n] reject", "[e] edit"].map(|text| Line::new(SpanStyle::Plain, text));
        let lines = flow(items.to_vec(), 24);
        let texts: Vec<_> = lines.iter().map(Line::text).collect();
        assert_eq!(texts, ["[y] approve  [n] reject", "[e] edit"]);
    }
}
