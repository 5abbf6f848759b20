//! What the parser of TOML and serde have against a file, in the words of the operator who wrote it.

use std::ops::Range;

use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::error::{Checker, nearest};
use super::tree;
use crate::messages::{Message, config, text};

/// Sections of the design that later work brings.
const LATER_SECTIONS: [&str; 1] = ["upstreams"];

/// Longer values are not repeated in a sentence that points at them.
const GIVEN_CHARS_MAX: usize = 40;

/// Refuses a file that is not TOML.
pub(super) fn refuse_syntax(error: &Error, checker: &mut Checker<'_>) {
    let said = error.message().to_lowercase();
    let span = error.span().unwrap_or(0..0);
    let key = || checker.source(&span).trim().to_owned();
    let begins = |beginning: &str| said.starts_with(beginning);
    let is_value =
        begins("string values must be quoted") || begins("invalid value") || begins("invalid boolean");
    let message = if begins("missing opening quote") {
        config::no_opening_quote()
    } else if said.contains("string") && begins("invalid") {
        config::no_closing_quote()
    } else if is_value && !key().is_empty() {
        config::no_quotes()
    } else if begins("key with no value") || begins("missing assignment") || begins("invalid key-value pair")
    {
        config::no_equals()
    } else if is_value || begins("missing value") {
        config::no_value()
    } else if begins("unquoted keys cannot be empty") || begins("missing key") {
        config::no_key()
    } else if begins("missing comma") {
        config::no_comma()
    } else if begins("unclosed array") || begins("unclosed table") {
        config::no_bracket()
    } else if begins("unclosed inline table") {
        config::no_brace()
    } else if begins("duplicate key") {
        let key = key();
        return checker.refuse_in_words(span, config::set_twice(key), Some(config::set_twice_help()));
    } else {
        config::not_toml(said)
    };
    checker.refuse_in_words(span, message, None);
}

/// Refuses a value that is not of the type of its key.
pub(super) fn refuse_type(error: &Error, checker: &mut Checker<'_>) {
    let span = error.span().unwrap_or(0..0);
    let wrong = |expected: &str| wrong_type(expected, &span, checker);
    let (message, help) = in_words(error.message(), wrong);
    checker.refuse_in_words(span, message, help);
}

/// What serde says, and what to do about it. `wrong` says what is to be said of a value of another type than the expected one.
pub(super) fn in_words(
    said: &str,
    wrong: impl FnOnce(&str) -> (Message, Option<Message>),
) -> (Message, Option<Message>) {
    let mut words = said.split('`').skip(1).step_by(2);
    let word = words.next().unwrap_or_default();
    let help = |known: &mut dyn Iterator<Item = &str>| {
        let near = nearest(word, known).map(config::did_you_mean);
        near.or_else(|| Some(config::expected(said.split_once(", expected ")?.1)))
    };
    if said.starts_with("unknown field") && LATER_SECTIONS.contains(&word) {
        (config::later(word), Some(config::remove_section()))
    } else if said.starts_with("unknown field") {
        (config::unknown_key(word), help(&mut words))
    } else if said.starts_with("unknown variant") {
        (config::unknown_value(word), help(&mut words))
    } else if said.starts_with("missing field") {
        (config::missing(word), None)
    } else if let Some(expected) = expected(said) {
        wrong(expected)
    } else {
        (text::as_written(said), None)
    }
}

/// The type that a value should have had: `invalid type: integer 5, expected a string`.
fn expected(said: &str) -> Option<&str> {
    if said == "wanted string or table" {
        return Some("a string");
    }
    let is_mismatch = said.starts_with("invalid type: ") || said.starts_with("invalid value: ");
    let (_, expected) = said.rsplit_once(", expected ").filter(|_| is_mismatch)?;
    Some(expected)
}

fn wrong_type(expected: &str, span: &Range<usize>, checker: &Checker<'_>) -> (Message, Option<Message>) {
    let given = given(checker.source(span));
    let is_quoted = given.starts_with(['"', '\'']);
    let (expected, help) = match expected {
        "a boolean" => (config::boolean(), is_quoted.then(config::drop_quotes)),
        "a string" => (
            config::text(),
            (!is_quoted && !given.starts_with(['[', '{'])).then(|| config::add_quotes(&given)),
        ),
        "a string or a list of strings" => (config::texts(), None),
        "a sequence" => (config::list(), None),
        "a table or a list of tables" => (config::tables(), None),
        "f64" | "f32" => (config::fraction(), is_quoted.then(config::drop_quotes)),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" | "i32" => {
            (config::number(), is_quoted.then(config::drop_quotes))
        }
        expected if expected.starts_with("a duration") => (config::duration(), None),
        expected if expected.starts_with("an example") => (config::example(), None),
        expected if expected == "a map" || expected.starts_with("struct ") => (config::section(), None),
        expected => (config::another(expected), None),
    };
    let message = match key(span, checker) {
        Some(key) => config::wrong(expected, given, key),
        None => config::wrong_here(expected, given),
    };
    (message, help)
}

/// The first line of what stands in the file, shortened.
fn given(source: &str) -> String {
    let line = source.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(GIVEN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// The key of the value that stands there: `approval.timeout`.
fn key(span: &Range<usize>, checker: &Checker<'_>) -> Option<String> {
    if let Some((variable, _)) = checker.variable(span) {
        return Some(tree::path_of(variable).join("."));
    }
    let table = DeTable::parse(checker.text()).ok()?;
    let mut path = Vec::new();
    found(table.get_ref(), span, &mut path).then(|| path.join("."))
}

fn found(table: &DeTable<'_>, span: &Range<usize>, path: &mut Vec<String>) -> bool {
    table.iter().any(|(key, value)| {
        path.push(key.get_ref().to_string());
        let is_here = is_at(value, span, path);
        if !is_here {
            path.pop();
        }
        is_here
    })
}

fn is_at(value: &Spanned<DeValue<'_>>, span: &Range<usize>, path: &mut Vec<String>) -> bool {
    value.span() == *span
        || match value.get_ref() {
            DeValue::Table(table) => found(table, span, path),
            DeValue::Array(items) => items.iter().any(|item| is_at(item, span, path)),
            _ => false,
        }
}
