//! Text that looks harmless in one reading and is not in another.

use super::*;

#[test]
fn a_statement_after_a_stray_end_is_not_overlooked() {
    for dialect in [
        None,
        Some(SqlDialect::Sqlite),
        Some(SqlDialect::Postgresql),
        Some(SqlDialect::Mysql),
    ] {
        assert_eq!(found("SELECT 1 END; DROP TABLE t", dialect).risk(), Risk::High);
        assert_eq!(found("SELECT 1 END", dialect).risk(), Risk::High);
    }
}

#[test]
fn with_the_dialect_unknown_text_that_is_inert_in_only_some_dialects_is_high() {
    check(
        None,
        &[
            "SELECT 'a\\' ; DROP TABLE t -- '",
            "SELECT 1 #'\n; DROP TABLE t -- '",
            "SELECT $$ ; DROP TABLE t; -- $$",
            "SELECT $$ INTO OUTFILE '/tmp/x' -- $$",
            "SELECT \"a\" ; DROP TABLE t -- \"",
            "SELECT 1 --1 INTO OUTFILE '/tmp/x'",
            "SELECT [ ' ] ; DROP TABLE t -- ' ]",
            "SELECT /* /* */ 1 /* */ */",
            "SELECT E'\\'; DROP TABLE t; --'",
        ],
        &expect![[r#"
            SELECT 'a\' ; DROP TABLE t -- '
              HIGH Unreadable { what: "SQL" } a backslash before a quote means different things to different servers
            SELECT 1 #'\n; DROP TABLE t -- '
              HIGH Unreadable { what: "SQL" } databases disagree on what it means; name the dialect
            SELECT $$ ; DROP TABLE t; -- $$
              HIGH Unreadable { what: "SQL" } databases disagree on what it means; name the dialect
            SELECT $$ INTO OUTFILE '/tmp/x' -- $$
              HIGH Unreadable { what: "SQL" } databases disagree on what it means; name the dialect
            SELECT "a" ; DROP TABLE t -- "
              LOW read SELECT []
              HIGH command DROP ["t"] `DROP` does more than read or change rows
            SELECT 1 --1 INTO OUTFILE '/tmp/x'
              HIGH Unreadable { what: "SQL" } databases disagree on what it means; name the dialect
            SELECT [ ' ] ; DROP TABLE t -- ' ]
              HIGH Unreadable { what: "SQL" } databases disagree on what it means; name the dialect
            SELECT /* /* */ 1 /* */ */
              HIGH Unreadable { what: "SQL" } it does not parse: Expected: an expression, found: / at Line: 1, Column: 26
            SELECT E'\'; DROP TABLE t; --'
              HIGH Unreadable { what: "SQL" } a backslash before a quote means different things to different servers
        "#]],
    );
}

#[test]
fn characters_that_servers_and_the_parser_read_differently_are_high() {
    check(
        None,
        &[
            "SELECT 1\0; DROP TABLE t",
            "SELECT 1 -- x\r; DROP TABLE t",
            "SELECT 1 --\u{a0}x",
            "SELECT\u{3000}1",
            "SELECT\r\n1",
        ],
        &expect![[r#"
            SELECT 1\0; DROP TABLE t
              HIGH Unreadable { what: "SQL" } it contains '\0', which databases read differently
            SELECT 1 -- x\r; DROP TABLE t
              HIGH Unreadable { what: "SQL" } it contains '\r', which databases read differently
            SELECT 1 --\u{a0}x
              HIGH Unreadable { what: "SQL" } it contains '\u{a0}', which databases read differently
            SELECT\u{3000}1
              HIGH Unreadable { what: "SQL" } it contains '\u{3000}', which databases read differently
            SELECT\r\n1
              LOW read SELECT []
        "#]],
    );
}

#[test]
fn queryclaw_data_modify_is_judged_by_its_statement_and_not_by_its_words() {
    check(
        None,
        &[
            "UPDATE users SET note = 'SELECT * FROM t' WHERE id = 1",
            "SELECT 'DELETE FROM users'",
            "/* SELECT */ DELETE FROM users WHERE id = 1",
            "-- SELECT\nDELETE FROM users",
            "dElEtE/**/FROM/**/users",
            "SELECT * FROM delete_log",
            "SELECT * FROM users; DELETE FROM users WHERE id = 1",
        ],
        &expect![[r#"
            UPDATE users SET note = 'SELECT * FROM t' WHERE id = 1
              MEDIUM write UPDATE ["users"]
            SELECT 'DELETE FROM users'
              LOW read SELECT []
            /* SELECT */ DELETE FROM users WHERE id = 1
              MEDIUM write DELETE ["users"]
            -- SELECT\nDELETE FROM users
              HIGH write DELETE ["users"] no condition limits which rows DELETE touches
            dElEtE/**/FROM/**/users
              HIGH write DELETE ["users"] no condition limits which rows DELETE touches
            SELECT * FROM delete_log
              LOW read SELECT ["delete_log"]
            SELECT * FROM users; DELETE FROM users WHERE id = 1
              LOW read SELECT ["users"]
              HIGH write DELETE ["users"] it is one of several statements
        "#]],
    );
}

/// PostgreSQL 15 ran `pg_read_file` and the DELETE; the parser saw one string.
#[test]
fn a_string_that_goes_on_in_a_second_one_is_high() {
    for sql in [
        "SELECT E'a'\n'\\'' , pg_read_file($$/etc/passwd$$) --'",
        "SELECT E'a'\n'\\'' ; DELETE FROM salaries --'",
        "SELECT E'a' -- so\n /* or */ '\\'' ; DELETE FROM salaries --'",
        "SELECT U&'a'\n'b'",
        "SELECT 'a' 'b'",
    ] {
        for dialect in [None, Some(SqlDialect::Postgresql), Some(SqlDialect::Sqlite)] {
            assert_eq!(found(sql, dialect).risk(), Risk::High, "{sql}");
        }
    }
    let postgresql = Some(SqlDialect::Postgresql);
    for sql in [
        "SELECT E'a', 'b'",
        "SELECT 'a' \"Label\" FROM t",
        "SELECT 'a' || E'\\n'",
    ] {
        assert_eq!(found(sql, postgresql).risk(), Risk::Low, "{sql}");
    }
}

/// The `sqlite3` program deleted the row; the parser saw a cast with an argument.
#[test]
fn a_variable_with_brackets_is_high_for_sqlite() {
    for sql in [
        "SELECT :a::b('); DELETE FROM salaries --')",
        "SELECT $a('); DELETE FROM salaries --')",
        "SELECT $a$b('); DELETE FROM salaries --')",
        "SELECT @a('); DELETE FROM salaries --')",
        "SELECT #a('); DELETE FROM salaries --')",
        "SELECT :1::x1::b('); DELETE FROM salaries --')",
    ] {
        for dialect in [None, Some(SqlDialect::Sqlite)] {
            assert_eq!(found(sql, dialect).risk(), Risk::High, "{sql}");
        }
    }
    for sql in [
        "SELECT :a, $b, @c, ?, ?1",
        "SELECT count(*) FROM t WHERE id = :id AND (a = 1)",
    ] {
        assert_eq!(found(sql, Some(SqlDialect::Sqlite)).risk(), Risk::Low, "{sql}");
    }
    assert_eq!(
        found("SELECT $1::numeric(10)", Some(SqlDialect::Postgresql)).risk(),
        Risk::Low
    );
}

#[test]
fn a_condition_that_is_true_of_every_row_limits_nothing() {
    for sql in [
        "DELETE FROM t WHERE NOT (id = 1 AND 1 = 0)",
        "DELETE FROM t WHERE (id = 1 AND 1 = 0) IS FALSE",
        "DELETE FROM t WHERE NOT (NOT (id = 1 OR 1 = 1))",
        "DELETE FROM t WHERE t.id = id",
        "DELETE FROM t WHERE T.ID = t.id",
        "UPDATE t SET a = 1 WHERE id LIKE '_%'",
    ] {
        assert_eq!(found(sql, None).risk(), Risk::High, "{sql}");
    }
    for (sql, dialect) in [
        ("DELETE FROM t WHERE id REGEXP '.*'", SqlDialect::Mysql),
        ("DELETE FROM t WHERE id REGEXP 'x*'", SqlDialect::Mysql),
        ("DELETE FROM t WHERE id REGEXP 'a|'", SqlDialect::Mysql),
        ("DELETE FROM t WHERE id ~ '.*'", SqlDialect::Postgresql),
        ("DELETE FROM t USING u WHERE u.id = 1", SqlDialect::Postgresql),
        (
            "DELETE FROM t USING users u WHERE u.id = 1",
            SqlDialect::Postgresql,
        ),
        ("UPDATE t SET a = 1 FROM u WHERE u.id = 1", SqlDialect::Postgresql),
    ] {
        assert_eq!(found(sql, Some(dialect)).risk(), Risk::High, "{sql}");
    }
    for (sql, dialect) in [
        ("DELETE FROM t WHERE NOT (id = 1)", SqlDialect::Postgresql),
        (
            "DELETE FROM t WHERE NOT (id = 1 OR 1 = 0)",
            SqlDialect::Postgresql,
        ),
        ("DELETE FROM t USING u WHERE t.id = u.id", SqlDialect::Postgresql),
        (
            "UPDATE t SET a = 1 FROM u WHERE t.id = u.id AND u.x = 1",
            SqlDialect::Postgresql,
        ),
        ("DELETE FROM t WHERE name REGEXP '^tmp'", SqlDialect::Mysql),
        ("DELETE FROM t WHERE name LIKE 'tmp_%'", SqlDialect::Mysql),
    ] {
        assert_eq!(found(sql, Some(dialect)).risk(), Risk::Medium, "{sql}");
    }
}
