//! `awk` programs: whether one runs commands, writes files, reads others than those given, or loads code.
//!
//! A program is taken apart into its words and signs as far as that is certain; where it is not (whether a `/` divides or starts
//! a regular expression depends on the grammar, and on the awk), any trace of such a deed counts, also inside a text.

use super::super::judge::{Args, Hit};
use super::super::word::Word;

/// Whether an `awk` does more than print what it makes of its files.
pub(in super::super) fn awk(args: &Args<'_, '_>) -> Hit {
    let programs = programs(args.words);
    // Several may be parts of one.
    let mut unsure = programs.len() > 1;
    for program in &programs {
        match acts(program) {
            Some(true) => return Hit::Yes,
            Some(false) => {}
            None => unsure = true,
        }
    }
    if unsure && may_act(&programs) {
        Hit::Yes
    } else if args.open || args.words.iter().any(Word::is_later) {
        Hit::Maybe
    } else {
        Hit::No
    }
}

/// The words that may be programs. Without options of other kinds that is the first plain word.
fn programs<'w>(words: &'w [Word<'_>]) -> Vec<&'w str> {
    let mut programs = Vec::new();
    let mut others = false;
    let mut words = words.iter().map(|word| word.value.as_str());
    while let Some(word) = words.next() {
        match word {
            // What separates fields, and the value of a variable.
            "-F" | "-v" => drop(words.next()),
            _ if word.starts_with("-F") || word.starts_with("-v") => {}
            _ => {
                others |= word.starts_with('-');
                if others || programs.is_empty() {
                    programs.push(word);
                }
            }
        }
    }
    programs
}

/// Words of the language with effects beyond its output.
const DEEDS: &[&str] = &["system", "getline", "ARGV"];

/// Whether any trace of a deed is in these programs, be it in one of them or spread over several.
fn may_act(programs: &[&str]) -> bool {
    let any = |sign: &str| programs.iter().any(|program| program.contains(sign));
    DEEDS.iter().any(|deed| any(deed))
        || any("@")
        || programs
            .iter()
            .any(|program| program.replace("||", "").contains('|'))
        || (any("print") && any(">"))
}

/// What stood before a sign, as far as it tells what a `/` means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// An operand is expected: a `/` starts a regular expression.
    Start,
    /// A name or a number: a `/` divides.
    Operand,
    /// Either.
    Unclear,
}

/// What a bracket holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// An expression, or the arguments of a function.
    Group,
    /// The head of a `for`, in which a `print` may stand.
    Loop,
}

/// Whether the program does more than print; `None` when it cannot be taken apart for certain.
fn acts(program: &str) -> Option<bool> {
    if !program.contains(['|', '>', '@']) && !DEEDS.iter().any(|deed| program.contains(deed)) {
        return Some(false);
    }
    let prints = program.contains("print");
    let mut braces = 0_usize;
    let mut brackets = Vec::new();
    let mut bracket = Bracket::Group;
    let mut before = Before::Start;
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_alphanumeric() || c == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
            if DEEDS.contains(&word) {
                return Some(true);
            }
            if braces == 0 && word.starts_with("print") {
                return None;
            }
            before = after_word(word);
            bracket = if word == "for" {
                Bracket::Loop
            } else {
                Bracket::Group
            };
            rest = after;
            continue;
        }
        rest = rest.get(c.len_utf8()..)?;
        let next = rest.chars().next();
        match c {
            '"' => {
                rest = after_text(rest)?;
                before = Before::Unclear;
                continue;
            }
            '/' if before == Before::Start => {
                rest = after_regex(rest)?;
                before = Before::Unclear;
                continue;
            }
            '/' if before == Before::Unclear => return None,
            '|' if next == Some('|') => rest = rest.get(1..)?,
            '@' | '|' => return Some(true),
            '>' if next == Some('=') => rest = rest.get(1..)?,
            // Only a `print` sends its output somewhere, only in an action, and in brackets `>` compares.
            '>' if prints && braces > 0 && brackets.last() != Some(&Bracket::Group) => return Some(true),
            '{' => braces += 1,
            '}' => braces = braces.checked_sub(1)?,
            '(' => brackets.push(std::mem::replace(&mut bracket, Bracket::Group)),
            ')' => drop(brackets.pop()?),
            '#' | '\\' => return None,
            _ => {}
        }
        before = after_sign(c, before);
    }
    (braces == 0 && brackets.is_empty()).then_some(false)
}

fn after_word(word: &str) -> Before {
    match word {
        "print" | "printf" | "return" | "in" | "case" | "else" | "do" | "delete" | "exit" => Before::Unclear,
        _ => Before::Operand,
    }
}

fn after_sign(sign: char, before: Before) -> Before {
    match sign {
        '(' | ',' | '!' | '~' | '&' | '|' | '{' | '}' | ';' | '\n' => Before::Start,
        c if c.is_whitespace() => before,
        _ => Before::Unclear,
    }
}

/// What follows the end of a text.
fn after_text(rest: &str) -> Option<&str> {
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return Some(chars.as_str()),
            '\\' => drop(chars.next()?),
            '\n' => return None,
            _ => {}
        }
    }
}

/// What follows the end of a regular expression. Awks do not agree where brackets end, unless they are simple.
fn after_regex(rest: &str) -> Option<&str> {
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '/' => return Some(chars.as_str()),
            '\\' => drop(chars.next()?),
            '\n' => return None,
            '[' => {
                let (inside, after) = chars.as_str().split_once(']')?;
                let simple =
                    !inside.trim_start_matches('^').is_empty() && !inside.contains(['/', '\\', '[', '\n']);
                chars = Some(after).filter(|_| simple)?.chars();
            }
            _ => {}
        }
    }
}
