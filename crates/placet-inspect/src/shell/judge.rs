//! One simple command: what it would do, how bad that is, and what it runs in turn.
//!
//! The record of the program says what each word is; what it does not list is unknown. From both follow the *effects*, and the reasons for
//! HIGH that hold for every program: a place outside the workspace, a secret, a file that decides what runs or what is asked.

mod inner_commands;
mod word_effects;

use std::borrow::Cow;

use placet_core::analysis::{Act, Ban, Deed, Doubt, Effect, Fact, Why, lowercase};

use super::super::path::KnownPlaces;
use super::programs::{Does, Input, Parsed, Programs};
use super::word::Word;
use super::working_folder::{self, WorkingFolder};
use super::{ban, git, guess};
use crate::Site;

pub(super) use inner_commands::Inner;

/// A simple command: its words, and the variables set for it.
pub(super) struct Simple<'s> {
    pub(super) words: Vec<Word<'s>>,
    /// More words are added when it runs.
    pub(super) open: bool,
    pub(super) assignments: Vec<String>,
    pub(super) text: Cow<'s, str>,
}

/// One command while it is judged.
struct Case<'c, 'w, 's> {
    name: &'c str,
    /// The words after the command's name.
    words: &'w [Word<'s>],
    open: bool,
    working_folder: &'c WorkingFolder,
    places: Site<'c>,
    fed: &'c Fed,
    parsed: &'c Parsed<'w, 's, 'c>,
    judged: Judged<'w, 's>,
    /// Every file so far is one that may be read without asking.
    reads_only: bool,
}

/// What a command finds on its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Fed {
    /// Whatever the line itself has.
    #[default]
    Nothing,
    /// Something that is only known when it runs.
    Later,
    /// A file.
    File,
    /// This text.
    Text(String),
}

/// What one command comes to.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something else about the command"
)]
pub(super) struct Judged<'w, 's> {
    /// Why it is HIGH.
    pub(super) why: Option<Why>,
    /// What it would do.
    pub(super) effects: Vec<Effect>,
    /// It is known to only read, inside the workspace, and nothing sensitive.
    pub(super) harmless: bool,
    /// What it runs in turn.
    pub(super) inner: Vec<Inner<'w, 's>>,
    /// Where it runs that, when that is another folder.
    pub(super) folder: Option<Word<'s>>,
    /// It runs what is written to its input as shell lines.
    pub(super) runs_input: bool,
    /// It is a shell that is given a line, and nothing else that matters.
    pub(super) only_line: bool,
    /// What is written to its input may name files.
    pub(super) opens_input: bool,
    /// Hosts that it would reach.
    pub(super) hosts: Vec<Fact>,
    /// What no approver can allow.
    pub(super) banned: Option<Ban>,
    /// What it does, in a code.
    pub(super) act: Option<Act>,
}

/// The last part of a path: `/bin/rm` is `rm`.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name a command goes by in the records, when it is known.
pub(super) fn name_of<'w>(word: &'w Word<'_>) -> Option<Cow<'w, str>> {
    word.fixed().map(|value| lowercase(base_name(value)))
}

/// That `what` does this.
pub(super) fn does(what: &str, deed: Deed) -> Why {
    Why::Does {
        what: what.to_owned(),
        deed,
    }
}

/// Judges a command whose first word is `first`.
pub(super) fn command<'w, 's>(
    command: &'w Simple<'s>,
    (first, words): (&'w Word<'s>, &'w [Word<'s>]),
    fed: &Fed,
    working_folder: &WorkingFolder,
    places: Site<'_>,
) -> Judged<'w, 's> {
    let unknown = |why| Judged {
        why: Some(why),
        effects: vec![Effect::Unknown],
        ..Judged::default()
    };
    let programs = places.programs();
    let Some(name) = name_of(first) else {
        return unknown(Why::CommandLater {
            word: first.raw.to_string(),
        });
    };
    if let Some(why) = not_a_command(first, &name, programs) {
        return unknown(why);
    }
    let parsed = Parsed::of(programs.record_or_unknown(&name), words, command.open);
    let mut case = Case {
        name: &name,
        words,
        open: command.open,
        working_folder,
        places,
        fed,
        parsed: &parsed,
        judged: Judged::default(),
        reads_only: true,
    };
    for slot in &parsed.slots {
        case.slot(slot);
    }
    case.reads_here();
    case.find_inner();
    case.finish(first, command)
}

