//! A document on a terminal: coloured, broken to the width, scrolled; and how much of it has been on the screen.
//!
//! The layout is the core's own ([`to_text`]), block by block, so that nothing unescaped can get in and nothing is left
//! out. Only roles are added here.

use crossterm::event::KeyCode;
use placet_core::digest::Digest;
use placet_core::interaction::Shown;
use placet_core::render::{Block, CommandLine, Document, Markup, SafeText, Surface, to_text};

use super::line::{Line, SpanStyle};

/// A document, scrolled to somewhere.
#[derive(Debug, Clone)]
pub struct ScrollView {
    document: Document,
    lines: Vec<Line>,
    cols: usize,
    rows: usize,
    top: usize,
    /// Lines from the first one on that have been on the screen without a gap.
    seen: usize,
}

/// Where a sheet is scrolled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The first visible line, from 1.
    pub first: usize,
    /// The last visible line.
    pub last: usize,
    /// How many there are.
    pub all: usize,
}

/// How to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scroll {
    /// A line up.
    Up,
    /// A line down.
    Down,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// To the first line.
    Home,
    /// To the last line.
    End,
}

impl Scroll {
    /// The move a key makes.
    pub fn by(code: KeyCode) -> Option<Self> {
        Some(match code {
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::PageUp | KeyCode::Char('b') => Self::PageUp,
            KeyCode::PageDown | KeyCode::Char(' ') => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            _ => return None,
        })
    }
}

impl ScrollView {
    /// A document that has not been shown yet.
    pub fn new(document: Document) -> Self {
        Self {
            document,
            lines: Vec::new(),
            cols: 0,
            rows: 0,
            top: 0,
            seen: 0,
        }
    }

    /// Lays it out for `cols` columns. With another width, lines are other lines: what has been seen counts no more.
    pub fn fit_width(&mut self, cols: usize) {
        if self.cols != cols {
            self.lines = lines(&self.document, cols);
            self.cols = cols;
            self.seen = 0;
            self.top = 0;
        }
    }

    /// Gives it `rows` lines of the screen.
    pub fn fit_height(&mut self, rows: usize) {
        self.rows = rows.max(1);
        self.clamp();
    }

    /// How many lines it has at this width.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether it has no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The lines on the screen.
    pub fn visible(&self) -> &[Line] {
        let end = self.top.saturating_add(self.rows).min(self.lines.len());
        self.lines.get(self.top..end).unwrap_or_default()
    }

    /// Which lines those are; `None` when they are all there are.
    pub fn place(&self) -> Option<Place> {
        let visible = self.visible().len();
        (visible < self.lines.len()).then(|| Place {
            first: self.top + 1,
            last: self.top + visible,
            all: self.lines.len(),
        })
    }

    /// What is on the screen has been seen.
    pub fn drawn(&mut self) {
        if self.top <= self.seen {
            self.seen = self.seen.max(self.top + self.visible().len());
        }
    }

    /// How many lines have not been on the screen.
    pub fn unseen(&self) -> usize {
        self.lines.len().saturating_sub(self.seen)
    }

    /// What a person who answers now was looking at.
    pub fn shown(&self) -> Shown {
        if self.unseen() == 0 && !self.lines.is_empty() {
            return Shown::Whole(self.document.digest());
        }
        let seen: Vec<String> = self.lines.iter().take(self.seen).map(Line::text).collect();
        Shown::Part(Digest::of("placet/shown-part/1", &[seen.join("\n").as_bytes()]))
    }

    /// Moves.
    pub fn scroll(&mut self, scroll: Scroll) {
        // A line of overlap, so that the eye finds its place again.
        let page = self.rows.saturating_sub(1).max(1);
        self.top = match scroll {
            Scroll::Up => self.top.saturating_sub(1),
            Scroll::Down => self.top.saturating_add(1),
            Scroll::PageUp => self.top.saturating_sub(page),
            Scroll::PageDown => self.top.saturating_add(page),
            Scroll::Home => 0,
            Scroll::End => self.lines.len(),
        };
        self.clamp();
    }

    fn clamp(&mut self) {
        self.top = self.top.min(self.lines.len().saturating_sub(self.rows));
    }

    /// The document.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

/// Every line of a document but the ways to answer and the time left, which a prompt shows in its own way.
pub fn lines(document: &Document, cols: usize) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    for section in [&document.head, &document.body, &document.foot] {
        let blocks = section
            .iter()
            .filter(|block| !matches!(block, Block::Options { .. } | Block::Countdown { .. }));
        let lines: Vec<Line> = blocks
            .flat_map(|block| block_lines(document, block, cols))
            .collect();
        if !all.is_empty() && !lines.is_empty() {
            all.push(Line::default());
        }
        all.extend(lines);
    }
    all
}

