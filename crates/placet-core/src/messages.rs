//! The sentences that people read, in each language.
//!
//! They are data: `messages/` at the root of the repository has a folder per language with the same files, tables and keys. An id is
//! `table.key`. The build checks that every language has every sentence with the same parameters, and makes a function of each, so that
//! a sentence that does not exist, or a parameter that is missing or of the wrong kind, does not compile:
//!
//! ```
//! use placet_core::messages::{Locale, answered};
//!
//! assert_eq!(answered::counted(2_u32).say(Locale::English), "Approved. Waiting for 2 more.");
//! ```
//!
//! In a sentence `{name}` stands for a text, `{count:number}`, `{left:duration}`, `{names:list}` and `{why:message}` for other kinds,
//! `{count|row|rows}` for a word that goes with a number, and `{table.*}` for the sentence of another table.
//!
//! The sentences of `codes.toml` are found by a value instead ([`Message::of`]): serde writes it as a map in which the table's name is its
//! code and the other fields are the parameters (`{"sql": "no_condition", "verb": "DELETE"}`). The sentence `_` of a table is for codes that
//! have none of their own.

mod format;
mod locale;
mod render;
#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::time::Millis;
pub use catalogue::*;

#[expect(
    clippy::needless_pass_by_value,
    reason = "generated; parameters are taken by value so that callers need no borrows"
)]
mod catalogue {
    //! What the build makes of `messages/`.
    use super::render::{Kind, Language, Piece};
    use super::{Message, Millis};

    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

/// A sentence with its parameters, in no language yet. Tests compare messages; surfaces say them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    id: Cow<'static, str>,
    parameters: Map<String, Value>,
}

impl Message {
    /// The sentence of `table` for a value that is a code, alone (`"read"`) or with parameters (`{"sql": "no_condition", …}`). Where the table
    /// has no such sentence, code and parameters are said: a reason is never hidden.
    pub fn of(table: &str, value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or_else(|error| Value::String(error.to_string()));
        let parameters = match value {
            Value::Object(parameters) => parameters,
            code => Map::from_iter([(table.to_owned(), code)]),
        };
        let code = parameters.get(table).and_then(Value::as_str);
        Self {
            id: Cow::Owned(format!("{table}.{}", code.unwrap_or_default())),
            parameters,
        }
    }

    /// `table.key`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its parameters, by name.
    pub const fn parameters(&self) -> &Map<String, Value> {
        &self.parameters
    }

    /// The sentence in a language.
    pub fn say(&self, locale: Locale) -> String {
        render::said(locale, &self.id, &self.parameters)
    }

    fn new(id: &'static str) -> Self {
        Self {
            id: Cow::Borrowed(id),
            parameters: Map::new(),
        }
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.parameters.insert(name.to_owned(), value);
        self
    }

    fn text(self, name: &str, text: &dyn fmt::Display) -> Self {
        self.with(name, text.to_string().into())
    }

    fn number(self, name: &str, number: Option<u64>) -> Self {
        self.with(name, number.unwrap_or(u64::MAX).into())
    }

    fn duration(self, name: &str, duration: Millis) -> Self {
        self.with(name, duration.get().into())
    }

    fn list(self, name: &str, items: impl IntoIterator<Item: fmt::Display>) -> Self {
        let items = items.into_iter().map(|item| item.to_string());
        self.with(name, items.collect())
    }

    fn message(self, name: &str, message: &Self) -> Self {
        self.with(name, serde_json::to_value(message).unwrap_or_default())
    }
}

/// In English: for logs, and for programs that read errors.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(Locale::English))
    }
}

/// What people are told about, such as an error.
pub trait Explain {
    /// What to say about it.
    fn message(&self) -> Message;
}

/// `Display` of a type that has a message: the message in English.
#[macro_export]
macro_rules! display_in_english {
    ($($type:ty),+ $(,)?) => {$(
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&$crate::messages::Explain::message(self), f)
            }
        }
    )+};
}

/// The words of a list that people type, in every language: whatever language they read, the words of each count.
pub fn words(id: &str) -> impl Iterator<Item = &'static str> {
    render::words(id)
}

/// `a, b or c`, as the language writes it.
pub fn any_of(locale: Locale, items: &[String]) -> String {
    format::any_of(locale, items)
}

/// `a, b and c`, as the language writes it.
pub fn all_of(locale: Locale, items: &[String]) -> String {
    format::list(locale, items)
}

/// Names one after another, without a word before the last.
pub fn enumerated(locale: Locale, items: &[String]) -> String {
    items.join(text(locale, "format.separator").unwrap_or(", "))
}

/// What stands between a label and its value.
pub fn colon(locale: Locale) -> &'static str {
    text(locale, "format.colon").unwrap_or(": ")
}

/// A sentence without parameters, by its id.
pub fn text(locale: Locale, id: &str) -> Option<&'static str> {
    render::text(locale, id)
}

/// The sentences whose ids begin with `prefix`, as they stand in the catalogue: for the web inbox, which fills in parameters itself.
pub fn templates(locale: Locale, prefix: &str) -> impl Iterator<Item = (&'static str, String)> {
    render::templates(locale, prefix)
}
