//! `sql_query` and `data_modify` on the three kinds of databases, all of them real.

use std::path::Path;

use mysql_async::prelude::Queryable as _;
use placet_agent::tools::{DataModify, Database, Databases, SqlQuery, Surroundings};
use placet_agent::{Tool, Tools};
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::SqlDialect;
use serde_json::{Value, json};

use crate::servers;
use crate::support::{CONFIG, House, calls, last, names, on, question, rest, says, shown};

/// One database, and both tools on it.
struct Shop {
    query: SqlQuery,
    modify: DataModify,
}

fn call(tool: &str, sql: &str) -> ToolCall {
    let call = json!({
        "id": "c", "tool": tool, "args": { "database": "shop", "sql": sql },
        "session": "s", "origin": { "agent": "placet" },
    });
    serde_json::from_value(call).unwrap()
}

impl Shop {
    fn at(dialect: SqlDialect, url: &str, folder: &Path) -> Self {
        let databases = Databases::new([Database::new("shop", dialect, url, folder).unwrap()]);
        Self {
            query: SqlQuery::new(databases.clone()),
            modify: DataModify::new(databases),
        }
    }

    async fn query(&self, sql: &str) -> Result<String, String> {
        self.query.run(&call("sql_query", sql), &[]).await
    }

    /// What people see.
    async fn evidence(&self, sql: &str) -> Result<u64, String> {
        let shown = self.modify.evidence(&call("data_modify", sql)).await?;
        match shown.as_slice() {
            [Evidence::Rows { statement, count }] if statement == sql => Ok(*count),
            other => panic!("{other:?}"),
        }
    }

    /// Runs a statement after people were shown so many rows.
    async fn modify_shown(&self, sql: &str, rows: u64) -> Result<String, String> {
        let shown = Evidence::Rows {
            statement: sql.into(),
            count: rows,
        };
        self.modify.run(&call("data_modify", sql), &[shown]).await
    }

    async fn modify(&self, sql: &str) -> Result<String, String> {
        self.modify.run(&call("data_modify", sql), &[]).await
    }

    async fn count(&self) -> String {
        let rows = self.query("SELECT COUNT(*) AS n FROM orders").await.unwrap();
        let row: Value = serde_json::from_str(rows.lines().nth(1).unwrap()).unwrap();
        row[0].to_string().replace('"', "")
    }
}

/// What holds for every kind of database.
async fn behaves(shop: Shop) {
    shop.modify("CREATE TABLE orders (id INTEGER PRIMARY KEY, status INTEGER, note VARCHAR(200))")
        .await
        .unwrap();
    let insert = "INSERT INTO orders (id, status, note) VALUES (1, 1, 'a'), (2, 1, NULL), (3, 2, 'c')";
    assert_eq!(shop.modify(insert).await.unwrap(), "3 rows");

    let rows = shop
        .query("SELECT id, note FROM orders ORDER BY id")
        .await
        .unwrap();
    assert_eq!(
        rows.replace("\"1\"", "1")
            .replace("\"2\"", "2")
            .replace("\"3\"", "3"),
        "[\"id\",\"note\"]\n[1,\"a\"]\n[2,null]\n[3,\"c\"]\n[3 rows]"
    );

    // The rows are counted beforehand, and nothing has happened to them.
    let delete = "DELETE FROM orders WHERE status = 1";
    assert_eq!(shop.evidence(delete).await.unwrap(), 2);
    assert_eq!(
        shop.evidence("UPDATE orders SET status = 2 WHERE status = 2")
            .await
            .unwrap(),
        1
    );
    assert_eq!(shop.count().await, "3");

    // Other rows than people were shown: rolled back.
    let refused = shop.modify_shown(delete, 1).await.unwrap_err();
    assert!(
        refused.contains("it touches 2 rows now, and a person was shown 1"),
        "{refused}"
    );
    assert_eq!(shop.count().await, "3");
    assert_eq!(
        shop.modify_shown("UPDATE orders SET status = 2 WHERE status = 2", 1)
            .await
            .unwrap(),
        "1 rows"
    );

    // What is not surely a read is no query, however it is dressed up.
    for sql in [
        delete,
        "WITH gone AS (DELETE FROM orders RETURNING id) SELECT * FROM gone",
        "SELECT 1; DELETE FROM orders",
        "DROP TABLE orders",
        "SELECT * FROM orders; --",
        "EXPLAIN ANALYZE DELETE FROM orders",
    ] {
        let _ = shop.query(sql).await;
        assert_eq!(shop.count().await, "3", "{sql}");
    }
    for sql in [
        "SELECT 1; DELETE FROM orders",
        "DELETE FROM orders; DELETE FROM orders",
        "nonsense",
        "",
    ] {
        assert!(shop.modify(sql).await.is_err(), "{sql}");
    }
    assert_eq!(shop.count().await, "3");

    // The database's own complaint is a result.
    let wrong = shop.query("SELECT nothing FROM orders").await.unwrap_err();
    assert!(wrong.contains("nothing"), "{wrong}");
    let twice = shop.modify(insert).await.unwrap_err();
    assert!(twice.contains("nothing was changed"), "{twice}");

    assert_eq!(shop.modify_shown(delete, 2).await.unwrap(), "2 rows");
    assert_eq!(shop.count().await, "1");

    for at in 0..5 {
        let values: Vec<String> = (0..100)
            .map(|row| format!("({}, 9, 'x')", 100 + at * 100 + row))
            .collect();
        shop.modify(&format!(
            "INSERT INTO orders (id, status, note) VALUES {}",
            values.join(", ")
        ))
        .await
        .unwrap();
    }
    let many = shop.query("SELECT id FROM orders").await.unwrap();
    assert!(many.ends_with("[the first 200 rows; there are more]"), "{many}");
}

