//! Arguments that a built-in tool does not have.
//!
//! A tool of another agent may share no more than the name: its `task` may take a command, its `read` a list of files. So
//! these are looked into as the arguments of an unknown tool are, by their names and by what their texts look like.

use serde_json::Value;

use super::path::{self, Use};
use super::why::Why;
use super::{Analysis, Fact, FactKind, Places, shell, sql, url};
use crate::call::Args;
use crate::tool::{Category, Risk, Tool};

/// What an argument is taken for.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Shell,
    Path,
    Url,
    Sql,
}

/// Looks into each argument that is none of `own`.
pub(super) fn analyse(tool: &Tool, own: &[&str], args: &Args, places: &dyn Places, found: &mut Analysis) {
    let mut search = Search {
        category: tool.category,
        places,
        found,
    };
    for (name, value) in args.iter().filter(|(name, _)| !own.contains(name)) {
        search.value(name, value);
    }
}

struct Search<'a> {
    category: Category,
    places: &'a dyn Places,
    found: &'a mut Analysis,
}

impl Search<'_> {
    fn value(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) if !text.is_empty() => self.text(name, text),
            // The words of one command or several commands: that cannot be told.
            Value::Array(values) if by_name(name) == Some(Sort::Shell) && !values.is_empty() => {
                self.found.facts.push(Fact {
                    kind: FactKind::Unreadable {
                        what: name.to_owned(),
                    },
                    risk: Risk::High,
                    why: Some(Why::NotText { arg: name.to_owned() }),
                });
            }
            Value::Array(values) => values.iter().for_each(|value| self.value(name, value)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.value(name, value)),
            _ => {}
        }
    }

    fn text(&mut self, name: &str, text: &str) {
        // What is written into a file may look like anything.
        let sort = match by_name(name) {
            None if self.category != Category::Write => by_shape(text),
            sort => sort,
        };
        let usage = if self.category == Category::Read {
            Use::Read
        } else {
            Use::Write
        };
        match sort {
            Some(Sort::Shell) => shell::analyse(text, self.places, self.found),
            Some(Sort::Path) => path::analyse(text, usage, self.places, self.found),
            Some(Sort::Url) => url::analyse(text, self.found),
            Some(Sort::Sql) => sql::analyse(text, None, self.found),
            None => {}
        }
    }
}

/// `filePath`, `file_path` and `file-paths` are one name.
fn by_name(name: &str) -> Option<Sort> {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    match name.strip_suffix('s').unwrap_or(&name) {
        "command" | "commandline" | "cmd" | "script" | "shell" | "shellcommand" => Some(Sort::Shell),
        "path" | "filepath" | "filename" | "file" | "dir" | "directory" | "folder" | "cwd" | "workdir" => {
            Some(Sort::Path)
        }
        "url" | "uri" => Some(Sort::Url),
        "sql" | "statement" => Some(Sort::Sql),
        _ => None,
    }
}

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
