//! The little languages inside arguments: `sed` and `awk` programs can run commands and write files.

mod awk;

pub(super) use self::awk::awk;
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

/// Whether a `sed` program stays inside its input and output, however this `sed` finds the end of a regular expression.
fn sed_is_harmless(program: &str) -> bool {
    if !program.contains('[') {
        return read_sed(program, Brackets::Ordinary) == Reading::Harmless;
    }
    let readings =
        [Brackets::Ordinary, Brackets::Literal, Brackets::Escaping].map(|way| read_sed(program, way));
    readings.contains(&Reading::Harmless) && !readings.contains(&Reading::Harmful)
}

/// What brackets mean while the end of a regular expression is searched: seds differ, and versions of one do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    /// Nothing: the delimiter ends it inside them too.
    Ordinary,
    /// The delimiter is a character like others inside them, and so is a backslash.
    Literal,
    /// The delimiter is one, but a backslash still takes the next character along.
    Escaping,
}

/// What one reading of a program comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// It stays inside its input and output.
    Harmless,
    /// Who reads it like this does not run it at all.
    Refused,
    /// It does more, or nobody knows.
    Harmful,
}

/// Reads a `sed` program; whatever is not known to stay inside its input and output is harmful.
fn read_sed(program: &str, brackets: Brackets) -> Reading {
    let mut rest = program;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        let Some(after) = skip_address(rest, brackets) else {
            return Reading::Harmful;
        };
        rest = after.trim_start_matches([' ', '!']);
        let mut chars = rest.chars();
        let Some(command) = chars.next() else {
            return Reading::Harmless;
        };
        rest = chars.as_str();
        match command {
            's' => match skip_substitution(rest, brackets) {
                Ok(after) => rest = after,
                Err(reading) => return reading,
            },
            'y' => match skip_both_texts(rest) {
                Some(after) => rest = after,
                None => return Reading::Harmful,
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
            // No sed has such a command.
            ']' | '[' | '^' | '*' | '/' => return Reading::Refused,
            _ => return Reading::Harmful,
        }
    }
}

/// What follows `/a/b/flags`.
fn skip_substitution(text: &str, brackets: Brackets) -> Result<&str, Reading> {
    let parts = skip_regex(text, brackets).and_then(|(delimiter, rest)| skip_text(rest, delimiter));
    let after = parts.ok_or(Reading::Harmful)?;
    let flags_end = after.find([';', '\n', '}']).unwrap_or(after.len());
    let (flags, after) = after.split_at(flags_end);
    let other = |c: &char| !"gpiImM ".contains(*c) && !c.is_ascii_digit();
    match flags.chars().find(other) {
        None => Ok(after),
        Some('e' | 'w' | 'W') => Err(Reading::Harmful),
        Some(_) => Err(Reading::Refused),
    }
}

/// What follows `/abc/xyz/`.
fn skip_both_texts(text: &str) -> Option<&str> {
    let delimiter = delimiter_of(text)?;
    let rest = skip_text(text.strip_prefix(delimiter)?, delimiter)?;
    skip_text(rest, delimiter)
}

fn skip_address(program: &str, brackets: Brackets) -> Option<&str> {
    let mut rest = program;
    for _ in 0..2 {
        rest =
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ' ' | '~' | '+' | ','));
        let regex = match rest.strip_prefix('\\') {
            Some(other) => Some(other),
            None => Some(rest).filter(|rest| rest.starts_with('/')),
        };
        if let Some(regex) = regex {
            rest = skip_regex(regex, brackets)?.1.trim_start_matches(['I', 'M']);
        }
    }
    Some(rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ' ' | ',')))
}

fn delimiter_of(text: &str) -> Option<char> {
    let first = text.chars().next();
    first.filter(|c| !c.is_alphanumeric() && !matches!(c, '\\' | '\n' | ' '))
}

/// The delimiter that `text` starts with, and what follows its second one.
fn skip_regex(text: &str, brackets: Brackets) -> Option<(char, &str)> {
    let delimiter = delimiter_of(text)?;
    let mut chars = text.strip_prefix(delimiter)?.chars();
    loop {
        match chars.next()? {
            '\\' => drop(chars.next()?),
            c if c == delimiter => return Some((delimiter, chars.as_str())),
            '[' if brackets != Brackets::Ordinary => {
                chars = after_bracket(chars.as_str(), brackets)?.chars();
            }
            _ => {}
        }
    }
}

/// What follows the end of a bracket: a `]` that is neither its first character nor the end of a `[:class:]` inside.
fn after_bracket(text: &str, brackets: Brackets) -> Option<&str> {
    let text = text.strip_prefix('^').unwrap_or(text);
    let mut rest = text.strip_prefix(']').unwrap_or(text);
    loop {
        let mut chars = rest.chars();
        let inside = chars.next()?;
        rest = chars.as_str();
        let class = rest
            .chars()
            .next()
            .filter(|c| inside == '[' && matches!(c, ':' | '.' | '='));
        if let Some(kind) = class {
            let end = [kind, ']'].iter().collect::<String>();
            rest = rest.get(1..)?.split_once(end.as_str())?.1;
        } else if inside == ']' {
            return Some(rest);
        } else if inside == '\\' && brackets == Brackets::Escaping {
            chars.next()?;
            rest = chars.as_str();
        }
    }
}

/// What follows the next delimiter.
fn skip_text(text: &str, delimiter: char) -> Option<&str> {
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '\\' => drop(chars.next()?),
            c if c == delimiter => return Some(chars.as_str()),
            _ => {}
        }
    }
}
