//! What the sentences of the log say of a call, of a text and of variables.

use placet_core::call::Args;
use placet_core::canonical;
use placet_core::findings::Findings;
use placet_core::ids::ToolName;
use placet_core::interaction::Locale;
use placet_core::render::{self, GistOf, mask};
use placet_core::variables::Variables;
use serde_json::Value;

/// Longer texts are cut in a sentence; the row has them all.
const CHARS_MAX: usize = 100;

/// What a call would do, as every surface says it. Evidence is not part of it: the log knows what was proposed.
pub(super) fn call(tool: &ToolName, args: &Args, findings: Option<&Findings>, locale: Locale) -> String {
    let of = GistOf {
        tool: tool.as_str(),
        args,
        findings,
        evidence: &[],
    };
    render::gist(&of, locale).to_string()
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
