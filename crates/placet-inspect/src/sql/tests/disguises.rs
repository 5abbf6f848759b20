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
              HIGH Unreadable { what: "SQL" } Sql(EscapedQuote)
            SELECT 1 #'\n; DROP TABLE t -- '
              HIGH Unreadable { what: "SQL" } Sql(Ambiguous)
            SELECT $$ ; DROP TABLE t; -- $$
              HIGH Unreadable { what: "SQL" } Sql(Ambiguous)
            SELECT $$ INTO OUTFILE '/tmp/x' -- $$
              HIGH Unreadable { what: "SQL" } Sql(Ambiguous)
            SELECT "a" ; DROP TABLE t -- "
              LOW read SELECT []
              HIGH command DROP ["t"] Sql(MoreThanRows { verb: "DROP" })
            SELECT 1 --1 INTO OUTFILE '/tmp/x'
              HIGH Unreadable { what: "SQL" } Sql(Ambiguous)
            SELECT [ ' ] ; DROP TABLE t -- ' ]
              HIGH Unreadable { what: "SQL" } Sql(Ambiguous)
            SELECT /* /* */ 1 /* */ */
              HIGH Unreadable { what: "SQL" } Sql(Unparsed { error: "Expected: an expression, found: / at Line: 1, Column: 26" })
            SELECT E'\'; DROP TABLE t; --'
              HIGH Unreadable { what: "SQL" } Sql(EscapedQuote)
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
              HIGH Unreadable { what: "SQL" } Sql(OddCharacter { character: "\\0" })
            SELECT 1 -- x\r; DROP TABLE t
              HIGH Unreadable { what: "SQL" } Sql(OddCharacter { character: "\\r" })
            SELECT 1 --\u{a0}x
              HIGH Unreadable { what: "SQL" } Sql(OddCharacter { character: "\\u{a0}" })
            SELECT\u{3000}1
              HIGH Unreadable { what: "SQL" } Sql(OddCharacter { character: "\\u{3000}" })
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
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            dElEtE/**/FROM/**/users
              HIGH write DELETE ["users"] Sql(NoCondition { verb: "DELETE" })
            SELECT * FROM delete_log
              LOW read SELECT ["delete_log"]
            SELECT * FROM users; DELETE FROM users WHERE id = 1
              LOW read SELECT ["users"]
              HIGH write DELETE ["users"] Sql(OneOfSeveral)
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
        "DELETE FROM t WHERE NOT (id = 1)",
        "DELETE FROM t WHERE NOT (id = 1 OR 1 = 0)",
        "DELETE FROM t WHERE id <> 1",
        "DELETE FROM t WHERE id NOT IN (1, 2)",
        "DELETE FROM t WHERE id NOT LIKE 'x'",
        "DELETE FROM t WHERE id NOT BETWEEN 1 AND 2",
        "DELETE FROM t WHERE id IS NOT NULL",
        "DELETE FROM t WHERE id",
        "DELETE FROM t WHERE id = id + 0",
        "DELETE FROM t WHERE id >= abs(t.id)",
        "DELETE FROM t WHERE id IN (SELECT id FROM t)",
        "DELETE FROM t WHERE id IN (1, id)",
        "DELETE FROM t WHERE id BETWEEN 1 AND id",
        "DELETE FROM t WHERE id * 0 = 0",
        "DELETE FROM t WHERE coalesce(1, id) = 1",
        "DELETE FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = 1)",
        "DELETE FROM t WHERE id LIKE name",
        "DELETE FROM t WHERE id = 1 OR id <> 1",
    ] {
        assert_eq!(found(sql, None).risk(), Risk::High, "{sql}");
    }
    for (sql, dialect) in [
        ("DELETE FROM t WHERE id REGEXP '.*'", SqlDialect::Mysql),
        ("DELETE FROM t WHERE id REGEXP 'x*'", SqlDialect::Mysql),
        ("DELETE FROM t WHERE id REGEXP 'a|'", SqlDialect::Mysql),
        ("DELETE FROM t WHERE id ~ '.*'", SqlDialect::Postgresql),
        ("DELETE FROM t WHERE name REGEXP '^tmp'", SqlDialect::Mysql),
        ("DELETE FROM t USING u WHERE id = 1", SqlDialect::Postgresql),
        ("DELETE FROM t USING u WHERE u.id = 1", SqlDialect::Postgresql),
        (
            "DELETE FROM t USING users u WHERE u.id = 1",
            SqlDialect::Postgresql,
        ),
        ("UPDATE t SET a = 1 FROM u WHERE u.id = 1", SqlDialect::Postgresql),
        // Which rows these pick, the other table says.
        ("DELETE FROM t USING u WHERE t.id = u.id", SqlDialect::Postgresql),
        (
            "UPDATE t SET a = 1 FROM u WHERE t.id = u.id AND u.x = 1",
            SqlDialect::Postgresql,
        ),
    ] {
        assert_eq!(found(sql, Some(dialect)).risk(), Risk::High, "{sql}");
    }
    for (sql, dialect) in [
        ("DELETE FROM t WHERE name LIKE 'tmp_%'", SqlDialect::Mysql),
        ("DELETE FROM t WHERE deleted IS NULL", SqlDialect::Mysql),
        ("DELETE FROM t WHERE 7 = (id) AND NOT gone", SqlDialect::Mysql),
        (
            "DELETE FROM t WHERE id = ANY(ARRAY[1, 2])",
            SqlDialect::Postgresql,
        ),
        (
            "DELETE FROM t WHERE id IN (SELECT gone FROM u)",
            SqlDialect::Sqlite,
        ),
        (
            "DELETE FROM t WHERE at BETWEEN 1 AND 2 OR id <= 3",
            SqlDialect::Sqlite,
        ),
    ] {
        assert_eq!(found(sql, Some(dialect)).risk(), Risk::Medium, "{sql}");
    }
}

