//! MySQL and MariaDB.

use std::time::Duration;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, OptsBuilder};
use serde_json::Value;

use super::table::{self, Room, Table};
use super::{Agreed, DatabaseError};

/// A database of a server.
#[derive(Debug, Clone)]
pub(super) struct Mysql {
    opts: Opts,
}

impl Mysql {
    pub(super) fn new(url: &str) -> Result<Self, DatabaseError> {
        let opts = Opts::from_url(url).map_err(|error| DatabaseError::Address(error.to_string()))?;
        // An update that changes nothing in a row touches it all the same, as it does elsewhere.
        let opts = OptsBuilder::from_opts(opts).client_found_rows(true);
        Ok(Self { opts: opts.into() })
    }

    /// A connection with a transaction begun. Dropping it takes everything back.
    async fn begin(&self, mode: &str, time: Duration) -> Result<Conn, String> {
        let connected = Conn::new(self.opts.clone()).await;
        let mut connection = connected.map_err(|error| format!("the database cannot be reached: {error}"))?;
        // Each of the two knows one of these, and refuses the other.
        for limit in [
            format!("SET SESSION max_statement_time = {}", time.as_secs()),
            format!("SET SESSION max_execution_time = {}", time.as_millis()),
        ] {
            let _ = connection.query_drop(limit).await;
        }
        let begin = connection.query_drop(format!("START TRANSACTION {mode}")).await;
        begin.map_err(said)?;
        Ok(connection)
    }

    pub(super) async fn query(&self, sql: &str, time: Duration) -> Result<Table, String> {
        let mut connection = self.begin("READ ONLY", time).await?;
        // Prepared, so that the server takes one statement and no more.
        let mut answer = connection.exec_iter(sql, ()).await.map_err(said)?;
        let columns = answer
            .columns_ref()
            .iter()
            .map(|column| column.name_str().into_owned());
        let mut table = Table::new(columns);
        while let Some(row) = answer.next().await.map_err(said)? {
            if table.push(row.unwrap().into_iter().map(shown)) == Room::None {
                break;
            }
        }
        Ok(table)
    }

    pub(super) async fn modify(&self, sql: &str, agreed: Agreed, time: Duration) -> Result<u64, String> {
        let mut connection = self.begin("READ WRITE", time).await?;
        connection.exec_drop(sql, ()).await.map_err(said)?;
        let touched = connection.affected_rows();
        if let Err(refused) = agreed.check(touched) {
            connection.query_drop("ROLLBACK").await.map_err(said)?;
            return Err(refused);
        }
        connection
            .query_drop("COMMIT")
            .await
            .map_err(|error| format!("whether it was committed is not known: {}", said(error)))?;
        Ok(touched)
    }
}

fn shown(value: mysql_async::Value) -> Value {
    match value {
        mysql_async::Value::NULL => Value::Null,
        mysql_async::Value::Bytes(bytes) => table::bytes(&bytes),
        mysql_async::Value::Int(number) => number.into(),
        mysql_async::Value::UInt(number) => number.into(),
        mysql_async::Value::Float(number) => number.into(),
        mysql_async::Value::Double(number) => number.into(),
        time @ (mysql_async::Value::Date(..) | mysql_async::Value::Time(..)) => {
            time.as_sql(true).trim_matches('\'').into()
        }
    }
}

/// What the server says, in its words.
#[expect(clippy::needless_pass_by_value, reason = "fits `map_err`")]
fn said(error: mysql_async::Error) -> String {
    match &error {
        mysql_async::Error::Server(told) => told.message.clone(),
        other => other.to_string(),
    }
}
