//! What statements are found to be.

use expect_test::{Expect, expect};
use placet_core::tool::Category;
use proptest::prelude::*;

use super::*;
use crate::tests::value;

mod attributes;
mod dialects;
mod disguises;
mod naming;
mod prose;

/// What is found where judged reads run read-only.
fn found(sql: &str, dialect: Option<SqlDialect>) -> Analysis {
    found_with(sql, dialect, SqlAccess::ReadOnly)
}

fn found_with(sql: &str, dialect: Option<SqlDialect>, access: SqlAccess) -> Analysis {
    let mut found = Analysis::nothing();
    analyse(sql, dialect, access, &mut found);
    found
}

/// One line per fact: risk, category, verb, tables, reason.
fn table(statements: &[&str], dialect: Option<SqlDialect>) -> String {
    let mut lines = String::new();
    for sql in statements {
        lines.push_str(&visible(sql));
        lines.push('\n');
        for fact in found(sql, dialect).facts {
            let what = match &fact.kind {
                FactKind::Statement {
                    verb,
                    category,
                    tables,
                    ..
                } => format!("{category} {verb} {tables:?}"),
                other => format!("{other:?}"),
            };
            lines.push_str(
                &format!("  {} {what} {}", fact.risk, value(fact.why.as_ref()))
                    .trim_end()
                    .replace('\n', " "),
            );
            lines.push('\n');
        }
    }
    lines
}

fn visible(sql: &str) -> String {
    let odd = |c: char| c.is_control() || (c.is_whitespace() && c != ' ');
    sql.chars()
        .flat_map(|c| {
            if odd(c) {
                c.escape_debug().collect()
            } else {
                vec![c]
            }
        })
        .collect()
}

fn check(dialect: impl Into<Option<SqlDialect>>, statements: &[&str], expected: &Expect) {
    expected.assert_eq(&table(statements, dialect.into()));
}

