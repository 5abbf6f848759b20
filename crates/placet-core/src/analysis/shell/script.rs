//! The little languages inside arguments: `sed` and `awk` programs can run commands and write files.

use super::judge::{Args, Hit};
use super::word::{Known, Word};

/// Whether a `sed` runs commands or writes files of its own choosing. An option that is not known for certain could be a
/// program, or swallow one.
pub(super) fn sed(args: &Args<'_, '_>) -> Hit {
    let Some(programs) = sed_programs(args.words) else {
        return Hit::Maybe;
    };
    let harmless = |(program, known): &(&str, Known)| *known == Known::Fully && sed_is_harmless(program);
    if programs.iter().all(harmless) && !args.open {
        Hit::No
    } else {
        Hit::Yes
    }
}

/// The programs on the line; `None` when they are somewhere else, or cannot be told.
fn sed_programs<'w>(words: &'w [Word<'_>]) -> Option<Vec<(&'w str, Known)>> {
    let mut given = Vec::new();
    let mut plain = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = word.value.as_str();
        let program = |word: &'w Word<'_>| (word.value.as_str(), word.known);
        match value.strip_prefix("--") {
            Some("expression") => given.push(program(words.next()?)),
            Some("") => {
                plain.extend(words.by_ref().map(program));
            }
            Some(long) => match long.split_once('=') {
                Some(("expression", text)) => given.push((text, word.known)),
                Some(("in-place" | "line-length", _)) => {}
                None if LONG_OPTIONS.contains(&long) => {}
                _ => return None,
            },
            None if value.starts_with('-') && value != "-" => match sed_cluster(value)? {
                Cluster::Plain => {}
                Cluster::Program("") => given.push(program(words.next()?)),
                Cluster::Program(text) => given.push((text, word.known)),
                Cluster::TakesNext => drop(words.next()),
            },
            None => plain.push(program(word)),
        }
    }
    if given.is_empty() {
        // After `-i` one sed expects an ending, which may be empty, and the other the program.
        let empty = plain.first().is_some_and(|(text, _)| text.is_empty());
        given.extend(plain.into_iter().take(if empty { 2 } else { 1 }));
    }
    Some(given)
}

const LONG_OPTIONS: &[&str] = &[
    "quiet",
    "silent",
    "debug",
    "sandbox",
    "posix",
    "regexp-extended",
    "separate",
    "unbuffered",
    "null-data",
    "zero-terminated",
    "in-place",
    "follow-symlinks",
    "version",
    "help",
];

/// What a cluster of short options asks for.
enum Cluster<'w> {
    Plain,
    /// `-e`, with its program if that is attached.
    Program(&'w str),
    TakesNext,
}

/// Reads a cluster of short options; `None` for one that is not known, or `-f`.
fn sed_cluster(value: &str) -> Option<Cluster<'_>> {
    let mut letters = value.get(1..)?.chars();
    while let Some(letter) = letters.next() {
        match letter {
            'n' | 'E' | 'r' | 's' | 'u' | 'z' => {}
            'e' => return Some(Cluster::Program(letters.as_str())),
            'l' if letters.as_str().is_empty() => return Some(Cluster::TakesNext),
            // What is attached is the ending of the copy, or a length.
            'i' | 'l' => return Some(Cluster::Plain),
            _ => return None,
        }
    }
    Some(Cluster::Plain)
}

/// Reads a `sed` program; whatever is not known to stay inside its input and output is not harmless.
fn sed_is_harmless(program: &str) -> bool {
    let mut rest = program;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        let Some(after) = skip_address(rest) else {
            return false;
        };
        rest = after.trim_start_matches([' ', '!']);
        let mut chars = rest.chars();
        let Some(command) = chars.next() else { return true };
        rest = chars.as_str();
        match command {
            's' => {
                let Some(after) = skip_parts(rest, 2) else {
                    return false;
                };
                let flags_end = after.find([';', '\n', '}']).unwrap_or(after.len());
                let (flags, after) = after.split_at(flags_end);
                if !flags.chars().all(|c| "gpiImM ".contains(c) || c.is_ascii_digit()) {
                    return false;
                }
                rest = after;
            }
            'y' => match skip_parts(rest, 2) {
                Some(after) => rest = after,
                None => return false,
            },
            'p' | 'd' | 'D' | 'P' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'l' | 'q' | 'Q' | 'z'
            | 'F' | '}' | '{' => {
                rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
            }
            // Some seds end a label only with the line; what would then be a part of it is judged as well.
            'b' | 't' | 'T' | ':' => {
                let end = rest.find([';', '\n', '}']).unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default();
            }
            // Text goes on to the end of the line.
            'a' | 'i' | 'c' | '#' if !rest.contains('\\') => {
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
            }
            _ => return false,
        }
    }
}

fn skip_address(program: &str) -> Option<&str> {
    let mut rest = program;
    for _ in 0..2 {
        rest =
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ' ' | '~' | '+' | ','));
        if rest.starts_with('/') {
            rest = skip_parts(rest, 1)?.trim_start_matches(['I', 'M']);
        } else if let Some(other) = rest.strip_prefix('\\') {
            rest = skip_parts(other, 1)?.trim_start_matches(['I', 'M']);
        }
    }
    Some(rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ' ' | ',')))
}

/// Skips `count` parts behind a delimiter: `/a/b/` with two leaves what follows the last `/`.
fn skip_parts(text: &str, count: usize) -> Option<&str> {
    let delimiter = text
        .chars()
        .next()
        .filter(|c| !c.is_alphanumeric() && !matches!(c, '\\' | '\n' | ' '))?;
    let mut rest = text.strip_prefix(delimiter)?;
    for _ in 0..count {
        let mut chars = rest.chars();
        loop {
            match chars.next()? {
                '\\' => drop(chars.next()?),
                // Inside brackets the delimiter is an ordinary character, and GNU and BSD differ: not harmless.
                '[' if rest_of_bracket_holds(chars.as_str(), delimiter) => return None,
                c if c == delimiter => break,
                _ => {}
            }
        }
        rest = chars.as_str();
    }
    Some(rest)
}

fn rest_of_bracket_holds(text: &str, delimiter: char) -> bool {
    text.split(']')
        .next()
        .is_some_and(|inside| inside.contains(delimiter))
}

/// Whether an `awk` program runs commands, writes files or loads code.
pub(super) fn awk(args: &Args<'_, '_>) -> Hit {
    let acts = |word: &Word<'_>| {
        let program = word.value.replace("||", "");
        ["system", "getline", "|", "@load", "@include", "/inet"]
            .iter()
            .any(|sign| program.contains(sign))
            || program
                .split('>')
                .skip(1)
                .any(|after| after.trim_start_matches([' ', '>']).starts_with(['"', '(']))
            || (program.contains("print") && program.contains('>'))
    };
    let given = args.words.iter().any(acts);
    let later = args.open || args.words.iter().any(Word::is_later);
    match (given, later) {
        (true, _) => Hit::Yes,
        (false, true) => Hit::Maybe,
        (false, false) => Hit::No,
    }
}
