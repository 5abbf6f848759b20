//! A journal row in words, field by field.

use placet_core::journal::Event;
use placet_core::render::{SafeText, mask};
use serde_json::Value;

/// Every field of an event on a line of its own: `verdict.reason: …`. Safe, secrets masked.
pub(super) fn details(event: &Event) -> Vec<(SafeText, SafeText)> {
    let mut lines = Vec::new();
    let value = mask::json(&event.readable());
    flatten("", &value, &mut lines);
    lines.retain(|(name, _)| name.as_str() != "type");
    lines
}

fn flatten(name: &str, value: &Value, lines: &mut Vec<(SafeText, SafeText)>) {
    let below = |key: &str| {
        if name.is_empty() {
            key.to_owned()
        } else {
            format!("{name}.{key}")
        }
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                flatten(&below(key), value, lines);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&below(&index.to_string()), item, lines);
            }
        }
        Value::String(text) => lines.push((SafeText::line(name), SafeText::code_line(text))),
        other => lines.push((SafeText::line(name), SafeText::code_line(&other.to_string()))),
    }
}
