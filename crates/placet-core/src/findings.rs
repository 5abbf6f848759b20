//! Findings: what inspection found in a call, once, when it was proposed. The journal stores them with the verdict, and every surface
//! renders from the row.
//!
//! Most of what is found are parts of the arguments, which the same row holds. [`StoredFindings`] keeps such a text as its place in the
//! arguments (`[start, bytes]`), so that a row does not hold the same text twice.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::analysis::{Act, Analysis, Location};
use crate::call::Args;
use crate::verdict::Verdict;

/// Shorter texts are stored as they are: a place would be as long.
const PLACE_BYTES_MIN: usize = 12;
/// In longer arguments no places are looked for: each text found would cost a search through all of them.
const SEARCHED_BYTES_MAX: usize = 64 * 1024;

/// What was found in a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// What the call would do.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// The shell lines among its arguments, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// What it comes to, where that has a name. Absent in rows of versions that did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<Box<Act>>,
    /// Where it would work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Box<Location>>,
}

/// Findings as the journal stores them. They are read with the arguments of the same row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredFindings(Map<String, Value>);

/// What policy said about the arguments that a person changed a call to, and what they were found to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// What policy said.
    pub verdict: Verdict,
    /// What was found.
    pub findings: Findings,
}

/// Stored findings do not fit their arguments, or are not findings at all.
#[derive(Debug, thiserror::Error)]
#[error("the findings of a call cannot be read: {0}")]
pub struct FindingsError(String);

impl Findings {
    /// Nothing found.
    pub const fn nothing() -> Self {
        Self {
            analysis: Analysis::nothing(),
            lines: Vec::new(),
            act: None,
            location: None,
        }
    }

    /// As the journal stores them, beside these arguments.
    pub fn stored(&self, args: &Args) -> StoredFindings {
        // Nothing in findings fails to become JSON. If it did, an empty map would claim that nothing was found; null is refused when read.
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let texts = texts(args);
        if texts.len() <= SEARCHED_BYTES_MAX {
            refer(&mut value, &texts);
        }
        match value {
            Value::Object(fields) => StoredFindings(fields),
            other => StoredFindings(Map::from_iter([("facts".to_owned(), other)])),
        }
    }
}

impl StoredFindings {
    /// The findings, with the texts of the arguments they were stored beside.
    pub fn read(&self, args: &Args) -> Result<Findings, FindingsError> {
        let mut value = Value::Object(self.0.clone());
        resolve(&mut value, &texts(args))?;
        serde_json::from_value(value).map_err(|error| FindingsError(error.to_string()))
    }

    /// The same as JSON for readers, with every text in its place; as stored when it cannot be read.
    pub fn readable(&self, args: &Args) -> Value {
        let mut value = Value::Object(self.0.clone());
        match resolve(&mut value, &texts(args)) {
            Ok(()) => value,
            Err(_) => Value::Object(self.0.clone()),
        }
    }
}

/// Every text among the arguments, in the order of their names, one after the other.
fn texts(args: &Args) -> String {
    fn gather(value: &Value, all: &mut String) {
        match value {
            Value::String(text) => {
                all.push_str(text);
                all.push('\n');
            }
            Value::Array(items) => items.iter().for_each(|item| gather(item, all)),
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_unstable_by_key(|(name, _)| *name);
                for (_, value) in fields {
                    gather(value, all);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut all = String::new();
    gather(args.as_value(), &mut all);
    all
}

/// Replaces every text that stands in `texts` by its place. No list of findings holds numbers, so a place is not taken for one.
fn refer(value: &mut Value, texts: &str) {
    match value {
        Value::String(text) if text.len() >= PLACE_BYTES_MIN => {
            if let Some(start) = texts.find(text.as_str()) {
                *value = Value::from(vec![start, text.len()]);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, texts)),
        Value::Object(fields) => fields.values_mut().for_each(|value| refer(value, texts)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn resolve(value: &mut Value, texts: &str) -> Result<(), FindingsError> {
    match value {
        Value::Array(items) => {
            let [Value::Number(start), Value::Number(bytes)] = items.as_slice() else {
                return items.iter_mut().try_for_each(|item| resolve(item, texts));
            };
            let text = place(start.as_u64(), bytes.as_u64())
                .and_then(|(start, end)| texts.get(start..end))
                .ok_or_else(|| FindingsError(format!("the arguments have no text at {start}, {bytes}")))?;
            *value = Value::from(text);
            Ok(())
        }
        Value::Object(fields) => fields.values_mut().try_for_each(|value| resolve(value, texts)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn place(start: Option<u64>, bytes: Option<u64>) -> Option<(usize, usize)> {
    let start = usize::try_from(start?).ok()?;
    Some((start, start.checked_add(usize::try_from(bytes?).ok()?)?))
}
