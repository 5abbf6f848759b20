//! Brace lists: what bash makes of `a{b,c}d` and `{1..3}` before it looks at anything else.
//!
//! It works on text in which the braces and commas that count, the unquoted ones, are control characters; no line may hold those. Sequences with
//! steps or leading zeros, and braces without a partner, are not expanded but doubted.

use placet_core::analysis::Doubt;

/// `{`, unquoted, like the two below.
pub(super) const OPEN: char = '\u{1}';
/// `,`
pub(super) const COMMA: char = '\u{2}';
/// `}`
pub(super) const CLOSE: char = '\u{3}';

/// More words than an approver could judge.
const WORDS_MAX: usize = 128;

/// The text with its marks as the braces and commas they stand for.
pub(super) fn as_written(text: &str) -> String {
    text.replace(OPEN, "{").replace(COMMA, ",").replace(CLOSE, "}")
}

/// The words that `text` becomes, in order; just one when there is nothing to expand.
pub(super) fn expand(text: &str) -> Result<Vec<String>, Doubt> {
    let may_expand = |behind: &str| behind.contains(COMMA) || behind.contains("..");
    let Some((start, behind)) = text.split_once(OPEN).filter(|(_, behind)| may_expand(behind)) else {
        return Ok(vec![as_written(text)]);
    };
    let (inside, rest) = split_first(behind, CLOSE).ok_or(Doubt::ShellsDiffer)?;
    let words = match (split_first(inside, COMMA), inside.split_once("..")) {
        (Some(_), _) => list(inside)?,
        _ if inside.contains(COMMA) => return Err(Doubt::ShellsDiffer),
        (_, Some((from, to))) => sequence(from, to).ok_or(Doubt::ShellsDiffer)?,
        // `HEAD@{1}` is itself, unless a later brace closes the list that it opens.
        _ if rest.matches(OPEN).count() == rest.matches(CLOSE).count() => vec![format!("{{{inside}}}")],
        _ => return Err(Doubt::ShellsDiffer),
    };
    let (start, ends) = (as_written(start), expand(rest)?);
    if words.len() * ends.len() > WORDS_MAX {
        return Err(Doubt::TooManyWords);
    }
    let joined = |word: &String| {
        ends.iter()
            .map(|end| format!("{start}{word}{end}"))
            .collect::<Vec<_>>()
    };
    Ok(words.iter().flat_map(joined).collect())
}

/// What stands before and after the first `mark` that is in no inner list.
fn split_first(text: &str, mark: char) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let at = text.find(|c| {
        let is_own = c == mark && depth == 0;
        match c {
            OPEN => depth += 1,
            CLOSE => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_own
    })?;
    Some((text.get(..at)?, text.get(at + mark.len_utf8()..)?))
}

fn list(mut inside: &str) -> Result<Vec<String>, Doubt> {
    let mut words = Vec::new();
    while let Some((word, rest)) = split_first(inside, COMMA) {
        words.extend(expand(word)?);
        inside = rest;
    }
    words.extend(expand(inside)?);
    Ok(words)
}

/// `1..3`, `e..a`; `None` when it is anything else.
fn sequence(from: &str, to: &str) -> Option<Vec<String>> {
    let number = |text: &str| {
        text.parse::<u8>()
            .ok()
            .filter(|number| number.to_string() == text)
    };
    let letter = |text: &str| match *text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(byte),
        _ => None,
    };
    let words = |from: u8, to: u8, word: fn(u8) -> String| {
        let mut words: Vec<String> = (from.min(to)..=from.max(to)).map(word).collect();
        if to < from {
            words.reverse();
        }
        words
    };
    match (number(from).zip(number(to)), letter(from).zip(letter(to))) {
        (Some((from, to)), _) => Some(words(from, to, |number| number.to_string())),
        (_, Some((from, to))) => Some(words(from, to, |letter| char::from(letter).to_string())),
        _ => None,
    }
}
