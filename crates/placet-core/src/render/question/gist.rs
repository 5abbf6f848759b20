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
use crate::interaction::Locale;

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
        let verb = match (before, after) {
            (None, Some(_)) => self.locale.pick("Create", "新建"),
            (Some(_), None) => self.locale.pick("Delete", "删除"),
            _ => self.locale.pick("Write", "修改"),
        };
        let hunks = diff::hunks(before.unwrap_or_default(), after.unwrap_or_default(), self.locale);
        let count = |wanted: Change| {
            let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
            lines.filter(|line| line.change == wanted).count()
        };
        let more = match changes.count() {
            0 => String::new(),
            n => match self.locale {
                Locale::English => format!(" and {n} more"),
                Locale::Chinese => format!(" 等 {} 个文件", n + 1),
            },
        };
        let (added, removed) = (count(Change::Added), count(Change::Removed));
        Some(format!("{verb} {} (+{added} -{removed}){more}", code(path)))
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
                let n = several.len();
                return Some(match self.locale {
                    Locale::English => format!("Run {n} SQL statements: {verbs}"),
                    Locale::Chinese => format!("执行 {n} 条 SQL：{verbs}"),
                });
            }
        }
        facts.iter().find_map(|fact| match &fact.kind {
            FactKind::Path {
                given, writes: true, ..
            } => Some(format!("{} {}", self.locale.pick("Write", "写入"), code(given))),
            FactKind::Path {
                given, writes: false, ..
            } => Some(format!("{} {}", self.locale.pick("Read", "读取"), code(given))),
            FactKind::Host { host, scheme, .. } => {
                let to = self.locale.pick("Send a request to", "请求");
                Some(format!("{to} {}", code(&format!("{scheme}://{host}"))))
            }
            _ => None,
        })
    }

    /// A short line as it is, a long one by its programs.
    fn line(&self, findings: &Findings) -> String {
        let run = self.locale.pick("Run", "执行");
        if let [line] = findings.lines.as_slice() {
            let line = mask::command(line.trim());
            if line.chars().count() <= LINE_CHARS_MAX && !line.contains(['\n', '`']) {
                return format!("{run} `{line}`");
            }
        }
        let programs: Vec<_> = findings.analysis.facts.iter().filter_map(program).collect();
        let n = programs.len();
        let names = self.some(programs.into_iter());
        match (n, self.locale) {
            (0, Locale::English) => "Run a shell script".to_owned(),
            (0, Locale::Chinese) => "执行 shell 脚本".to_owned(),
            (1, _) => format!("{run} {names}"),
            (_, Locale::English) => format!("Run {n} commands: {names}"),
            (_, Locale::Chinese) => format!("执行 {n} 条命令：{names}"),
        }
    }

    fn statement(&self, verb: &str, tables: &[String], rows: Option<u64>) -> String {
        let tables = self.some(tables.iter().map(String::as_str));
        let (deed, link) = match (verb, self.locale) {
            ("DELETE", Locale::English) => ("Delete", "from"),
            ("UPDATE", Locale::English) => ("Update", "in"),
            ("INSERT", Locale::English) => ("Insert", "into"),
            ("DELETE", Locale::Chinese) => ("删除", ""),
            ("UPDATE", Locale::Chinese) => ("更新", ""),
            ("INSERT", Locale::Chinese) => ("插入", ""),
            (_, Locale::English) => {
                return format!("Run {} on {tables}", code(verb))
                    .trim_end_matches(" on ")
                    .to_owned();
            }
            (_, Locale::Chinese) => return format!("执行 {} {tables}", code(verb)).trim_end().to_owned(),
        };
        match (rows, self.locale) {
            (Some(1), Locale::English) => format!("{deed} 1 row {link} {tables}"),
            (Some(n), Locale::English) => format!("{deed} {n} rows {link} {tables}"),
            (None, Locale::English) => format!("{deed} rows {link} {tables}"),
            (Some(n), Locale::Chinese) => format!("{deed} {tables} 中的 {n} 行"),
            (None, Locale::Chinese) => format!("{deed} {tables} 中的行"),
        }
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
        let run = self.locale.pick("Run", "执行");
        if named.is_empty() {
            return format!("{run} `{tool}`");
        }
        format!("{run} `{tool}`: {}", named.join(", "))
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
        match (more, self.locale) {
            (0, _) => names,
            (_, Locale::English) => format!("{names} and {more} more"),
            (_, Locale::Chinese) => format!("{names} 等 {} 个", more + NAMED_MAX),
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
