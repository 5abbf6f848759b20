//! The sentences that people read, in each language.
//!
//! They are data: `messages/en.toml` and `messages/zh.toml` at the root of the repository, one table per kind of thing that is said, one
//! sentence per code. A value knows its own sentence: serde writes it as a map in which the table's name is its code and the other fields
//! are the parameters (`{"sql": "no_condition", "verb": "DELETE"}`), so that a new variant needs a line in each file and no code.
//!
//! In a sentence `{verb}` stands for a parameter, and `{deed.*}` for the sentence of the table `deed` that the parameter `deed` names.
//! The sentence `_` of a table is for codes that have none of their own.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::interaction::Locale;

/// By table and code.
type Sentences = BTreeMap<String, BTreeMap<String, String>>;

static ENGLISH: LazyLock<Sentences> = LazyLock::new(|| parse(include_str!("../../../messages/en.toml")));
static CHINESE: LazyLock<Sentences> = LazyLock::new(|| parse(include_str!("../../../messages/zh.toml")));

/// A build whose own files do not parse shows codes instead of sentences. A test parses them.
fn parse(toml: &str) -> Sentences {
    toml::from_str(toml).unwrap_or_default()
}

fn sentences(locale: Locale) -> &'static Sentences {
    match locale {
        Locale::English => &ENGLISH,
        Locale::Chinese => &CHINESE,
    }
}

/// The sentence of `table` for `value`. Without one, its code and parameters are shown: a reason is never hidden.
pub fn say(locale: Locale, table: &str, value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::Object(parameters)) => sentence(locale, table, &parameters),
        Ok(other) => format!("{table}: {other}"),
        Err(error) => format!("{table}: {error}"),
    }
}

fn sentence(locale: Locale, table: &str, parameters: &Map<String, Value>) -> String {
    let own = |code: &Value| {
        let table = sentences(locale).get(table)?;
        table.get(code.as_str()?).or_else(|| table.get("_"))
    };
    let Some(mut rest) = parameters.get(table).and_then(own).map(String::as_str) else {
        return Value::Object(parameters.clone()).to_string();
    };
    let mut said = String::new();
    while let Some((before, name, after)) = placeholder(rest) {
        said += before;
        match (name.strip_suffix(".*"), parameters.get(name)) {
            (Some(table), _) => said += &sentence(locale, table, parameters),
            (None, Some(Value::String(text))) => said += text,
            (None, Some(value)) => said += &value.to_string(),
            (None, None) => said += name,
        }
        rest = after;
    }
    said + rest
}

/// The first `{name}` or `{table.*}`, with what stands before and after it. Other braces (`${…}`) are text.
fn placeholder(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('{').find_map(|(start, _)| {
        let (name, after) = text.get(start + 1..)?.split_once('}')?;
        let letters = name.strip_suffix(".*").unwrap_or(name);
        let is_name = !letters.is_empty() && letters.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        is_name.then_some((text.get(..start)?, name, after))
    })
}
