//! What secrets, paths and hosts look like. The shapes are the records of `shapes.toml`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use serde::Deserialize;

#[derive(Default, Deserialize)]
struct File {
    names: Names,
    shapes: Vec<Record>,
}

#[derive(Default, Deserialize)]
struct Names {
    endings: Vec<String>,
    words: Vec<String>,
}

#[derive(Deserialize)]
struct Record {
    pattern: String,
}

struct Shapes {
    names: Names,
    /// Which of them a text holds at all: most hold none.
    any: RegexSet,
    each: Vec<Regex>,
}

/// The tests check that every record is read and finds its own examples.
static SHAPES: LazyLock<Shapes> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("shapes.toml")).unwrap_or_default();
    let patterns: Vec<&String> = file.shapes.iter().map(|record| &record.pattern).collect();
    let each = patterns.iter().filter_map(|pattern| Regex::new(pattern).ok());
    Shapes {
        any: RegexSet::new(&patterns).unwrap_or_else(|_| RegexSet::empty()),
        each: each.collect(),
        names: file.names,
    }
});

/// Whether a field, flag or variable of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(['-', '_']).next().unwrap_or_default();
    let plain = name.replace(['-', '_'], "");
    let names = &SHAPES.names;
    names.endings.iter().any(|ending| plain.ends_with(ending)) || names.words.iter().any(|word| word == last)
}

/// The secrets in a text that its shape gives away.
pub(super) fn shaped(text: &str) -> Vec<Range<usize>> {
    let found = SHAPES.any.matches(text);
    let patterns = found.iter().filter_map(|index| SHAPES.each.get(index));
    patterns.flat_map(|pattern| matches(pattern, text)).collect()
}

fn matches(pattern: &Regex, text: &str) -> Vec<Range<usize>> {
    let secret = |captures: regex::Captures<'_>| match captures.name("secret") {
        // The pattern says what stands around it.
        Some(secret) => may_be_secret(secret.as_str()).then(|| secret.range()),
        None => captures.get(0).and_then(|token| word(text, token.range())),
    };
    pattern.captures_iter(text).filter_map(secret).collect()
}

/// A token that is a word of its own. A segment of a path stays: it is where something happens.
fn word(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (text.get(..range.start)?, text.get(range.end..)?);
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let begins = !before.ends_with(|c| in_word(c) || matches!(c, '/' | '.' | '~' | '@'));
    let end = range.end + after.find(|c| !in_word(c)).unwrap_or(after.len());
    let token = text.get(range.start..end)?;
    let random = token
        .bytes()
        .skip(4)
        .any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    let in_path = text.get(end..)?.starts_with('/');
    (begins && random && !in_path && !is_host(token)).then_some(range.start..end)
}

/// Whether a value could be a secret at all: it is not a path, a host, a reference to a variable, or masked already.
pub(super) fn may_be_secret(value: &str) -> bool {
    !value.is_empty() && !is_path(value) && !is_host(value) && !value.starts_with('$') && !is_masked(value)
}

/// Whether a text begins like a path or a URL.
pub(super) fn is_path(text: &str) -> bool {
    ["/", "./", "../", "~", "file:"]
        .iter()
        .any(|start| text.starts_with(start))
        || text.contains("://")
}

/// Whether a text is a host name or an address: lower-case labels, the last of letters, or four numbers.
pub(super) fn is_host(text: &str) -> bool {
    let host = text.split([':', '/']).next().unwrap_or_default();
    let labels: Vec<&str> = host.split('.').collect();
    let label = |label: &&str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let number = |label: &&str| label.parse::<u8>().is_ok();
    let named = labels
        .last()
        .is_some_and(|last| last.len() >= 2 && last.bytes().all(|b| b.is_ascii_lowercase()));
    labels.len() > 1
        && labels.iter().all(label)
        && (named || (labels.len() == 4 && labels.iter().all(number)))
        || host == "localhost"
}

/// Whether a text holds a mask of ours.
pub(super) fn is_masked(text: &str) -> bool {
    text.contains("...[")
}

/// Whether a run of characters is too random to be a word: some digit, or long enough.
pub(super) fn is_random(text: &str) -> bool {
    text.len() >= 20 || (text.len() >= 8 && text.bytes().any(|b| b.is_ascii_digit()))
}
