//! Drawing a prompt in place, below what the terminal already shows, and reading keys for it.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use crossterm::style::PrintStyledContent;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use crossterm::{cursor, queue};
use placet_core::interaction::{Answer, Locale};
use placet_core::render::Document;
use placet_core::standing::Scope;

use super::line::Line;
use super::palette::{Colours, Palette};
use super::prompt::{Prompt, PromptAction, Screen, Size};
use super::queue::Queue;
use super::raw::{NoTerminal, Out, Raw};
use super::{burst, editor};

/// How long a key is waited for before the clock and the queue are looked at again.
const BEAT: Duration = Duration::from_millis(100);
/// Longer lines are hard to read.
const COLS_MAX: usize = 120;

/// Where questions are drawn, line by line, below what the terminal already shows.
#[derive(Debug)]
pub struct Inline {
    pub(crate) out: Out,
    pub(crate) palette: Palette,
    pub(crate) locale: Locale,
    pub(crate) started: Instant,
    region: Region,
}

/// The lines that are ours and may be drawn again.
#[derive(Debug, Default)]
struct Region {
    /// The width of each line drawn.
    widths: Vec<usize>,
    /// In which of them the cursor is.
    cursor: usize,
    /// How wide the terminal was.
    cols: usize,
}

/// Why a prompt is no longer in front of the person.
pub(crate) enum Held {
    /// They answered.
    Answered(Box<Answer>),
    /// They want to see what a scope of "don't ask again" means before they confirm it.
    Previewing(Scope),
    /// They refused a question that cannot be refused.
    Withdrawn,
    /// It was settled elsewhere, or time ran out.
    Decided(Box<Document>),
    /// The program stops.
    Stopped,
}

impl Inline {
    /// The terminal of this process, if it is interactive. Drawing requires a [`Raw`].
    pub fn find(locale: Locale, colours: Colours) -> Result<Self, NoTerminal> {
        Ok(Self::new(Out::find()?, Palette::of(colours), locale))
    }

    pub(crate) fn new(out: Out, palette: Palette, locale: Locale) -> Self {
        Self {
            out,
            palette,
            locale,
            started: Instant::now(),
            region: Region::default(),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Keeps a question in front of the person until something comes of it.
    pub(crate) fn hold(&mut self, raw: &Raw, prompt: &mut Prompt, queue: &Queue) -> io::Result<Held> {
        let mut last: Option<Screen> = None;
        loop {
            if queue.is_stopped() {
                return Ok(Held::Stopped);
            }
            if let Some(decided) = queue.decided() {
                return Ok(Held::Decided(Box::new(decided)));
            }
            let messages = queue.messages();
            if !messages.is_empty() {
                self.print(&messages)?;
                last = None;
            }
            prompt.set_others_waiting(queue.waiting());
            let screen = prompt.draw(size()?, self.now());
            if last.as_ref() != Some(&screen) {
                self.paint(&screen)?;
                last = Some(screen);
            }
            prompt.drawn(self.now());
            if !event::poll(BEAT)? {
                continue;
            }
            // Whether it counts is asked of the moment it came.
            let (happened, when) = (event::read()?, self.now());
            let happened = burst::with(happened)?;
            if happened.iter().any(|event| matches!(event, Event::Resize(..))) {
                last = None;
            }
            match prompt.take_all(&happened, when) {
                PromptAction::Nothing | PromptAction::Leave => {}
                PromptAction::Answer(answer) => {
                    let screen = prompt.draw(size()?, self.now());
                    self.paint(&screen)?;
                    return Ok(Held::Answered(answer));
                }
                PromptAction::Preview(scope) => {
                    let screen = prompt.draw(size()?, self.now());
                    self.paint(&screen)?;
                    return Ok(Held::Previewing(scope));
                }
                PromptAction::Withdraw => return Ok(Held::Withdrawn),
                PromptAction::Edit(text) => {
                    self.clear()?;
                    let locale = self.locale;
                    prompt.edited(raw.lend(|| editor::edit(&text, locale))?);
                    last = None;
                }
            }
        }
    }

    /// Prints lines for good, above whatever is drawn next.
    pub fn print(&mut self, lines: &[Line]) -> io::Result<()> {
        self.clear()?;
        let mut out = self.out.lock();
        let cols = size()?.cols;
        for line in lines.iter().flat_map(|line| line.clone().broken(cols)) {
            write_line(&mut out, &line, self.palette)?;
            queue!(out, crossterm::style::Print("\r\n"))?;
        }
        out.flush()
    }

    /// Takes what was drawn off the screen.
    pub fn clear(&mut self) -> io::Result<()> {
        let mut out = self.out.lock();
        self.to_top(&mut out, size()?.cols)?;
        queue!(out, Clear(ClearType::FromCursorDown))?;
        self.region = Region::default();
        out.flush()
    }

    /// Draws lines in the place of those drawn before.
    pub fn paint(&mut self, screen: &Screen) -> io::Result<()> {
        let cols = size()?.cols;
        let mut out = self.out.lock();
        queue!(out, BeginSynchronizedUpdate, cursor::Hide)?;
        self.to_top(&mut out, cols)?;
        for (index, line) in screen.lines.iter().enumerate() {
            if index > 0 {
                queue!(out, crossterm::style::Print("\r\n"))?;
            }
            write_line(&mut out, line, self.palette)?;
            queue!(out, Clear(ClearType::UntilNewLine))?;
        }
        queue!(out, Clear(ClearType::FromCursorDown))?;
        let last = screen.lines.len().saturating_sub(1);
        let row = match screen.cursor {
            Some((row, column)) => {
                let up = u16::try_from(last.saturating_sub(row)).unwrap_or(0);
                if up > 0 {
                    queue!(out, cursor::MoveUp(up))?;
                }
                let column = u16::try_from(column).unwrap_or(0);
                queue!(out, cursor::MoveToColumn(column), cursor::Show)?;
                row
            }
            None => last,
        };
        queue!(out, EndSynchronizedUpdate)?;
        self.region = Region {
            widths: screen.lines.iter().map(Line::width).collect(),
            cursor: row,
            cols,
        };
        out.flush()
    }

    /// Moves to the first line of what was drawn last, however the terminal has broken it since.
    fn to_top(&self, out: &mut impl Write, cols: usize) -> io::Result<()> {
        let above = self.region.widths.iter().take(self.region.cursor);
        let narrower = cols < self.region.cols;
        let rows: usize = above
            .map(|width| {
                if narrower {
                    width.div_ceil(cols.max(1)).max(1)
                } else {
                    1
                }
            })
            .sum();
        let up = u16::try_from(rows).unwrap_or(u16::MAX);
        if up > 0 {
            queue!(out, cursor::MoveUp(up))?;
        }
        queue!(out, cursor::MoveToColumn(0))
    }
}

fn write_line(out: &mut impl Write, line: &Line, palette: Palette) -> io::Result<()> {
    for span in &line.spans {
        queue!(
            out,
            PrintStyledContent(palette.style(span.role).apply(&span.text))
        )?;
    }
    Ok(())
}

/// The room there is on the terminal of this process. One row stays free, so that what was there before is not all gone.
pub fn size() -> io::Result<Size> {
    // A terminal that does not know its size, as some serial lines, is taken for the usual one.
    let (cols, rows) = match crossterm::terminal::size()? {
        (0, _) | (_, 0) => (80, 24),
        known => known,
    };
    Ok(Size {
        cols: usize::from(cols).min(COLS_MAX),
        rows: usize::from(rows).saturating_sub(1),
    })
}
