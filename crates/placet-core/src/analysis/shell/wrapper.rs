//! Commands that run other commands: where the inner one begins.
//!
//! Options are read conservatively. One that is not in the table could swallow the next word, so after it nobody knows
//! where the inner command begins, and the whole is HIGH.

mod forms;

use super::super::why::Doubt;
use super::judge::Args;
use super::walk::Given;
use super::word::{Known, Word};
use forms::{FORMS, Form};

/// What a wrapper runs.
#[derive(Default)]
pub(super) struct Unwrapped<'w, 's> {
    /// The inner commands.
    pub(super) inner: Vec<Inner<'w, 's>>,
    /// Variables it sets for them.
    pub(super) assignments: Vec<String>,
    /// Why they cannot be told for certain.
    pub(super) doubt: Option<Doubt>,
}

/// One inner command.
pub(super) enum Inner<'w, 's> {
    /// Given as words.
    Words {
        /// The words.
        words: &'w [Word<'s>],
        /// Whether more are added when it runs.
        given: Given,
    },
    /// Given as a text that a shell will parse again.
    Line(String),
}

/// Shells whose language is close enough to be parsed as bash.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash"];

/// Whether `name` is a shell that is parsed again.
pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Whether `name` stands before the command it runs.
pub(super) fn is_prefix(name: &str) -> bool {
    FORMS.iter().any(|form| form.names.contains(&name))
}

/// Finds what the command `name` runs in turn; nothing when it is no wrapper.
pub(super) fn unwrap<'w, 's>(name: &str, args: &Args<'w, 's>) -> Unwrapped<'w, 's> {
    let words = args.words;
    match name {
        "find" => find(words),
        "eval" => line(words, Given::OnTheLine),
        "trap" => line(words.get(..1).unwrap_or_default(), Given::OnTheLine),
        "su" | "runuser" | "script" => command_option(words),
        _ if is_shell(name) => shell(args),
        _ => FORMS
            .iter()
            .find(|form| form.names.contains(&name))
            .map(|form| prefix(name, form, args))
            .unwrap_or_default(),
    }
}

fn lost<'w, 's>(doubt: Doubt) -> Unwrapped<'w, 's> {
    Unwrapped {
        doubt: Some(doubt),
        ..Unwrapped::default()
    }
}

/// Words that are put together with spaces and parsed again.
fn line<'w, 's>(words: &[Word<'_>], given: Given) -> Unwrapped<'w, 's> {
    let fixed: Option<Vec<&str>> = words.iter().map(Word::fixed).collect();
    match fixed {
        Some(parts) if parts.is_empty() => Unwrapped::default(),
        Some(parts) => Unwrapped {
            inner: vec![Inner::Line(parts.join(" "))],
            doubt: (given == Given::LaterToo).then_some(Doubt::InnerLater),
            ..Unwrapped::default()
        },
        None => lost(Doubt::InnerLater),
    }
}

fn prefix<'w, 's>(name: &str, form: &Form, args: &Args<'w, 's>) -> Unwrapped<'w, 's> {
    let lookup = |word: &Word<'_>| word.value.starts_with('-') && word.value.contains(['v', 'V']);
    if name == "command" && args.words.first().is_some_and(lookup) {
        return Unwrapped::default();
    }
    let Some(mut rest) = after_options(form, args.words) else {
        return lost(Doubt::InnerUnclear);
    };
    let mut assignments = Vec::new();
    if matches!(name, "env" | "sudo") {
        while let Some((word, tail)) = rest.split_first().filter(|(word, _)| word.value.contains('=')) {
            assignments.push(word.shown());
            rest = tail;
        }
    }
    if rest.len() < form.skip {
        return lost(Doubt::InnerUnclear);
    }
    let (skipped, rest) = rest.split_at(form.skip);
    if skipped.iter().any(|word| word.known != Known::Fully) {
        return lost(Doubt::InnerUnclear);
    }
    let given = if args.open || name == "xargs" {
        Given::LaterToo
    } else {
        Given::OnTheLine
    };
    let command_text = |word: &Word<'_>| matches!(word.value.as_str(), "-c" | "--command");
    match rest.split_first() {
        None => Unwrapped {
            assignments,
            doubt: args.open.then_some(Doubt::InnerLater),
            ..Unwrapped::default()
        },
        Some((word, tail)) if name == "flock" && command_text(word) => line(tail, given),
        Some(_) if matches!(name, "ssh" | "watch") => line(rest, given),
        Some(_) => Unwrapped {
            inner: vec![Inner::Words { words: rest, given }],
            assignments,
            doubt: None,
        },
    }
}

/// The words after a wrapper's own options; `None` when that cannot be told.
fn after_options<'w, 's>(form: &Form, words: &'w [Word<'s>]) -> Option<&'w [Word<'s>]> {
    let mut rest = words;
    while let Some((word, tail)) = rest.split_first() {
        if !word.value.starts_with('-') && word.known == Known::Fully {
            return Some(rest);
        }
        let Some(option) = word.fixed() else {
            // A word that is an argument for sure cannot be told from an option; the inner command's own check says HIGH.
            return (!word.value.starts_with('-')).then_some(rest);
        };
        if option == "--" {
            return Some(tail);
        }
        let takes_next = match option.strip_prefix("--") {
            Some(long) => match long.split_once('=') {
                Some((long, _)) => form.long_takes.contains(&long).then_some(false)?,
                None if form.longs.contains(&long) => false,
                None => form.long_takes.contains(&long).then_some(true)?,
            },
            None => short_takes_next(form, option)?,
        };
        rest = if takes_next { tail.get(1..)? } else { tail };
    }
    Some(rest)
}

