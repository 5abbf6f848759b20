//! What nobody may allow, in any mode. Few and certain: everything doubtful is asked about instead.

use super::super::path::shorten;
use super::super::why::Ban;
use super::judge::Args;
use super::target::is_block_device;
use super::word::Word;

/// Folders whose loss is the loss of the machine or the person's work.
const ROOTS: &[&str] = &[
    "/",
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/boot",
    "/dev",
    "/opt",
    "/proc",
    "/root",
    "/sys",
    "/var",
    "/home",
    "/Users",
    "/System",
    "/Library",
    "/Applications",
    "~",
];

/// Why this command is banned, if it is.
pub(super) fn banned(name: &str, args: &Args<'_, '_>) -> Option<Ban> {
    let raw = |word: &Word<'_>| word.raw.to_string();
    let paths = || args.words.iter().filter(|word| !word.value.starts_with('-'));
    match name {
        "rm" if has_flag(args, &["-r", "-R", "--recursive", "--no-preserve-root"]) => {
            let word = paths().find(|word| is_root(word))?;
            Some(Ban::DeletesAll { path: raw(word) })
        }
        "chmod" | "chown" | "chgrp" if has_flag(args, &["-R", "--recursive"]) => {
            let word = paths().find(|word| root_of(word).as_deref() == Some("/"))?;
            Some(Ban::ChangesAll {
                name: name.to_owned(),
                path: raw(word),
            })
        }
        "dd" => {
            let device = args
                .words
                .iter()
                .filter_map(|word| word.value.strip_prefix("of="))
                .find(|of| is_block_device(of))?;
            Some(Ban::OverwritesDisk {
                device: device.to_owned(),
            })
        }
        "placet" if placet(args.words) == Placet::Acts => Some(Ban::AnswersForPeople),
        "cargo" => match run_by_cargo(args.words)? {
            Placet::Acts => Some(Ban::AnswersForPeople),
            Placet::Reads | Placet::Unclear => None,
        },
        _ if name == "mkfs" || name.starts_with("mkfs.") => {
            let device = paths().find(|word| is_block_device(&word.value))?;
            Some(Ban::ErasesDisk {
                name: name.to_owned(),
                device: raw(device),
            })
        }
        _ => None,
    }
}

/// What a call of Placet itself comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placet {
    /// It explains or shows something.
    Reads,
    /// It answers, grants, or starts something that does.
    Acts,
    /// Only known when it runs.
    Unclear,
}

/// Reads the words after `placet`. What is not known to only read, acts.
fn placet(words: &[Word<'_>]) -> Placet {
    let Some((command, rest)) = first_argument(words) else {
        // Without a command it only says how it is used.
        return Placet::Reads;
    };
    let reads: &[&str] = match command.fixed() {
        None => return Placet::Unclear,
        Some("check" | "completions" | "man" | "help" | "--help" | "-h" | "--version" | "-V") => {
            return Placet::Reads;
        }
        Some("policy") => &["test", "show", "explain", "help", "--help", "-h"],
        Some("audit") => &["list", "show", "verify", "help", "--help", "-h"],
        Some("inbox") => &["list", "show", "help", "--help", "-h"],
        Some(_) => &["--help", "-h"],
    };
    match first_argument(rest).map(|(word, _)| word.fixed()) {
        Some(None) => Placet::Unclear,
        Some(Some(word)) if reads.contains(&word) => Placet::Reads,
        Some(Some(_)) | None => Placet::Acts,
    }
}

/// The first word that is not one of the options that may stand before a command, and what follows it.
fn first_argument<'w, 's>(words: &'w [Word<'s>]) -> Option<(&'w Word<'s>, &'w [Word<'s>])> {
    let (word, rest) = words.split_first()?;
    let (name, value) = word
        .value
        .split_once('=')
        .map_or((&*word.value, None), |(name, value)| (name, Some(value)));
    match (name, value) {
        ("--color" | "--data" | "--db" | "--config", Some(_)) => first_argument(rest),
        ("--color" | "--data" | "--db" | "--config", None) => first_argument(rest.get(1..)?),
        _ => Some((word, rest)),
    }
}

/// `cargo run … -- inbox answer …` is Placet as well, when it says so or when no other program has such commands.
fn run_by_cargo(words: &[Word<'_>]) -> Option<Placet> {
    let dashes = words.iter().position(|word| word.value == "--")?;
    let (before, after) = words.split_at(dashes);
    let runs = before
        .iter()
        .any(|word| matches!(word.value.as_str(), "run" | "r"));
    let named = before.iter().any(|word| word.value.contains("placet"));
    let after = after.get(1..)?;
    let own =
        first_argument(after).is_some_and(|(word, _)| matches!(word.value.as_str(), "inbox" | "grants"));
    (runs && (named || own)).then(|| placet(after))
}

/// Whether one of these options is given, in any spelling: alone, in a cluster, abbreviated.
fn has_flag(args: &Args<'_, '_>, flags: &[&str]) -> bool {
    let gives = |word: &str, flag: &str| match flag.strip_prefix("--") {
        Some(_) => {
            word.len() > 2
                && word.starts_with("--")
                && flag.starts_with(word.split('=').next().unwrap_or(word))
        }
        None => {
            word.starts_with('-') && !word.starts_with("--") && word.contains(flag.trim_start_matches('-'))
        }
    };
    args.words
        .iter()
        .any(|word| flags.iter().any(|flag| gives(&word.value, flag)))
}

fn is_root(word: &Word<'_>) -> bool {
    root_of(word).is_some_and(|path| ROOTS.contains(&path.as_str()))
}

/// The folder a word stands for when it means that folder or everything in it: `/`, `//`, `/./`, `/tmp/..`, `/*`,
/// `~/`, `$HOME`.
fn root_of(word: &Word<'_>) -> Option<String> {
    let value = word.value.as_str();
    let home = ["${HOME}", "$HOME", "~"]
        .iter()
        .find_map(|home| value.strip_prefix(home));
    let home = home.filter(|_| {
        !word.raw.starts_with(['\'', '\\']) && (!value.starts_with('~') || word.raw.starts_with('~'))
    });
    let inner = match home {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("/~{rest}"),
        _ if value.starts_with('/') => value.to_owned(),
        _ => return None,
    };
    // `/*`, `/.*` and `/{*,.*}` are all of it.
    let everything =
        |last: &str| !last.is_empty() && last.chars().all(|c| "*.?{},".contains(c)) && last.contains('*');
    let inner = match inner.rsplit_once('/') {
        Some((above, last)) if everything(last) => format!("{above}/"),
        _ => inner,
    };
    let flat = shorten(&inner);
    Some(match flat.strip_prefix("/~") {
        Some("") => "~".to_owned(),
        _ => flat,
    })
}
