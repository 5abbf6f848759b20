//! What is known about functions, operators, types, options and tables by name: the lists of `known.toml`.
//!
//! The lists say what is harmless, because a list of harmful names misses what users define. A name means the built-in thing
//! of that name: an overload that a database's owner put beside it cannot be told from the text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use placet_core::analysis::SqlConcern;
use placet_core::tool::{Risk, SqlAccess, SqlDialect};
use serde::Deserialize;
use sqlparser::ast::{DataType, Ident, ObjectName, ObjectNamePart};

/// The dialect a text is read in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub(super) grammar: SqlDialect,
    /// Whether the text is surely meant in it. If not, a name counts that any dialect knows.
    pub(super) certain: bool,
    /// What the server lets the text do.
    pub(super) access: SqlAccess,
}

impl Dialect {
    /// The dialects a text is read in: the one it is known to be in, or all of them.
    pub(super) fn possible(named: Option<SqlDialect>, access: SqlAccess) -> impl Iterator<Item = Self> {
        let possible = SqlDialect::ALL.into_iter();
        let possible = possible.filter(move |grammar| named.is_none_or(|named| named == *grammar));
        possible.map(move |grammar| Self {
            grammar,
            certain: named.is_some(),
            access,
        })
    }

    /// Whether `t.f` may call a function and have it write: PostgreSQL calls `f(t)` where `t` has no column `f`.
    pub(super) fn calls_attributes(self) -> bool {
        let may_be_postgresql = !self.certain || self.grammar == SqlDialect::Postgresql;
        may_be_postgresql && self.access == SqlAccess::Unrestricted
    }
}

/// The file. Records of one kind are merged into [`Names`].
#[derive(Default, Deserialize)]
struct Known {
    functions: Names,
    operators: Names,
    types: Names,
    /// The other lists, by section and name.
    #[serde(flatten)]
    lists: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

#[derive(Deserialize)]
struct Record {
    dialects: Vec<SqlDialect>,
    names: Vec<String>,
}

/// Names with the dialects that have them.
#[derive(Default, Deserialize)]
#[serde(from = "Vec<Record>")]
struct Names(BTreeMap<String, Vec<SqlDialect>>);

impl From<Vec<Record>> for Names {
    fn from(records: Vec<Record>) -> Self {
        let mut names = Self::default();
        for record in records {
            for name in record.names {
                names.0.entry(name).or_default().extend(&record.dialects);
            }
        }
        names
    }
}

impl Names {
    fn has(&self, name: &str, dialect: Dialect) -> bool {
        let found = self.0.get(name);
        found.is_some_and(|dialects| !dialect.certain || dialects.contains(&dialect.grammar))
    }
}

/// Should the file not parse, nothing is known and every statement needs approval.
static KNOWN: LazyLock<Known> =
    LazyLock::new(|| toml::from_str(include_str!("known.toml")).unwrap_or_default());

/// A list of a section.
pub(super) fn list(section: &str, list: &str) -> Option<&'static BTreeSet<String>> {
    KNOWN.lists.get(section)?.get(list)
}

/// Whether a list of a section has this name.
pub(super) fn lists(section: &str, name_of_list: &str, name: &str) -> bool {
    list(section, name_of_list).is_some_and(|list| list.contains(name))
}

/// Why the function of this name does not surely only compute something from its arguments, or tell about the session. It reaches files,
/// other servers, other sessions or the settings, runs text as code, or blocks; or it is not known, perhaps a user's own.
pub(super) fn function(name: &ObjectName, dialect: Dialect) -> Option<(Risk, SqlConcern)> {
    let words = words(name);
    let function = name.to_string();
    let (last, schema) = words.split_last()?;
    let lower = last.to_ascii_lowercase();
    let mut starts = list("beyond", "starts").into_iter().flatten();
    if lists("beyond", "names", &lower) || starts.any(|start| lower.starts_with(start)) {
        return Some((Risk::High, SqlConcern::ReachesBeyond { function }));
    }
    let built_in = match schema {
        [] => true,
        [only] => only == "pg_catalog" && dialect.grammar == SqlDialect::Postgresql,
        _ => false,
    };
    // MySQL looks for a stored function when the name is quoted.
    let is_bare = |part: &ObjectNamePart| part.as_ident().is_some_and(|ident| ident.quote_style.is_none());
    let stored = dialect.grammar == SqlDialect::Mysql && !name.0.iter().all(is_bare);
    // As written and not in lower case: `"Count"` in quotes is another function than `count`.
    let is_known = built_in && !stored && KNOWN.functions.has(last, dialect);
    (!is_known).then_some((Risk::Medium, SqlConcern::UnknownFunction { function }))
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

/// The name of a pragma, without the database before it.
pub(super) fn pragma_name(name: &ObjectName) -> String {
    words(name).pop().unwrap_or_default()
}

/// Whether a pragma only reports, also about the thing in its parentheses.
pub(super) fn pragma_tells(name: &ObjectName) -> bool {
    lists("pragmas", "tells", &pragma_name(name))
}

/// Whether a table holds passwords or their hashes, or the server's access rules.
pub(super) fn holds_credentials(name: &ObjectName) -> bool {
    let words: Vec<String> = words(name).iter().map(|word| word.to_ascii_lowercase()).collect();
    // The table, with and without the schema before it.
    let ends = [words.len().saturating_sub(1), words.len().saturating_sub(2)];
    let mut names = ends.iter().filter_map(|start| words.get(*start..));
    names.any(|name| lists("credentials", "tables", &name.join(".")))
}

fn words(name: &ObjectName) -> Vec<String> {
    let word = |part: &ObjectNamePart| match part {
        ObjectNamePart::Identifier(ident) => folded(ident),
        ObjectNamePart::Function(function) => function.to_string(),
    };
    name.0.iter().map(word).collect()
}

/// A name as the server compares it. A quoted name that is not lower-case is kept as it is, so that it never passes for a
/// well-known one.
pub(super) fn folded(ident: &Ident) -> String {
    match ident.quote_style {
        None => ident.value.to_ascii_lowercase(),
        Some(_) => ident.value.clone(),
    }
}

#[cfg(test)]
mod tests;
