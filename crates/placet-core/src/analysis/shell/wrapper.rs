//! Commands that run other commands: where the inner one begins.
//!
//! Options are read conservatively. One that is not in the table could swallow the next word, so after it nobody knows
//! where the inner command begins, and the whole is HIGH.

mod forms;
mod unknown;

use std::borrow::Cow;

use super::super::why::Doubt;
use super::judge::{self, Args};
use super::walk::Given;
use super::word::{Known, Word};
use forms::{Form, Opens, Wraps};

/// What a wrapper runs.
#[derive(Default)]
pub(super) struct Unwrapped<'w, 's> {
    /// The inner commands.
    pub(super) inner: Vec<Inner<'w, 's>>,
    /// Variables it sets for them.
    pub(super) assignments: Vec<String>,
    /// The folder it runs them in, when that is another one.
    pub(super) folder: Option<Word<'s>>,
    /// Files it writes itself.
    pub(super) writes: Vec<Word<'s>>,
    /// Other values of its own options.
    pub(super) values: Vec<Word<'s>>,
    /// Why they cannot be told for certain.
    pub(super) doubt: Option<Doubt>,
}

/// One inner command.
pub(super) enum Inner<'w, 's> {
    /// Given as words.
    Words {
        /// The words.
        words: Cow<'w, [Word<'s>]>,
        /// Whether more are added when it runs.
        given: Given,
    },
    /// Given as a text that a shell will parse again.
    Line(String),
}

/// Shells whose language is close enough to be parsed as bash.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "yash", "lksh", "posh", "oksh", "loksh",
    "pdksh", "hush", "bosh", "pbosh", "osh",
];

/// Whether `name` is a shell that is parsed again, in whatever version.
pub(super) fn is_shell(name: &str) -> bool {
    let plain = judge::without_version(name);
    SHELLS.contains(&plain.strip_suffix("-static").unwrap_or(plain))
}

/// Whether `name` only stands before the command it runs.
pub(super) fn is_prefix(name: &str) -> bool {
    matches!(forms::of(name), Some((Wraps::AtOnce, form)) if form.opens == Opens::Nothing)
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
        _ if name.starts_with("git-") => git(name, args),
        _ => match forms::of(name) {
            Some((Wraps::AtOnce, form)) => prefix(name, form, args),
            Some((Wraps::After(subs), form)) => run(name, subs, form, args),
            None => unknown::unwrap(name, args),
        },
    }
}

/// `git-push` is `git push`.
fn git<'w, 's>(name: &str, args: &Args<'w, 's>) -> Unwrapped<'w, 's> {
    let (git, sub) = name.split_at(3);
    let made = |word: &str| Word::made(word.to_owned(), Known::Fully);
    let mut words = vec![made(git), made(sub.trim_start_matches('-'))];
    words.extend_from_slice(args.words);
    Unwrapped {
        inner: vec![Inner::Words {
            words: words.into(),
            given: given(args),
        }],
        ..Unwrapped::default()
    }
}

/// `npm exec …`: a wrapper from its subcommand on.
fn run<'w, 's>(name: &str, subs: &[&str], form: &Form, args: &Args<'w, 's>) -> Unwrapped<'w, 's> {
    let mut words = args.words.iter().enumerate();
    let mut takes = false;
    let sub = loop {
        let Some((at, word)) = words.next() else {
            return Unwrapped::default();
        };
        let value = word.value.as_str();
        if value.starts_with('-') {
            // What follows an option that is not known may be its value, or the subcommand.
            match own_option(form, value) {
                Some((_, OwnValue::Next)) => drop(words.next()),
                known => takes = known.is_none(),
            }
        } else if subs.contains(&value) {
            break at;
        } else if value == "workspace" {
            words.next();
        } else if takes || value == "tool" {
            takes = false;
        } else {
            return Unwrapped::default();
        }
    };
    let (before, rest) = args.words.split_at(sub);
    let (sub, rest) = rest.split_at(1);
    if name == "bun" && sub.iter().any(|word| word.value == "exec") {
        return line(rest, given(args));
    }
    let Some(opened) = after_options(form, before) else {
        return lost(Doubt::InnerUnclear);
    };
    let mut unwrapped = prefix(name, form, &Args { words: rest, ..*args });
    unwrapped.folder = unwrapped.folder.or(opened.folder);
    unwrapped.values.extend(opened.values);
    unwrapped
}