#[test]
fn reads_are_low() {
    check(
        None,
        &[
            "SELECT * FROM users",
            "select count(*), lower(name) from app.users u join orders o on o.user_id = u.id where u.id in (1, 2) group by 2;",
            "WITH recent AS (SELECT * FROM orders WHERE at > '2026-01-01') SELECT * FROM recent ORDER BY at LIMIT 10",
            "SELECT 1 UNION ALL SELECT 2",
            "VALUES (1), (2)",
            "EXPLAIN SELECT * FROM t",
            "EXPLAIN DELETE FROM t",
            "SELECT 1; SELECT 2",
            "SELECT `name` FROM `users`",
            "PRAGMA table_info(users)",
            "PRAGMA user_version",
            "SHOW TABLES",
            "SELECT 'it''s; DROP TABLE t -- not really'",
            "SELECT * FROM 用户 WHERE 名字 = '张三'",
        ],
        &expect![[r#"
            SELECT * FROM users
              LOW read SELECT ["users"]
            select count(*), lower(name) from app.users u join orders o on o.user_id = u.id where u.id in (1, 2) group by 2;
              LOW read SELECT ["app.users", "orders"]
            WITH recent AS (SELECT * FROM orders WHERE at > '2026-01-01') SELECT * FROM recent ORDER BY at LIMIT 10
              LOW read SELECT ["orders", "recent"]
            SELECT 1 UNION ALL SELECT 2
              LOW read SELECT []
            VALUES (1), (2)
              LOW read SELECT []
            EXPLAIN SELECT * FROM t
              LOW read EXPLAIN ["t"]
            EXPLAIN DELETE FROM t
              LOW read EXPLAIN ["t"]
            SELECT 1; SELECT 2
              LOW read SELECT []
              LOW read SELECT []
            SELECT `name` FROM `users`
              LOW read SELECT ["users"]
            PRAGMA table_info(users)
              LOW read PRAGMA ["users"]
            PRAGMA user_version
              LOW read PRAGMA []
            SHOW TABLES
              LOW read SHOW []
            SELECT 'it''s; DROP TABLE t -- not really'
              LOW read SELECT []
            SELECT * FROM 用户 WHERE 名字 = '张三'
              LOW read SELECT ["用户"]
        "#]],
    );
}

#[test]
fn changes_of_rows_are_writes_of_medium_risk() {
    check(
        None,
        &[
            "INSERT INTO t (a) VALUES (1)",
            "UPDATE users SET name = 'x' WHERE id = 7",
            "DELETE FROM users WHERE id = 7 AND 1 = 1",
            "REPLACE INTO t (a) VALUES (1)",
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 1",
            "SELECT * FROM t WHERE id = 1 FOR UPDATE",
        ],
        &expect![[r#"
            INSERT INTO t (a) VALUES (1)
              MEDIUM write INSERT ["t"]
            UPDATE users SET name = 'x' WHERE id = 7
              MEDIUM write UPDATE ["users"]
            DELETE FROM users WHERE id = 7 AND 1 = 1
              MEDIUM write DELETE ["users"]
            REPLACE INTO t (a) VALUES (1)
              MEDIUM write REPLACE ["t"]
            MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 1
              MEDIUM write MERGE ["s", "t"]
            SELECT * FROM t WHERE id = 1 FOR UPDATE
              MEDIUM write SELECT ["t"] Sql(LocksRows)
        "#]],
    );
}

#[test]
fn an_update_or_delete_that_no_condition_limits_is_high() {
    check(
        None,
        &[
            "DELETE FROM users",
            "UPDATE users SET admin = 1",
            "DELETE FROM users WHERE 1=1",
            "DELETE FROM users WHERE true",
            "DELETE FROM users WHERE (1)",
            "DELETE FROM users WHERE 'a' = 'a'",
            "DELETE FROM users WHERE id = 7 OR 1 = 1",
            "DELETE FROM users WHERE id = id",
            "DELETE FROM users WHERE NOT (1 = 2)",
            "DELETE FROM users WHERE name LIKE '%'",
            "DELETE FROM users WHERE EXISTS (SELECT 1 FROM users)",
            "DELETE FROM users WHERE length('x') > 0",
            "DELETE FROM users WHERE 1 IN (1, 2)",
            "DELETE FROM users WHERE 2 BETWEEN 1 AND 3",
            "MERGE INTO t USING s ON 1 = 1 WHEN MATCHED THEN DELETE",
            "INSERT INTO t SELECT 1; DELETE FROM t WHERE id = 1",
        ],
        &expect![[r#"
            DELETE FROM users
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            UPDATE users SET admin = 1
              HIGH write UPDATE ["users"] Sql(NoCondition { verb: "UPDATE" })
            DELETE FROM users WHERE 1=1
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE true
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE (1)
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE 'a' = 'a'
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE id = 7 OR 1 = 1
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE id = id
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE NOT (1 = 2)
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE name LIKE '%'
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE EXISTS (SELECT 1 FROM users)
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE length('x') > 0
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE 1 IN (1, 2)
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            DELETE FROM users WHERE 2 BETWEEN 1 AND 3
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            MERGE INTO t USING s ON 1 = 1 WHEN MATCHED THEN DELETE
              HIGH write MERGE ["s", "t"] Sql(NoCondition { verb: "MERGE" })
            INSERT INTO t SELECT 1; DELETE FROM t WHERE id = 1
              HIGH write INSERT ["t"] Sql(OneOfSeveral)
              HIGH write DELETE ["t"] Sql(OneOfSeveral)
        "#]],
    );
}

#[test]
fn structure_rights_settings_and_files_are_high() {
    check(
        None,
        &[
            "DROP TABLE users",
            "CREATE TABLE t (a INT)",
            "ALTER TABLE t ADD COLUMN b INT",
            "TRUNCATE TABLE t",
            "GRANT ALL ON t TO bob",
            "REVOKE ALL ON t FROM bob",
            "SET ROLE admin",
            "SET search_path = evil",
            "CALL wipe()",
            "USE other",
            "BEGIN; UPDATE t SET a = 1 WHERE id = 2; COMMIT",
            "BEGIN; SELECT 1; COMMIT",
            "",
            "  -- nothing\n /* at all */ ;; ",
            "SELEC 1",
            "rm -rf /",
        ],
        &expect![[r#"
            DROP TABLE users
              HIGH command DROP ["users"] Sql(MoreThanRows { verb: "DROP" })
            CREATE TABLE t (a INT)
              HIGH command CREATE ["t"] Sql(MoreThanRows { verb: "CREATE" })
            ALTER TABLE t ADD COLUMN b INT
              HIGH command ALTER ["t"] Sql(MoreThanRows { verb: "ALTER" })
            TRUNCATE TABLE t
              HIGH command TRUNCATE ["t"] Sql(MoreThanRows { verb: "TRUNCATE" })
            GRANT ALL ON t TO bob
              HIGH command GRANT [] Sql(MoreThanRows { verb: "GRANT" })
            REVOKE ALL ON t FROM bob
              HIGH command REVOKE [] Sql(MoreThanRows { verb: "REVOKE" })
            SET ROLE admin
              HIGH command SET [] Sql(MoreThanRows { verb: "SET" })
            SET search_path = evil
              HIGH command SET [] Sql(MoreThanRows { verb: "SET" })
            CALL wipe()
              HIGH command CALL [] Sql(MoreThanRows { verb: "CALL" })
            USE other
              HIGH command USE [] Sql(MoreThanRows { verb: "USE" })
            BEGIN; UPDATE t SET a = 1 WHERE id = 2; COMMIT
              HIGH command BEGIN [] Sql(OneOfSeveral)
              HIGH write UPDATE ["t"] Sql(OneOfSeveral)
              HIGH command COMMIT [] Sql(OneOfSeveral)
            BEGIN; SELECT 1; COMMIT
              MEDIUM command BEGIN [] Sql(Transaction)
              LOW read SELECT []
              MEDIUM command COMMIT [] Sql(Transaction)

              HIGH Unreadable { what: "SQL" } Sql(Empty)
              -- nothing\n /* at all */ ;; 
              HIGH Unreadable { what: "SQL" } Sql(Empty)
            SELEC 1
              HIGH Unreadable { what: "SQL" } Sql(Unparsed { error: "Expected: an SQL statement, found: SELEC" })
            rm -rf /
              HIGH Unreadable { what: "SQL" } Sql(Unparsed { error: "Expected: an SQL statement, found: rm" })
        "#]],
    );
}

#[test]
fn every_statement_is_printed_from_its_parsed_form() {
    let Analysis { facts, .. } = found("select  'a''b'  -- comment\n from t", None);
    let [
        Fact {
            kind: FactKind::Statement { text, tables, .. },
            ..
        },
    ] = facts.as_slice()
    else {
        panic!("{facts:?}")
    };
    assert_eq!(
        (text.as_str(), tables.as_slice()),
        ("SELECT 'a''b' FROM t", ["t".to_owned()].as_slice())
    );
}

#[test]
fn long_and_deep_text_is_high_and_does_not_exhaust_the_stack() {
    let chain = |operator: &str, count: usize| format!("SELECT 1{}", format!(" {operator} 1").repeat(count));
    let cases = [
        chain("+", 490),
        chain("OR", 490),
        chain("+", 30_000),
        chain("UNION SELECT", 330),
        chain("UNION SELECT", 6_000),
        format!("SELECT {}1{}", "(".repeat(40_000), ")".repeat(40_000)),
        format!("SELECT {}1{}", "(".repeat(40), ")".repeat(40)),
        format!("SELECT {}1{}", "f(".repeat(45), ")".repeat(45)),
        format!("SELECT * FROM {}t{}", "(".repeat(45), ")".repeat(45)),
        format!(
            "SELECT * FROM {}t{}",
            "(SELECT * FROM ".repeat(40),
            ")".repeat(40)
        ),
        format!("SELECT {} 1", "NOT ".repeat(20_000)),
        format!("SELECT {} 1", "- ".repeat(900)),
        format!("SELECT 1{}", "::int".repeat(490)),
        format!("SELECT a{}", "[1]".repeat(330)),
        format!(
            "SELECT {} 1 {}",
            "CASE WHEN 1 THEN ".repeat(100),
            "END ".repeat(100)
        ),
        format!("SELECT '{}'", "x".repeat(200_000)),
    ];
    // Half of what a test's or a worker's thread has.
    let judged = std::thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(move || cases.map(|sql| SqlDialect::ALL.map(|dialect| found(&sql, Some(dialect)).risk())))
        .unwrap()
        .join()
        .unwrap();
    assert_eq!(judged[2], [Risk::High; 3]);
    assert_eq!(judged[4], [Risk::High; 3]);
    assert_eq!(judged[5], [Risk::High; 3]);
    assert_eq!(judged[15], [Risk::High; 3]);
    assert_eq!(judged[0], [Risk::Low; 3], "an ordinary chain is read");
}

#[test]
fn a_list_of_many_values_is_not_deep() {
    let rows = vec!["(1, 'x')"; 5_000].join(", ");
    let found = found(&format!("INSERT INTO t VALUES {rows}"), None);
    assert_eq!(
        (found.risk(), found.sql_category()),
        (Risk::Medium, Some(Category::Write))
    );
}

#[derive(Debug, Clone)]
struct Write(String);

fn any_write() -> impl Strategy<Value = Write> {
    let plain = prop_oneof![
        Just("DELETE FROM t WHERE id = 1"),
        Just("DELETE FROM t"),
        Just("UPDATE t SET a = 1 WHERE id = 1"),
        Just("INSERT INTO t (a) VALUES (1)"),
        Just("DROP TABLE t"),
        Just("TRUNCATE TABLE t"),
        Just("CREATE TABLE t (a INT)"),
    ];
    let space = prop_oneof![
        Just(" "),
        Just("\n"),
        Just("/* SELECT */"),
        Just("-- SELECT 1\n"),
        Just(";"),
        Just("\t\r\n")
    ];
    (plain, proptest::collection::vec(space, 0..4), 0_u8..6).prop_map(|(plain, spaces, wrapping)| {
        let padding = spaces.concat();
        let spaced = plain.replace(' ', if padding.contains(';') { " " } else { "/**/ " });
        Write(match wrapping {
            0 => format!("{padding}{plain}"),
            1 => format!("{padding}{spaced}{padding}"),
            2 => format!("SELECT 1;{padding}{plain}"),
            3 => format!("{padding}EXPLAIN ANALYZE {plain}"),
            4 => format!("WITH x AS ({plain} RETURNING a) SELECT * FROM x"),
            _ => format!("{padding}{}", plain.to_lowercase()),
        })
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_analysis_panic_or_find_nothing(sql in ".{0,200}") {
        for dialect in [None, Some(SqlDialect::Sqlite), Some(SqlDialect::Postgresql), Some(SqlDialect::Mysql)] {
            prop_assert!(!found(&sql, dialect).facts.is_empty());
        }
    }

    #[test]
    fn no_text_made_of_sql_pieces_makes_the_analysis_panic(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("SELECT"), Just("DELETE"), Just("FROM"), Just("t"), Just("WHERE"), Just("("), Just(")"), Just(","),
                Just("'"), Just("\""), Just("`"), Just("$$"), Just("#"), Just("--"), Just("/*"), Just("*/"), Just("\n"),
                Just(";"), Just("1"), Just("="), Just("WITH"), Just("AS"), Just("END"), Just("\\"), Just("["), Just("]"),
                Just("EXPLAIN"), Just("PRAGMA"), Just("INTO"), Just("UNION"), Just("CASE"), Just("COPY"), Just("STDIN"),
            ],
            0..40,
        ),
    ) {
        for dialect in [None, Some(SqlDialect::Sqlite), Some(SqlDialect::Postgresql), Some(SqlDialect::Mysql)] {
            prop_assert!(!found(&pieces.join(" "), dialect).facts.is_empty());
        }
    }

    #[test]
    fn a_write_is_never_taken_for_a_read_however_it_is_wrapped(write in any_write()) {
        for dialect in [None, Some(SqlDialect::Sqlite), Some(SqlDialect::Postgresql), Some(SqlDialect::Mysql)] {
            let found = found(&write.0, dialect);
            prop_assert_ne!(found.sql_category(), Some(Category::Read), "{:?}", found);
            prop_assert!(found.risk() >= Risk::Medium);
        }
    }
}

#[test]
fn a_condition_beside_another_table_limits_nothing() {
    for sql in [
        "DELETE t FROM t JOIN u ON 1 = 1 WHERE u.id = 1",
        "DELETE FROM t USING t JOIN u ON 1 = 1 WHERE u.id = 1",
        "DELETE FROM t USING u WHERE u.id = 1",
        "UPDATE t JOIN u ON 1 = 1 SET t.a = 1 WHERE u.id = 1",
        "UPDATE t SET a = 1 FROM u WHERE u.id = 1",
    ] {
        let mut found = Analysis::nothing();
        analyse(sql, None, SqlAccess::Unrestricted, &mut found);
        assert_eq!(found.risk(), Risk::High, "{sql}");
    }
}
