//! How bad one simple command is. What the table does not name is MEDIUM: we keep no list of safe commands.

use std::borrow::Cow;

use super::super::why::{Deed, Doubt, Why};
use super::super::{Places, lowercase};
use super::table::{self, When};
use super::target::{self, Standing};
use super::word::{Known, Word};

/// The arguments of one command, and where they would be looked up.
pub(super) struct Args<'w, 's> {
    /// The words after the command's name.
    pub(super) words: &'w [Word<'s>],
    /// More are added when it runs.
    pub(super) open: bool,
    /// Where the shell stands.
    pub(super) standing: &'w Standing,
    /// The outside world.
    pub(super) places: &'w dyn Places,
}

/// Whether something is the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hit {
    /// It is not.
    No,
    /// It may be, once the words that are not known yet are.
    Maybe,
    /// It is.
    Yes,
}

/// The last part of a path: `/bin/rm` is `rm`.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name a command goes by in the tables, when it is known.
pub(super) fn name_of<'w>(word: &'w Word<'_>) -> Option<Cow<'w, str>> {
    word.fixed().map(|value| lowercase(base_name(value)))
}

/// Words that only mean something to the shell itself: as a command's name they are a sign of a line read wrongly.
const RESERVED: &[&str] = &[
    "!", "{", "}", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "in", "(", ")",
];

/// Why the command `first args…` is HIGH, if it is.
pub(super) fn high(first: &Word<'_>, args: &Args<'_, '_>, assigned: &[String], text: &str) -> Option<Why> {
    let Some(name) = name_of(first) else {
        return Some(Why::CommandLater {
            word: first.raw.to_owned(),
        });
    };
    let first = first.value.as_str();
    let is_assignment = first.split_once('=').is_some_and(|(name, _)| is_variable(name));
    if name.is_empty() || RESERVED.contains(&first) || is_assignment || first.starts_with(['=', '-']) {
        return Some(Why::NoCommand {
            word: first.to_owned(),
        });
    }
    assignments(assigned)
        .or_else(|| words(args.words))
        .or_else(|| test(first, args.words))
        .or_else(|| evaluates_text(&name, args.words))
        .or_else(|| by_table(&name, args))
        .or_else(|| table::interpreter(&name, args).map(|deed| does(&name, deed)))
        .or_else(|| target::sensitive(first).map(|deed| does(first, deed)))
        .or_else(|| text.contains("@P}").then_some(Doubt::RunsVariable.into()))
}

fn does(what: &str, deed: Deed) -> Why {
    Why::Does {
        what: what.to_owned(),
        deed,
    }
}

