//! Which texts count as SQL where they may be anything.

use super::*;

/// What [`is_about_tables`] must say: the same as if every text were parsed.
fn parses_as_statements(text: &str) -> bool {
    let facts = found(text, None).facts;
    facts.iter().any(|fact| match &fact.kind {
        FactKind::Statement { verb, .. } => known::lists("statements", "about_tables", verb),
        _ => false,
    })
}

/// Whether inspection takes the text for SQL.
fn is_about_tables(text: &str) -> bool {
    let mut found = Analysis::nothing();
    analyse_if_sql(text, &mut found);
    !found.facts.is_empty()
}

#[test]
fn statements_about_tables_are_told_from_prose() {
    for sql in [
        "SELECT 1",
        "select\n*\nfrom t",
        "DROP TABLE x",
        "DROP MATERIALIZED VIEW x",
        "TRUNCATE logs",
        "/* */ DELETE FROM t",
        "-- Update the docs\nDELETE FROM t",
        "(SELECT 1)",
        ";; DELETE FROM t",
        "VACUUM; DELETE FROM t",
        "BEGIN; SELECT 1; COMMIT",
        "EXPLAIN ANALYZE DELETE FROM t",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "VALUES (1)",
        "INSERT INTO t DEFAULT VALUES",
        "REPLACE INTO t VALUES (1)",
        "INSERT INTO t (SELECT 1)",
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "GRANT ALL ON t TO bob",
        "CREATE TEMPORARY TABLE t (a INT)",
        "CREATE OR REPLACE VIEW v AS SELECT 1",
        "CREATE UNIQUE INDEX i ON t (a)",
        "ALTER TABLE t ADD COLUMN b INT",
        "UPDATE\tt\tSET a = 1",
        "update t set a=1",
        "SELECT * INTO copy FROM t",
    ] {
        assert!(is_about_tables(sql), "{sql}");
        assert!(parses_as_statements(sql), "{sql}");
    }
    for prose in [
        "Update the docs",
        "Show me the logs",
        "Call Lin",
        "Use tabs",
        "VACUUM",
        "Create a ticket for the login page",
        "Create a table of contents",
        "Select the best option from the list",
        "With the new release; then wait",
        "Explain why it fails",
        "replicas: 3\nimage: api",
    ] {
        assert!(!is_about_tables(prose), "{prose}");
        assert!(!parses_as_statements(prose), "{prose}");
    }
}

#[test]
fn long_prose_is_not_parsed() {
    for (prose, expected) in [
        ("Select the best option, and make sure that everyone agrees", true),
        ("Update the docs. Please tell everyone\nthat it works, too", true),
        // Words behind which strings, comments or another statement may stand say nothing.
        ("Select 'a', make sure that everyone agrees", false),
        ("SHOW make sure that everyone agrees; DROP TABLE t", false),
        // Keywords and commas stand between the names of a statement.
        (
            "SELECT one first, two second FROM three third JOIN four fourth",
            false,
        ),
    ] {
        assert_eq!(parse::is_prose(prose), expected, "{prose}");
    }
}

/// The texts of `known.toml` that are statements.
fn examples() -> Vec<String> {
    let file: toml::Table = toml::from_str(include_str!("../known.toml")).unwrap();
    let mut texts = Vec::new();
    let mut values: Vec<&toml::Value> = file.values().collect();
    while let Some(value) = values.pop() {
        match value {
            toml::Value::String(text) => texts.push(text.clone()),
            toml::Value::Array(inner) => values.extend(inner),
            toml::Value::Table(inner) => values.extend(inner.values()),
            _ => {}
        }
    }
    texts.retain(|text| text.contains(' '));
    texts
}

#[test]
fn no_statement_takes_as_many_names_in_a_row_as_prose_has() {
    for text in examples().iter().filter(|text| !text.contains(['\'', '"', ';'])) {
        let words: Vec<&str> = text.split(' ').collect();
        for at in 1..=words.len() {
            let (before, after) = words.split_at(at);
            let text = [before, &["one two three four five"], after].concat().join(" ");
            assert!(!parses_as_statements(&text), "{text}");
        }
    }
}

#[test]
fn every_example_of_a_statement_counts_as_before() {
    for text in &examples() {
        assert_eq!(is_about_tables(text), parses_as_statements(text), "{text}");
    }
}

fn any_word() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "SELECT",
        "DELETE",
        "INSERT",
        "UPDATE",
        "REPLACE",
        "MERGE",
        "CREATE",
        "DROP",
        "ALTER",
        "TRUNCATE",
        "GRANT",
        "WITH",
        "EXPLAIN",
        "DESC",
        "DESCRIBE",
        "COPY",
        "VALUES",
        "FROM",
        "TABLE",
        "BEGIN",
        "SHOW",
        "CALL",
        "PREPARE",
        "DECLARE",
        "IF",
        "CASE",
        "END",
        "INTO",
        "SET",
        "AS",
        "TO",
        "ON",
        "USING",
        "WHERE",
        "VIEW",
        "INDEX",
        "TEMP",
        "OR",
        "ALL",
        "STDOUT",
        "ANALYZE",
        "t",
        "u",
        "a = 1",
        "(a)",
        "(1)",
        "(SELECT 1)",
        "*",
        "1",
        ",",
        "(",
        ")",
        ";",
        "/**/",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn a_text_counts_exactly_if_it_parses_as_statements_about_tables(words in proptest::collection::vec(any_word(), 0..9)) {
        let text = words.join(" ");
        prop_assert_eq!(is_about_tables(&text), parses_as_statements(&text), "{}", text);
    }
}
