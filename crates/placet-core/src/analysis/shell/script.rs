//! The little languages inside arguments: `sed` and `awk` programs can run commands and write files.

use super::judge::{Args, Hit};
use super::word::Word;

/// Whether a `sed` runs commands or writes files of its own choosing.
pub(super) fn sed(args: &Args<'_, '_>) -> Hit {
    let mut given = Vec::new();
    let mut plain = Vec::new();
    let mut words = args.words.iter();
    while let Some(word) = words.next() {
        match word.value.as_str() {
            "-e" | "--expression" => given.extend(words.next()),
            "-f" | "--file" => return Hit::Maybe,
            value if value.starts_with("-f") || value.starts_with("--file") => return Hit::Maybe,
            value if value.starts_with("-e") || value.starts_with("--expression") => return Hit::Maybe,
            value if value.starts_with('-') && value.len() > 1 && value.ends_with('e') => {
                given.extend(words.next());
            }
            value if value.starts_with('-') => {}
            _ => plain.push(word),
        }
    }
    if given.is_empty() {
        given.extend(plain.first());
    }
    let harmless = |word: &&Word<'_>| word.fixed().is_some_and(sed_is_harmless);
    if given.iter().all(harmless) && !args.open {
        Hit::No
    } else {
        Hit::Yes
    }
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
            // Text and labels go on to the end of the line.
            'a' | 'i' | 'c' | 'b' | 't' | 'T' | ':' | '#' if !rest.contains('\\') => {
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