impl<'w, 's> Case<'_, 'w, 's> {
    /// What follows from the program itself and from the line, in addition to what its words do.
    fn finish(mut self, first: &Word<'s>, command: &Simple<'s>) -> Judged<'w, 's> {
        let programs = self.places.programs();
        let early = variables(&command.assignments, self.places)
            .or_else(|| test(&first.value, self.words))
            .or_else(|| evaluates_text(self.name, self.words, programs))
            .or_else(|| self.by_program());
        let by_words = self.judged.why.take();
        let of_name = || Some(does(&first.value, self.known_places().in_word(&first.value)?));
        let why = early
            .or(by_words)
            .or_else(of_name)
            .or_else(|| command.text.contains("@P}").then_some(Doubt::RunsVariable.into()));
        self.effects(first, command);
        let mut judged = self.judged;
        judged.why = why;
        judged.banned = ban::banned(self.name, self.parsed, self.words, self.places);
        judged.act = self
            .parsed
            .act(self.name)
            .filter(|_| command.assignments.is_empty());
        judged.opens_input = self.parsed.input() != Input::Text;
        // The commands of a line are judged by themselves. In a folder that is not known (`cd -`) nothing is harmless, not even `ls`.
        judged.harmless = (self.reads_only || judged.only_line)
            && !matches!(self.working_folder, WorkingFolder::Lost)
            && judged.why.is_none()
            && judged.hosts.is_empty()
            && judged
                .effects
                .iter()
                .all(|effect| matches!(effect, Effect::Reads(_)))
            && (self.name != "git" || git::runs_nothing(self.working_folder, self.places));
        judged
    }

    fn known_places(&self) -> &KnownPlaces {
        &self.places.programs().facts().places
    }

    fn by_program(&self) -> Option<Why> {
        let by_input = match self.parsed.input() {
            Input::Code => Some(Deed::RunsInput),
            Input::Sends if matches!(self.fed, Fed::File | Fed::Text(_)) => Some(Deed::SendsFile),
            _ => None,
        };
        let certain = self.parsed.deed.or(by_input).map(|deed| does(self.name, deed));
        certain.or_else(|| {
            self.parsed.maybe.map(|deed| Why::MayDo {
                name: self.name.to_owned(),
                deed,
            })
        })
    }

    fn effects(&mut self, first: &Word<'_>, command: &Simple<'_>) {
        let programs = self.places.programs();
        let (does, input) = if self.judged.only_line {
            (Some(Does::Reads), Input::Text)
        } else {
            (self.parsed.does(), self.parsed.input())
        };
        let effects = &mut self.judged.effects;
        effects.extend(match does {
            Some(Does::Reads) => None,
            Some(Does::Edits) => Some(Effect::Writes(self.places.workspace().to_owned())),
            Some(Does::Runs) => Some(Effect::Runs(self.name.to_owned())),
            Some(Does::Changes) => Some(Effect::Changes),
            None => Some(Effect::Unknown),
        });
        let folder = first.value.rsplit_once('/').map(|(folder, _)| folder);
        if folder.is_some_and(|folder| !programs.facts().places.programs.has(folder)) {
            effects.push(Effect::Runs(first.value.to_string()));
        }
        let is_fed = *self.fed != Fed::Nothing && input != Input::Text;
        let unlisted = |text: &String| !is_harmless_assignment(text, programs);
        let is_later = self.open || self.words.iter().any(Word::is_later);
        if is_later || is_fed || command.assignments.iter().any(unlisted) {
            effects.push(Effect::Unknown);
        }
        effects.dedup();
    }
}

