//! A connection to a SQLite database. Statements run at once.

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, ErrorCode};

use crate::error::StoreError;
use crate::sql::{Cell, Generation, Params, Value};

/// A connection to a file, or to memory.
pub(crate) struct Connection(pub(super) rusqlite::Connection);

/// A prepared statement.
pub(crate) struct Statement<'c>(CachedStatement<'c>);

/// The rows of a query.
pub(crate) struct Rows<'s>(rusqlite::Rows<'s>);

/// The current row.
#[derive(Clone, Copy)]
pub(crate) struct Row<'r>(&'r rusqlite::Row<'r>);

impl Connection {
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>, StoreError> {
        Ok(Statement(self.0.prepare_cached(sql)?))
    }

    pub(crate) fn execute_batch(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.0.execute_batch(sql)?)
    }

    pub(crate) fn begin_reading(&self) -> Result<(), StoreError> {
        Ok(self.0.execute_batch("BEGIN")?)
    }

    /// SQLite counts the changes that other connections made.
    pub(crate) fn begin_writing(&self) -> Result<Generation, StoreError> {
        self.0.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let version = self
            .0
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        Ok(Generation(version))
    }

    pub(crate) fn commit(&self) -> Result<(), StoreError> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    pub(crate) fn roll_back(&self) {
        // SQLite rolls back by itself on a full disk.
        if !self.0.is_autocommit() {
            // A rollback that fails leaves the transaction open, and the next `BEGIN` reports it.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }

    pub(crate) fn forget_statements(&self) {
        self.0.flush_prepared_statement_cache();
    }

    /// SQLite looks for an unqualified name among temporary tables first.
    pub(crate) fn hide(&self, table: &str) -> Result<(), StoreError> {
        let sql =
            "SELECT sql FROM main.sqlite_schema WHERE tbl_name = ?1 AND sql IS NOT NULL ORDER BY type DESC";
        let definitions = self
            .0
            .prepare(sql)?
            .query_map([table], |row| row.get(0))?
            .collect::<Result<Vec<String>, _>>()?;
        for definition in definitions {
            let temporary = definition
                .replacen("CREATE TABLE ", "CREATE TEMP TABLE ", 1)
                .replacen("CREATE INDEX ", "CREATE INDEX temp.", 1)
                .replacen("CREATE UNIQUE INDEX ", "CREATE UNIQUE INDEX temp.", 1);
            self.0.execute_batch(&temporary)?;
        }
        Ok(())
    }

    /// Folds the write-ahead log back into the file.
    pub(crate) fn fold_log(&self) -> Result<(), StoreError> {
        // Readers may still hold on to the log; then it stays, which is only untidy.
        Ok(self
            .0
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }
}

impl Statement<'_> {
    fn bind(&mut self, params: &dyn Params) -> Result<(), StoreError> {
        let mut at = 0;
        params.each(&mut |value| {
            at += 1;
            match value {
                Value::Null(_) => self.0.raw_bind_parameter(at, rusqlite::types::Null)?,
                Value::Int(number) => self.0.raw_bind_parameter(at, number)?,
                Value::Text(text) => self.0.raw_bind_parameter(at, text)?,
                Value::Blob(bytes) => self.0.raw_bind_parameter(at, bytes)?,
            }
            Ok(())
        })
    }

    pub(crate) fn execute(&mut self, params: &dyn Params) -> Result<usize, StoreError> {
        self.bind(params)?;
        Ok(self.0.raw_execute()?)
    }

    pub(crate) fn query(&mut self, params: &dyn Params) -> Result<Rows<'_>, StoreError> {
        self.bind(params)?;
        Ok(Rows(self.0.raw_query()))
    }
}

impl Rows<'_> {
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, StoreError> {
        Ok(self.0.next()?.map(Row))
    }
}

impl<'r> Row<'r> {
    pub(crate) fn cell(self, column: usize) -> Result<Cell<'r>, StoreError> {
        Ok(match self.0.get_ref(column)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Int(number),
            ValueRef::Text(text) => Cell::Text(text),
            ValueRef::Blob(bytes) => Cell::Blob(bytes),
            ValueRef::Real(_) => return Err(StoreError::corrupt("a row holds a fraction")),
        })
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
                Self::corrupt(error.to_string())
            }
            Some(_) => Self::Io(error.to_string()),
            // Not from SQLite: a value that has the wrong type, or a row that should be there.
            None => Self::corrupt(error.to_string()),
        }
    }
}
