//! The gist of a call: what would happen, in one line. A pure function of the stored row, so every surface says the same.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::super::diff;
use super::super::document::Change;
use super::super::mask;
use super::super::safe::SafeText;
use super::{QuestionView, args_to_run};
use crate::analysis::{Act, Fact, FactKind};
use crate::call::Args;
use crate::evidence::Evidence;
use crate::findings::Findings;
use crate::interaction::Locale;
use crate::messages::{Message, gist};

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

/// A call, for its gist.
#[derive(Debug, Clone, Copy)]
pub struct GistOf<'a> {
    /// Its tool.
    pub tool: &'a str,
    /// The arguments it would run with.
    pub args: &'a Args,
    /// What it would do, where that was stored.
    pub findings: Option<&'a Findings>,
    /// What the tool shows of the effect.
    pub evidence: &'a [Evidence],
}

/// What a call would do, in one line; the same on every surface, in the audit log, and in a list. Look-alikes are pointed out as in
/// code: most of it is.
pub fn gist(of: &GistOf<'_>, locale: Locale) -> SafeText {
    let teller = Teller { locale };
    let told = teller
        .file_change(of.evidence)
        .or_else(|| teller.deed(of))
        .unwrap_or_else(|| teller.tool(of));
    SafeText::code_line(&told)
}

impl<'a> GistOf<'a> {
    /// The call of a question.
    pub(super) fn of(view: &QuestionView<'a>) -> Option<Self> {
        Some(Self {
            tool: view.call?.tool.as_str(),
            args: args_to_run(view)?,
            findings: view.findings,
            evidence: &view.asked.evidence,
        })
    }
}

struct Teller {
    locale: Locale,
}

impl Teller {
    /// A file that changes, with how much of it.
    fn file_change(&self, evidence: &[Evidence]) -> Option<String> {
        let mut changes = evidence.iter().filter_map(|evidence| match evidence {
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

    fn deed(&self, of: &GistOf<'_>) -> Option<String> {
        let Some(findings) = of.findings else {
            // A call that was not looked into yet, or by an older version.
            return self.short_line(of.args.text("command")?);
        };
        if let Some(act) = &findings.act {
            return Some(self.act(act));
        }
        if !findings.lines.is_empty() {
            return Some(self.line(findings));
        }
        let facts = &findings.analysis.facts;
        let statements: Vec<_> = facts.iter().filter_map(statement).collect();
        match statements.as_slice() {
            [] => {}
            [(verb, tables)] => return Some(self.statement(verb, tables, rows(of.evidence))),
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

    /// The sentence of a code, with what its parameters come to.
    fn act(&self, act: &Act) -> String {
        let of: Vec<Cow<'_, str>> = act.of.iter().map(|text| mask::command(text)).collect();
        let texts: Vec<&str> = of.iter().map(|text| &**text).collect();
        let (first, rest) = texts.split_first().unwrap_or((&"", &[]));
        let (last, begin) = texts.split_last().unwrap_or((&"", &[]));
        let some = |texts: &[&str]| self.some(texts.iter().copied());
        let places: Vec<String> = rest.iter().map(|branch| place(first, branch)).collect();
        let places: Vec<&str> = match places.as_slice() {
            [] => vec![first],
            places => places.iter().map(String::as_str).collect(),
        };
        let to = act.to.as_deref().map(mask::command).unwrap_or_default();
        let parameters = json!({
            "act": act.act,
            "of": some(&texts),
            "first": code(first),
            "rest": some(rest),
            "begin": some(begin),
            "last": code(last),
            "place": some(&places),
            "words": code(&texts.join(" ")),
            "to": code(&to),
            "with": code(act.with.as_deref().unwrap_or_default()),
        });
        let told = Message::of("act", &parameters);
        match act.more {
            0 => told.say(self.locale),
            more => gist::and_commands(more, told.say(self.locale)).say(self.locale),
        }
    }

    /// A short line as it is, a long one by its programs.
    fn line(&self, findings: &Findings) -> String {
        let only = match findings.lines.as_slice() {
            [line] => self.short_line(line),
            _ => None,
        };
        if let Some(line) = only {
            return line;
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

    fn short_line(&self, line: &str) -> Option<String> {
        let line = mask::command(line.trim());
        let is_short = line.chars().count() <= LINE_CHARS_MAX && !line.contains(['\n', '`']);
        is_short.then(|| gist::run(format!("`{line}`")).say(self.locale))
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
    fn tool(&self, of: &GistOf<'_>) -> String {
        let tool = of.tool;
        let args = mask::json(of.args.as_value());
        let mut named: Vec<_> = args
            .as_object()
            .into_iter()
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

/// A branch on a remote, as git names it: what is pushed from, and the sign of force, are not part of it.
fn place(remote: &str, branch: &str) -> String {
    let branch = branch.strip_prefix('+').unwrap_or(branch);
    let branch = branch.rsplit_once(':').map_or(branch, |(_, to)| to);
    format!("{remote}/{branch}")
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

fn rows(evidence: &[Evidence]) -> Option<u64> {
    evidence.iter().find_map(|evidence| match evidence {
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