/// Why the first word cannot be the name of a program.
fn not_a_command(first: &Word<'_>, name: &str, programs: &Programs) -> Option<Why> {
    let value = &*first.value;
    let is_assignment = value.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let is_none = is_assignment || value.starts_with(['=', '-']) || value.contains("://");
    if name.is_empty() || programs.facts().shell.reserved.matches(value) || is_none {
        return Some(Why::NoCommand {
            word: value.to_owned(),
        });
    }
    // Without any record nothing can be judged.
    let is_hidden = working_folder::is_open_file(value) || programs.is_empty();
    is_hidden.then(|| does(value, Deed::NotFollowed))
}

/// Whether `NAME=value` set for a command changes nothing about which code runs, or where it works: the name is known, the value is plain.
pub(super) fn is_harmless_assignment(text: &str, programs: &Programs) -> bool {
    let Some((name, value)) = text.split_once('=') else {
        return false;
    };
    let value = unquoted(value);
    // No path, no address, nothing the shell would still look into.
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | ',' | ' ' | '=' | ':');
    programs.is_harmless_variable(name)
        && value.chars().all(is_plain)
        && programs.facts().places.in_word(value).is_none()
}

fn unquoted(value: &str) -> &str {
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

/// Why setting these variables (`NAME=value`) is HIGH, if it is.
pub(super) fn variables(assigned: &[String], places: Site<'_>) -> Option<Why> {
    assigned.iter().find_map(|text| {
        let name = text.split(['=', '+', '[']).next().unwrap_or(text);
        // Some of them are read in either case.
        let upper = name.to_ascii_uppercase();
        if places.programs().is_steering_variable(&upper) || !is_variable(name) {
            return Some(Why::Variable {
                name: name.to_owned(),
            });
        }
        // A secret in a variable is there to be used.
        let plain = if text.contains(['\'', '"']) {
            Cow::Owned(text.replace(['\'', '"'], ""))
        } else {
            Cow::Borrowed(text.as_str())
        };
        let deed = places.programs().facts().places.in_word(&plain);
        deed.map(|deed| does(text, deed))
    })
}

/// Why one of these words is HIGH by itself, if it is: it names something sensitive.
pub(super) fn words(words: &[Word<'_>], places: Site<'_>) -> Option<Why> {
    words.iter().find_map(|word| secret(word, &word.value, places))
}

/// Why a part of a word is HIGH by itself, as it is or as it may come out.
fn secret(word: &Word<'_>, text: &str, places: Site<'_>) -> Option<Why> {
    let known = &places.programs().facts().places;
    let guess = || word.is_later().then(|| guess::of(text));
    let deed = known.in_word(text).or_else(|| known.in_word(&guess()?));
    Some(does(&word.raw, deed?))
}

/// Inside `[` these operators redirect or start a subshell; and plain `sh` knows no `[[`, so there they do the same.
fn test(name: &str, words: &[Word<'_>]) -> Option<Why> {
    let is_operator = |word: &Word<'_>| matches!(&*word.raw, "&&" | "||" | "<" | ">" | "(" | ")" | "|" | "&");
    let is_test = matches!(name, "[" | "[[");
    (is_test && words.iter().any(is_operator)).then_some(Doubt::ShellsDiffer.into())
}

/// Builtins that evaluate a name or a number evaluate `a[$(…)]` too, however well it is quoted.
fn evaluates_text(name: &str, words: &[Word<'_>], programs: &Programs) -> Option<Why> {
    let word = words
        .iter()
        .find(|word| word.value.contains(['`', '$']) && word.value.contains('['))?;
    let evaluates = programs.facts().shell.evaluates.matches(name);
    evaluates.then(|| Why::Evaluates {
        name: name.to_owned(),
        word: word.raw.to_string(),
    })
}

/// Whether a shell takes this for the name of a variable, or of a part of one.
pub(super) fn is_variable(name: &str) -> bool {
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
