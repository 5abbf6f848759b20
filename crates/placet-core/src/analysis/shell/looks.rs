//! Which words of a command are places it looks at or touches.
//!
//! Some programs only talk, some take a pattern first, some are wrappers whose inner command is judged by itself. A program that
//! nobody here knows may open whatever it is given.

use super::word::Word;
use super::{table, wrapper};

/// Where a command looks.
pub(super) enum Looks<'w, 's> {
    /// Nowhere, or its rows in the table say where.
    Nowhere,
    /// At these words.
    At(Vec<&'w Word<'s>>),
    /// At all its words.
    AtAll,
    /// Into all its words, also where they are links.
    IntoAll,
}

/// Programs that open nothing they are given.
#[rustfmt::skip]
const TALKERS: &[&str] = &[
    ":", "[", "[[", "basename", "break", "command", "continue", "date", "dirname", "echo", "exit", "expr", "false", "hostname", "id",
    "jobs", "let", "printenv", "printf", "pwd", "read", "return", "seq", "set", "shift", "sleep", "test", "tr", "true", "type", "ulimit",
    "umask", "uname", "unset", "wait", "whereis", "which", "whoami", "yes",
];

/// Programs that show what is in the files they are given.
const READERS: &[&str] = &[
    "base64", "bat", "batcat", "cat", "head", "hexdump", "less", "more", "nl", "od", "strings", "tac",
    "tail", "xxd",
];

/// Programs whose rows in the table do not say where they look.
const ALSO: &[&str] = &[
    "bsdtar",
    "cargo",
    "eksctl",
    "gmake",
    "gpg",
    "gpg2",
    "gtar",
    "k3d",
    "kind",
    "less",
    "make",
    "mariadb-admin",
    "minikube",
    "mongorestore",
    "more",
    "mysqladmin",
    "ninja",
    "npm",
    "openssl",
    "pg_restore",
    "pnpm",
    "rsync",
    "shuf",
    "sort",
    "split",
    "tar",
    "uniq",
    "unzip",
    "xhs",
    "yarn",
    "zip",
];

/// Programs whose plain words are goals, branches or scripts: a file is one with a folder before it.
const GOALS: &[&str] = &[
    "bazel", "bun", "cargo", "git", "gmake", "just", "make", "ninja", "npm", "pnpm", "task", "yarn",
];

/// Programs whose first plain word is a pattern or a program; the letters of options that give it instead, the letters of options
/// with a value that is no place, the long options of either kind.
type Pattern = (
    &'static [&'static str],
    &'static str,
    &'static str,
    &'static [&'static str],
);

#[rustfmt::skip]
const PATTERNS: &[Pattern] = &[
    (&["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"], "e", "ABCdDgmtT", &["--regexp", "--glob", "--iglob", "--type", "--include",
      "--exclude", "--exclude-dir"]),
    (&["sed", "gsed"], "e", "l", &["--expression"]),
    (&["awk", "gawk", "mawk", "nawk"], "", "Fv", &["--field-separator", "--assign"]),
    (&["jq", "yq"], "", "", &["--arg", "--argjson"]),
    (&["fd", "fdfind"], "", "eEtd", &["--extension", "--exclude", "--type"]),
];

/// Whether a program opens nothing it is given.
pub(super) fn only_talks(name: &str) -> bool {
    TALKERS.contains(&name)
}

/// Whether a program shows what is in the files it is given.
pub(super) fn shows_files(name: &str) -> bool {
    READERS.contains(&name)
}

/// Whether any plain word of a program may be a file that it opens.
pub(super) fn takes_files(name: &str) -> bool {
    !only_talks(name) && !GOALS.contains(&name)
}

/// Whether a program takes a pattern first.
pub(super) fn first_is_pattern(name: &str) -> bool {
    pattern(name).is_some()
}

fn pattern(name: &str) -> Option<&'static Pattern> {
    PATTERNS.iter().find(|(names, ..)| names.contains(&name))
}

