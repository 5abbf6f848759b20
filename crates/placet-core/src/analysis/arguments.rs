//! The arguments of a tool without a description, brought to one model before any rule looks.
//!
//! Agents write the same command in many ways: one line, a program with its words (`command` + `args`), a list of words (`argv`), with variables,
//! a folder and an input beside it. All of them become the facts that the line would have. Other arguments are looked into by their names and by
//! what their texts look like.

use serde_json::{Map, Value};

use super::path::{self, Use};
use super::shell::{self, Start};
use super::{Analysis, FactKind, Places, sql, url};
use crate::call::Args;
use crate::tool::{Category, Lens, Tool};

/// What an argument is taken for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// A line for a shell, or the name of a program when words stand beside it.
    Line,
    /// A program, and nothing else.
    Program,
    /// The words of a program.
    Words,
    /// A line, if it begins with a program that is known.
    MaybeLine,
    /// What a command finds on its input.
    Input,
    /// Variables that a command finds set.
    Variables,
    /// The folder that a command starts in.
    Folder,
    Path,
    Url,
    Sql,
    /// What is written, said or searched for; it may look like anything.
    Text,
}

/// Names of arguments without letter case, separators and a plural's `s`.
#[rustfmt::skip]
const NAMES: &[(Sort, &[&str])] = &[
    (Sort::Line, &["bash", "command", "commandline", "cmd", "exec", "execute", "line", "run", "script", "sh", "shell", "shellcommand"]),
    (Sort::Program, &["binary", "executable", "program"]),
    (Sort::Words, &["arg", "argument", "argv", "cmdarg", "commandarg", "param", "parameter"]),
    (Sort::MaybeLine, &["code", "input"]),
    (Sort::Input, &["stdin", "standardinput"]),
    (Sort::Variables, &["env", "environ", "environment", "environmentvariable", "envvar"]),
    (Sort::Folder, &["cwd", "workdir", "workingdir", "workingdirectory", "currentdirectory"]),
    (Sort::Path, &["filename"]),
    (Sort::Sql, &["sql", "statement"]),
    (Sort::Text, &[
        "body", "codeedit", "comment", "content", "description", "diff", "explanation", "filetext", "inserttext", "instruction", "message",
        "new", "newcontent", "newstr", "newstring", "newtext", "note", "old", "oldcontent", "oldstr", "oldstring", "oldtext", "patch",
        "pattern", "prompt", "regex", "replacement", "search", "text", "title",
    ]),
];

/// Endings of names that tell as much.
const ENDINGS: &[(Sort, &[&str])] = &[
    (Sort::Url, &["url", "uri"]),
    (
        Sort::Path,
        &[
            "path",
            "file",
            "dir",
            "directory",
            "folder",
            "dest",
            "destination",
            "target",
        ],
    ),
];

/// Finds what the arguments would do.
pub(super) fn analyse(tool: &Tool, args: &Args, places: &dyn Places, found: &mut Analysis) {
    let usage = if tool.category == Category::Read {
        Use::Read
    } else {
        Use::Write
    };
    let is_done = |name: &str| {
        let own = |lens: &Lens| lens.arg() == name && !matches!(lens, Lens::Shell { .. });
        tool.lenses.iter().any(own)
    };
    let mut search = Search { places, found, usage };
    search.object(args.iter().filter(|(name, _)| !is_done(name)));
}

/// The line of a command as a person would write it: what is shown first.
pub(super) fn shell_line(args: &Args) -> Option<String> {
    let mut parts = Parts::default();
    for (name, value) in args.iter() {
        parts.take(sort_of(name), value);
    }
    let words = parts.words()?;
    let quoted: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Some(crate::policy::pattern::CommandPattern::quote(&quoted))
}

/// What one object says about a command.
#[derive(Default)]
struct Parts<'a> {
    line: Option<&'a str>,
    program: Option<&'a str>,
    words: Option<&'a Vec<Value>>,
    input: Option<&'a str>,
    folder: Option<&'a str>,
    variables: Vec<String>,
}

impl<'a> Parts<'a> {
    /// Whether the argument is a part of a command.
    fn take(&mut self, sort: Option<Sort>, value: &'a Value) -> bool {
        match (sort, value) {
            (Some(Sort::Line), Value::String(text)) if !text.is_empty() && self.line.is_none() => {
                self.line = Some(text);
            }
            (Some(Sort::Program), Value::String(text)) if !text.is_empty() => self.program = Some(text),
            (Some(Sort::Words | Sort::Line | Sort::Program), Value::Array(words))
                if !words.is_empty() && self.words.is_none() && words.iter().all(Value::is_string) =>
            {
                self.words = Some(words);
            }
            (Some(Sort::Input), Value::String(text)) => self.input = Some(text),
            (Some(Sort::Folder), Value::String(text)) => self.folder = Some(text),
            (Some(Sort::Variables), value) => self.variables.extend(variables(value)),
            _ => return false,
        }
        true
    }

