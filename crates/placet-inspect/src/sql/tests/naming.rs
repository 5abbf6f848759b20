//! Tables and verbs under whatever spelling: rules compare them.

use super::*;

fn statement(sql: &str, dialect: Option<SqlDialect>) -> (Vec<String>, Vec<String>) {
    let Analysis { facts, .. } = found(sql, dialect);
    match facts.into_iter().next().map(|fact| fact.kind) {
        Some(FactKind::Statement {
            verb, also, tables, ..
        }) => (std::iter::once(verb).chain(also).collect(), tables),
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn a_table_is_known_by_one_name_however_it_is_quoted() {
    let of = |sql: &str, dialect| statement(sql, dialect).1;
    for (sql, dialect) in [
        ("SELECT * FROM salaries", None),
        ("SELECT * FROM Salaries", None),
        ("SELECT * FROM \"salaries\"", None),
        ("SELECT * FROM `salaries`", None),
        ("SELECT * FROM [salaries]", Some(SqlDialect::Sqlite)),
        ("SELECT * FROM 'salaries'", Some(SqlDialect::Sqlite)),
        ("DELETE FROM \"SALARIES\" WHERE id = 1", None),
        ("SHOW CREATE TABLE salaries", Some(SqlDialect::Mysql)),
        ("SHOW INDEX FROM salaries", Some(SqlDialect::Mysql)),
        ("SHOW COLUMNS FROM `salaries`", Some(SqlDialect::Mysql)),
        ("COPY \"salaries\" TO STDOUT", Some(SqlDialect::Postgresql)),
    ] {
        assert_eq!(of(sql, dialect), ["salaries"], "{sql}");
    }
    assert_eq!(of("SELECT * FROM public.\"salaries\"", None), ["public.salaries"]);
    assert_eq!(of("SELECT * FROM \"app.users\"", None), ["\"app.users\""]);
    assert_eq!(of("SELECT 1 UNION TABLE salaries", None), ["salaries"]);
    assert_eq!(of("SELECT 1 UNION (TABLE app.salaries)", None), ["app.salaries"]);
    assert_eq!(of("SHOW INDEX FROM salaries FROM app", None), ["app", "salaries"]);
    for only in [
        "SELECT * FROM ONLY salaries",
        "SELECT * FROM ONLY (salaries)",
        "SELECT * FROM a JOIN ONLY salaries ON true",
        "DELETE FROM ONLY salaries WHERE id = 1",
        "UPDATE ONLY salaries SET a = 1 WHERE id = 1",
    ] {
        let tables = of(only, Some(SqlDialect::Postgresql));
        assert!(tables.contains(&"salaries".to_owned()), "{only}: {tables:?}");
    }
}

#[test]
fn a_table_in_the_place_of_a_query_is_high() {
    for sql in [
        "SELECT 1 UNION TABLE salaries",
        "SELECT 1 UNION TABLE t; VACUUM; SELECT 1",
        "WITH x AS (TABLE t) SELECT * FROM x",
    ] {
        for dialect in [None, Some(SqlDialect::Postgresql), Some(SqlDialect::Mysql)] {
            assert_eq!(found(sql, dialect).risk(), Risk::High, "{sql}");
        }
    }
}

#[test]
fn credentials_are_high_wherever_the_table_is_named() {
    check(
        SqlDialect::Postgresql,
        &[
            "SELECT * FROM pg_authid",
            "SELECT * FROM \"pg_authid\"",
            "SELECT * FROM ONLY pg_authid",
            "SELECT 1 UNION TABLE pg_authid",
            "COPY pg_authid TO STDOUT",
            "COPY pg_catalog.pg_authid TO STDOUT",
        ],
        &expect![[r#"
            SELECT * FROM pg_authid
              HIGH read SELECT ["pg_authid"] Sql(HoldsCredentials { table: "pg_authid" })
            SELECT * FROM "pg_authid"
              HIGH read SELECT ["pg_authid"] Sql(HoldsCredentials { table: "\"pg_authid\"" })
            SELECT * FROM ONLY pg_authid
              HIGH read SELECT ["only", "pg_authid"] Sql(HoldsCredentials { table: "pg_authid" })
            SELECT 1 UNION TABLE pg_authid
              HIGH command SELECT ["pg_authid"] Sql(HoldsCredentials { table: "pg_authid" })
            COPY pg_authid TO STDOUT
              HIGH read COPY ["pg_authid"] Sql(HoldsCredentials { table: "pg_authid" })
            COPY pg_catalog.pg_authid TO STDOUT
              HIGH read COPY ["pg_catalog.pg_authid"] Sql(HoldsCredentials { table: "pg_catalog.pg_authid" })
        "#]],
    );
    check(
        SqlDialect::Mysql,
        &["SHOW CREATE TABLE mysql.user", "SELECT * FROM `mysql`.`user`"],
        &expect![[r#"
            SHOW CREATE TABLE mysql.user
              HIGH read SHOW ["mysql.user"] Sql(HoldsCredentials { table: "mysql.user" })
            SELECT * FROM `mysql`.`user`
              HIGH read SELECT ["mysql.user"] Sql(HoldsCredentials { table: "`mysql`.`user`" })
        "#]],
    );
}

#[test]
fn every_verb_inside_a_statement_is_kept() {
    let of = |sql: &str, dialect| statement(sql, Some(dialect)).0;
    let (postgresql, sqlite, mysql) = (SqlDialect::Postgresql, SqlDialect::Sqlite, SqlDialect::Mysql);
    assert_eq!(
        of(
            "WITH d AS (UPDATE a SET x = 1 WHERE y = 2 RETURNING 1), e AS (DELETE FROM b WHERE y = 2 RETURNING 1) SELECT 1",
            postgresql
        ),
        ["UPDATE", "DELETE", "SELECT"]
    );
    assert_eq!(
        of("INSERT OR REPLACE INTO t VALUES (1)", sqlite),
        ["REPLACE", "INSERT"]
    );
    assert_eq!(of("REPLACE INTO t VALUES (1)", mysql), ["REPLACE", "INSERT"]);
    assert_eq!(of("INSERT INTO t VALUES (1)", mysql), ["INSERT"]);
    assert_eq!(
        of(
            "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2",
            postgresql
        ),
        ["INSERT", "UPDATE"]
    );
    assert_eq!(
        of("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", postgresql),
        ["INSERT"]
    );
    assert_eq!(
        of("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 2", mysql),
        ["INSERT", "UPDATE"]
    );
    assert_eq!(
        of(
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE",
            postgresql
        ),
        ["MERGE", "DELETE"]
    );
}

#[test]
fn verbs_are_what_a_grammar_begins_a_statement_with() {
    let real = "SELECT select INSERT UPDATE DELETE MERGE REPLACE EXPLAIN PRAGMA COPY SHOW CREATE ALTER DROP TRUNCATE GRANT REVOKE \
                SET BEGIN COMMIT END ROLLBACK VACUUM WITH VALUES CALL USE";
    for verb in real.split_whitespace().chain(["SELECT INTO"]) {
        assert!(is_verb(verb), "{verb}");
    }
    for typo in ["DELTE", "SELCT", "DROP TABLE", "", "INSRT", "TABLE", "FUNCTION"] {
        assert!(!is_verb(typo), "{typo}");
    }
}