/// Whether a cluster of short options takes the next word; `None` for one that is not known.
fn short_takes_next(form: &Form, option: &str) -> Option<bool> {
    let letters = option.strip_prefix('-')?;
    let mut chars = letters.chars();
    while let Some(letter) = chars.next() {
        if form.takes.contains(letter) {
            return Some(chars.as_str().is_empty());
        }
        if !form.flags.contains(letter) {
            return None;
        }
    }
    // A lone `-` means something to some wrappers (`env -`) and is a name to others.
    (!letters.is_empty()).then_some(false)
}

fn find<'w, 's>(words: &'w [Word<'s>]) -> Unwrapped<'w, 's> {
    let mut found = Unwrapped::default();
    let mut rest = words;
    while let Some(at) = rest
        .iter()
        .position(|word| matches!(word.value.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        let inner = rest.get(at + 1..).unwrap_or_default();
        // `+` only ends the command right after `{}`.
        let ends = |pair: &[Word<'_>]| match pair {
            [before, word] => word.value == ";" || (word.value == "+" && before.value == "{}"),
            _ => false,
        };
        let Some(end) = inner.windows(2).position(ends).map(|at| at + 1) else {
            return lost(Doubt::InnerUnclear);
        };
        let (command, tail) = inner.split_at(end);
        found.inner.push(Inner::Words {
            words: command,
            given: Given::LaterToo,
        });
        rest = tail;
    }
    found
}

/// `su -c LINE`, `script -c LINE`.
fn command_option<'w, 's>(words: &[Word<'_>]) -> Unwrapped<'w, 's> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(value) = word.fixed() else {
            return lost(Doubt::InnerLater);
        };
        let attached = value
            .strip_prefix("--command=")
            .or_else(|| value.strip_prefix("-c").filter(|rest| !rest.is_empty()));
        let is_option = value == "--command"
            || (value.starts_with('-') && !value.starts_with("--") && value.ends_with('c'));
        match attached {
            Some(text) => {
                return Unwrapped {
                    inner: vec![Inner::Line(text.to_owned())],
                    ..Unwrapped::default()
                };
            }
            None if is_option => {
                return line(words.as_slice().get(..1).unwrap_or_default(), Given::OnTheLine);
            }
            None => {}
        }
    }
    lost(Doubt::InnerInput)
}

fn shell<'w, 's>(args: &Args<'w, 's>) -> Unwrapped<'w, 's> {
    let mut takes_line = false;
    let mut words = args.words.iter();
    while let Some(word) = words.next() {
        let Some(value) = word.fixed() else {
            return lost(Doubt::InnerLater);
        };
        if let Some(long) = value.strip_prefix("--").filter(|long| !long.is_empty()) {
            match long {
                "version" | "help" => return Unwrapped::default(),
                "login" | "norc" | "noprofile" | "posix" | "noediting" | "verbose" => continue,
                _ => return lost(Doubt::InnerUnclear),
            }
        }
        let is_option = value.starts_with(['-', '+']) && value.len() > 1 && value != "--";
        if is_option {
            if value.contains('s') {
                return lost(Doubt::InnerInput);
            }
            takes_line |= value.starts_with('-') && value.contains('c');
            if value.contains(['o', 'O']) {
                // With this one a star also finds what begins with a dot.
                match words.next().map(|word| word.value.as_str()) {
                    None | Some("dotglob") => return lost(Doubt::InnerUnclear),
                    Some(_) => {}
                }
            }
            continue;
        }
        let given = if args.open {
            Given::LaterToo
        } else {
            Given::OnTheLine
        };
        return match value {
            "--" => continue,
            _ if takes_line => line(std::slice::from_ref(word), given),
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => lost(Doubt::InnerInput),
            _ => Unwrapped::default(),
        };
    }
    lost(Doubt::InnerInput)
}
