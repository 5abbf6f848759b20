//! Taking the terminal over for a question, and always giving it back.

use std::io::{self, IsTerminal as _, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute, terminal};

/// How the terminal is ours at the moment, if it is. A process has one terminal.
static TAKEN: AtomicU8 = AtomicU8::new(NOT_TAKEN);
const NOT_TAKEN: u8 = 0;

/// How much of the terminal is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Taken {
    /// Some lines below what is there.
    Inline = 1,
    /// All of it; what was there comes back afterwards.
    Whole = 2,
}

/// More keys than this typed ahead is not typing.
const DRAIN_MAX: usize = 100_000;

/// Where a question is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Out {
    Stdout,
    Stderr,
}

/// Why this terminal cannot show questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTerminal {
    /// Standard input is not a terminal.
    #[error("standard input is not a terminal, so no one can be asked here")]
    Input,
    /// Standard output is not a terminal.
    #[error("neither standard output nor standard error is a terminal, so no one can be asked here")]
    Output,
    /// The cursor cannot be moved.
    #[error("the terminal is `dumb` and cannot show a request")]
    Dumb,
}

impl Out {
    /// Where a person would see a question.
    pub(crate) fn find() -> Result<Self, NoTerminal> {
        if !io::stdin().is_terminal() {
            return Err(NoTerminal::Input);
        }
        if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
            return Err(NoTerminal::Dumb);
        }
        if io::stdout().is_terminal() {
            Ok(Self::Stdout)
        } else if io::stderr().is_terminal() {
            Ok(Self::Stderr)
        } else {
            Err(NoTerminal::Output)
        }
    }

    pub(crate) fn lock(self) -> Box<dyn Write> {
        match self {
            Self::Stdout => Box::new(io::stdout().lock()),
            Self::Stderr => Box::new(io::stderr().lock()),
        }
    }
}

/// The terminal, taken over until this is dropped.
#[derive(Debug)]
pub struct Raw {
    out: Out,
    taken: Taken,
}

impl Raw {
    /// Takes all of the terminal, if it is interactive.
    pub fn whole() -> io::Result<Self> {
        let out = Out::find().map_err(io::Error::other)?;
        Self::take(out, Taken::Whole)
    }

    /// Takes the lines below what is there, if the terminal is interactive.
    pub fn inline() -> io::Result<Self> {
        let out = Out::find().map_err(io::Error::other)?;
        Self::take(out, Taken::Inline)
    }

    pub(crate) fn take(out: Out, taken: Taken) -> io::Result<Self> {
        // Made first: whatever fails halfway is undone.
        let raw = Self { out, taken };
        raw.take_again()?;
        Ok(raw)
    }

    /// Gives the terminal to another program for a while. Keys typed before it came back count for nothing.
    pub fn lend<T>(&self, to: impl FnOnce() -> T) -> io::Result<T> {
        restore();
        let came_back = to();
        self.take_again()?;
        Ok(came_back)
    }

    fn take_again(&self) -> io::Result<()> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        TAKEN.store(self.taken as u8, Ordering::SeqCst);
        terminal::enable_raw_mode()?;
        let mut out = self.out.lock();
        if self.taken == Taken::Whole {
            execute!(out, EnterAlternateScreen)?;
        }
        execute!(out, EnableBracketedPaste, cursor::Hide)?;
        drain()
    }
}

/// What was typed until now was not meant for a question that was not on the screen.
fn drain() -> io::Result<()> {
    for _ in 0..DRAIN_MAX {
        if !event::poll(Duration::ZERO)? {
            break;
        }
        event::read()?;
    }
    Ok(())
}

impl Drop for Raw {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back if a question has it: for handlers of signals and of panics. Harmless otherwise.
pub fn restore() {
    let taken = TAKEN.swap(NOT_TAKEN, Ordering::SeqCst);
    if taken == NOT_TAKEN {
        return;
    }
    // Nothing can be done about a terminal that is gone.
    let _ = terminal::disable_raw_mode();
    if let Ok(out) = Out::find() {
        let mut out = out.lock();
        let _ = execute!(out, DisableBracketedPaste, cursor::Show);
        if taken == Taken::Whole as u8 {
            let _ = execute!(out, LeaveAlternateScreen);
        }
    }
}

/// From now on the signals that end a program give the terminal back first. For programs that do not handle these signals
/// themselves; those that do call [`restore`].
#[cfg(unix)]
pub fn restore_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    restore_on(&[SIGHUP, SIGINT, SIGQUIT, SIGTERM])
}

/// The same for programs that handle Ctrl-C themselves.
#[cfg(unix)]
pub fn restore_on_other_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM};

    restore_on(&[SIGHUP, SIGQUIT, SIGTERM])
}

#[cfg(unix)]
fn restore_on(signals: &[i32]) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new(signals)?;
    std::thread::Builder::new()
        .name("placet-terminal-signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                restore();
                // What the signal would have done without us.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        })?;
    Ok(())
}
