//! The line a person types: edited as on any command line, with what they said before. The field is the one questions use.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use placet_channels::terminal::field::{Field, Rows};

use super::command;

/// So many lines are remembered.
const KEPT_MAX: usize = 1000;

/// What is being typed.
pub(super) struct Entry {
    field: Field,
    history: History,
    /// How far back in the history, and what was being typed before.
    at: Option<(usize, String)>,
}

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// Nothing more than a change of the line, if that.
    Nothing,
    /// A line was sent.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D on an empty line.
    Leave,
}

impl Entry {
    pub(super) fn new(history: History) -> Self {
        Self {
            field: Field::of_lines(),
            history,
            at: None,
        }
    }

    /// The line over rows of `cols` columns.
    pub(super) fn rows(&self, cols: usize, rows_max: usize) -> Rows {
        self.field.rows(cols, rows_max)
    }

    pub(super) fn clear(&mut self) {
        self.field.replace("");
        self.at = None;
    }

    /// Takes what the terminal says.
    pub(super) fn take(&mut self, event: Event) -> Typed {
        match event {
            Event::Paste(text) => {
                self.field.insert(&text);
                Typed::Nothing
            }
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            _ => Typed::Nothing,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Typed {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return Typed::Interrupt,
            KeyCode::Char('d') if control && self.field.text().is_empty() => return Typed::Leave,
            KeyCode::Char('d') if control => {
                self.field.key(KeyEvent::new(KeyCode::Delete, KeyModifiers::NONE));
            }
            KeyCode::Char('j') if control => self.field.insert("\n"),
            KeyCode::Enter if key.modifiers.contains(KeyModifiers::ALT) => self.field.insert("\n"),
            KeyCode::Enter if self.field.is_blank() => {}
            KeyCode::Enter => return Typed::Line(self.send()),
            KeyCode::Up | KeyCode::Char('p') if control || key.code == KeyCode::Up => self.back(),
            KeyCode::Down | KeyCode::Char('n') if control || key.code == KeyCode::Down => self.forth(),
            KeyCode::Tab => {
                if let Some(whole) = command::completed(&self.field.text()) {
                    self.field.replace(&whole);
                }
            }
            _ => self.field.key(key),
        }
        Typed::Nothing
    }

    fn send(&mut self) -> String {
        let line = self.field.text();
        self.history.add(&line);
        self.clear();
        line
    }

    fn back(&mut self) {
        let (at, typed) = match self.at.take() {
            Some((at, typed)) => (at.saturating_sub(1), typed),
            None => (self.history.lines.len().saturating_sub(1), self.field.text()),
        };
        if let Some(line) = self.history.lines.get(at) {
            self.field.replace(line);
            self.at = Some((at, typed));
        }
    }

    fn forth(&mut self) {
        let Some((at, typed)) = self.at.take() else { return };
        match self.history.lines.get(at + 1) {
            Some(line) => {
                self.field.replace(line);
                self.at = Some((at + 1, typed));
            }
            None => self.field.replace(&typed),
        }
    }
}

/// What was typed before, kept in a file that only its owner can read.
pub(super) struct History {
    lines: Vec<String>,
    file: Option<PathBuf>,
}

impl History {
    /// The history in a file. One that is missing or cannot be read is empty.
    pub(super) fn of(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let mut lines: Vec<String> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        lines.drain(..lines.len().saturating_sub(KEPT_MAX));
        Self {
            lines,
            file: Some(file.to_owned()),
        }
    }

    fn add(&mut self, line: &str) {
        if self.lines.last().is_some_and(|last| last == line) {
            return;
        }
        self.lines.push(line.to_owned());
        // What cannot be kept is still there until the program ends.
        if let Some(file) = &self.file
            && keep(file, line).is_err()
        {
            self.file = None;
        }
    }
}

fn keep(file: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(file)?;
    writeln!(file, "{}", serde_json::Value::from(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(lines: &[&str]) -> Entry {
        Entry::new(History {
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            file: None,
        })
    }

    fn press(entry: &mut Entry, code: KeyCode) -> Typed {
        entry.take(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    fn control(entry: &mut Entry, c: char) -> Typed {
        entry.take(Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)))
    }

    #[test]
    fn up_and_down_go_through_what_was_said_and_back_to_what_was_being_typed() {
        let mut entry = entry(&["one", "two"]);
        entry.take(Event::Paste("thr".into()));
        let mut seen = Vec::new();
        for code in [
            KeyCode::Up,
            KeyCode::Up,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::Down,
        ] {
            press(&mut entry, code);
            seen.push(entry.field.text());
        }
        assert_eq!(seen, ["two", "one", "one", "two", "thr"]);
    }

    #[test]
    fn a_paste_keeps_its_lines_and_sends_nothing() {
        let mut entry = entry(&[]);
        assert_eq!(entry.take(Event::Paste("a\r\nb\n".into())), Typed::Nothing);
        control(&mut entry, 'j');
        assert_eq!(press(&mut entry, KeyCode::Enter), Typed::Line("a\nb\n\n".into()));
        assert_eq!(
            press(&mut entry, KeyCode::Enter),
            Typed::Nothing,
            "an empty line is none"
        );
    }

    #[test]
    fn ctrl_d_leaves_only_an_empty_line() {
        let mut entry = entry(&[]);
        entry.take(Event::Paste("x".into()));
        assert_eq!(control(&mut entry, 'd'), Typed::Nothing);
        entry.clear();
        assert_eq!(control(&mut entry, 'd'), Typed::Leave);
        assert_eq!(control(&mut entry, 'c'), Typed::Interrupt);
    }

    #[test]
    fn the_history_outlives_the_program_and_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        let mut history = History::of(&file);
        for line in ["one", "two\nlines", "two\nlines"] {
            history.add(line);
        }
        assert_eq!(History::of(&file).lines, ["one", "two\nlines"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
