//! PostgreSQL calls `f(t)` for `t.f` where `t` has no column `f`.

use super::*;

/// What is found where the judgement is the only wall.
fn outside(sql: &str, dialect: Option<SqlDialect>) -> (Risk, Option<Category>) {
    let found = found_with(sql, dialect, SqlAccess::Unrestricted);
    (found.risk(), found.sql_category())
}

const READ: (Risk, Option<Category>) = (Risk::Low, Some(Category::Read));
const ASKED: (Risk, Option<Category>) = (Risk::Medium, Some(Category::Command));

#[test]
fn a_qualified_name_is_not_a_read_where_it_may_be_a_call_that_writes() {
    for sql in [
        "SELECT t.my_delete_all FROM t",
        "SELECT public.t.my_delete_all FROM public.t",
        "SELECT t/**/./**/my_delete_all FROM t",
        "SELECT t.text, t.name, t.count FROM t",
        "SELECT 1 FROM t WHERE t.my_delete_all IS NULL",
        "SELECT 1 FROM t ORDER BY t.my_delete_all",
        "SELECT 1 FROM t GROUP BY t.my_delete_all",
        "SELECT (SELECT t.my_delete_all) FROM t",
        "SELECT count(t.my_delete_all) FROM t",
        "SELECT a FROM t JOIN u ON t.my_delete_all = 1",
        "EXPLAIN SELECT t.my_delete_all FROM t",
        // The text shows a column of that name; following which is meant would take the scopes of every subquery.
        "SELECT x.f FROM (SELECT 1 AS f) AS x",
        "WITH x AS (SELECT id, count(*) AS n FROM t GROUP BY id) SELECT x.id, x.n FROM x WHERE x.n > 1",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT n.i + 1 FROM n WHERE n.i < 5) SELECT n.i FROM n",
        // The name is shown to be a column of something else.
        "SELECT t.f FROM t, (SELECT 1 AS g) AS t2",
        "SELECT x.f FROM (SELECT 1 AS f) AS y, t AS x",
        "SELECT x.f FROM (SELECT * FROM t) AS x",
        "SELECT x.f FROM (SELECT 1 AS g) AS x",
        "SELECT x.f FROM (SELECT 1 AS f) AS x(g)",
        "SELECT (SELECT x.f FROM t AS x) FROM (SELECT 1 AS f) AS x",
        "SELECT x.f FROM public.x, (SELECT 1 AS f) AS x",
        // The table is not the common table expression of that name.
        "WITH x AS (SELECT 1 AS f) SELECT x.f FROM public.x",
        "WITH x AS (SELECT x.f, 1 AS f FROM x) SELECT 1 FROM x",
        "WITH y AS (SELECT x.f FROM x), x AS (SELECT 1 AS f) SELECT 1 FROM y",
        "SELECT x.f FROM x WHERE EXISTS (WITH x AS (SELECT 1 AS f) SELECT 1 FROM x)",
        "WITH x AS (SELECT 1 AS f) SELECT (WITH x AS (SELECT a FROM t) SELECT x.f FROM x) FROM x",
    ] {
        for dialect in [None, Some(SqlDialect::Postgresql)] {
            assert_eq!(outside(sql, dialect), ASKED, "{dialect:?}: {sql}");
        }
        for dialect in [SqlDialect::Sqlite, SqlDialect::Mysql] {
            assert_eq!(outside(sql, Some(dialect)), READ, "{dialect:?}: {sql}");
        }
        for dialect in [None, Some(SqlDialect::Postgresql)] {
            assert_eq!(found(sql, dialect).risk(), Risk::Low, "{dialect:?}: {sql}");
        }
    }
}

#[test]
fn what_only_postgresql_reads_is_asked_about_too() {
    for sql in [
        "SELECT t . \"my_delete_all\" FROM t",
        "SELECT (t.my_delete_all).* FROM t",
        "SELECT t.my_delete_all[1] FROM t",
        "SELECT (t).my_delete_all FROM t",
        "SELECT ((t)).my_delete_all FROM t",
        "SELECT (x).f FROM (SELECT 1 AS f) AS x",
        "SELECT \"X\".f FROM (SELECT 1 AS f) AS x, \"X\"",
        "SELECT x.\"F\" FROM (SELECT 1 AS f) AS x",
        "SELECT t.my_delete_all::text FROM t",
        "COPY (SELECT t.my_delete_all FROM t) TO STDOUT",
        "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = excluded.my_delete_all",
        "INSERT INTO t AS x SELECT x.f FROM (SELECT 1 AS f) AS x RETURNING x.f",
        "UPDATE t SET a = u.my_delete_all FROM u WHERE t.id = 1",
    ] {
        let (risk, category) = outside(sql, Some(SqlDialect::Postgresql));
        // The parser cannot follow some of them, and an update beside another table is not limited: both are HIGH.
        let is_asked = (risk, category) == ASKED || risk == Risk::High;
        assert!(is_asked, "{sql}: {risk} {category:?}");
    }
}

#[test]
fn names_without_a_table_before_them_are_columns() {
    for sql in [
        "SELECT a, b FROM t JOIN u USING (id) WHERE a = 1",
        "SELECT t.* FROM t",
        "WITH x AS (SELECT id, count(*) AS n FROM t GROUP BY id) SELECT id, n FROM x WHERE n > 1",
    ] {
        for dialect in [None, Some(SqlDialect::Postgresql)] {
            assert_eq!(outside(sql, dialect), READ, "{dialect:?}: {sql}");
        }
    }
}

#[test]
fn the_reason_says_what_to_do() {
    let found = found_with(
        "SELECT t.my_delete_all FROM t",
        Some(SqlDialect::Postgresql),
        SqlAccess::Unrestricted,
    );
    let [fact] = found.facts.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        value(fact.why.as_ref()),
        r#"Sql(MayCall { name: "t.my_delete_all" })"#
    );
}
