//! How bad one simple command is. What the table does not name is MEDIUM: we keep no list of safe commands.

use std::borrow::Cow;

use super::super::path::{self, Globs};
use super::super::why::{Deed, Doubt, Why};
use super::super::{Places, lowercase};
use super::check;
use super::glob;
use super::looks::{self, Looks};
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

/// The name of a program without its version: `perl5.36-x86_64-linux-gnu` is `perl`, `python3.12` is `python`.
pub(super) fn without_version(name: &str) -> &str {
    let end = name
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(name.len());
    let (stem, version) = name.split_at(end);
    let version = version.strip_prefix('-').unwrap_or(version);
    // `python3-config` is another program.
    if version.starts_with(|c: char| c.is_ascii_digit()) && !version.ends_with("-config") {
        stem
    } else {
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
    }
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
            word: first.raw.to_string(),
        });
    };
    let first = first.value.as_str();
    let is_assignment = first.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let is_none = is_assignment || first.starts_with(['=', '-']) || first.contains("://");
    if name.is_empty() || RESERVED.contains(&first) || is_none {
        return Some(Why::NoCommand {
            word: first.to_owned(),
        });
    }
    if target::is_open_file(first) {
        return Some(does(first, Deed::NotFollowed));
    }
    assignments(assigned)
        .or_else(|| words(args.words))
        .or_else(|| test(first, args.words))
        .or_else(|| evaluates_text(&name, args.words))
        .or_else(|| by_table(&name, args))
        .or_else(|| check::interpreter(&name, args).map(|deed| does(&name, deed)))
        .or_else(|| check::is_given_guarded(&name, args).then(|| does(&name, Deed::ChangesGuarded)))
        .or_else(|| target::sensitive(first).map(|deed| does(first, deed)))
        .or_else(|| args.leave(&name).then(|| does(&name, Deed::TouchesOutside)))
        .or_else(|| text.contains("@P}").then_some(Doubt::RunsVariable.into()))
}

/// That `what` does this.
pub(super) fn does(what: &str, deed: Deed) -> Why {
    Why::Does {
        what: what.to_owned(),
        deed,
    }
}