/// PostgreSQL 15 runs a deletion or a function of the database's owner in each of these.
#[test]
fn what_postgresql_reads_as_a_call_is_not_a_read() {
    check(
        SqlDialect::Postgresql,
        &[
            "EXPLAIN (ANALYSE) DELETE FROM orders",
            "EXPLAIN (ANALYSE, VERBOSE) DELETE FROM orders WHERE id = 1",
            "EXPLAIN ANALYSE DELETE FROM orders",
            "EXPLAIN (\"analyze\") DELETE FROM orders",
            "EXPLAIN (SOMETHING_NEW) SELECT 1",
            "SELECT 1 @@@ 2",
            "SELECT 1 !=- 2",
            "SELECT 1 OPERATOR(evil.+) 2",
            "SELECT (t).my_delete_all FROM t",
            "SELECT (SELECT t FROM t LIMIT 1).my_delete_all",
            "SELECT U&\"\\0070g_read_file\"('/etc/passwd')",
            "SELECT u&\"\\0070g_read_file\"('/etc/passwd')",
            "SELECT 'x'::my_domain",
            "SELECT my_domain 'x'",
            "SELECT * FROM json_to_record('{}') AS x(a my_domain)",
            "SELECT * FROM xmltable('/a' PASSING data COLUMNS b my_domain)",
        ],
        &expect![[r#"
            EXPLAIN (ANALYSE) DELETE FROM orders
              HIGH write DELETE ["orders"] Sql(NoCondition { verb: "DELETE" })
            EXPLAIN (ANALYSE, VERBOSE) DELETE FROM orders WHERE id = 1
              MEDIUM write DELETE ["orders"]
            EXPLAIN ANALYSE DELETE FROM orders
              HIGH Unreadable { what: "SQL" } Sql(Trailing { token: "DELETE" })
            EXPLAIN ("analyze") DELETE FROM orders
              HIGH write DELETE ["orders"] Sql(NoCondition { verb: "DELETE" })
            EXPLAIN (SOMETHING_NEW) SELECT 1
              MEDIUM command EXPLAIN [] Sql(Unproven { what: "SOMETHING_NEW" })
            SELECT 1 @@@ 2
              MEDIUM command SELECT [] Sql(Unproven { what: "@@@" })
            SELECT 1 !=- 2
              MEDIUM command SELECT [] Sql(Unproven { what: "!=-" })
            SELECT 1 OPERATOR(evil.+) 2
              MEDIUM command SELECT [] Sql(Unproven { what: "OPERATOR(evil.+)" })
            SELECT (t).my_delete_all FROM t
              MEDIUM command SELECT ["t"] Sql(Unproven { what: ".my_delete_all" })
            SELECT (SELECT t FROM t LIMIT 1).my_delete_all
              MEDIUM command SELECT ["t"] Sql(Unproven { what: ".my_delete_all" })
            SELECT U&"\0070g_read_file"('/etc/passwd')
              HIGH Unreadable { what: "SQL" } Sql(EscapedName)
            SELECT u&"\0070g_read_file"('/etc/passwd')
              HIGH Unreadable { what: "SQL" } Sql(EscapedName)
            SELECT 'x'::my_domain
              MEDIUM command SELECT [] Sql(Unproven { what: "my_domain" })
            SELECT my_domain 'x'
              MEDIUM command SELECT [] Sql(Unproven { what: "my_domain" })
            SELECT * FROM json_to_record('{}') AS x(a my_domain)
              MEDIUM command SELECT ["json_to_record"] Sql(Unproven { what: "my_domain" })
            SELECT * FROM xmltable('/a' PASSING data COLUMNS b my_domain)
              MEDIUM command SELECT [] Sql(Unproven { what: "XMLTABLE" })
        "#]],
    );
}

#[test]
fn ordinary_reads_stay_reads() {
    let mut other = Vec::new();
    let mut check = |sql: &str, dialect| {
        let found = found(sql, dialect);
        if (found.risk(), found.sql_category()) != (Risk::Low, Some(Category::Read)) {
            other.push((dialect, found));
        }
    };
    for sql in [
        "SELECT o.id, o.total FROM orders o",
        "SELECT o.id, u.name FROM app.orders AS o LEFT JOIN users u ON u.id = o.user_id WHERE o.total > -1 ORDER BY o.id DESC LIMIT 5",
        "SELECT app.orders.id FROM app.orders",
        "SELECT CASE WHEN a IS NULL THEN 'x' ELSE b END FROM t WHERE a=-1 AND b<>-2 AND c BETWEEN 1 AND 2",
        "SELECT status, count(*) FROM orders GROUP BY status HAVING count(*) > 1",
        "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id) AND name NOT LIKE '%x%'",
        "SELECT sum(total) OVER (PARTITION BY user_id ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
        "SELECT CAST(total AS DECIMAL(10, 2)) FROM orders",
        "SELECT coalesce(a, 'x') AS label FROM t",
    ] {
        for dialect in [
            None,
            Some(SqlDialect::Sqlite),
            Some(SqlDialect::Postgresql),
            Some(SqlDialect::Mysql),
        ] {
            check(sql, dialect);
        }
    }
    for sql in [
        "SELECT t.tags[1], (t.tags)[1:2], ARRAY[1, 2], ARRAY(SELECT 1) FROM t",
        "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b NULLS LAST",
        "SELECT now() - interval '1 day', extract(epoch FROM at), at AT TIME ZONE 'UTC' FROM t",
        "SELECT data #>> '{a,b}', data->'a'->>'b', tags && ARRAY['x'], a = ANY(ARRAY[1, 2]) FROM t",
        "SELECT * FROM unnest(ARRAY[1, 2]) WITH ORDINALITY AS u(x, n)",
        "SELECT count(*) FILTER (WHERE a > 1) FROM t",
        "SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default",
        "SELECT * FROM a, LATERAL (SELECT 1 FROM b WHERE b.id = a.id) x",
        "SELECT a FROM t GROUP BY GROUPING SETS ((a), ())",
    ] {
        check(sql, Some(SqlDialect::Postgresql));
    }
    for sql in [
        "SELECT a, b FROM t FORCE INDEX (i) WHERE a = 'x' LIMIT 5, 10",
        "SELECT STRAIGHT_JOIN a.id FROM a JOIN b USING (id)",
        "SELECT date_add(at, INTERVAL 1 DAY), @@version, 5 DIV 2, a->>'$.b' FROM t",
        "SELECT MATCH (a) AGAINST ('x' IN BOOLEAN MODE) FROM t",
        "SELECT a FROM t WHERE a REGEXP '^x' AND NOT b",
    ] {
        check(sql, Some(SqlDialect::Mysql));
    }
    assert!(other.is_empty(), "{other:#?}");
}
