//! Calls and their results as short lines. The question shows all of a call; here it only says which one it is.

use placet_channels::terminal::line::{Line, SpanStyle};
use placet_core::analysis::FixedPlaces;
use placet_core::call::Args;
use placet_core::ids::ToolName;
use placet_core::interaction::Locale;
use placet_core::messages::{self, talk};
use placet_core::render::{self, GistOf, SafeText, mask};
use placet_core::tool::Tool;
use serde_json::Value;
use unicode_width::UnicodeWidthChar as _;

use super::words;

/// What the approver said about a call that did not run.
const REASONS: [&str; 2] = ["reason", "feedback"];

/// What the person said.
pub(super) fn said(message: &str) -> Vec<Line> {
    let text = SafeText::block(message);
    let rows = text.as_str().split('\n').enumerate();
    rows.map(|(n, row)| {
        let mark = if n == 0 { "› " } else { "  " };
        Line::new(SpanStyle::Key, mark).and(SpanStyle::Strong, row)
    })
    .collect()
}

/// What a call does, as its question would say it. It was not received yet, so it is looked into here.
fn gist(tool: &str, args: &Value, locale: Locale) -> String {
    let name = ToolName::new(tool).ok();
    let Some((name, args)) = name.zip(Args::from_value(args.clone()).ok()) else {
        return SafeText::line(tool).to_string();
    };
    let described = Tool::builtin(&name).unwrap_or_else(|| Tool::unknown(name));
    let findings = placet_inspect::builtin().inspect(&described, &args, &FixedPlaces::of_examples());
    let of = GistOf {
        tool,
        args: &args,
        findings: Some(&findings),
        evidence: &[],
    };
    render::gist(&of, locale).to_string()
}

/// A call, on one line.
pub(super) fn call(tool: &str, args: &Value, cols: usize, locale: Locale) -> Line {
    let head = "● ";
    let room = cols.saturating_sub(Line::new(SpanStyle::Plain, head).width());
    Line::new(SpanStyle::Strong, head).and(SpanStyle::Plain, cut(&gist(tool, args, locale), room))
}

/// A call that is named beside something else that is said of it.
pub(super) fn named(tool: &str, args: &Value, cols: usize, locale: Locale) -> String {
    cut(&gist(tool, args, locale), cols / 2)
}

/// The first sentence of a text. A dot within a word ends none.
pub(super) fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.find(". ") {
        Some(dot) => line.get(..=dot).unwrap_or(line),
        None => line,
    }
}

/// Why a call did not run, in words: its outcome, and what the approver said.
fn reason(output: &Value, locale: Locale) -> String {
    let text = |name: &str| output.get(name).and_then(Value::as_str);
    let outcome = text("outcome").map(|code| {
        let known = words::outcome(code).map(|message| message.say(locale));
        known.unwrap_or_else(|| code.to_owned())
    });
    let said = REASONS.iter().find_map(|name| text(name));
    match (outcome, said, text("explanation")) {
        (Some(outcome), Some(said), _) => format!("{outcome}{}{said}", messages::colon(locale)),
        // The explanation is for the model, and in English.
        (_, None, Some(explained)) if locale == Locale::English => explained.to_owned(),
        (Some(outcome), None, _) => outcome,
        (None, Some(said), _) => said.to_owned(),
        (None, None, explained) => explained.map_or_else(|| output.to_string(), str::to_owned),
    }
}

/// What became of a call, on one line; which one is said where it does not stand below it.
pub(super) fn result(name: Option<&str>, ok: bool, output: &Value, cols: usize, locale: Locale) -> Line {
    let said = match output {
        Value::String(text) => text.clone(),
        other => reason(other, locale),
    };
    let said = mask::text(said.trim()).into_owned();
    let mut lines = said.lines();
    let done = talk::done().say(locale);
    let first = lines.next().unwrap_or(&done);
    let more = match lines.count() {
        0 => String::new(),
        more => talk::more_lines(more).say(locale),
    };
    let (mark, role) = if ok {
        ("  ✔ ", SpanStyle::Added)
    } else {
        ("  ✘ ", SpanStyle::Caution)
    };
    let name = name.map(|name| format!("{name} · ")).unwrap_or_default();
    let taken = Line::new(SpanStyle::Plain, more.as_str()).width()
        + Line::new(SpanStyle::Plain, name.as_str()).width();
    let room = cols.saturating_sub(4 + taken);
    Line::new(role, mark)
        .and(SpanStyle::Plain, name)
        .and(SpanStyle::Faint, cut(SafeText::line(first).as_str(), room))
        .and(SpanStyle::Faint, more)
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
    fn a_call_is_named_by_what_it_does_and_secrets_are_masked() {
        let line = |tool, args: Value| call(tool, &args, 60, Locale::English).text();
        assert_eq!(
            line("bash", json!({ "command": "ls -l", "timeout": 3 })),
            "● Run `ls -l`"
        );
        assert_eq!(
            line("bash", json!({ "command": "rm -rf build" })),
            "● Delete `build`"
        );
        assert_eq!(line("todo", json!({})), "● Run `todo`");
        assert_eq!(
            line(
                "deploy",
                json!({ "service": "checkout", "version": "2.14.0", "environment": "staging" })
            ),
            "● Deploy `checkout 2.14.0` to `staging`"
        );
        assert_eq!(
            line("read", json!({ "path": "一".repeat(80) })).chars().last(),
            Some('…')
        );
        let secret = line(
            "bash",
            json!({ "command": "curl -H 'Authorization: Bearer sk-abcdefghijklmnop0123' x" }),
        );
        assert!(!secret.contains("abcdefghijklmnop"), "{secret}");
    }

    #[test]
    fn a_result_is_its_first_line_and_how_many_more_there_are() {
        let line = |ok, output: Value| result(None, ok, &output, 60, Locale::English).text();
        assert_eq!(line(true, json!("a\nb\nc\n")), "  ✔ a (+2 lines)");
        assert_eq!(
            line(
                false,
                json!({ "outcome": "rejected_by_person", "reason": "keep it" })
            ),
            "  ✘ rejected: keep it"
        );
        assert_eq!(
            line(false, json!({ "outcome": "skipped_by_person" })),
            "  ✘ skipped"
        );
        assert_eq!(line(true, json!("\u{1b}[2Jgone")), "  ✔ ⟦ESC⟧[2Jgone");
    }

    #[test]
    fn a_result_names_its_call_and_says_in_words_what_became_of_it() {
        let name = named("bash", &json!({ "command": "rm -rf build" }), 80, Locale::English);
        let rejected = json!({ "executed": false, "outcome": "rejected_by_person" });
        let line = |locale| result(Some(&name), false, &rejected, 80, locale).text();
        assert_eq!(line(Locale::English), "  ✘ Delete `build` · rejected");
        assert_eq!(line(Locale::Chinese), "  ✘ Delete `build` · 已拒绝");
    }

    #[test]
    fn a_first_sentence_is_not_cut_at_a_dot_within_a_word() {
        assert_eq!(
            first_sentence("Finds files by a pattern such as `*.rs`. Newest first."),
            "Finds files by a pattern such as `*.rs`."
        );
        assert_eq!(first_sentence("Reads a file\nin full."), "Reads a file");
    }
}
