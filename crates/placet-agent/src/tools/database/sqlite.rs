//! SQLite: a file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, InterruptHandle, OpenFlags};
use serde_json::Value;

use super::super::files;
use super::Agreed;
use super::table::{self, Room, Table};

/// How long to wait for a transaction of another process.
const BUSY: Duration = Duration::from_secs(5);

/// A database in a file.
#[derive(Debug, Clone)]
pub(super) struct Sqlite {
    file: PathBuf,
}

/// Stops the statement when its caller is gone.
struct StopOnDrop(InterruptHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

impl Sqlite {
    pub(super) fn new(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
        }
    }

    pub(super) async fn query(&self, sql: &str) -> Result<Table, String> {
        let sql = sql.to_owned();
        let work = move |connection: Connection| {
            connection.pragma_update(None, "query_only", true)?;
            let mut statement = connection.prepare(&sql)?;
            let mut table = Table::new(statement.column_names().map(str::to_owned));
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let values = (0..columns).map(|at| row.get_ref(at).map(shown));
                if table.push(values.collect::<Result<Vec<_>, _>>()?) == Room::None {
                    break;
                }
            }
            Ok(Ok(table))
        };
        self.on_a_thread(OpenFlags::SQLITE_OPEN_READ_ONLY, work).await
    }

    pub(super) async fn modify(&self, sql: &str, agreed: Agreed) -> Result<u64, String> {
        self.change(sql, move |connection, touched| {
            if let Err(refused) = agreed.check(touched) {
                connection.execute_batch("ROLLBACK")?;
                return Ok(Err(refused));
            }
            connection.execute_batch("COMMIT")?;
            Ok(Ok(touched))
        })
        .await
    }

    pub(super) async fn rehearse(&self, sql: &str) -> Result<u64, String> {
        self.change(sql, |connection, touched| {
            connection.execute_batch("ROLLBACK")?;
            Ok(Ok(touched))
        })
        .await
    }

    /// Runs a statement in a transaction, which `end` ends.
    async fn change(
        &self,
        sql: &str,
        end: impl FnOnce(&Connection, u64) -> rusqlite::Result<Result<u64, String>> + Send + 'static,
    ) -> Result<u64, String> {
        let sql = sql.to_owned();
        let work = move |connection: Connection| {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            let before = connection.total_changes();
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            drop(rows);
            let wrote = connection.total_changes() > before && !statement.readonly();
            drop(statement);
            end(&connection, if wrote { connection.changes() } else { 0 })
        };
        self.on_a_thread(OpenFlags::SQLITE_OPEN_READ_WRITE, work).await
    }

    async fn on_a_thread<T: Send + 'static>(
        &self,
        flags: OpenFlags,
        work: impl FnOnce(Connection) -> rusqlite::Result<Result<T, String>> + Send + 'static,
    ) -> Result<T, String> {
        let file = self.file.clone();
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = files::blocking(move || open(&file, flags).map_err(|error| error.to_string()));
        let connection = opened
            .await
            .map_err(|error| format!("the database cannot be opened: {error}"))?;
        let _stop = StopOnDrop(connection.get_interrupt_handle());
        files::blocking(move || work(connection).map_err(|error| error.to_string())?).await
    }
}

fn open(file: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    // The database is the one that was named.
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    Ok(connection)
}

fn shown(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(blob) => table::bytes(blob),
    }
}
