//! Arguments without a lens, of a tool without a description: they are looked into by their names and by what their texts
//! look like.

use serde_json::Value;

use super::path::{self, Use};
use super::why::{PathConcern, Why};
use super::{Analysis, Fact, FactKind, Places, shell, sql, url};
use crate::call::Args;
use crate::tool::{Category, Lens, Risk, Tool};

/// What an argument is taken for.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Shell,
    Path,
    Url,
    Sql,
    /// Variables that a command would find set.
    Variables,
    /// What is written, said or searched for; it may look like anything.
    Text,
}

/// Looks into each argument that has no lens.
pub(super) fn analyse(tool: &Tool, args: &Args, places: &dyn Places, found: &mut Analysis) {
    let has_lens = |name: &str| tool.lenses.iter().any(|lens| lens.arg() == name);
    let mut search = Search { tool, places, found };
    for (name, value) in args.iter().filter(|(name, _)| !has_lens(name)) {
        search.value(name, value);
    }
    search.written_somewhere();
}

struct Search<'a> {
    tool: &'a Tool,
    places: &'a dyn Places,
    found: &'a mut Analysis,
}

impl Search<'_> {
    fn value(&mut self, name: &str, value: &Value) {
        let sort = by_name(name);
        match value {
            _ if sort == Some(Sort::Variables) => self.variables(value),
            Value::String(text) if !text.is_empty() => self.text(sort, text),
            // The words of one command or several commands: that cannot be told.
            Value::Array(values) if sort == Some(Sort::Shell) && !values.is_empty() => {
                self.high(name, Why::NotText { arg: name.to_owned() });
            }
            Value::Array(values) => values.iter().for_each(|value| self.value(name, value)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.value(name, value)),
            _ => {}
        }
    }

    fn text(&mut self, sort: Option<Sort>, text: &str) {
        let usage = if self.tool.category == Category::Read {
            Use::Read
        } else {
            Use::Write
        };
        match sort.or_else(|| by_shape(text)) {
            Some(Sort::Shell) => shell::analyse(text, self.places, self.found),
            Some(Sort::Path) => path::analyse(text, usage, self.places, self.found),
            Some(Sort::Url) => url::analyse(text, self.found),
            Some(Sort::Sql) => sql::analyse(text, None, self.found),
            Some(Sort::Variables | Sort::Text) | None => {}
        }
    }

    /// `{"NAME": "value"}`, `["NAME=value"]`, or one text with them all.
    fn variables(&mut self, value: &Value) {
        let assigned: Vec<String> = match value {
            Value::Object(fields) => fields
                .iter()
                .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
                .collect(),
            Value::Array(values) => values
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
            _ => return,
        };
        if let Some(why) = shell::assignments(&assigned) {
            self.high("env", why);
        }
    }

    /// A tool that writes files must say where; what no argument says is decided by one that nobody here understood.
    fn written_somewhere(&mut self) {
        let is_write = |lens: &Lens| matches!(lens, Lens::PathWrite { .. });
        let writes = self.tool.category == Category::Write && self.tool.lenses.iter().any(is_write);
        let says_where =
            |fact: &Fact| matches!(fact.kind, FactKind::Path { .. } | FactKind::Unreadable { .. });
        if writes && !self.found.facts.iter().any(says_where) {
            self.high("path", Why::Path(PathConcern::Empty));
        }
    }

    fn high(&mut self, what: &str, why: Why) {
        self.found.facts.push(Fact {
            kind: FactKind::Unreadable {
                what: what.to_owned(),
            },
            risk: Risk::High,
            why: Some(why),
        });
    }
}

/// `filePath`, `file_path` and `file-paths` are one name.
fn by_name(name: &str) -> Option<Sort> {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    let name = name.strip_suffix('s').unwrap_or(&name);
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    match name {
        "argv" | "bash" | "command" | "commandline" | "cmd" | "exec" | "execute" | "run" | "script"
        | "sh" | "shell" | "shellcommand" => Some(Sort::Shell),
        "env" | "environ" | "environment" | "environmentvariable" | "envvar" => Some(Sort::Variables),
        "filename" | "cwd" | "workdir" => Some(Sort::Path),
        "sql" | "statement" => Some(Sort::Sql),
        _ if ends(&["url", "uri"]) => Some(Sort::Url),
        _ if TEXTS.contains(&name) => Some(Sort::Text),
        _ if ends(&[
            "path",
            "file",
            "dir",
            "directory",
            "folder",
            "dest",
            "destination",
            "target",
        ]) =>
        {
            Some(Sort::Path)
        }
        _ => None,
    }
}

/// Arguments that hold what is written, said or searched for, without a plural's `s`.
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "body", "codeedit", "comment", "content", "description", "diff", "explanation", "filetext", "inserttext", "instruction", "message",
    "new", "newcontent", "newstr", "newstring", "newtext", "note", "old", "oldcontent", "oldstr", "oldstring", "oldtext", "patch",
    "pattern", "prompt", "regex", "replacement", "search", "text", "title",
];

fn by_shape(text: &str) -> Option<Sort> {
    if text.contains(char::is_whitespace) {
        return is_sql(text).then_some(Sort::Sql);
    }
    let has_scheme = text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let starts = ["/", "~", "./", "../"]
        .iter()
        .any(|start| text.starts_with(start));
    match (has_scheme, starts || text == ".." || text.contains("/../")) {
        (true, _) => Some(Sort::Url),
        (false, true) => Some(Sort::Path),
        (false, false) => None,
    }
}

/// Whether a text can be read as statements about tables. "Use tabs" can be read as one about a database.
fn is_sql(text: &str) -> bool {
    const VERBS: [&str; 11] = [
        "ALTER", "CREATE", "DELETE", "DROP", "GRANT", "INSERT", "MERGE", "REPLACE", "SELECT", "TRUNCATE",
        "UPDATE",
    ];
    let mut found = Analysis::nothing();
    sql::analyse(text, None, &mut found);
    found
        .facts
        .iter()
        .any(|fact| matches!(&fact.kind, FactKind::Statement { verb, .. } if VERBS.contains(&verb.as_str())))
}
