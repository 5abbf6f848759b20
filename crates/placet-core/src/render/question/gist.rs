//! The gist of a call: what would happen, in one line. A pure function of the stored row, so every surface says the same.

use serde_json::Value;

use super::super::diff;
use super::super::document::Change;
use super::super::mask;
use super::super::safe::SafeText;
use super::{QuestionView, Writer, args_to_run};
use crate::analysis::{Fact, FactKind};
use crate::evidence::Evidence;
use crate::findings::Findings;
use crate::messages::gist;

/// A longer shell line is told by the programs it runs; the line itself stands below in full.
const LINE_CHARS_MAX: usize = 96;
/// A longer argument is cut with an ellipsis; all of it stands among the arguments.
const VALUE_CHARS_MAX: usize = 48;
/// More names than these are counted.
const NAMED_MAX: usize = 3;

/// Arguments that name the target of a call, the most telling first. They also come first where arguments are listed.
const TARGETS: &[&str] = &[
    "command",
    "sql",
    "to",
    "recipients",
    "recipient",
    "cc",
    "bcc",
    "service",
    "app",
    "version",
    "environment",
    "env",
    "target",
    "host",
    "hosts",
    "url",
    "path",
    "file",
    "database",
    "table",
    "repository",
    "repo",
    "branch",
    "channel",
    "user",
    "amount",
    "subject",
    "title",
    "name",
    "id",
];

/// Where an argument stands in the list: targets first, the others after all of them.
pub(super) fn rank(name: &str) -> usize {
    let name = name.to_ascii_lowercase();
    TARGETS
        .iter()
        .position(|target| *target == name)
        .unwrap_or(TARGETS.len())
}

impl Writer {
    /// What the call would do. Look-alikes are pointed out as in code: most of it is.
    pub(super) fn gist(&self, view: &QuestionView<'_>) -> SafeText {
        let told = self
            .file_change(view)
            .or_else(|| self.deed(view.findings?, view))
            .unwrap_or_else(|| self.tool(view));
        SafeText::code_line(&told)
    }

    /// A file that changes, with how much of it.
    fn file_change(&self, view: &QuestionView<'_>) -> Option<String> {
        let mut changes = view.asked.evidence.iter().filter_map(|evidence| match evidence {
            Evidence::Diff { path, before, after } => Some((path, before.as_deref(), after.as_deref())),
            _ => None,
        });
        let (path, before, after) = changes.next()?;
        let hunks = diff::hunks(before.unwrap_or_default(), after.unwrap_or_default(), self.locale);
        let count = |wanted: Change| {
            let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
            lines.filter(|line| line.change == wanted).count()
        };
        let (added, removed) = (count(Change::Added), count(Change::Removed));
        let (more, path) = (changes.count(), code(path));
        let told = match (before, after, more) {
            (None, Some(_), 0) => gist::create(added, path, removed),
            (None, Some(_), more) => gist::create_several(added, more, path, removed),
            (Some(_), None, 0) => gist::delete(added, path, removed),
            (Some(_), None, more) => gist::delete_several(added, more, path, removed),
            (_, _, 0) => gist::change(added, path, removed),
            (_, _, more) => gist::change_several(added, more, path, removed),
        };
        Some(told.say(self.locale))
    }

    fn deed(&self, findings: &Findings, view: &QuestionView<'_>) -> Option<String> {
        if !findings.lines.is_empty() {
            return Some(self.line(findings));
        }
        let facts = &findings.analysis.facts;
        let statements: Vec<_> = facts.iter().filter_map(statement).collect();
        match statements.as_slice() {
            [] => {}
            [(verb, tables)] => return Some(self.statement(verb, tables, rows(view))),
            several => {
                let verbs = self.some(several.iter().map(|(verb, _)| *verb));
                return Some(gist::statements(several.len(), verbs).say(self.locale));
            }
        }
        let told = facts.iter().find_map(|fact| match &fact.kind {
            FactKind::Path {
                given, writes: true, ..
            } => Some(gist::write(code(given))),
            FactKind::Path {
                given, writes: false, ..
            } => Some(gist::read(code(given))),
            FactKind::Host { host, scheme, .. } => Some(gist::send(code(&format!("{scheme}://{host}")))),
            _ => None,
        });
        told.map(|told| told.say(self.locale))
    }

