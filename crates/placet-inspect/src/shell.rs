//! Shell command lines: every simple command in them, wherever it hides.
//!
//! The line is parsed with a real grammar and never searched as a string. Four rooms, in this order:
//!
//! - `tree` parses the line.
//! - `ambiguity` asks whether the parsed tree can be trusted. The grammar is a good guess at bash, not bash: where the two
//!   are known to differ, or where plain `sh` would read the line another way, the line counts as unreadable.
//! - `walk` finds the simple commands and redirections, also inside substitutions, here-documents and functions. `word` reads what the
//!   shell makes of each word: `brace` expands lists, `glob` and `guess` say what else it could become; `path_words` finds the paths in them.
//! - `judge` says what each command does and how bad that is, from the record of its program in `programs`; `working_folder` knows where a word
//!   leads, `hosts` which hosts a command would reach, `git` what a repository's settings run; `ban` knows the few that no approver may allow.
//!
//! Invariants: a command is LOW only when its record knows every word of it; what is not understood is HIGH; a limit that is reached
//! raises risk and never ends the search for banned commands.

mod ambiguity;
mod ban;
mod brace;
mod git;
pub(super) mod glob;
mod guess;
mod hosts;
mod judge;
mod path_words;
mod programs;
mod tree;
mod walk;
mod word;
mod working_folder;

pub(super) use programs::List;
pub(crate) use programs::{Programs, Record};

use placet_core::analysis::{Analysis, Fact, FactKind, Why};
use placet_core::tool::Risk;

use crate::Site;

/// A longer line is not read: an approver could not judge it either.
const LINE_BYTES_MAX: usize = 10_000;
/// More simple commands than this are too many to look at one by one.
const COMMANDS_MAX: usize = 64;
/// How deep shells may start shells (`sh -c "sh -c …"`).
const SHELLS_MAX: usize = 8;

/// How a command is started, besides its words: what every way to describe a call comes down to.
#[derive(Debug, Default)]
pub(super) struct Start<'a> {
    /// The folder it starts in, when that is not the workspace.
    pub(super) folder: Option<&'a str>,
    /// Variables that are set for it (`NAME=value`).
    pub(super) variables: &'a [String],
    /// What it finds on its input.
    pub(super) input: Option<&'a str>,
}

/// Finds what `line` would do when a shell runs it in the workspace of `places`.
pub fn analyse<'a>(line: &str, site: impl Into<Site<'a>>, found: &mut Analysis) {
    analyse_line(line, &Start::default(), site.into(), found);
}

/// The same for a line that is started elsewhere.
pub(super) fn analyse_line(line: &str, start: &Start<'_>, places: Site<'_>, found: &mut Analysis) {
    found.facts.reserve(8);
    let mut walk = walk::Walk::new(places, found);
    walk.start(start);
    walk.line(line, &[]);
    walk.finish(line);
}

/// Finds what a program does that is given its words one by one, without a shell.
pub(super) fn analyse_words(words: &[&str], start: &Start<'_>, places: Site<'_>, found: &mut Analysis) {
    let mut walk = walk::Walk::new(places, found);
    walk.start(start);
    walk.words(words);
    walk.finish(&words.join(" "));
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