/// Why one of these words is HIGH by itself, if it is: it names something sensitive.
pub(super) fn words(words: &[Word<'_>]) -> Option<Why> {
    let guessed = |word: &Word<'_>| word.guess().and_then(|guess| target::sensitive(&guess));
    words.iter().find_map(|word| {
        let deed = target::sensitive(&word.value).or_else(|| guessed(word))?;
        Some(does(&word.raw, deed))
    })
}

/// Inside `[` these operators redirect or start a subshell; and plain `sh` knows no `[[`, so there they do the same.
fn test(name: &str, words: &[Word<'_>]) -> Option<Why> {
    let operator = words
        .iter()
        .find(|word| matches!(&*word.raw, "&&" | "||" | "<" | ">" | "(" | ")" | "|" | "&"));
    let operator = operator.filter(|_| matches!(name, "[" | "[["));
    operator.map(|word| Why::OperatorInTest {
        operator: word.raw.to_string(),
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
        word: word.raw.to_string(),
    })
}

fn by_table(name: &str, args: &Args<'_, '_>) -> Option<Why> {
    let mut maybe = None;
    let key = if name.starts_with("mkfs.") { "mkfs" } else { name };
    let looks = check::only_looks(name, args);
    let by_name = |when: &When| {
        matches!(
            when,
            When::Always | When::Sub(_) | When::SubStart(_) | When::Flag(_)
        )
    };
    for row in table::rows(key).iter().filter(|row| !looks || !by_name(&row.1)) {
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

/// Whether a shell takes this for the name of a variable, or of a part of one.
pub(super) fn is_variable(name: &str) -> bool {
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
        if changes_others(&upper) || !is_variable(name) {
            return Some(Why::Variable {
                name: name.to_owned(),
            });
        }
        // Who puts it into a variable means to use it.
        let plain = if text.contains(['\'', '"']) {
            Cow::Owned(text.replace(['\'', '"'], ""))
        } else {
            Cow::Borrowed(text.as_str())
        };
        target::sensitive(&plain).map(|deed| does(text, deed))
    })
}

/// Whether a variable of this name changes what other commands do.
pub(super) fn changes_others(name: &str) -> bool {
    table::VARIABLES.contains(&name)
        || table::VARIABLE_STARTS.iter().any(|start| name.starts_with(start))
        || table::VARIABLE_ENDS.iter().any(|end| name.ends_with(end))
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
            When::OutsideOf(flags) => self.value_of(flags, |word| self.is_outside(word)),
            When::Guarded => self.any(|word| self.is_guarded(word, Globs::Telling)),
            When::GuardedOf(flags) => self.value_of(flags, |word| self.is_guarded(word, Globs::Any)),
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
    pub(super) fn sub(&self, is: impl Fn(&str) -> bool) -> Hit {
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

    /// Whether a word of a command that writes may lead out of the workspace.
    fn is_outside(&self, word: &Word<'_>) -> bool {
        let Some(path) = path_in(word) else { return false };
        !target::is_harmless_device(&path)
            && (word.is_later() || !self.standing.contains_path(&path, self.places))
    }

    /// Whether a word names a file that decides what runs or what is asked.
    pub(super) fn is_guarded(&self, word: &Word<'_>, globs: Globs) -> bool {
        let guess = word.guess();
        let Some(path) = guess.as_deref().map(Cow::Borrowed).or_else(|| path_in(word)) else {
            return false;
        };
        if glob::is_glob(&path) && word.known != Known::Fully {
            return path::could_be_guarded(&path, globs);
        }
        !path.is_empty() && self.standing.guards(&path, self.places)
    }

    /// Whether the value of one of these options is like this.
    fn value_of(&self, flags: &[&str], is: impl Fn(&Word<'_>) -> bool) -> Hit {
        let mut words = self.words.iter().peekable();
        while let Some(word) = words.next() {
            for flag in flags {
                let found = match option_value(&word.value, flag) {
                    OptionValue::Absent => false,
                    OptionValue::Next => words.peek().is_some_and(|next| is(next)),
                    OptionValue::Attached(value) => is(&Word::made(value.to_owned(), word.known)),
                };
                if found {
                    return Hit::Yes;
                }
            }
        }
        Hit::No
    }

    /// Whether the command `name` would be given a place outside the workspace: one that starts elsewhere or climbs, or lies
    /// behind a link.
    fn leave(&self, name: &str) -> bool {
        // Most commands are given no place at all.
        let is_place =
            |word: &Word<'_>| word.is_later() || word.value.contains(['/', '~']) || word.value.contains("..");
        let takes_files = looks::takes_files(name);
        if !takes_files && !self.words.iter().any(is_place) {
            return false;
        }
        if matches!(name, "cd" | "chdir" | "pushd") {
            let leaves = |path: &str| target::points_away(path) && self.standing.leaves(path, self.places);
            let leads = |word: &Word<'_>| match word.guess() {
                Some(guess) => leaves(&guess),
                None => leaves(&target::path_of(word)),
            };
            // Alone it goes home.
            return (self.words.is_empty() && name != "pushd") || self.words.iter().any(leads);
        }
        let reads = |word: &Word<'_>| {
            word.known == Known::Fully
                && !word.value.is_empty()
                && !target::is_harmless_device(&word.value)
                && self.standing.leaves(&target::path_of(word), self.places)
        };
        let leaves = |word: &Word<'_>| {
            self.points_out(word) || ((takes_files || word.value.contains('/')) && self.is_linked_out(word))
        };
        match looks::of(name, self.words) {
            Looks::Nowhere => false,
            Looks::At(words) => words.into_iter().any(leaves),
            Looks::AtAll => self.words.iter().any(leaves),
            Looks::IntoAll => self.words.iter().any(|word| leaves(word) || reads(word)),
        }
    }

    /// Whether the value of an option is a place outside; one character is a separator.
    pub(super) fn is_place_outside(&self, word: &Word<'_>) -> bool {
        word.value.len() > 1
            && (self.points_out(word) || (word.value.contains('/') && self.is_linked_out(word)))
    }

    /// Whether a word names a place outside by itself.
    fn points_out(&self, word: &Word<'_>) -> bool {
        let away = |path: &str| {
            target::points_away(path)
                && !path.contains("://")
                && !target::is_harmless_device(path)
                && !self.standing.contains_path(path, self.places)
        };
        let guess = word.guess();
        let path = match &guess {
            Some(guess) => Some(Cow::Borrowed(guess.as_str())),
            None => path_in(word),
        };
        let value = |path: &str| {
            path.split_once('=')
                .is_some_and(|(_, path)| away(path.trim_start_matches('@')))
        };
        path.is_some_and(|path| away(path.trim_start_matches('@')) || value(&path))
            || attached_to_letter(&word.value).is_some_and(away)
    }

    /// Whether a word, or what follows an option or a `=` in it, lies behind a link out of the workspace.
    fn is_linked_out(&self, word: &Word<'_>) -> bool {
        let leaves = |path: &str| {
            let path = certain_part(path.trim_start_matches('@'), word.known);
            !path.is_empty() && !target::points_away(path) && self.standing.leaves(path, self.places)
        };
        let value = word.value.as_str();
        let after_sign = value.split_once('=').map(|(_, path)| path);
        let after_letter = value.strip_prefix('-').and_then(|rest| rest.get(1..));
        let whole = Some(value).filter(|value| !value.starts_with('-'));
        let attached = after_letter.filter(|path| !value.starts_with("--") && path.contains('/'));
        [whole, after_sign, attached].into_iter().flatten().any(leaves)
    }
}

/// The part of a path that is known before it runs and that every program reads alike: whole folders, if not all of it.
fn certain_part(path: &str, known: Known) -> &str {
    let odd = |c: char| {
        matches!(c, '\\' | ':') || c.is_control() || (known != Known::Fully && "*?[{$`".contains(c))
    };
    let Some(end) = path.find(odd) else { return path };
    let certain = path.get(..end).unwrap_or_default();
    let folders = certain.rfind('/').map_or(0, |at| at + 1);
    certain.get(..folders).unwrap_or_default()
}

/// The path in a word: all of it, or what follows `--option=`. No path is in an option without one.
fn path_in<'w>(word: &'w Word<'_>) -> Option<Cow<'w, str>> {
    if !word.value.starts_with('-') {
        return Some(target::path_of(word));
    }
    let value = word.value.as_str();
    let path = match value.split_once('=') {
        Some((_, path)) => Some(path),
        None => Some(value).filter(|value| value.contains('/')),
    };
    path.map(Cow::Borrowed)
}

/// `/opt/x` in `-o/opt/x`; where headers and libraries are looked for (`-I/usr/include`) is no matter.
fn attached_to_letter(option: &str) -> Option<&str> {
    let mut letters = option.strip_prefix('-')?.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    let path = letters.as_str();
    (!matches!(letter, 'I' | 'L') && path.starts_with('/') && path.len() > 1).then_some(path)
}

/// Where the value of an option is, if the option is given.
enum OptionValue<'w> {
    Absent,
    Next,
    Attached(&'w str),
}

fn option_value<'w>(word: &'w str, flag: &str) -> OptionValue<'w> {
    if !is_flag(word, flag) {
        return OptionValue::Absent;
    }
    let attached = if flag.starts_with("--") {
        word.split_once('=').map(|(_, value)| value)
    } else {
        let letter = flag.trim_start_matches('-');
        let rest = word.split_once(letter).map_or("", |(_, rest)| rest);
        // A letter in the midst of a cluster may stand for itself; a path after it is meant.
        match rest.trim_start_matches('=') {
            "" => None,
            path if target::points_away(path) || path.contains('/') || path.contains('.') => Some(path),
            _ => return OptionValue::Absent,
        }
    };
    attached.map_or(OptionValue::Next, OptionValue::Attached)
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
        Known::Shape => word.value.starts_with(['-', '[']),
        Known::LaterAsOne => word.value.starts_with(['$', '`', '-']),
        Known::Later => true,
    }
}
