//! Secrets that people give as answers, as the journal stores them: sealed texts, which only a process with the key opens.
//!
//! Core knows what a sealed text looks like and refuses to store such an answer in the clear; the engine seals and opens.

use std::ops::Range;

use serde_json::{Map, Value};

/// How a sealed text begins. Hexadecimal digits follow.
pub const PREFIX: &str = "sealed_v1_";

/// Whether a text is sealed, as a whole.
pub fn is_sealed(text: &str) -> bool {
    next_in(text).is_some_and(|found| found == (0..text.len()))
}

/// Whether everything in an answer's data is sealed.
pub fn is_all_sealed(data: &Map<String, Value>) -> bool {
    fn sealed(value: &Value) -> bool {
        match value {
            Value::String(text) => is_sealed(text),
            Value::Array(items) => items.iter().all(sealed),
            Value::Object(fields) => fields.values().all(sealed),
            Value::Null => true,
            Value::Bool(_) | Value::Number(_) => false,
        }
    }
    data.values().all(sealed)
}

/// The first sealed text in a text.
pub fn next_in(text: &str) -> Option<Range<usize>> {
    let start = text.find(PREFIX)?;
    let digits = start + PREFIX.len();
    let rest = text.get(digits..)?;
    let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    (length > 0).then_some(start..digits + length)
}

/// Whether a JSON Schema describes a secret: something in it is `writeOnly`, or of the format `password`.
pub(crate) fn is_secret_schema(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.get("writeOnly") == Some(&Value::Bool(true))
                || fields.get("format").and_then(Value::as_str) == Some("password")
                || fields.values().any(is_secret_schema)
        }
        Value::Array(items) => items.iter().any(is_secret_schema),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sealed_text_is_found_whole_and_nothing_else_passes_for_one() {
        assert!(is_sealed("sealed_v1_00ff"));
        for other in [
            "",
            "sealed_v1_",
            "sealed_v1_zz",
            "x sealed_v1_00ff",
            "sealed_v1_00ff x",
        ] {
            assert!(!is_sealed(other), "{other}");
        }
        assert_eq!(next_in("key: sealed_v1_0a, twice"), Some(5..17));
        let data = |value: Value| value.as_object().cloned().unwrap();
        assert!(is_all_sealed(&data(
            json!({"a": "sealed_v1_00", "b": ["sealed_v1_01"], "c": null})
        )));
        assert!(!is_all_sealed(&data(json!({"a": "sealed_v1_00", "pin": 1234}))));
    }
}
