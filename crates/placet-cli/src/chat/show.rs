//! Calls and their results as short lines. The question shows all of a call; here it only says which one it is.

use placet_channels::terminal::line::{Line, Role};
use placet_core::interaction::Locale;
use placet_core::render::{SafeText, mask};
use serde_json::Value;
use unicode_width::UnicodeWidthChar as _;

use super::words;

/// The arguments that say most of a call, in this order.
const TELLING: [&str; 9] = [
    "command",
    "path",
    "url",
    "sql",
    "pattern",
    "query",
    "title",
    "description",
    "name",
];
/// The fields that say most of why a call did not run, in this order.
const REASONS: [&str; 4] = ["reason", "feedback", "explanation", "outcome"];

/// What the person said.
pub(super) fn said(message: &str) -> Vec<Line> {
    let text = SafeText::block(message);
    let rows = text.as_str().split('\n').enumerate();
    rows.map(|(n, row)| {
        let mark = if n == 0 { "› " } else { "  " };
        Line::new(Role::Key, mark).and(Role::Strong, row)
    })
    .collect()
}

/// A call, on one line.
pub(super) fn call(tool: &str, args: &Value, cols: usize) -> Line {
    let telling = TELLING
        .iter()
        .find_map(|name| Some((*name, args.get(name)?.as_str()?)));
    let what = match telling {
        Some(("command", line)) => mask::command(line).into_owned(),
        Some((_, text)) => mask::text(text).into_owned(),
        None if args.as_object().is_some_and(serde_json::Map::is_empty) => String::new(),
        None => mask::json(args).to_string(),
    };
    let tool = SafeText::line(tool);
    let head = format!("● {tool} ");
    let what = SafeText::code_line(&what);
    let room = cols.saturating_sub(Line::new(Role::Plain, head.as_str()).width());
    Line::new(Role::Strong, head).and(Role::Plain, cut(what.as_str(), room))
}

/// What became of a call, on one line.
pub(super) fn result(ok: bool, output: &Value, cols: usize, locale: Locale) -> Line {
    let said = match output {
        Value::String(text) => text.clone(),
        other => REASONS
            .iter()
            .find_map(|name| other.get(name)?.as_str())
            .map_or_else(|| other.to_string(), str::to_owned),
    };
    let said = mask::text(said.trim()).into_owned();
    let mut lines = said.lines();
    let first = lines.next().unwrap_or_else(|| words::no_output(locale));
    let more = match lines.count() {
        0 => String::new(),
        more => words::more_lines(more, locale),
    };
    let (mark, role) = if ok {
        ("  ✔ ", Role::Added)
    } else {
        ("  ✘ ", Role::Caution)
    };
    let room = cols.saturating_sub(4 + Line::new(Role::Plain, more.as_str()).width());
    Line::new(role, mark)
        .and(Role::Faint, cut(SafeText::line(first).as_str(), room))
        .and(Role::Faint, more)
}

/// As much as fits, and a mark where something is left out.
fn cut(text: &str, cols: usize) -> String {
    let width = |c: char| c.width().unwrap_or(0);
    if text.chars().map(width).sum::<usize>() <= cols {
        return text.to_owned();
    }
    let mut used = 1;
    let fitting = text.chars().take_while(|c| {
        used += width(*c);
        used <= cols
    });
    let mut shown: String = fitting.collect();
    shown.push('…');
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_named_by_what_says_most_of_it_and_secrets_are_masked() {
        let line = |tool, args: Value| call(tool, &args, 40).text();
        assert_eq!(
            line("bash", json!({ "command": "ls -l", "timeout": 3 })),
            "● bash ls -l"
        );
        assert_eq!(line("todo", json!({})), "● todo ");
        assert_eq!(
            line("deploy", json!({ "to": "staging" })),
            r#"● deploy {"to":"staging"}"#
        );
        assert_eq!(
            line("read", json!({ "path": "一".repeat(40) })).chars().count(),
            7 + 16 + 1
        );
        let secret = line(
            "bash",
            json!({ "command": "curl -H 'Authorization: Bearer sk-abcdefghijklmnop' x" }),
        );
        assert!(!secret.contains("abcdefghijklmnop"), "{secret}");
    }

    #[test]
    fn a_result_is_its_first_line_and_how_many_more_there_are() {
        let line = |ok, output: Value| result(ok, &output, 60, Locale::English).text();
        assert_eq!(line(true, json!("a\nb\nc\n")), "  ✔ a (+2 lines)");
        assert_eq!(
            line(
                false,
                json!({ "outcome": "rejected_by_person", "reason": "keep it" })
            ),
            "  ✘ keep it"
        );
        assert_eq!(
            line(false, json!({ "outcome": "skipped_by_person" })),
            "  ✘ skipped_by_person"
        );
        assert_eq!(line(true, json!("\u{1b}[2Jgone")), "  ✔ ⟦ESC⟧[2Jgone");
    }
}
