//! A call in a few words: the tool, and of its arguments first what says where it acts.

use std::borrow::Cow;

use placet_core::call::Args;
use placet_core::canonical;
use placet_core::ids::ToolName;
use placet_core::render::mask;
use placet_core::variables::Variables;
use serde_json::{Map, Value};

/// Longer arguments are cut in a sentence; the row has them all.
const CHARS_MAX: usize = 100;

/// The arguments that say where a call acts. A long text beside them must not push them out of the sentence.
const TELLING: [&str; 5] = ["path", "file_path", "command", "url", "sql"];

/// The tool and its arguments.
pub(super) fn call(tool: &ToolName, args: &Args) -> String {
    format!("{tool} {}", self::args(args))
}

/// Arguments, secrets masked: the only one as it is, several as JSON.
pub(super) fn args(args: &Args) -> String {
    let masked = mask::json(args.as_value());
    let text = match masked.as_object() {
        Some(fields) => match only(fields) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(object(fields)),
        },
        None => Cow::Owned(canonical::to_string(&masked)),
    };
    format!("`{}`", cut(&text))
}

/// A text of a person or the model, secrets masked.
pub(super) fn text(text: &str) -> String {
    cut(&mask::text(text))
}

/// Variables that differ, with both values, secrets masked.
pub(super) fn changes(before: &Variables, after: &Variables) -> String {
    let masked = |variables: &Variables| mask::json(&Value::Object(variables.clone()));
    let (before, after) = (masked(before), masked(after));
    let changed = after.as_object().into_iter().flatten();
    let changed = changed.filter(|(name, value)| before.get(*name) != Some(*value));
    let changed: Vec<String> = changed
        .map(|(name, value)| {
            let old = before.get(name).unwrap_or(&Value::Null);
            format!(
                "`{name}` {} → {}",
                canonical::to_string(old),
                canonical::to_string(value)
            )
        })
        .collect();
    cut(&changed.join(", "))
}

fn only(fields: &Map<String, Value>) -> Option<&str> {
    let mut values = fields.values();
    match (values.next(), values.next()) {
        (Some(value), None) => value.as_str(),
        _ => None,
    }
}

/// An object as canonical JSON, except that what is telling comes first.
fn object(fields: &Map<String, Value>) -> String {
    let mut names: Vec<&String> = fields.keys().collect();
    names.sort_by_key(|name| {
        let rank = TELLING.iter().position(|telling| telling == name);
        (rank.unwrap_or(TELLING.len()), name.as_str())
    });
    let fields: Vec<String> = names
        .into_iter()
        .filter_map(|name| {
            let (key, value) = (Value::from(name.as_str()), fields.get(name)?);
            Some(format!("{key}:{}", canonical::to_string(value)))
        })
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!(
            "{}… ({} characters)",
            text.get(..end).unwrap_or_default(),
            text.chars().count()
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(given: Value, expected: &str) {
        assert_eq!(args(&Args::from_value(given).unwrap()), expected);
    }

    #[test]
    fn the_path_of_a_write_is_told_however_long_its_content_is() {
        let long = "x".repeat(500);
        let told = args(&Args::from_value(json!({ "content": long, "path": "shop.toml" })).unwrap());
        assert!(
            told.starts_with(r#"`{"path":"shop.toml","content":"xxx"#),
            "{told}"
        );
        assert!(told.ends_with("… (533 characters)`"), "{told}");
    }

    #[test]
    fn the_only_argument_is_told_as_it_is_and_several_in_a_fixed_order() {
        check(json!({ "command": "ls -l" }), "`ls -l`");
        check(
            json!({ "b": 1, "a": 2, "sql": "SELECT 1" }),
            r#"`{"sql":"SELECT 1","a":2,"b":1}`"#,
        );
        check(json!({}), "`{}`");
    }
}