/// Where the command `name words…` looks.
pub(super) fn of<'w, 's>(name: &str, words: &'w [Word<'s>]) -> Looks<'w, 's> {
    let runs_line = |word: &Word<'_>| word.value.starts_with('-') && word.value.contains('c');
    match name {
        "find" => Looks::At(before_expression(words)),
        "git" => Looks::At(without_texts(words)),
        "eval" | "trap" | "su" | "runuser" | "script" => Looks::Nowhere,
        _ if only_talks(name) || wrapper::is_prefix(name) => Looks::Nowhere,
        _ if wrapper::is_shell(name) && words.iter().any(runs_line) => Looks::Nowhere,
        _ if shows_files(name) => Looks::IntoAll,
        _ => match pattern(name) {
            Some(pattern) => Looks::At(after_pattern(pattern, words)),
            None if table::rows(name).is_empty() || ALSO.contains(&name) => Looks::AtAll,
            None => Looks::Nowhere,
        },
    }
}

/// The files a `sed` works on.
pub(super) fn files_of_sed<'w, 's>(words: &'w [Word<'s>]) -> Vec<&'w Word<'s>> {
    pattern("sed").map_or_else(Vec::new, |pattern| after_pattern(pattern, words))
}

/// The places `find` starts from.
fn before_expression<'w, 's>(words: &'w [Word<'s>]) -> Vec<&'w Word<'s>> {
    let words = words
        .iter()
        .skip_while(|word| matches!(word.value.as_str(), "-H" | "-L" | "-P"));
    words
        .take_while(|word| !word.value.starts_with(['-', '(', '!', ')']))
        .collect()
}

/// Words of `git` apart from messages and what is searched for.
fn without_texts<'w, 's>(words: &'w [Word<'s>]) -> Vec<&'w Word<'s>> {
    const TEXTS: &[&str] = &[
        "-S",
        "-G",
        "-c",
        "-e",
        "--message",
        "--grep",
        "--author",
        "--format",
        "--pretty",
        "--date",
    ];
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = word.value.as_str();
        let name = value.split('=').next().unwrap_or(value);
        let is_message = value.starts_with('-') && !value.starts_with("--") && value.ends_with('m');
        if is_message || TEXTS.contains(&value) {
            words.next();
        } else if !TEXTS.contains(&name) && !value.starts_with("-m") {
            kept.push(word);
        }
    }
    kept
}

/// Words after the pattern, and values of options that may be places.
fn after_pattern<'w, 's>(pattern: &Pattern, words: &'w [Word<'s>]) -> Vec<&'w Word<'s>> {
    let (_, gives, takes, longs) = pattern;
    let mut kept = Vec::new();
    let mut seen = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = word.value.as_str();
        let name = value.split('=').next().unwrap_or(value);
        if !value.starts_with('-') || value == "-" {
            if seen {
                kept.push(word);
            }
            seen = true;
        } else if value.starts_with("--") {
            seen |= matches!(
                name,
                "--regexp" | "--expression" | "--file" | "--from-file" | "--files"
            );
            let is_attached = value.contains('=');
            if longs.contains(&name) {
                // A pattern, or what is no place either.
                words.by_ref().take(usize::from(!is_attached)).for_each(drop);
            } else if is_attached {
                kept.push(word);
            } else if matches!(name, "--file" | "--from-file") {
                kept.extend(words.next());
            }
        } else {
            let mut letters = value.get(1..).unwrap_or_default().chars();
            while let Some(letter) = letters.next() {
                let attached = !letters.as_str().is_empty();
                seen |= gives.contains(letter) || letter == 'f';
                match letter {
                    'f' if attached => kept.push(word),
                    'f' => kept.extend(words.next()),
                    _ if !gives.contains(letter) && !takes.contains(letter) => continue,
                    _ if attached => {}
                    _ => drop(words.next()),
                }
                break;
            }
        }
    }
    kept
}