fn sqlite(folder: &Path) -> Shop {
    rusqlite::Connection::open(folder.join("shop.db")).unwrap();
    Shop::at(SqlDialect::Sqlite, "sqlite:shop.db", folder)
}

#[tokio::test]
async fn sqlite_is_read_and_changed_only_as_agreed() {
    let folder = tempfile::tempdir().unwrap();
    behaves(sqlite(folder.path())).await;
}

#[tokio::test]
async fn postgresql_is_read_and_changed_only_as_agreed() {
    behaves(Shop::at(
        SqlDialect::Postgresql,
        servers::postgres(),
        Path::new("/"),
    ))
    .await;
}

#[tokio::test]
async fn mariadb_is_read_and_changed_only_as_agreed() {
    let admin = Shop::at(SqlDialect::Mysql, servers::mariadb(), Path::new("/"));
    admin.modify("CREATE DATABASE shop").await.unwrap();
    let url = servers::mariadb().replace("/mysql", "/shop");
    behaves(Shop::at(SqlDialect::Mysql, &url, Path::new("/"))).await;
}

#[tokio::test]
async fn what_has_no_counting_query_is_tried_out_and_taken_back_where_that_can_be_done() {
    let folder = tempfile::tempdir().unwrap();
    let shop = sqlite(folder.path());
    shop.modify("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
        .await
        .unwrap();
    assert_eq!(
        shop.evidence("INSERT INTO orders (id) VALUES (1), (2)")
            .await
            .unwrap(),
        2
    );
    assert_eq!(shop.count().await, "0");
    let unknown = shop.evidence("DROP TABLE orders").await.unwrap_err();
    assert!(unknown.contains("cannot be counted beforehand"), "{unknown}");
}

#[tokio::test]
async fn another_file_cannot_be_reached_through_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let shop = sqlite(folder.path());
    let other = folder.path().join("other.db");
    let attach = format!("ATTACH DATABASE '{}' AS other", other.display());
    assert!(shop.query(&attach).await.is_err());
    assert!(shop.modify(&attach).await.is_err());
    assert!(!other.exists());
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_a_result_without_its_password() {
    let url = "postgresql://placet:hunter2@127.0.0.1:1/none";
    let shop = Shop::at(SqlDialect::Postgresql, url, Path::new("/"));
    let told = shop.query("SELECT 1").await.unwrap_err();
    assert!(
        told.contains("cannot be reached") && !told.contains("hunter2"),
        "{told}"
    );
    let folder = tempfile::tempdir().unwrap();
    let missing = Shop::at(SqlDialect::Sqlite, "sqlite:missing.db", folder.path());
    assert!(
        missing
            .query("SELECT 1")
            .await
            .unwrap_err()
            .contains("cannot be opened")
    );
    let wrong = Database::new("shop", SqlDialect::Mysql, url, Path::new("/")).unwrap_err();
    assert!(!format!("{wrong} {wrong:?}").contains("hunter2"));
}

const SHOP: &str = "[databases.shop]\nurl = 'sqlite:shop.db'\n";

fn with_shop(house: &House) -> Tools {
    let file = rusqlite::Connection::open(house.work().join("shop.db")).unwrap();
    file.execute_batch(
        "CREATE TABLE orders (id INTEGER, status INTEGER); INSERT INTO orders VALUES (1, 1), (2, 1), (3, 2)",
    )
    .unwrap();
    let database = Database::new("shop", SqlDialect::Sqlite, "sqlite:shop.db", &house.work()).unwrap();
    Tools::builtin_in(Surroundings {
        databases: vec![database],
        ..Surroundings::of(&house.work())
    })
}

fn orders(house: &House) -> i64 {
    let file = rusqlite::Connection::open(house.work().join("shop.db")).unwrap();
    file.query_row("SELECT COUNT(*) FROM orders", [], |row| row.get(0))
        .unwrap()
}

fn sql(tool: &str, sql: &str) -> Value {
    calls(&[(tool, json!({ "database": "shop", "sql": sql }))])
}

/// 「删除 orders 表里 status=1 的记录」
#[tokio::test]
async fn people_see_how_many_rows_a_deletion_would_touch_before_it_does() {
    let house = House::new();
    let tools = with_shop(&house);
    let delete = sql("data_modify", "DELETE FROM orders WHERE status=1");
    let home = house
        .open_as(
            &format!("{CONFIG}{SHOP}"),
            tools,
            json!([delete, on("2 rows", says("Gone."))]),
        )
        .await;
    let mut stream = home.say("删除 orders 表里 status=1 的记录").await;
    let asked = question(&mut stream).await;
    assert!(
        shown(&asked).contains("DELETE FROM orders WHERE status=1"),
        "{}",
        shown(&asked)
    );
    assert!(json!(asked).to_string().contains('2'), "{asked:?}");
    assert_eq!(orders(&house), 3);
    home.answer(&asked, "approve", None).await;
    rest(&mut stream).await;
    assert_eq!(orders(&house), 1);
    home.close().await;
}

#[tokio::test]
async fn safety_require_confirmation_asks_every_time_in_every_mode() {
    let approval = "[approval]\nmode = 'yolo'\nauto_approved_tools = ['data_modify']\n";
    for (safety, times) in [("", 0), ("[safety]\nrequire_confirmation = true\n", 2)] {
        let house = House::new();
        let tools = with_shop(&house);
        let delete = sql("data_modify", "DELETE FROM orders WHERE id = 1");
        let config = format!("{approval}{SHOP}{safety}");
        let home = house
            .open_as(&config, tools, json!([delete.clone(), delete, says("Done.")]))
            .await;
        let mut stream = home.say("Delete it").await;
        for _ in 0..times {
            let asked = question(&mut stream).await;
            home.answer(&asked, "approve", None).await;
        }
        let events = rest(&mut stream).await;
        assert_eq!(last(&events, "COMPLETED")["text"], "Done.");
        assert_eq!(orders(&house), 2);
        home.close().await;
    }
}

#[tokio::test]
async fn sql_query_with_a_change_is_refused_before_a_person_is_asked_with_the_advice_to_use_data_modify() {
    let house = House::new();
    let tools = with_shop(&house);
    let dressed = sql(
        "sql_query",
        "WITH g AS (SELECT 1) DELETE FROM orders WHERE id IN (SELECT * FROM g)",
    );
    let read = sql("sql_query", "SELECT COUNT(*) FROM orders");
    let home = house
        .open_as(
            &format!("{CONFIG}{SHOP}"),
            tools,
            json!([read, dressed, on("use `data_modify`", says("I see."))]),
        )
        .await;
    let mut stream = home.say("Count").await;
    let events = rest(&mut stream).await;
    assert!(!names(&events).contains(&"INTERACTION"), "{events:?}");
    assert_eq!(last(&events, "COMPLETED")["text"], "I see.");
    assert_eq!(orders(&house), 3);
    home.close().await;
}

/// A table with three rows, and code that empties it behind everything that looks like a read.
const LEDGER: &str = "
    CREATE TABLE ledger (id int);
    INSERT INTO ledger VALUES (1), (2), (3);
    CREATE FUNCTION wipe_ints(int, int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM ledger; RETURN 1; END $$;
    CREATE FUNCTION wipe_row(ledger) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM ledger; RETURN 1; END $$;
    CREATE OPERATOR @@@ (LEFTARG = int, RIGHTARG = int, FUNCTION = wipe_ints);
    CREATE VIEW ledger_view AS SELECT wipe_ints(1, 2);
";

/// Every test has a database of its own on the server, and a connection to it.
async fn ledger(name: &str) -> (String, tokio_postgres::Client) {
    let connect = async |url: &str| {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    };
    let admin = connect(servers::postgres()).await;
    admin
        .batch_execute(&format!("CREATE DATABASE {name}"))
        .await
        .unwrap();
    let url = servers::postgres().replace("/postgres", &format!("/{name}"));
    let client = connect(&url).await;
    client.batch_execute(LEDGER).await.unwrap();
    (url, client)
}

async fn rows(client: &tokio_postgres::Client) -> i64 {
    let counted = client.query_one("SELECT count(*) FROM ledger", &[]).await;
    counted.unwrap().get(0)
}

#[tokio::test]
async fn what_postgresql_would_run_behind_a_read_is_asked_about_and_changes_nothing_unasked() {
    let (url, client) = ledger("asked").await;
    for statement in [
        "EXPLAIN (ANALYSE) DELETE FROM ledger",
        "SELECT 1 @@@ 2",
        "SELECT U&\"\\0077ipe_ints\"(1, 2)",
        "SELECT (ledger).wipe_row FROM ledger",
        "SELECT wipe_row(ledger) FROM ledger",
    ] {
        for tool in ["data_modify", "sql_query"] {
            let house = House::new();
            let database = Database::new("shop", SqlDialect::Postgresql, &url, &house.work()).unwrap();
            let tools = Tools::builtin_in(Surroundings {
                databases: vec![database],
                ..Surroundings::of(&house.work())
            });
            let config = format!("{CONFIG}[databases.shop]\nurl = '{url}'\n");
            let turns = json!([sql(tool, statement), says("Done.")]);
            let home = house.open_as(&config, tools, turns).await;
            let mut stream = home.say("Look").await;
            // What is no read is never asked about through `sql_query`: it would not run there.
            if tool == "data_modify" {
                let asked = question(&mut stream).await;
                assert_eq!(rows(&client).await, 3, "{statement}");
                home.answer(&asked, "reject", None).await;
            }
            let events = rest(&mut stream).await;
            assert!(!names(&events).contains(&"INTERACTION"), "{tool} {statement}");
            assert_eq!(rows(&client).await, 3, "{statement}");
            home.close().await;
        }
    }
}

/// Reading cannot see what a view does, or that `t.f` is a function and not a column.
#[tokio::test]
async fn a_judged_read_that_writes_is_refused_by_the_database_through_either_tool() {
    let (url, client) = ledger("walled").await;
    let shop = Shop::at(SqlDialect::Postgresql, &url, Path::new("/"));
    for statement in ["SELECT ledger.wipe_row FROM ledger", "SELECT * FROM ledger_view"] {
        for refused in [shop.query(statement).await, shop.modify(statement).await] {
            let refused = refused.unwrap_err();
            assert!(refused.contains("a person is asked"), "{statement}: {refused}");
            assert_eq!(rows(&client).await, 3, "{statement}");
        }
    }
    let read = shop.modify("SELECT count(*) FROM ledger").await.unwrap();
    assert_eq!(read, "[\"count\"]\n[\"3\"]\n[1 rows]");

    let admin = Shop::at(SqlDialect::Mysql, servers::mariadb(), Path::new("/"));
    admin.modify("CREATE DATABASE walled").await.unwrap();
    let shop = Shop::at(
        SqlDialect::Mysql,
        &servers::mariadb().replace("/mysql", "/walled"),
        Path::new("/"),
    );
    for setup in [
        "CREATE TABLE orders (id INT)",
        "INSERT INTO orders VALUES (1), (2), (3)",
    ] {
        shop.modify(setup).await.unwrap();
    }
    let opts = mysql_async::Opts::from_url(&servers::mariadb().replace("/mysql", "/walled")).unwrap();
    let mut connection = mysql_async::Conn::new(opts).await.unwrap();
    for setup in [
        "CREATE FUNCTION wipe() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM orders; RETURN 1; END",
        "CREATE VIEW wiping AS SELECT wipe()",
    ] {
        connection.query_drop(setup).await.unwrap();
    }
    for refused in [
        shop.query("SELECT * FROM wiping").await,
        shop.modify("SELECT * FROM wiping").await,
    ] {
        let refused = refused.unwrap_err();
        assert!(refused.contains("a person is asked"), "{refused}");
        assert_eq!(shop.count().await, "3");
    }
}

#[tokio::test]
async fn a_read_through_data_modify_runs_on_a_connection_that_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let shop = sqlite(folder.path());
    shop.modify("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
        .await
        .unwrap();
    let other = rusqlite::Connection::open(folder.path().join("shop.db")).unwrap();
    // Another process's write lock would keep a writer waiting, and does not keep a reader.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let read = shop.modify("SELECT count(*) AS n FROM orders").await.unwrap();
    assert_eq!(read, "[\"n\"]\n[0]\n[1 rows]");
}
