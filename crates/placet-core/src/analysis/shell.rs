//! Shell command lines: every simple command in them, wherever it hides.
//!
//! The line is parsed with a real grammar and never searched as a string. Four rooms, in this order:
//!
//! - `tree` parses the line.
//! - `sound` asks whether the parsed tree can be trusted. The grammar is a good guess at bash, not bash: where the two
//!   are known to differ, or where plain `sh` would read the line another way, the line counts as unreadable.
//! - `walk` finds the simple commands and redirections, also inside substitutions, here-documents and functions, and
//!   `wrapper` finds the command inside a command (`env`, `xargs`, `find -exec`, `sh -c`). `word` reads what the shell makes of
//!   each word: `brace` expands lists, `glob` and `guess` say what else it could become; `named` finds the paths in them.
//! - `judge` says how bad each is, from `table` with `check`, `cases` and `sends`; `looks` knows which words are places, `target` where they lead,
//!   `hosts` whom a command would talk to; `ban` knows the few that nobody may allow.
//!
//! Invariants: no list of safe commands is kept, so nothing is ever LOW; what is not understood is HIGH; a limit that is
//! reached raises risk and never ends the search for banned commands.

mod ban;
mod brace;
mod cases;
mod check;
pub(super) mod glob;
mod guess;
mod hosts;
mod judge;
mod looks;
mod named;
mod options;
mod script;
mod sends;
mod setting;
mod sound;
mod table;
mod target;
mod tree;
mod walk;
mod word;
mod wrapper;

use super::why::Why;
use super::{Analysis, Fact, FactKind, Places};
use crate::tool::Risk;

/// A longer line is not read at all: nobody could judge it either.
const LINE_BYTES_MAX: usize = 10_000;
/// More simple commands than this are too many to look at one by one.
const COMMANDS_MAX: usize = 64;
/// How deep shells may start shells (`sh -c "sh -c …"`).
const SHELLS_MAX: usize = 8;

/// Finds what `line` would do when a shell runs it in the workspace of `places`.
pub fn analyse(line: &str, places: &dyn Places, found: &mut Analysis) {
    let mut walk = walk::Walk::new(places, found);
    walk.line(line, &[]);
    if walk.commands() > COMMANDS_MAX {
        let why = Why::TooManyCommands(walk.commands());
        found.facts.push(unreadable(line, why));
    }
}

/// What a word comes to if variables are empty and defaults are taken.
pub(crate) fn guess(word: &str) -> String {
    guess::of(word)
}

/// Whether a word holds what a shell takes for a pattern.
pub(crate) fn is_glob(word: &str) -> bool {
    glob::is_glob(word)
}

/// Why setting these variables (`NAME=value`) is HIGH, if it is.
pub(super) fn assignments(assigned: &[String]) -> Option<Why> {
    judge::assignments(assigned)
}

/// Whether `NAME=value` set for a command changes nothing about which command runs, or where it works: `RUST_BACKTRACE=1`.
pub(crate) fn is_ordinary_assignment(text: &str) -> bool {
    setting::is_ordinary(text)
}

/// The fact that (part of) a line could not be understood.
fn unreadable(line: &str, why: Why) -> Fact {
    // Enough to recognise it by; the whole line is shown with the call itself.
    let what = line.chars().take(200).collect();
    Fact {
        kind: FactKind::Unreadable { what },
        risk: Risk::High,
        why: Some(why),
    }
}

#[cfg(test)]
mod tests;
