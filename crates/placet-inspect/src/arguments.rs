//! The arguments of a tool without a description, brought to one model before any rule looks.
//!
//! Agents write the same command in many ways: one line, a program with its words (`command` + `args`), a list of words (`argv`), with
//! variables, a folder and an input beside it. All of them become the facts that the line would have. Other arguments are looked into by
//! their names and by what their texts look like.

#[cfg(test)]
mod tests;

use placet_core::analysis::{Analysis, FactKind};
use placet_core::call::Args;
use placet_core::policy::pattern::CommandPattern;
use placet_core::tool::{Category, Lens, SqlAccess, Tool};
use serde::Deserialize;
use serde_json::Value;

use super::path::{self, Use};
use super::shell::{self, Programs, Start};
use super::{sql, url};
use crate::Site;

/// What an argument is taken for, by its name in `programs.toml`. Of several the first counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sort {
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
    Sql,
    /// What is written, said or searched for; it may look like anything.
    Text,
    Url,
    Path,
}

/// Finds what the arguments would do.
pub(super) fn analyse(tool: &Tool, args: &Args, places: Site<'_>, found: &mut Analysis) {
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

/// A command that is given as words, as a line; and the line beside it. They are shown first.
pub(super) fn shell_lines(args: &Args) -> Option<Vec<String>> {
    let (command, _) = Command::among(args.iter());
    let words: Vec<String> = command.words()?.into_iter().map(str::to_owned).collect();
    let words = CommandPattern::quote(&words);
    Some(
        command
            .whole_line()
            .map(str::to_owned)
            .into_iter()
            .chain([words])
            .collect(),
    )
}

/// What one object says about a command.
#[derive(Default)]
struct Command<'a> {
    line: Option<&'a str>,
    program: Option<&'a str>,
    words: Option<&'a [Value]>,
    input: Option<&'a str>,
    folder: Option<&'a str>,
    variables: Vec<String>,
}

impl<'a> Command<'a> {
    /// The command among arguments that belong together, and the other arguments.
    fn among(fields: impl Iterator<Item = (&'a str, &'a Value)>) -> (Self, Vec<(Option<Sort>, &'a Value)>) {
        let mut command = Self::default();
        let mut others: Vec<_> = fields.map(|(name, value)| (sort_of(name), value)).collect();
        others.retain(|(sort, value)| !sort.is_some_and(|sort| command.take(sort, value)));
        (command, others)
    }

    /// Whether the argument is a part of the command. Of two for the same part the second is not.
    fn take(&mut self, sort: Sort, value: &'a Value) -> bool {
        match (sort, value) {
            (Sort::Line, Value::String(text)) if !text.is_empty() => set(&mut self.line, text),
            (Sort::Program, Value::String(text)) if !text.is_empty() => set(&mut self.program, text),
            (Sort::Input, Value::String(text)) => set(&mut self.input, text),
            (Sort::Folder, Value::String(text)) => set(&mut self.folder, text),
            (Sort::Words | Sort::Line | Sort::Program, Value::Array(words)) => {
                !words.is_empty() && words.iter().all(Value::is_string) && set(&mut self.words, words)
            }
            (Sort::Variables, value) => {
                self.variables.extend(variables(value));
                true
            }
            _ => false,
        }
    }

    /// The line, unless it is the program that the words belong to.
    fn whole_line(&self) -> Option<&'a str> {
        self.line
            .filter(|_| self.words.is_none() || self.program.is_some())
    }

    /// The words of a command that is not given as one line.
    fn words(&self) -> Option<Vec<&'a str>> {
        let program = self.program.or(self.line.filter(|_| self.words.is_some()));
        let words = self.words.into_iter().flatten().filter_map(Value::as_str);
        let words: Vec<_> = program.into_iter().chain(words).collect();
        Some(words).filter(|words| !words.is_empty())
    }
}

fn set<'a, T: ?Sized>(part: &mut Option<&'a T>, value: &'a T) -> bool {
    let is_first = part.is_none();
    part.get_or_insert(value);
    is_first
}

