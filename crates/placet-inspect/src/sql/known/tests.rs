//! The records of `known.toml` hold for their own examples.

use placet_core::analysis::Analysis;
use placet_core::tool::{Category, Risk};
use toml::{Table, Value};

use super::*;
use crate::sql::analyse;

fn judged(sql: &str, dialect: SqlDialect) -> (Risk, Option<Category>) {
    let mut found = Analysis::nothing();
    analyse(sql, Some(dialect), SqlAccess::Unrestricted, &mut found);
    (found.risk(), found.sql_category())
}

/// The records of a section: a list of them, or the section itself.
fn records(section: &Value) -> Vec<&Table> {
    match section {
        Value::Array(records) => records.iter().filter_map(Value::as_table).collect(),
        section => section.as_table().into_iter().collect(),
    }
}

fn texts<'a>(record: &'a Table, key: &str) -> Vec<&'a str> {
    let values = record.get(key).and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn dialects_of(name: &str, record: &Table) -> Vec<SqlDialect> {
    match name {
        "explain" => vec![SqlDialect::Postgresql],
        "pragmas" => vec![SqlDialect::Sqlite],
        _ => match record.get("dialects") {
            Some(dialects) => dialects.clone().try_into().unwrap(),
            None => SqlDialect::ALL.to_vec(),
        },
    }
}

#[test]
fn every_record_holds_for_its_own_examples() {
    let text = include_str!("../known.toml");
    let parsed: Result<Known, _> = toml::from_str(text);
    assert_eq!(parsed.err().map(|error| error.message().to_owned()), None);
    let file: Table = toml::from_str(text).unwrap();
    let mut checked = 0;
    for (name, section) in &file {
        for record in records(section) {
            for dialect in dialects_of(name, record) {
                for sql in texts(record, "reads") {
                    assert_eq!(
                        judged(sql, dialect),
                        (Risk::Low, Some(Category::Read)),
                        "{dialect:?}: {sql}"
                    );
                    checked += 1;
                }
                for sql in texts(record, "asks") {
                    let (risk, category) = judged(sql, dialect);
                    assert!(risk > Risk::Low, "{dialect:?}: {sql}");
                    assert!(
                        category != Some(Category::Read) || name == "credentials",
                        "{dialect:?}: {sql}"
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 60, "{checked} examples");
}

#[test]
fn no_function_is_both_harmless_and_dangerous() {
    let starts = list("beyond", "starts").unwrap();
    for name in KNOWN.functions.0.keys() {
        assert!(!lists("beyond", "names", name), "{name}");
        assert!(!starts.iter().any(|start| name.starts_with(start)), "{name}");
    }
}

#[test]
fn every_list_that_the_analysis_asks_for_is_there() {
    for (section, name) in [
        ("beyond", "names"),
        ("beyond", "starts"),
        ("explain", "options"),
        ("pragmas", "tells"),
        ("pragmas", "settings"),
        ("credentials", "tables"),
        ("statements", "about_tables"),
    ] {
        assert!(
            list(section, name).is_some_and(|list| !list.is_empty()),
            "{section}.{name}"
        );
    }
}

#[test]
fn every_known_function_is_a_read_where_it_is_known_and_not_elsewhere() {
    for (name, dialects) in &KNOWN.functions.0 {
        let called = ObjectName::from(vec![sqlparser::ast::Ident::new(name)]);
        for grammar in SqlDialect::ALL {
            let certain = Dialect {
                grammar,
                certain: true,
                access: SqlAccess::Unrestricted,
            };
            let is_known = function(&called, certain).is_none();
            assert_eq!(is_known, dialects.contains(&grammar), "{grammar:?}: {name}");
            let uncertain = Dialect {
                certain: false,
                ..certain
            };
            assert_eq!(function(&called, uncertain), None, "{name}");
        }
    }
}
