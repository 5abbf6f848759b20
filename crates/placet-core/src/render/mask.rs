//! Secrets are masked before anything is shown, without hiding what would happen.
//!
//! A mask keeps up to four characters and the length: `ghp_...[40-chars-masked]`, which is itself one word. It covers one value: never more than one
//! word of a shell line or one JSON string, and never the program, a flag, a path or a host (a mask that hid the command
//! itself is how Claude Code 2.1.234 came to be fixed). When in doubt the text stays: a leaked guess is bad, a hidden
//! `rm -rf` is worse. Digests bind the original; only eyes see the mask.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

mod back;
mod find;
mod shape;

pub use back::{EditError, put_back};

/// What a text is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A shell line: where a program's name stands, nothing is masked.
    Shell,
    /// Anything else.
    Text,
}

/// Masks the secrets in a shell line. What stands where a program's name stands is never masked.
pub fn command(line: &str) -> Cow<'_, str> {
    replace(line, find::secrets(line, Kind::Shell))
}

/// Masks the secrets in any other text.
pub fn text(text: &str) -> Cow<'_, str> {
    replace(text, find::secrets(text, Kind::Text))
}

/// Masks the secrets in a JSON value: by the names of fields, and by their shape in every text.
pub fn json(value: &Value) -> Value {
    masked(value, None)
}

fn masked(value: &Value, name: Option<&str>) -> Value {
    match value {
        Value::String(text) => Value::from(replace(text, secrets_in_field(text, name))),
        Value::Array(items) => items.iter().map(|item| masked(item, name)).collect(),
        Value::Object(fields) => {
            let fields: Map<_, _> = fields
                .iter()
                .map(|(name, value)| (name.clone(), masked(value, Some(name))))
                .collect();
            Value::from(fields)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The secrets in the text of a field, or of a list under its name.
fn secrets_in_field(text: &str, name: Option<&str>) -> Vec<Range<usize>> {
    match name {
        Some(name) if shape::is_secret_name(name) && shape::may_be_secret(text) => {
            std::iter::once(0..text.len()).collect()
        }
        Some(name) if is_command_name(name) => find::secrets(text, Kind::Shell),
        _ => find::secrets(text, Kind::Text),
    }
}

/// The usual names of arguments that hold a shell line.
fn is_command_name(name: &str) -> bool {
    matches!(name, "command" | "cmd" | "script" | "shell_command")
}

fn replace(text: &str, secrets: Vec<Range<usize>>) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for secret in secrets {
        if let (Some(before), Some(inner)) = (text.get(done..secret.start), text.get(secret.clone())) {
            out.push_str(before);
            out.push_str(&mask(inner));
            done = secret.end;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// The mask of one secret. A quarter of a short one would be most of it, so short ones show less.
fn mask(secret: &str) -> String {
    let length = secret.chars().count();
    let start: String = secret.chars().take(kept(length)).collect();
    format!("{start}...[{length}-chars-masked]")
}

/// How many characters a mask shows of a secret.
fn kept(length: usize) -> usize {
    (length / 4).min(4)
}

#[cfg(test)]
mod tests;
