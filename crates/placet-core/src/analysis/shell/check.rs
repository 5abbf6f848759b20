//! What a row of the table cannot say: checks of their own for some commands.

mod container;
pub(super) mod git;
mod guarded;
mod interpreter;
mod publish;
mod reading;

pub(super) use container::{leaves_container, mounts_the_machine};
pub(super) use guarded::is_given as is_given_guarded;
pub(super) use interpreter::interpreter;
pub(super) use publish::{PUBLISHERS, publishes};
pub(super) use reading::only_looks;

use super::super::path::Globs;
use super::judge::{Args, Hit, changes_others};
use super::looks;
use super::options::{CURL, Part, parts};
use super::word::{Known, Word};

/// `sed -i` on files outside.
pub(super) fn sed_in_place_outside(args: &Args<'_, '_>) -> Hit {
    let outside = |word: &Word<'_>| !args.standing.contains(word, args.places);
    sed_in_place(args, outside)
}

/// `sed -i` on files that decide what runs or what is asked.
pub(super) fn sed_in_place_guarded(args: &Args<'_, '_>) -> Hit {
    sed_in_place(args, |word| args.is_guarded(word, Globs::Any))
}

fn sed_in_place(args: &Args<'_, '_>, is: impl Fn(&Word<'_>) -> bool) -> Hit {
    if args.flag(&["-i", "--in-place"]) != Hit::Yes {
        return Hit::No;
    }
    yes_if(looks::files_of_sed(args.words).into_iter().any(is))
}

/// `tee *.toml` writes whatever it finds, where other programs may only mean to read.
pub(super) fn writes_guarded(args: &Args<'_, '_>) -> Hit {
    let could_be = |word: &Word<'_>| word.known == Known::Shape && args.is_guarded(word, Globs::Any);
    yes_if(args.words.iter().any(could_be))
}

/// `cargo --config x`; what follows `--` is for the program it runs.
pub(super) fn cargo_config(args: &Args<'_, '_>) -> Hit {
    let mut own = args.words.iter().take_while(|word| word.value != "--");
    let sets = |text: &str| text == "--config" || text.starts_with("--config=");
    yes_if(own.any(|word| sets(&word.value))).max(args.flag(&[]))
}

/// `read PATH`: the shell sets the variable.
pub(super) fn reads_into_variable(args: &Args<'_, '_>) -> Hit {
    yes_if(args.words.iter().any(changes_what_runs))
}

/// `printf -v PATH`.
pub(super) fn prints_into_variable(args: &Args<'_, '_>) -> Hit {
    let into =
        |pair: &[Word<'_>]| matches!(pair, [option, name] if option.value == "-v" && changes_what_runs(name));
    yes_if(args.words.windows(2).any(into))
}

fn changes_what_runs(word: &Word<'_>) -> bool {
    word.fixed().is_some_and(changes_others)
}

/// `-K FILE`, `-T FILE`.
pub(super) fn curl_obeys_file(args: &Args<'_, '_>) -> Hit {
    let parts = parts(args.words, &CURL);
    let obeys = |part: &Part<'_>| {
        matches!(part, Part::Short('K' | 'T', _)) || part.is_long(&["config", "upload-file"])
    };
    yes_if(parts.iter().any(obeys)).max(args.flag(&["--config", "--upload-file"]))
}

/// `-d @FILE`, `--data-urlencode name@FILE`, `-F name=@FILE`.
pub(super) fn curl_sends_file(args: &Args<'_, '_>) -> Hit {
    const DATA: &[&str] = &["data", "data-ascii", "data-binary", "json", "url-query"];
    let sends = |part: &Part<'_>| match part {
        Part::Short('d', Some(value)) => value.text.starts_with('@'),
        Part::Short('F', Some(value)) => value.text.contains("=@") || value.text.contains("=<"),
        Part::Long(_, Some(value)) if part.is_long(DATA) && value.text.starts_with('@') => true,
        Part::Long(_, Some(value)) if part.is_long(&["data-urlencode", "url-query", "variable"]) => value
            .text
            .split('=')
            .next()
            .is_some_and(|name| name.contains('@')),
        _ => false,
    };
    yes_if(parts(args.words, &CURL).iter().any(sends))
}

fn yes_if(is: bool) -> Hit {
    if is { Hit::Yes } else { Hit::No }
}
