//! The counting query beside a question.

use expect_test::expect;

use super::*;

#[test]
fn a_plain_update_or_delete_has_a_counting_query() {
    let cases = [
        "DELETE FROM users WHERE id > 7 AND name LIKE 'a%'",
        "UPDATE app.users AS u SET name = 'x', age = age + 1 WHERE u.id IN (SELECT id FROM gone)",
        "DELETE FROM users",
        "delete from \"Users\" where note = 'it''s; DROP TABLE t'",
        "DELETE FROM t; DELETE FROM u",
        "SELECT 1",
        "INSERT INTO t VALUES (1)",
        "DELETE FROM t WHERE id = 1 LIMIT 3",
        "DELETE FROM t WHERE id = 1 RETURNING *",
        "DELETE FROM t USING u WHERE t.id = u.id",
        "UPDATE t SET a = 1 FROM u WHERE t.id = u.id",
        "UPDATE t JOIN u ON t.id = u.id SET t.a = 1",
        "DELETE FROM t WHERE pg_sleep(100) IS NULL",
        "DELETE FROM t WHERE mine(id)",
        "DELETE FROM t WHERE a = '\\\\'",
    ];
    let mut lines = String::new();
    for sql in cases {
        let count = query(sql, SqlDialect::Postgresql).unwrap_or_else(|| "-".into());
        lines.push_str(&[sql, "\n  ", &count, "\n"].concat());
    }
    expect![[r#"
        DELETE FROM users WHERE id > 7 AND name LIKE 'a%'
          SELECT COUNT(*) FROM users WHERE id > 7 AND name LIKE 'a%'
        UPDATE app.users AS u SET name = 'x', age = age + 1 WHERE u.id IN (SELECT id FROM gone)
          SELECT COUNT(*) FROM app.users AS u WHERE u.id IN (SELECT id FROM gone)
        DELETE FROM users
          SELECT COUNT(*) FROM users
        delete from "Users" where note = 'it''s; DROP TABLE t'
          SELECT COUNT(*) FROM "Users" WHERE note = 'it''s; DROP TABLE t'
        DELETE FROM t; DELETE FROM u
          -
        SELECT 1
          -
        INSERT INTO t VALUES (1)
          -
        DELETE FROM t WHERE id = 1 LIMIT 3
          -
        DELETE FROM t WHERE id = 1 RETURNING *
          -
        DELETE FROM t USING u WHERE t.id = u.id
          -
        UPDATE t SET a = 1 FROM u WHERE t.id = u.id
          -
        UPDATE t JOIN u ON t.id = u.id SET t.a = 1
          -
        DELETE FROM t WHERE pg_sleep(100) IS NULL
          -
        DELETE FROM t WHERE mine(id)
          -
        DELETE FROM t WHERE a = '\\'
          -
    "#]]
    .assert_eq(&lines);
}
