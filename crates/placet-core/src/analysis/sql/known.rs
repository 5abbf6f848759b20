//! What is known about functions, operators, types, options and tables by name: the lists of `known.toml`.
//!
//! The lists say what is harmless, because a list of harmful names misses what users define. A name means the built-in thing
//! of that name: an overload that a database's owner put beside it cannot be told from the text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use sqlparser::ast::{DataType, ObjectName, ObjectNamePart};

use crate::tool::SqlDialect;

/// The dialect a text is read in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub(super) grammar: SqlDialect,
    /// Whether the text is surely meant in it. If not, a name counts that any dialect knows.
    pub(super) certain: bool,
}

/// What is known about a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// It computes something from its arguments, or tells about the session.
    Pure,
    /// It reaches files, other servers, other sessions or the settings, runs text as code, or blocks.
    Beyond,
    /// Nothing: perhaps a user's own function.
    Unknown,
}

/// What is known about a pragma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pragma {
    /// It only reports, also about the thing in its parentheses.
    Tells,
    /// It reports when it is given nothing, and sets otherwise.
    Setting,
    /// Nothing.
    Unknown,
}

/// Whether `EXPLAIN` with an option runs the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Explain {
    Plans,
    Runs,
    Unknown,
}

#[derive(Default, Deserialize)]
struct File {
    functions: Vec<Record>,
    beyond: Beyond,
    operators: Vec<Record>,
    types: Vec<Record>,
    explain: ExplainOptions,
    pragmas: Pragmas,
    credentials: Credentials,
}

#[derive(Deserialize)]
struct Record {
    dialects: Vec<SqlDialect>,
    names: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Beyond {
    names: Vec<String>,
    starts: Vec<String>,
}

#[derive(Default, Deserialize)]
struct ExplainOptions {
    plans: Vec<String>,
    runs: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Pragmas {
    tells: Vec<String>,
    settings: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Credentials {
    tables: Vec<String>,
}

/// Names with the dialects that have them.
#[derive(Default)]
struct Names(BTreeMap<String, Vec<SqlDialect>>);

impl Names {
    fn of(records: &mut Vec<Record>) -> Self {
        let mut names = Self::default();
        for record in records.drain(..) {
            for name in record.names {
                names.0.entry(name).or_default().extend(&record.dialects);
            }
        }
        names
    }

    fn has(&self, name: &str, dialect: Dialect) -> bool {
        let found = self.0.get(name);
        found.is_some_and(|dialects| !dialect.certain || dialects.contains(&dialect.grammar))
    }
}

struct Known {
    functions: Names,
    operators: Names,
    types: Names,
    rest: File,
}

/// Should the file not parse, nothing is known and every statement is asked about.
static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let mut rest: File = toml::from_str(include_str!("known.toml")).unwrap_or_default();
    Known {
        functions: Names::of(&mut rest.functions),
        operators: Names::of(&mut rest.operators),
        types: Names::of(&mut rest.types),
        rest,
    }
});

fn lists(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

/// What is known about the function of this name.
pub(super) fn function(name: &ObjectName, dialect: Dialect) -> Function {
    let words = words(name);
    let Some((last, schema)) = words.split_last() else {
        return Function::Unknown;
    };
    let beyond = &KNOWN.rest.beyond;
    let lower = last.to_ascii_lowercase();
    if lists(&beyond.names, &lower) || beyond.starts.iter().any(|start| lower.starts_with(start)) {
        return Function::Beyond;
    }
    let built_in = match schema {
        [] => true,
        [only] => only == "pg_catalog" && dialect.grammar == SqlDialect::Postgresql,
        _ => false,
    };
    // MySQL looks for a stored function when the name is quoted.
    let stored = dialect.grammar == SqlDialect::Mysql && is_quoted(name);
    // As written and not in lower case: `"Count"` in quotes is another function than `count`.
    if built_in && !stored && KNOWN.functions.has(last, dialect) {
        Function::Pure
    } else {
        Function::Unknown
    }
}

fn is_quoted(name: &ObjectName) -> bool {
    let quoted = |part: &ObjectNamePart| !matches!(part, ObjectNamePart::Identifier(ident) if ident.quote_style.is_none());
    name.0.iter().any(quoted)
}

/// Whether the operator is one of the dialect's own.
pub(super) fn operator(operator: &str, dialect: Dialect) -> bool {
    KNOWN.operators.has(operator, dialect)
}

/// Whether a cast to this type calls nothing but the server's own code.
pub(super) fn data_type(data_type: &DataType, dialect: Dialect) -> bool {
    let mut depth = 0_usize;
    let mut name = String::new();
    // `TIMESTAMP(3) WITH TIME ZONE` and `INT[]`: lengths and dimensions say nothing about the type.
    for c in data_type.to_string().chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => name.push(c.to_ascii_lowercase()),
            _ => {}
        }
    }
    let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
    KNOWN.types.has(name, dialect)
}

/// What an option of `EXPLAIN (…)` makes of the statement.
pub(super) fn explain_option(name: &str) -> Explain {
    let name = name.to_ascii_lowercase();
    let options = &KNOWN.rest.explain;
    if lists(&options.plans, &name) {
        Explain::Plans
    } else if lists(&options.runs, &name) {
        Explain::Runs
    } else {
        Explain::Unknown
    }
}

/// What is known about a pragma, with or without the name of a database before it.
pub(super) fn pragma(name: &ObjectName) -> Pragma {
    let name = words(name).pop().unwrap_or_default();
    let pragmas = &KNOWN.rest.pragmas;
    if lists(&pragmas.tells, &name) {
        Pragma::Tells
    } else if lists(&pragmas.settings, &name) {
        Pragma::Setting
    } else {
        Pragma::Unknown
    }
}

/// Whether a table holds passwords or their hashes, or the server's access rules.
pub(super) fn holds_credentials(name: &ObjectName) -> bool {
    let words: Vec<String> = words(name).iter().map(|word| word.to_ascii_lowercase()).collect();
    let Some((table, schema)) = words.split_last() else {
        return false;
    };
    let in_schema = schema.last().map(|schema| format!("{schema}.{table}"));
    let tables = &KNOWN.rest.credentials.tables;
    lists(tables, table) || in_schema.is_some_and(|full| lists(tables, &full))
}

/// The parts of a name as the server compares them. A quoted name that is not lower-case is kept as it is, so that it
/// never passes for a well-known one.
pub(super) fn words(name: &ObjectName) -> Vec<String> {
    name.0
        .iter()
        .map(|part| match part {
            ObjectNamePart::Identifier(ident) if ident.quote_style.is_none() => {
                ident.value.to_ascii_lowercase()
            }
            ObjectNamePart::Identifier(ident) => ident.value.clone(),
            ObjectNamePart::Function(function) => function.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