    /// The words of a command that is not given as one line.
    fn words(&self) -> Option<Vec<&'a str>> {
        let program = self.program.or(self.line.filter(|_| self.words.is_some()));
        let words = self.words.map(Vec::as_slice).unwrap_or_default();
        if program.is_none() && words.is_empty() {
            return None;
        }
        Some(
            program
                .into_iter()
                .chain(words.iter().filter_map(Value::as_str))
                .collect(),
        )
    }
}

/// `{"NAME": "value"}`, `["NAME=value"]`, or one text with them all.
fn variables(value: &Value) -> Vec<String> {
    match value {
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
        _ => Vec::new(),
    }
}

struct Search<'a> {
    places: &'a dyn Places,
    found: &'a mut Analysis,
    /// What files are named for.
    usage: Use,
}

impl Search<'_> {
    /// Arguments that belong together: those of the call, or of one object in it.
    fn object<'v>(&mut self, fields: impl Iterator<Item = (&'v str, &'v Value)>) {
        let mut parts = Parts::default();
        let mut others = Vec::new();
        for (name, value) in fields {
            let sort = sort_of(name);
            if !parts.take(sort, value) {
                others.push((sort, value));
            }
        }
        self.command(&parts);
        for (sort, value) in others {
            self.value(sort, value);
        }
    }

    fn command(&mut self, parts: &Parts<'_>) {
        let start = Start {
            folder: parts.folder,
            variables: &parts.variables,
            input: parts.input,
        };
        if let Some(folder) = parts.folder {
            path::analyse(folder, Use::Read, self.places, self.found);
        }
        if let Some(words) = parts.words() {
            shell::analyse_words(&words, &start, self.places, self.found);
            // Some tools put the words together and hand them to a shell.
            let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
            if !words.iter().all(|word| word.chars().all(is_plain)) {
                shell::analyse_line(&words.join(" "), &start, self.places, self.found);
                for word in words.iter().filter(|word| word.contains(char::is_whitespace)) {
                    self.maybe_line(word);
                }
            }
        } else if let Some(line) = parts.line {
            shell::analyse_line(line, &start, self.places, self.found);
        } else if !parts.variables.is_empty() {
            shell::analyse_words(&[], &start, self.places, self.found);
        }
    }

    fn value(&mut self, sort: Option<Sort>, value: &Value) {
        match value {
            Value::String(text) if !text.is_empty() => self.text(sort, text),
            Value::Array(values) => values.iter().for_each(|value| self.value(sort, value)),
            Value::Object(fields) => self.fields(fields),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &Map<String, Value>) {
        self.object(fields.iter().map(|(name, value)| (name.as_str(), value)));
    }

    fn text(&mut self, sort: Option<Sort>, text: &str) {
        match sort.or_else(|| by_shape(text)) {
            Some(Sort::Line | Sort::Program | Sort::Words) => shell::analyse(text, self.places, self.found),
            Some(Sort::MaybeLine | Sort::Input) => self.maybe_line(text),
            Some(Sort::Path | Sort::Folder) => path::analyse(text, self.usage, self.places, self.found),
            Some(Sort::Url) => url::analyse(text, self.found),
            Some(Sort::Sql) => sql::analyse(text, None, self.found),
            Some(Sort::Variables | Sort::Text) | None => {}
        }
    }

    /// A text that may be a line for a shell: it is one when a program that is known stands first.
    fn maybe_line(&mut self, text: &str) {
        let mut line = Analysis::nothing();
        shell::analyse(text, self.places, &mut line);
        let program = line.facts.iter().find_map(|fact| match &fact.kind {
            FactKind::Command { argv, .. } => argv.first(),
            _ => None,
        });
        let name = program.and_then(|program| program.rsplit('/').next());
        if name.is_some_and(|name| self.places.programs().knows(name)) {
            self.found.facts.extend(line.facts);
            self.found.banned = self.found.banned.take().or(line.banned);
        }
    }
}

/// `filePath`, `file_path` and `file-paths` are one name.
fn sort_of(name: &str) -> Option<Sort> {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    let name = name.strip_suffix('s').unwrap_or(&name);
    let whole = NAMES.iter().find(|(_, names)| names.contains(&name));
    let ends = || {
        ENDINGS
            .iter()
            .find(|(_, endings)| endings.iter().any(|end| name.ends_with(end)))
    };
    whole.or_else(ends).map(|(sort, _)| *sort)
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
