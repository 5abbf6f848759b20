//! One simple command: what it would do, how bad that is, and what it runs in turn.
//!
//! The record of the program says what each word is; what it does not list is unknown. From both follow the *effects*, and the reasons for
//! HIGH that hold for every program: a place outside the workspace, a secret, a file that decides what runs or what is asked.

mod inner;
mod slots;

use std::borrow::Cow;

use super::super::why::{Ban, Deed, Doubt, Why};
use super::super::{Effect, Fact, Places, lowercase};
use super::programs::{Does, Input, Programs, Reading};
use super::target::{self, Standing};
use super::word::Word;
use super::{ban, git};

pub(super) use inner::Inner;

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
    /// What is written to its input.
    pub(super) fed: &'w Fed,
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

/// Judges the command `first args…`.
pub(super) fn command<'w, 's>(
    first: &'w Word<'s>,
    args: &Args<'w, 's>,
    assigned: &[String],
    text: &str,
) -> Judged<'w, 's> {
    let unknown = |why| Judged {
        why: Some(why),
        effects: vec![Effect::Unknown],
        ..Judged::default()
    };
    let programs = args.places.programs();
    let Some(name) = name_of(first) else {
        return unknown(Why::CommandLater {
            word: first.raw.to_string(),
        });
    };
    if let Some(why) = not_a_command(first, &name, programs) {
        return unknown(why);
    }
    let reading = Reading::of(programs.record_or_unknown(&name), args.words, args.open);
    let mut judged = Judged::default();
    let mut case = slots::Case {
        name: &name,
        args,
        reading: &reading,
        judged: &mut judged,
        reads_only: true,
    };
    for slot in &reading.slots {
        case.slot(slot);
    }
    case.reads_here();
    let reads_only = case.reads_only;
    inner::find(&name, &reading, args, &mut judged);
    let early = variables(assigned, args.places)
        .or_else(|| test(&first.value, args.words))
        .or_else(|| evaluates_text(&name, args.words, programs))
        .or_else(|| by_record(&name, &reading, args.fed));
    let of_name = || Some(does(&first.value, programs.facts().places.in_word(&first.value)?));
    judged.why = early
        .or(judged.why)
        .or_else(of_name)
        .or_else(|| text.contains("@P}").then_some(Doubt::RunsVariable.into()));
    judged.banned = ban::banned(&name, &reading, args);
    effects(first, &name, args, assigned, &reading, &mut judged);
    judged.opens_input = reading.input() != Input::Text;
    // The commands of a line are judged by themselves.
    judged.harmless = (reads_only || judged.only_line)
        && judged.why.is_none()
        && judged.hosts.is_empty()
        && judged
            .effects
            .iter()
            .all(|effect| matches!(effect, Effect::Reads(_)))
        && (name != "git" || git::runs_nothing(args.standing, args.places));
    judged
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
    let is_hidden = target::is_open_file(value) || programs.is_empty();
    is_hidden.then(|| does(value, Deed::NotFollowed))
}

fn by_record(name: &str, reading: &Reading<'_, '_, '_>, fed: &Fed) -> Option<Why> {
    let by_input = match reading.input() {
        Input::Code => Some(Deed::RunsInput),
        Input::Sends if matches!(fed, Fed::File | Fed::Text(_)) => Some(Deed::SendsFile),
        _ => None,
    };
    let certain = reading.deed.or(by_input).map(|deed| does(name, deed));
    certain.or_else(|| {
        let deed = reading.maybe?;
        Some(Why::MayDo {
            name: name.to_owned(),
            deed,
        })
    })
}

/// Adds what follows from the program itself to what its words do.
fn effects(
    first: &Word<'_>,
    name: &str,
    args: &Args<'_, '_>,
    assigned: &[String],
    reading: &Reading<'_, '_, '_>,
    judged: &mut Judged<'_, '_>,
) {
    let programs = args.places.programs();
    let (does, input) = if judged.only_line {
        (Some(Does::Reads), Input::Text)
    } else {
        (reading.does(), reading.input())
    };
    judged.effects.extend(match does {
        Some(Does::Reads) => None,
        Some(Does::Edits) => Some(Effect::Writes(args.places.workspace().to_owned())),
        Some(Does::Runs) => Some(Effect::Runs(name.to_owned())),
        Some(Does::Changes) => Some(Effect::Changes),
        None => Some(Effect::Unknown),
    });
    let folder = first.value.rsplit_once('/').map(|(folder, _)| folder);
    if folder.is_some_and(|folder| !programs.facts().places.holds_programs(folder)) {
        judged.effects.push(Effect::Runs(first.value.to_string()));
    }
    let is_fed = *args.fed != Fed::Nothing && input != Input::Text;
    let unlisted = |text: &String| !is_harmless_assignment(text, programs);
    if args.open || is_fed || args.words.iter().any(Word::is_later) || assigned.iter().any(unlisted) {
        judged.effects.push(Effect::Unknown);
    }
    judged.effects.dedup();
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
pub(super) fn variables(assigned: &[String], places: &dyn Places) -> Option<Why> {
    assigned.iter().find_map(|text| {
        let name = text.split(['=', '+', '[']).next().unwrap_or(text);
        // Some of them are read in either case.
        let upper = name.to_ascii_uppercase();
        if places.programs().is_steering_variable(&upper) || !is_variable(name) {
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
        let deed = places.programs().facts().places.in_word(&plain);
        deed.map(|deed| does(text, deed))
    })
}

/// Why one of these words is HIGH by itself, if it is: it names something sensitive.
pub(super) fn words(words: &[Word<'_>], places: &dyn Places) -> Option<Why> {
    let known = &places.programs().facts().places;
    words.iter().find_map(|word| {
        let deed = known
            .in_word(&word.value)
            .or_else(|| known.in_word(&word.guess()?))?;
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
