//! A line of text being typed.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet_core::render::SafeText;
use unicode_width::UnicodeWidthStr as _;

/// No answer takes a longer text.
const CHARS_MAX: usize = 16 * 1024;

/// A text and a place in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field {
    chars: Vec<char>,
    at: usize,
    breaks: Breaks,
}

/// What a line break in a text becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Breaks {
    /// A space: the text is one line.
    #[default]
    Space,
    /// A line break, shown as one.
    Kept,
}

/// The text over several rows, and where the cursor is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Each row, safe to show.
    pub texts: Vec<String>,
    /// The row of the cursor.
    pub row: usize,
    /// Its column.
    pub column: usize,
}

impl Field {
    /// For texts of several lines.
    pub fn of_lines() -> Self {
        Self {
            breaks: Breaks::Kept,
            ..Self::default()
        }
    }

    /// Puts another text in the place of this one; the cursor stands behind it.
    pub fn replace(&mut self, text: &str) {
        self.chars.clear();
        self.at = 0;
        self.insert(text);
    }

    /// With a text to begin with; the cursor stands behind it.
    pub fn holding(text: &str) -> Self {
        let mut field = Self::default();
        field.insert(text);
        field
    }

    /// The text.
    pub fn text(&self) -> String {
        self.chars.iter().collect()
    }

    /// Whether there is anything but space in it.
    pub fn is_blank(&self) -> bool {
        self.chars.iter().all(|c| c.is_whitespace())
    }

    /// Puts a text where the cursor is. A line break sends nothing: it becomes a space, or stays one.
    pub fn insert(&mut self, text: &str) {
        let room = CHARS_MAX.saturating_sub(self.chars.len());
        // A carriage return is how a paste spells a line break.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let added: Vec<char> = text
            .chars()
            .map(|c| match (c, self.breaks) {
                ('\n', Breaks::Kept) => c,
                (c, _) if c.is_whitespace() => ' ',
                (c, _) => c,
            })
            .take(room)
            .collect();
        let after = self.chars.split_off(self.at.min(self.chars.len()));
        self.chars.extend(added);
        self.at = self.chars.len();
        self.chars.extend(after);
    }

    /// A key that edits. Keys that do something else do nothing here.
    pub fn key(&mut self, key: KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('a') if control => self.at = 0,
            KeyCode::Char('e') if control => self.at = self.chars.len(),
            KeyCode::Char('u') if control => {
                self.chars.drain(..self.at);
                self.at = 0;
            }
            KeyCode::Char('w') if control => self.delete_word(),
            KeyCode::Char(c) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.insert(c.encode_utf8(&mut [0; 4]));
            }
            KeyCode::Backspace if self.at > 0 => {
                self.at -= 1;
                self.chars.remove(self.at);
            }
            KeyCode::Delete if self.at < self.chars.len() => {
                self.chars.remove(self.at);
            }
            KeyCode::Left => self.at = self.at.saturating_sub(1),
            KeyCode::Right => self.at = (self.at + 1).min(self.chars.len()),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.chars.len(),
            _ => {}
        }
    }

    fn delete_word(&mut self) {
        let before = self.chars.get(..self.at).unwrap_or_default();
        let word = before.iter().rposition(|c| !c.is_whitespace()).unwrap_or(0);
        let start = before
            .get(..word)
            .and_then(|chars| chars.iter().rposition(|c| c.is_whitespace()))
            .map_or(0, |space| space + 1);
        self.chars.drain(start..self.at);
        self.at = start;
    }

    /// The text over rows of `cols` columns, made safe to show; at most `rows_max` of them, around the cursor.
    pub fn rows(&self, cols: usize, rows_max: usize) -> Rows {
        let mut rows = vec![String::new()];
        let (mut row, mut column) = (0, 0);
        let mut used = 0;
        for (index, c) in self.chars.iter().enumerate() {
            let shown = SafeText::line(c.encode_utf8(&mut [0; 4]));
            // The cursor needs a column of its own at the end of each row.
            if used + shown.width() >= cols && used > 0 {
                rows.push(String::new());
                used = 0;
            }
            if index == self.at {
                (row, column) = (rows.len() - 1, used);
            }
            if let Some(last) = rows.last_mut() {
                last.push_str(shown.as_str());
            }
            used += shown.as_str().width();
            if *c == '\n' {
                rows.push(String::new());
                used = 0;
            }
        }
        if self.at == self.chars.len() {
            (row, column) = (rows.len() - 1, used);
        }
        let first = row.saturating_sub(rows_max.saturating_sub(1));
        Rows {
            texts: rows.into_iter().skip(first).take(rows_max.max(1)).collect(),
            row: row - first,
            column,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(field: &mut Field, keys: &[(KeyCode, KeyModifiers)]) {
        for (code, modifiers) in keys {
            field.key(KeyEvent::new(*code, *modifiers));
        }
    }

    #[test]
    fn a_text_is_edited_as_on_any_command_line() {
        let mut field = Field::holding("rm -rf  build");
        press(&mut field, &[(KeyCode::Char('w'), KeyModifiers::CONTROL)]);
        assert_eq!(field.text(), "rm -rf  ");
        press(
            &mut field,
            &[
                (KeyCode::Home, KeyModifiers::NONE),
                (KeyCode::Delete, KeyModifiers::NONE),
            ],
        );
        assert_eq!(field.text(), "m -rf  ");
        press(
            &mut field,
            &[
                (KeyCode::Right, KeyModifiers::NONE),
                (KeyCode::Backspace, KeyModifiers::NONE),
            ],
        );
        assert_eq!(field.text(), " -rf  ");
        press(
            &mut field,
            &[
                (KeyCode::End, KeyModifiers::NONE),
                (KeyCode::Char('u'), KeyModifiers::CONTROL),
            ],
        );
        assert_eq!(field.text(), "");
    }

    #[test]
    fn pasted_line_breaks_become_spaces_and_escapes_become_visible() {
        let mut field = Field::default();
        field.insert("a\r\nb\u{1b}[2J");
        assert_eq!(field.text(), "a b\u{1b}[2J");
        assert_eq!(field.rows(40, 3).texts, ["a b⟦ESC⟧[2J"]);
    }

    #[test]
    fn a_text_of_several_lines_keeps_them_and_shows_where_they_end() {
        let mut field = Field::of_lines();
        field.insert("fn main() {\r\n}\n");
        assert_eq!(field.text(), "fn main() {\n}\n");
        let rows = field.rows(40, 9);
        assert_eq!(rows.texts, ["fn main() {⏎", "}⏎", ""]);
        assert_eq!((rows.row, rows.column), (2, 0));
    }

    #[test]
    fn a_long_text_shows_the_rows_around_the_cursor() {
        let mut field = Field::holding("一二三四五六七八九十");
        let rows = field.rows(9, 2);
        assert_eq!(
            (rows.texts, rows.row, rows.column),
            (vec!["五六七八".to_owned(), "九十".to_owned()], 1, 4)
        );
        press(&mut field, &[(KeyCode::Home, KeyModifiers::NONE)]);
        let rows = field.rows(9, 2);
        assert_eq!((rows.row, rows.column), (0, 0));
    }
}