    /// A short line as it is, a long one by its programs.
    fn line(&self, findings: &Findings) -> String {
        if let [line] = findings.lines.as_slice() {
            let line = mask::command(line.trim());
            if line.chars().count() <= LINE_CHARS_MAX && !line.contains(['\n', '`']) {
                return gist::run(format!("`{line}`")).say(self.locale);
            }
        }
        let programs: Vec<_> = findings.analysis.facts.iter().filter_map(program).collect();
        let n = programs.len();
        let names = self.some(programs.into_iter());
        let told = match n {
            0 => gist::script(),
            1 => gist::run(names),
            _ => gist::commands(n, names),
        };
        told.say(self.locale)
    }

    fn statement(&self, verb: &str, tables: &[String], rows: Option<u64>) -> String {
        let tables = self.some(tables.iter().map(String::as_str));
        let told = match (verb, rows) {
            ("DELETE", Some(rows)) => gist::delete_counted(rows, tables),
            ("UPDATE", Some(rows)) => gist::update_counted(rows, tables),
            ("INSERT", Some(rows)) => gist::insert_counted(rows, tables),
            ("DELETE", None) => gist::delete_rows(tables),
            ("UPDATE", None) => gist::update_rows(tables),
            ("INSERT", None) => gist::insert_rows(tables),
            _ if tables.is_empty() => gist::run(code(verb)),
            _ => gist::statement(tables, code(verb)),
        };
        told.say(self.locale)
    }

    /// The tool, and the target that its arguments name.
    fn tool(&self, view: &QuestionView<'_>) -> String {
        let tool = view.call.map_or("?", |call| call.tool.as_str());
        let args = args_to_run(view).map(|args| mask::json(args.as_value()));
        let mut named: Vec<_> = args
            .iter()
            .filter_map(Value::as_object)
            .flatten()
            .filter(|(name, _)| rank(name) < TARGETS.len())
            .filter_map(|(name, value)| Some((name, told(value)?)))
            .collect();
        named.sort_by_key(|(name, _)| rank(name));
        named.truncate(NAMED_MAX);
        let named: Vec<_> = named
            .iter()
            .map(|(name, value)| code(&format!("{name}: {value}")))
            .collect();
        let run = gist::run(format!("`{tool}`")).say(self.locale);
        if named.is_empty() {
            return run;
        }
        format!("{run}: {}", named.join(", "))
    }

    /// The first different names; the rest as a number.
    fn some<'a>(&self, names: impl Iterator<Item = &'a str>) -> String {
        let mut different: Vec<&str> = Vec::new();
        for name in names {
            if !different.contains(&name) {
                different.push(name);
            }
        }
        let more = different.len().saturating_sub(NAMED_MAX);
        different.truncate(NAMED_MAX);
        let names: Vec<_> = different.iter().map(|name| code(name)).collect();
        let names = names.join(", ");
        match more {
            0 => names,
            more => gist::and_more(more, names).say(self.locale),
        }
    }
}

/// A name between backticks, as every surface sets code.
fn code(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

fn statement(fact: &Fact) -> Option<(&str, &[String])> {
    match &fact.kind {
        FactKind::Statement { verb, tables, .. } => Some((verb.as_str(), tables.as_slice())),
        _ => None,
    }
}

fn program(fact: &Fact) -> Option<&str> {
    match &fact.kind {
        FactKind::Command { argv, under, .. } => under.first().or(argv.first()).map(String::as_str),
        _ => None,
    }
}

fn rows(view: &QuestionView<'_>) -> Option<u64> {
    view.asked.evidence.iter().find_map(|evidence| match evidence {
        Evidence::Rows { count, .. } => Some(*count),
        _ => None,
    })
}

/// A value in a few words; nothing where it is a structure or empty.
fn told(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(Value::as_str).collect();
            items?.join(", ")
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => return None,
    };
    if text.is_empty() {
        return None;
    }
    if text.chars().count() <= VALUE_CHARS_MAX {
        return Some(text);
    }
    let start: String = text.chars().take(VALUE_CHARS_MAX).collect();
    Some(format!("{start}…"))
}