/// `{"NAME": "value"}`, `["NAME=value"]`, or one text with them all.
fn variables(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| format!("{name}={}", text(value)))
            .collect(),
        Value::Array(values) => values
            .iter()
            .filter(|value| value.is_string())
            .map(text)
            .collect(),
        other => text(other).split_whitespace().map(str::to_owned).collect(),
    }
}

struct Search<'a> {
    places: Site<'a>,
    found: &'a mut Analysis,
    /// What files are named for.
    usage: Use,
}

impl Search<'_> {
    /// Arguments that belong together: those of the call, or of one object in it.
    fn object<'v>(&mut self, fields: impl Iterator<Item = (&'v str, &'v Value)>) {
        let (command, others) = Command::among(fields);
        self.command(&command);
        for (sort, value) in others {
            self.value(sort, value);
        }
    }

    fn command(&mut self, command: &Command<'_>) {
        let start = Start {
            folder: command.folder,
            variables: &command.variables,
            input: command.input,
        };
        if let Some(folder) = command.folder {
            path::analyse(folder, Use::Read, self.places, self.found);
        }
        let (words, line) = (command.words(), command.whole_line());
        if words.is_none() && line.is_none() && !command.variables.is_empty() {
            shell::analyse_words(&[], &start, self.places, self.found);
        }
        if let Some(line) = line {
            shell::analyse_line(line, &start, self.places, self.found);
        }
        if let Some(words) = words {
            shell::analyse_words(&words, &start, self.places, self.found);
            // Some tools put the words together and hand them to a shell.
            let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
            if !words.iter().all(|word| word.chars().all(is_plain)) {
                shell::analyse_line(&words.join(" "), &start, self.places, self.found);
                for word in words.iter().filter(|word| word.contains(char::is_whitespace)) {
                    self.maybe_line(word);
                }
            }
        }
    }

    fn value(&mut self, sort: Option<Sort>, value: &Value) {
        match value {
            Value::String(text) if !text.is_empty() => self.text(sort, text),
            Value::Array(values) => values.iter().for_each(|value| self.value(sort, value)),
            Value::Object(fields) => self.object(fields.iter().map(|(name, value)| (name.as_str(), value))),
            _ => {}
        }
    }

    fn text(&mut self, sort: Option<Sort>, text: &str) {
        match sort.or_else(|| by_shape(text)) {
            Some(Sort::Line | Sort::Program | Sort::Words) => shell::analyse(text, self.places, self.found),
            Some(Sort::MaybeLine | Sort::Input) => self.maybe_line(text),
            Some(Sort::Path | Sort::Folder) => path::analyse(text, self.usage, self.places, self.found),
            Some(Sort::Url) => url::analyse(text, self.found),
            Some(Sort::Sql) => sql::analyse(text, None, SqlAccess::Unrestricted, self.found),
            Some(Sort::Variables | Sort::Text) => {}
            None => sql::analyse_if_sql(text, self.found),
        }
    }

    /// A text that may be a line for a shell: it is one when a program that is known stands first.
    fn maybe_line(&mut self, text: &str) {
        let mut line = Analysis::nothing();
        shell::analyse(text, self.places, &mut line);
        let program = line.facts.iter().find_map(|fact| match &fact.kind {
            FactKind::Command { argv, .. } => argv.first()?.rsplit('/').next(),
            _ => None,
        });
        if program.is_some_and(|program| self.places.programs().knows(program)) {
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
    let mut sorts = Programs::builtin_ref().facts().arguments.iter();
    sorts
        .find(|(_, names)| names.matches(name))
        .map(|(sort, _)| *sort)
}

/// A URL or a path, by how it begins.
fn by_shape(text: &str) -> Option<Sort> {
    if text.contains(char::is_whitespace) {
        return None;
    }
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let is_path = ["/", "~", "./", "../"]
        .iter()
        .any(|start| text.starts_with(start));
    if !scheme.is_empty() && scheme.chars().all(in_scheme) {
        Some(Sort::Url)
    } else if is_path || text == ".." || text.contains("/../") {
        Some(Sort::Path)
    } else {
        None
    }
}
