//! PostgreSQL.

use std::error::Error as _;
use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::Value;
use tokio_postgres::{Client, Config, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::table::{Room, Table};
use super::{Agreed, DatabaseError};
use crate::tls;

/// A database of a server.
#[derive(Debug, Clone)]
pub(super) struct Postgres {
    config: Config,
}

impl Postgres {
    pub(super) fn new(url: &str) -> Result<Self, DatabaseError> {
        let mut config: Config = url
            .parse()
            .map_err(|error: tokio_postgres::Error| DatabaseError::Address(said(&error)))?;
        config.connect_timeout(tls::CONNECT_TIMEOUT);
        if config.get_application_name().is_none() {
            config.application_name("placet");
        }
        Ok(Self { config })
    }

    /// A connection with a transaction begun. Dropping it takes everything back.
    async fn begin(&self, mode: &str, time: Duration) -> Result<Client, String> {
        let tls = tls::tls().map_err(|error| error.to_string())?;
        let connected = self.config.connect(MakeRustlsConnect::new(tls)).await;
        let (client, connection) =
            connected.map_err(|error| format!("the database cannot be reached: {}", said(&error)))?;
        // It ends when the client is dropped; errors reach the caller that waits for an answer.
        tokio::spawn(connection);
        let millis = time.as_millis();
        let begin = format!(
            "BEGIN {mode}; SET LOCAL statement_timeout = {millis}; SET LOCAL lock_timeout = {millis}"
        );
        client.batch_execute(&begin).await.map_err(|error| said(&error))?;
        Ok(client)
    }

    pub(super) async fn query(&self, sql: &str, time: Duration) -> Result<Table, String> {
        let client = self.begin("READ ONLY", time).await?;
        // The server prepares one statement and no more; then the same text is sent again for values as text.
        let prepared = client.prepare(sql).await.map_err(|error| said(&error))?;
        let mut table = Table::new(prepared.columns().iter().map(|column| column.name().to_owned()));
        let answers = client.simple_query_raw(sql).await.map_err(|error| said(&error))?;
        let mut answers = pin!(answers);
        while let Some(answer) = answers.next().await {
            let SimpleQueryMessage::Row(row) = answer.map_err(|error| said(&error))? else {
                continue;
            };
            let values = (0..row.len()).map(|at| row.get(at).map_or(Value::Null, Value::from));
            if table.push(values) == Room::None {
                break;
            }
        }
        Ok(table)
    }

    pub(super) async fn modify(&self, sql: &str, agreed: Agreed, time: Duration) -> Result<u64, String> {
        let client = self.begin("READ WRITE", time).await?;
        let touched = execute(&client, sql).await?;
        agreed.check(touched)?;
        client
            .batch_execute("COMMIT")
            .await
            .map_err(|error| format!("whether it was committed is not known: {}", said(&error)))?;
        Ok(touched)
    }

    pub(super) async fn rehearse(&self, sql: &str, time: Duration) -> Result<u64, String> {
        let client = self.begin("READ WRITE", time).await?;
        // What a trigger does may reach beyond the transaction.
        let triggers = "SELECT 1 FROM pg_trigger WHERE NOT tgisinternal LIMIT 1";
        let rows = client.query(triggers, &[]).await.map_err(|error| said(&error))?;
        if !rows.is_empty() {
            return Err("it is not tried out beforehand, because this database has triggers".into());
        }
        execute(&client, sql).await
    }
}

/// The server takes one statement, and its parameters would be ours to give.
async fn execute(client: &Client, sql: &str) -> Result<u64, String> {
    let prepared = client.prepare(sql).await.map_err(|error| said(&error))?;
    if !prepared.params().is_empty() {
        return Err("the statement has parameters; write the values into it".into());
    }
    client.execute(&prepared, &[]).await.map_err(|error| said(&error))
}

/// What the server says, in its words.
fn said(error: &tokio_postgres::Error) -> String {
    if let Some(told) = error.as_db_error() {
        let detail = told
            .detail()
            .map_or_else(String::new, |detail| format!(" ({detail})"));
        return format!("{}{detail}", told.message());
    }
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