/// Whether what the command runs gets more words than are on the line.
fn given(args: &Args<'_, '_>) -> Given {
    if args.open {
        Given::LaterToo
    } else {
        Given::OnTheLine
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
    let explains = |word: &Word<'_>| matches!(word.value.as_str(), "--help" | "--version");
    if name == "command" && args.words.first().is_some_and(lookup)
        || matches!(args.words, [only] if explains(only) && !args.open)
    {
        return Unwrapped::default();
    }
    let Some(opened) = after_options(form, after_architecture(name, args.words)) else {
        return lost(Doubt::InnerUnclear);
    };
    if let Some(text) = opened.line {
        return line(&[text], given(args));
    }
    let Opened {
        mut rest,
        folder,
        writes,
        values,
        sets: mut assignments,
        ..
    } = opened;
    // `strace -o '|COMMAND'`.
    let piped = |word: &Word<'_>| {
        word.value
            .strip_prefix(['|', '!'])
            .map(|line| Inner::Line(line.to_owned()))
    };
    let mut inner: Vec<Inner<'w, 's>> = writes.iter().filter_map(piped).collect();
    if matches!(name, "env" | "sudo") {
        let is_plain = |word: &Word<'_>| !word.value.contains('=');
        let (set, tail) = rest.split_at(rest.iter().position(is_plain).unwrap_or(rest.len()));
        assignments.extend(set.iter().map(Word::shown));
        rest = tail;
    }
    if rest.len() < form.skip {
        return lost(Doubt::InnerUnclear);
    }
    let (skipped, rest) = rest.split_at(form.skip);
    if skipped.iter().any(|word| word.known != Known::Fully) {
        return lost(Doubt::InnerUnclear);
    }
    let given = if name == "xargs" {
        Given::LaterToo
    } else {
        given(args)
    };
    let command_text = |word: &Word<'_>| matches!(word.value.as_str(), "-c" | "--command");
    match rest.split_first() {
        Some((word, tail)) if name == "flock" && command_text(word) => return line(tail, given),
        Some(_) if matches!(name, "ssh" | "watch") => return line(rest, given),
        Some(_) => inner.push(Inner::Words {
            words: rest.into(),
            given,
        }),
        None => {}
    }
    Unwrapped {
        inner,
        assignments,
        folder,
        writes,
        values,
        doubt: (rest.is_empty() && args.open).then_some(Doubt::InnerLater),
    }
}

/// The words after the architecture that `setarch` takes first, unless it is left out.
fn after_architecture<'w, 's>(name: &str, words: &'w [Word<'s>]) -> &'w [Word<'s>] {
    match words.split_first() {
        Some((first, rest)) if name == "setarch" && !first.value.starts_with('-') => rest,
        _ => words,
    }
}

/// What a wrapper's own options leave, and what they say.
#[derive(Default)]
struct Opened<'w, 's> {
    rest: &'w [Word<'s>],
    /// The folder one of them names.
    folder: Option<Word<'s>>,
    /// The line one of them gives to a shell.
    line: Option<Word<'s>>,
    /// Files they have written.
    writes: Vec<Word<'s>>,
    /// What else they are given.
    values: Vec<Word<'s>>,
    /// Variables they set.
    sets: Vec<String>,
}

/// The words after a wrapper's own options; `None` when that cannot be told.
fn after_options<'w, 's>(form: &Form, words: &'w [Word<'s>]) -> Option<Opened<'w, 's>> {
    let mut opened = Opened::default();
    let mut rest = words;
    while let Some((word, tail)) = rest.split_first() {
        if !word.value.starts_with('-') && word.known == Known::Fully {
            break;
        }
        let Some(option) = word.fixed() else {
            // A word that is an argument for sure cannot be told from an option; the inner command's own check says HIGH.
            return (!word.value.starts_with('-')).then_some(Opened { rest, ..opened });
        };
        rest = tail;
        if option == "--" {
            break;
        }
        let (name, value) = own_option(form, option)?;
        let value = match value {
            OwnValue::None => continue,
            OwnValue::Attached(text) => Word::made(text.to_owned(), Known::Fully),
            OwnValue::Next => {
                let (value, tail) = tail.split_first()?;
                rest = tail;
                value.clone()
            }
        };
        if form.folders.contains(&name) {
            opened.folder = Some(value);
        } else if form.lines.contains(&name) {
            opened.line = Some(value);
        } else if form.writes.contains(&name) {
            opened.writes.push(value);
        } else if form.sets.contains(&name) {
            opened.sets.push(value.shown());
        } else {
            opened.values.push(value);
        }
    }
    Some(Opened { rest, ..opened })
}

/// Where the value of a wrapper's own option is.
enum OwnValue<'w> {
    None,
    Attached(&'w str),
    Next,
}

/// The name of the option, or of the last in a cluster, and its value; `None` for one that is not known.
fn own_option<'w>(form: &Form, option: &'w str) -> Option<(&'w str, OwnValue<'w>)> {
    if let Some(long) = option.strip_prefix("--") {
        return match long.split_once('=') {
            Some((name, value)) => {
                let known = form.long_takes.contains(&name) || form.long_attaches.contains(&name);
                known.then_some((name, OwnValue::Attached(value)))
            }
            None if form.longs.contains(&long) || form.long_attaches.contains(&long) => {
                Some((long, OwnValue::None))
            }
            None => form.long_takes.contains(&long).then_some((long, OwnValue::Next)),
        };
    }
    let letters = option.strip_prefix('-')?;
    for (at, letter) in letters.char_indices() {
        let (name, value) = letters.get(at..)?.split_at_checked(letter.len_utf8())?;
        if form.takes.contains(letter) {
            let next = value.is_empty();
            return Some((
                name,
                if next {
                    OwnValue::Next
                } else {
                    OwnValue::Attached(value)
                },
            ));
        }
        if form.attaches.contains(letter) {
            return Some((name, OwnValue::None));
        }
        if !form.flags.contains(letter) {
            return None;
        }
    }
    // A lone `-` means something to some wrappers (`env -`) and is a name to others.
    (!letters.is_empty()).then_some((letters, OwnValue::None))
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
            words: command.into(),
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
        return match value {
            "--" => continue,
            _ if takes_line => line(std::slice::from_ref(word), given(args)),
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => lost(Doubt::InnerInput),
            _ => Unwrapped::default(),
        };
    }
    lost(Doubt::InnerInput)
}