fn words(words: &[Word<'_>]) -> Option<Why> {
    words
        .iter()
        .find_map(|word| target::sensitive(&word.value).map(|deed| does(word.raw, deed)))
}

/// Inside `[` these operators redirect or start a subshell; and plain `sh` knows no `[[`, so there they do the same.
fn test(name: &str, words: &[Word<'_>]) -> Option<Why> {
    let operator = words
        .iter()
        .find(|word| matches!(word.raw, "&&" | "||" | "<" | ">" | "(" | ")" | "|" | "&"));
    let operator = operator.filter(|_| matches!(name, "[" | "[["));
    operator.map(|word| Why::OperatorInTest {
        operator: word.raw.to_owned(),
        inside: name.to_owned(),
    })
}

/// Builtins that evaluate a name or a number evaluate `a[$(…)]` too, however well it is quoted.
fn evaluates_text(name: &str, words: &[Word<'_>]) -> Option<Why> {
    let evaluates = table::EVALUATES_NAMES.contains(&name);
    let word = words
        .iter()
        .find(|word| word.value.contains(['`', '$']) && word.value.contains('['))?;
    evaluates.then(|| Why::Evaluates {
        name: name.to_owned(),
        word: word.raw.to_owned(),
    })
}

fn by_table(name: &str, args: &Args<'_, '_>) -> Option<Why> {
    let mut maybe = None;
    let key = if name.starts_with("mkfs.") { "mkfs" } else { name };
    for row in table::rows(key) {
        match args.meets(&row.1) {
            Hit::Yes => return Some(does(name, row.2)),
            Hit::Maybe if maybe.is_none() => {
                maybe = Some(Why::MayDo {
                    name: name.to_owned(),
                    deed: row.2,
                });
            }
            Hit::Maybe | Hit::No => {}
        }
    }
    maybe
}

fn is_variable(name: &str) -> bool {
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Why setting these variables (`NAME=value`) is HIGH, if it is.
pub(super) fn assignments(assigned: &[String]) -> Option<Why> {
    assigned.iter().find_map(|text| {
        let name = text.split(['=', '+', '[']).next().unwrap_or(text);
        let upper = name.to_ascii_uppercase();
        let dangerous = table::VARIABLES.contains(&upper.as_str())
            || table::VARIABLE_STARTS
                .iter()
                .any(|start| upper.starts_with(start))
            || table::VARIABLE_ENDS.iter().any(|end| upper.ends_with(end))
            || !is_variable(name);
        dangerous.then(|| Why::Variable {
            name: name.to_owned(),
        })
    })
}

impl Args<'_, '_> {
    fn meets(&self, when: &When) -> Hit {
        match when {
            When::Always => Hit::Yes,
            When::Flag(flags) => self.flag(flags),
            When::Sub(subs) => self.sub(|word| subs.contains(&word)),
            When::SubStart(starts) => self.sub(|word| starts.iter().any(|start| word.starts_with(start))),
            When::Both(subs, flags) => match self.sub(|word| subs.contains(&word)) {
                Hit::No => Hit::No,
                sub => sub.min(self.flag(flags)),
            },
            When::Holds(parts) => {
                let holds = |word: &Word<'_>| parts.iter().any(|part| word.value.contains(part));
                self.any(holds)
            }
            When::Outside => self.any(|word| self.is_outside(word)),
            When::OutsideOf(flags) => self.outside_of(flags),
            When::Check(check) => check(self),
        }
    }

    fn any(&self, is: impl Fn(&Word<'_>) -> bool) -> Hit {
        if self.words.iter().any(is) {
            Hit::Yes
        } else if self.open || self.words.iter().any(Word::is_later) {
            Hit::Maybe
        } else {
            Hit::No
        }
    }

    /// Whether one of these options is given, in any spelling: alone, in a cluster, abbreviated, with a value.
    pub(super) fn flag(&self, flags: &[&str]) -> Hit {
        let given = |word: &Word<'_>| flags.iter().any(|flag| is_flag(&word.value, flag));
        if self.words.iter().any(given) {
            return Hit::Yes;
        }
        // A message is a value, whatever it says.
        let takes_message = |before: &str| matches!(before, "-m" | "-am" | "--message");
        let before = std::iter::once("").chain(self.words.iter().map(|word| word.value.as_str()));
        let may_be = before.zip(self.words).any(|(before, word)| {
            may_be_option(word) && !(takes_message(before) && word.known == Known::LaterAsOne)
        });
        if self.open || may_be { Hit::Maybe } else { Hit::No }
    }

    /// Whether one of the words is such a subcommand. Options before it may take values, so any word counts; words that
    /// are not known yet count only while no subcommand has been seen.
    fn sub(&self, is: impl Fn(&str) -> bool) -> Hit {
        let mut may_be = Hit::No;
        let mut seen = false;
        let mut after_option = false;
        for word in self.words {
            if word.known == Known::Fully && is(&word.value) {
                return Hit::Yes;
            }
            let is_option = word.value.starts_with('-');
            if word.known != Known::Fully && !seen {
                may_be = Hit::Maybe;
            }
            seen |= word.known == Known::Fully && !is_option && !after_option;
            after_option = is_option;
        }
        if self.open && !seen { Hit::Maybe } else { may_be }
    }

    fn is_outside(&self, word: &Word<'_>) -> bool {
        let value = word.value.as_str();
        if value.starts_with('-') && !value.contains('/') {
            return false;
        }
        let path = match value.split_once('=') {
            Some((_, path)) if value.starts_with('-') => path,
            _ => value,
        };
        let word = Word {
            raw: if path == value { word.raw } else { "" },
            value: path.to_owned(),
            known: word.known,
        };
        !target::is_harmless_device(path) && !self.standing.contains(&word, self.places)
    }

    /// Whether the value of one of these options is a place outside the workspace.
    fn outside_of(&self, flags: &[&str]) -> Hit {
        let mut words = self.words.iter().peekable();
        while let Some(word) = words.next() {
            for flag in flags {
                let next = (word.value == *flag)
                    .then(|| words.peek().copied().cloned())
                    .flatten();
                let attached = word
                    .value
                    .strip_prefix(flag)
                    .filter(|rest| !rest.is_empty())
                    .map(|rest| Word {
                        raw: "",
                        value: rest.trim_start_matches('=').to_owned(),
                        known: word.known,
                    });
                if next.or(attached).is_some_and(|target| self.is_outside(&target)) {
                    return Hit::Yes;
                }
            }
        }
        Hit::No
    }
}

/// Whether `word` gives the option `flag`. Long options may be abbreviated, short ones come in clusters.
fn is_flag(word: &str, flag: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if flag.starts_with("--") {
        return name.len() > 2 && name.starts_with("--") && flag.starts_with(name);
    }
    match flag.strip_prefix('-') {
        Some(letter) if letter.chars().count() == 1 => {
            word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
        }
        _ => name == flag,
    }
}

/// Whether a word that is not known yet could turn out to be an option.
fn may_be_option(word: &Word<'_>) -> bool {
    match word.known {
        Known::Fully => false,
        Known::Shape => word.value.contains('{') && word.value.contains('-'),
        Known::LaterAsOne => word.value.starts_with(['$', '`', '-']),
        Known::Later => true,
    }
}
