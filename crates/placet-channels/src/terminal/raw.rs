//! Taking the terminal over for a question, and always giving it back.

use std::io::{self, IsTerminal as _, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::{cursor, execute, terminal};

/// Whether the terminal is ours at the moment. A process has one terminal.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Where a question is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Out {
    Stdout,
    Stderr,
}

/// Why nobody can be asked at this terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTerminal {
    /// Nobody types.
    #[error("standard input is not a terminal: there is nobody to ask")]
    Input,
    /// Nobody reads.
    #[error("neither standard output nor standard error is a terminal: there is nobody to ask")]
    Output,
    /// The cursor cannot be moved.
    #[error("the terminal is `dumb`: a question cannot be drawn on it")]
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
pub(crate) struct Raw;

impl Raw {
    pub(crate) fn take(out: Out) -> io::Result<Self> {
        // Made first: whatever fails halfway is undone.
        let raw = Self;
        take_again(out)?;
        Ok(raw)
    }
}

/// Takes the terminal over once more, after it was given to another program for a while.
pub(crate) fn take_again(out: Out) -> io::Result<()> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
    TAKEN.store(true, Ordering::SeqCst);
    terminal::enable_raw_mode()?;
    execute!(out.lock(), EnableBracketedPaste, cursor::Hide)
}

impl Drop for Raw {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back if a question has it: for handlers of signals and of panics. Harmless otherwise.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Nothing can be done about a terminal that is gone.
        let _ = terminal::disable_raw_mode();
        if let Ok(out) = Out::find() {
            let _ = execute!(out.lock(), DisableBracketedPaste, cursor::Show);
        }
    }
}

/// From now on the signals that end a program give the terminal back first. For programs that do not handle these signals
/// themselves; those that do call [`restore`].
#[cfg(unix)]
pub fn restore_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
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