/// The lines of what would happen.
pub(crate) fn head_lines(document: &Document, cols: usize) -> Vec<Line> {
    let blocks = document.head.iter();
    blocks
        .flat_map(|block| block_lines(document, block, cols))
        .collect()
}

fn block_lines(document: &Document, block: &Block, cols: usize) -> Vec<Line> {
    let lay_out = |block: &Block| laid_out(document, block, cols);
    let lines: Vec<Line> = match block {
        Block::Heading { risk, .. } => {
            all_in(risk.map_or(SpanStyle::Strong, SpanStyle::Risk), lay_out(block))
        }
        Block::Warning { .. } => all_in(SpanStyle::Caution, lay_out(block)),
        Block::Line { .. } => judged(&lay_out(block), SpanStyle::Plain),
        Block::Commands { label, commands } => {
            let some = |label: SafeText, commands| lay_out(&Block::Commands { label, commands });
            let each = |command: &CommandLine| {
                let one = some(SafeText::line(""), vec![command.clone()]);
                judged(&one, SpanStyle::Risk(command.risk))
            };
            let mut lines = if label.is_empty() {
                Vec::new()
            } else {
                all_in(SpanStyle::Faint, some(label.clone(), Vec::new()))
            };
            lines.extend(commands.iter().flat_map(each));
            lines
        }
        Block::Statement { risk, .. } => judged(&lay_out(block), SpanStyle::Risk(*risk)),
        Block::Host { label, risk, .. } => labelled(&lay_out(block), label, SpanStyle::Risk(*risk)),
        Block::Rows { label, .. } => labelled(&lay_out(block), label, SpanStyle::Strong),
        Block::Diff { .. } => diff(&lay_out(block)),
        Block::Field { label, .. } | Block::Args { label, .. } => {
            labelled(&lay_out(block), label, SpanStyle::Plain)
        }
        Block::Text { label, .. } => match label {
            Some(label) => labelled(&lay_out(block), label, SpanStyle::Plain),
            None => judged(&lay_out(block), SpanStyle::Plain),
        },
        Block::Options { .. } | Block::Countdown { .. } => all_in(SpanStyle::Plain, lay_out(block)),
    };
    // The core lays nothing out narrower than can be read; a narrower terminal breaks lines once more.
    lines.into_iter().flat_map(|line| line.broken(cols)).collect()
}

fn laid_out(document: &Document, block: &Block, cols: usize) -> Vec<String> {
    let alone = Document {
        locale: document.locale,
        head: vec![block.clone()],
        body: Vec::new(),
        foot: Vec::new(),
    };
    let surface = Surface {
        width: Some(u16::try_from(cols).unwrap_or(u16::MAX)),
        chars_max: None,
        markup: Markup::Plain,
        elsewhere: None,
    };
    let text = to_text(&alone, &surface).text;
    text.split('\n').map(str::to_owned).collect()
}

fn all_in(role: SpanStyle, lines: Vec<String>) -> Vec<Line> {
    lines.into_iter().map(|line| Line::new(role, line)).collect()
}

/// The bar in front of what is not ours, and what stands behind it.
fn behind_bar(line: &str) -> Option<(&str, &str)> {
    ["│ ", "┊ "]
        .into_iter()
        .find_map(|bar| Some((bar, line.strip_prefix(bar)?)))
}

/// What is not ours stands out; the sentence on it has the colour of its risk.
fn judged(lines: &[String], verdict: SpanStyle) -> Vec<Line> {
    let one = |line: &String| match behind_bar(line) {
        Some((bar, text)) => Line::new(SpanStyle::Faint, bar).and(SpanStyle::Strong, text),
        None => Line::new(verdict, line),
    };
    lines.iter().map(one).collect()
}

fn labelled(lines: &[String], label: &SafeText, value: SpanStyle) -> Vec<Line> {
    let one = |line: &String| match (behind_bar(line), line.strip_prefix(label.as_str())) {
        (Some((bar, text)), _) => Line::new(SpanStyle::Faint, bar).and(SpanStyle::Plain, text),
        (None, Some(rest)) => Line::new(SpanStyle::Faint, label.as_str()).and(value, rest),
        (None, None) => Line::new(value, line),
    };
    lines.iter().map(one).collect()
}

fn diff(lines: &[String]) -> Vec<Line> {
    let mut role = SpanStyle::Plain;
    let one = |line: &String| match behind_bar(line) {
        Some((bar, text)) => {
            // What is broken over several lines keeps the colour it began with.
            if bar == "│ " {
                role = match text.chars().next() {
                    Some('+') => SpanStyle::Added,
                    Some('-') => SpanStyle::Removed,
                    Some('@') => SpanStyle::Faint,
                    _ => SpanStyle::Plain,
                };
            }
            Line::new(SpanStyle::Faint, bar).and(role, text)
        }
        None => Line::new(SpanStyle::Strong, line),
    };
    lines.iter().map(one).collect()
}
