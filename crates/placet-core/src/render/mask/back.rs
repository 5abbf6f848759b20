//! Unmasking: the arguments meant by an edit of masked ones.
//!
//! A mask they left is the secret it stands for, as long as it can stand for one only. Two secrets may look alike once they
//! are masked, and then it is ambiguous which of them an edit kept: the edit is refused, rather than run with the wrong one. So is a
//! mask that stands for nothing, which would run as if it were the secret.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value};

use super::{mask, masked, secrets_in_field};
use crate::call::{Args, ArgsError};
use crate::messages::{Explain, Message, arguments};

/// What every mask ends with.
const END: &str = "-chars-masked]";

/// Why edited arguments cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditError {
    /// Not arguments.
    Args(ArgsError),
    /// A value still holds a mask, and which secret it stands for cannot be told.
    Masked(String),
}

impl From<ArgsError> for EditError {
    fn from(error: ArgsError) -> Self {
        Self::Args(error)
    }
}

impl Explain for EditError {
    fn message(&self) -> Message {
        match self {
            Self::Args(error) => error.message(),
            Self::Masked(name) => arguments::masked(name),
        }
    }
}

impl std::error::Error for EditError {}
crate::display_in_english!(EditError);

/// The arguments a person means: their edit of what [`json`](super::json) showed them, with the secrets put back.
pub fn put_back(edited: &Args, original: &Args) -> Result<Args, EditError> {
    let meant = meant(edited.as_value(), original.as_value(), None)?;
    Ok(Args::from_value(meant)?)
}

fn meant(edited: &Value, original: &Value, name: Option<&str>) -> Result<Value, EditError> {
    if *edited == masked(original, name) {
        return Ok(original.clone());
    }
    match (edited, original) {
        (Value::Object(fields), Value::Object(before)) => {
            let field = |(name, value): (&String, &Value)| {
                let value = match before.get(name) {
                    Some(before) => meant(value, before, Some(name))?,
                    None => Secrets::default().in_field(name, value)?,
                };
                Ok((name.clone(), value))
            };
            let fields: Result<Map<_, _>, EditError> = fields.iter().map(field).collect();
            fields.map(Value::Object)
        }
        (Value::Array(items), Value::Array(before)) if masked_items_stayed(items, before, name) => {
            let items = items.iter().zip(before);
            items.map(|(item, before)| meant(item, before, name)).collect()
        }
        _ => Secrets::of(original, name).put_into(edited, name.unwrap_or_default()),
    }
}

/// Whether every item with a mask is where and what it was; only then does its place say which secret it has.
fn masked_items_stayed(items: &[Value], before: &[Value], name: Option<&str>) -> bool {
    let stayed = |(item, before): (&Value, &Value)| {
        let shown = masked(before, name);
        shown == *before || *item == shown
    };
    items.len() == before.len() && items.iter().zip(before).all(stayed)
}

/// What the masks of a value stand for, by the mask.
#[derive(Default)]
struct Secrets(BTreeMap<String, Stands>);

enum Stands {
    /// For this and nothing else.
    For(String),
    /// For one secret here and for another there.
    ForSeveral,
}

impl Secrets {
    fn of(original: &Value, name: Option<&str>) -> Self {
        let mut secrets = Self::default();
        secrets.learn_value(original, name);
        secrets
    }

    fn learn_value(&mut self, original: &Value, name: Option<&str>) {
        match original {
            Value::String(text) => self.learn_text(text, name),
            Value::Array(items) => items.iter().for_each(|item| self.learn_value(item, name)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.learn_value(value, Some(name));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn learn_text(&mut self, text: &str, name: Option<&str>) {
        let (mut shown, mut done, mut made) = (String::new(), 0, Vec::new());
        for range in secrets_in_field(text, name) {
            let (Some(before), Some(secret)) = (text.get(done..range.start), text.get(range.clone())) else {
                continue;
            };
            shown.push_str(before);
            let (start, mask) = (shown.len(), mask(secret));
            shown.push_str(&mask);
            made.push(start..shown.len());
            self.learn(&mask, secret);
            done = range.end;
        }
        shown.push_str(text.get(done..).unwrap_or_default());
        // What was written like a mask is what it says, and makes a mask that looks the same unclear.
        for found in masks(&shown).filter(|found| !made.contains(found)) {
            let written = shown.get(found).unwrap_or_default();
            self.learn(written, written);
        }
    }

    fn learn(&mut self, mask: &str, secret: &str) {
        let stands = match self.0.get(mask) {
            Some(Stands::For(known)) if known == secret => return,
            Some(_) => Stands::ForSeveral,
            None => Stands::For(secret.to_owned()),
        };
        self.0.insert(mask.to_owned(), stands);
    }

    fn put_into(&self, edited: &Value, name: &str) -> Result<Value, EditError> {
        match edited {
            Value::String(text) => {
                let text = self.put_into_text(text);
                text.map(Value::String)
                    .ok_or_else(|| EditError::Masked(name.to_owned()))
            }
            Value::Array(items) => items.iter().map(|item| self.put_into(item, name)).collect(),
            Value::Object(fields) => {
                let field =
                    |(name, value): (&String, &Value)| Ok((name.clone(), self.in_field(name, value)?));
                let fields: Result<Map<_, _>, EditError> = fields.iter().map(field).collect();
                fields.map(Value::Object)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(edited.clone()),
        }
    }

    /// The value of a field that was not there before. Names are never masked, so a mask in one stands for nothing.
    fn in_field(&self, name: &str, value: &Value) -> Result<Value, EditError> {
        match masks(name).next() {
            Some(_) => Err(EditError::Masked(name.to_owned())),
            None => self.put_into(value, name),
        }
    }

    fn put_into_text(&self, text: &str) -> Option<String> {
        let (mut meant, mut done) = (String::new(), 0);
        for found in masks(text) {
            meant.push_str(text.get(done..found.start)?);
            match self.0.get(text.get(found.clone())?)? {
                Stands::For(secret) => meant.push_str(secret),
                Stands::ForSeveral => return None,
            }
            done = found.end;
        }
        meant.push_str(text.get(done..)?);
        Some(meant)
    }
}

/// Where the masks are in a text, and what is left of damaged ones.
pub(super) fn masks(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices(END).map(|(at, end)| {
        let start = text.get(..at).and_then(mask_start);
        start.unwrap_or(at)..at + end.len()
    })
}

/// Where the mask begins whose length is what `before` ends with.
fn mask_start(before: &str) -> Option<usize> {
    let rest = before.trim_end_matches(|c: char| c.is_ascii_digit());
    let length: usize = before.get(rest.len()..)?.parse().ok()?;
    let start = rest.strip_suffix("...[")?;
    match super::kept(length) {
        0 => Some(start.len()),
        kept => start.char_indices().nth_back(kept - 1).map(|(at, _)| at),
    }
}

#[cfg(test)]
mod tests;
