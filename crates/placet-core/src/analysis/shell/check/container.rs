//! Containers: what of the machine is put into them.

use super::super::judge::{Args, Hit};
use super::super::options::{Part, Spec, Value, parts};
use super::super::word::{Known, Word};
use super::yes_if;

/// Options of `docker run` and its like with a value, as far as they matter here.
const RUN: Spec = Spec {
    short: "acehlmpuvw",
    long: &["mount", "volume"],
};

/// Options that let a container reach out of itself. Their programs know no abbreviations.
#[rustfmt::skip]
const LEAVING: &[&str] = &[
    "--privileged", "--pid", "--network", "--net", "--cap-add", "--device", "--security-opt", "--ipc", "--userns", "--volumes-from",
];

/// `--privileged`, `--pid=host`, …
pub(in super::super) fn leaves_container(args: &Args<'_, '_>) -> Hit {
    let leaves = |text: &str| LEAVING.contains(&text.split('=').next().unwrap_or(text));
    if args.words.iter().any(|word| leaves(&word.value)) {
        return Hit::Yes;
    }
    let is_clear = |word: &Word<'_>| word.known == Known::Fully || !here(&word.value).contains(['$', '`']);
    if !args.open && args.words.iter().all(is_clear) {
        return Hit::No;
    }
    // What is not known yet may still come to be one of them.
    args.flag(&[])
}

/// `-v /:/x`, `--mount source=/…`, or the socket that commands the container engine.
pub(in super::super) fn mounts_the_machine(args: &Args<'_, '_>) -> Hit {
    let parts = parts(args.words, &RUN);
    let mut sources = parts.iter().filter_map(source);
    let leaves = sources.any(|source| leads_out(&source, args));
    yes_if(leaves || args.words.iter().any(|word| word.value.contains("docker.sock")))
}

/// What a mount puts into the container.
fn source(part: &Part<'_>) -> Option<String> {
    let volume = |value: &Value<'_>| {
        let text = here(value.text.trim_start_matches('='));
        text.split_once(':').map(|(from, _)| from.to_owned())
    };
    match part {
        Part::Short('v', Some(value)) | Part::Long("volume", Some(value)) => volume(value),
        Part::Long("mount", Some(value)) => here(value.text)
            .replace('"', "")
            .split(',')
            .filter_map(|field| field.split_once('='))
            .find(|(key, _)| matches!(key.trim(), "source" | "src"))
            .map(|(_, from)| from.to_owned()),
        _ => None,
    }
}

/// `$PWD` is where the shell stands.
fn here(text: &str) -> String {
    ["${PWD}", "$PWD", "$(pwd)", "`pwd`"]
        .iter()
        .fold(text.to_owned(), |text, pwd| text.replace(pwd, "."))
}

fn leads_out(source: &str, args: &Args<'_, '_>) -> bool {
    source.contains(['$', '`']) || !args.standing.contains_path(source, args.places)
}
