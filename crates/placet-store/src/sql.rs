//! One connection to either database, and the few types that statements need.
//!
//! Both databases run the same statements. They are written in the SQL that both know, with `?1` for parameters; where they
//! differ, the connection has a method. The method names are those of `rusqlite`.
//!
//! A write on PostgreSQL is not sent at once: it is queued and sent with everything queued before it when something is read, or
//! at the end of the transaction. So a whole group of commits costs a few round trips. [`Affected`] is why this is safe: what a
//! statement must have changed is checked when its answer comes, and before the commit.

use crate::copy::Column;
use crate::error::StoreError;
use crate::{postgres, sqlite};

/// A connection that belongs to one thread.
pub(crate) enum Connection {
    /// To a file, or to memory.
    Sqlite(sqlite::Connection),
    /// To a server.
    Postgres(Box<postgres::Connection>),
}

/// Whether other connections wrote since a value of this was read: then it differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Generation(pub(crate) i64);

/// The kind of a value that may be missing. PostgreSQL wants to know it before it sees the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number, and also a truth value.
    Int,
    /// A text.
    Text,
    /// Bytes.
    Blob,
}

/// A parameter of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    /// Nothing, where one of this kind could be.
    Null(Kind),
    /// A number.
    Int(i64),
    /// A text.
    Text(&'a str),
    /// Bytes.
    Blob(&'a [u8]),
}

/// A value of a row. Texts are bytes here: a damaged file may hold any.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    /// Nothing.
    Null,
    /// A number.
    Int(i64),
    /// A text.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

/// What can be a parameter.
pub(crate) trait ToValue {
    /// As a parameter.
    fn value(&self) -> Value<'_>;
    /// Its kind, for when it is missing.
    const KIND: Kind;
}

macro_rules! to_value {
    ($($type:ty, $kind:ident, |$it:ident| $value:expr;)*) => {$(
        impl ToValue for $type {
            fn value(&self) -> Value<'_> {
                let $it = self;
                Value::$kind($value)
            }
            const KIND: Kind = Kind::$kind;
        }
    )*};
}

to_value! {
    i64, Int, |it| *it;
    u32, Int, |it| i64::from(*it);
    u64, Int, |it| i64::try_from(*it).unwrap_or(i64::MAX);
    usize, Int, |it| i64::try_from(*it).unwrap_or(i64::MAX);
    bool, Int, |it| i64::from(*it);
    str, Text, |it| it;
    String, Text, |it| it;
    [u8], Blob, |it| it;
    [u8; 32], Blob, |it| it;
    Vec<u8>, Blob, |it| it;
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn value(&self) -> Value<'_> {
        (**self).value()
    }
    const KIND: Kind = T::KIND;
}

impl<T: ToValue> ToValue for Option<T> {
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null(T::KIND), ToValue::value)
    }
    const KIND: Kind = T::KIND;
}

/// The parameters of a statement, in order.
pub(crate) trait Params {
    /// Calls `bind` with each of them.
    fn each(&self, bind: &mut dyn FnMut(Value<'_>) -> Result<(), StoreError>) -> Result<(), StoreError>;
}

impl Params for [(); 0] {
    fn each(&self, _: &mut dyn FnMut(Value<'_>) -> Result<(), StoreError>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// One parameter.
impl<T: ToValue> Params for [T; 1] {
    fn each(&self, bind: &mut dyn FnMut(Value<'_>) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.iter().try_for_each(|value| bind(value.value()))
    }
}

/// Any number of parameters, as [`params!`] makes them.
impl Params for &[Value<'_>] {
    fn each(&self, bind: &mut dyn FnMut(Value<'_>) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.iter().try_for_each(|value| bind(*value))
    }
}

macro_rules! params_of_tuples {
    ($(($($type:ident $at:tt),+);)*) => {$(
        impl<$($type: ToValue),+> Params for ($($type,)+) {
            fn each(&self, bind: &mut dyn FnMut(Value<'_>) -> Result<(), StoreError>) -> Result<(), StoreError> {
                $(bind(self.$at.value())?;)+
                Ok(())
            }
        }
    )*};
}

params_of_tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
}

/// Parameters of different types.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::sql::ToValue::value(&$value)),*] as &[$crate::sql::Value<'_>]
    };
}
pub(crate) use params;

/// What can be read from a row.
pub(crate) trait FromCell: Sized {
    /// The value; `None` when the cell holds something else.
    fn from_cell(cell: Cell<'_>) -> Option<Self>;
}

impl FromCell for i64 {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Int(number) => Some(number),
            _ => None,
        }
    }
}

macro_rules! from_int {
    ($($type:ty)*) => {$(
        impl FromCell for $type {
            fn from_cell(cell: Cell<'_>) -> Option<Self> {
                i64::from_cell(cell)?.try_into().ok()
            }
        }
    )*};
}

from_int! { u64 u32 }

impl FromCell for bool {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        Some(i64::from_cell(cell)? != 0)
    }
}

impl FromCell for String {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Text(text) => std::str::from_utf8(text).ok().map(Self::from),
            _ => None,
        }
    }
}

impl FromCell for [u8; 32] {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Blob(bytes) => bytes.try_into().ok(),
            _ => None,
        }
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            cell => T::from_cell(cell).map(Some),
        }
    }
}

/// A row, as long as it is the current one.
#[derive(Clone, Copy)]
pub(crate) enum Row<'r> {
    /// Of SQLite.
    Sqlite(sqlite::Row<'r>),
    /// Of PostgreSQL.
    Postgres(postgres::Row<'r>),
}

impl<'r> Row<'r> {
    /// What a column holds.
    pub(crate) fn cell(&self, column: usize) -> Result<Cell<'r>, StoreError> {
        match self {
            Self::Sqlite(row) => row.cell(column),
            Self::Postgres(row) => row.cell(column),
        }
    }

    /// The value of a column. One of another type is damage.
    pub(crate) fn get<T: FromCell>(&self, column: usize) -> Result<T, StoreError> {
        T::from_cell(self.cell(column)?)
            .ok_or_else(|| StoreError::corrupt(format!("column {column} of a row holds something else")))
    }

    /// The text or bytes of a column as they are; nothing when it holds neither.
    pub(crate) fn bytes(&self, column: usize) -> Result<&'r [u8], StoreError> {
        match self.cell(column)? {
            Cell::Text(bytes) | Cell::Blob(bytes) => Ok(bytes),
            Cell::Null | Cell::Int(_) => Ok(&[]),
        }
    }

    /// The text of a column; empty when it holds none.
    pub(crate) fn text(&self, column: usize) -> Result<&'r str, StoreError> {
        Ok(std::str::from_utf8(self.bytes(column)?).unwrap_or_default())
    }
}

/// The rows of a query.
pub(crate) enum Rows<'s> {
    /// Of SQLite, read one by one.
    Sqlite(sqlite::Rows<'s>),
    /// Of PostgreSQL, all here.
    Postgres(postgres::Rows),
}

impl Rows<'_> {
    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, StoreError> {
        Ok(match self {
            Self::Sqlite(rows) => rows.next()?.map(Row::Sqlite),
            Self::Postgres(rows) => rows.next().map(Row::Postgres),
        })
    }
}

/// Why a query for one row gave none.
#[derive(Debug)]
pub(crate) enum RowError {
    /// There is no such row.
    Missing,
    /// It could not be read.
    Store(StoreError),
}

impl From<RowError> for StoreError {
    fn from(error: RowError) -> Self {
        match error {
            RowError::Missing => Self::corrupt("a row that should be there is missing"),
            RowError::Store(error) => error,
        }
    }
}

/// For rows that need not be there.
pub(crate) trait OptionalExtension<T> {
    /// `None` when there is no such row.
    fn optional(self) -> Result<Option<T>, StoreError>;
}

impl<T> OptionalExtension<T> for Result<T, RowError> {
    fn optional(self) -> Result<Option<T>, StoreError> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(RowError::Missing) => Ok(None),
            Err(RowError::Store(error)) => Err(error),
        }
    }
}

/// How many rows a statement changed. On PostgreSQL this is known later.
pub(crate) enum Affected<'c> {
    /// So many.
    Rows(usize),
    /// Not known yet; the place of the statement in the connection's queue.
    Queued(&'c postgres::Connection, usize),
}

impl Affected<'_> {
    /// The statement must have changed exactly one row; otherwise the events contradict what is stored.
    pub(crate) fn one(self, otherwise: impl FnOnce() -> String) -> Result<(), StoreError> {
        match self {
            Self::Rows(1) => Ok(()),
            Self::Rows(_) => Err(StoreError::corrupt(otherwise())),
            Self::Queued(conn, at) => {
                conn.expect_one(at, otherwise());
                Ok(())
            }
        }
    }

    /// How many, even if that costs a round trip.
    pub(crate) fn count(self) -> Result<usize, StoreError> {
        match self {
            Self::Rows(rows) => Ok(rows),
            Self::Queued(conn, at) => conn.count(at),
        }
    }
}

/// A statement, prepared.
pub(crate) enum Statement<'c> {
    /// On SQLite.
    Sqlite(sqlite::Statement<'c>),
    /// On PostgreSQL.
    Postgres(postgres::Statement<'c>),
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "parameters are made where they are passed"
)]
impl<'c> Statement<'c> {
    /// Writes.
    pub(crate) fn execute(&mut self, params: impl Params) -> Result<Affected<'c>, StoreError> {
        match self {
            Self::Sqlite(statement) => statement.execute(&params).map(Affected::Rows),
            Self::Postgres(statement) => statement.execute(&params),
        }
    }

    /// Reads.
    pub(crate) fn query(&mut self, params: impl Params) -> Result<Rows<'_>, StoreError> {
        match self {
            Self::Sqlite(statement) => statement.query(&params).map(Rows::Sqlite),
            Self::Postgres(statement) => statement.query(&params).map(Rows::Postgres),
        }
    }

    /// Reads every row with `read`.
    pub(crate) fn query_map<T>(
        &mut self,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = self.query(params)?;
        let mut list = Vec::new();
        while let Some(row) = rows.next()? {
            list.push(read(&row)?);
        }
        Ok(list)
    }

    /// Reads the first row with `read`.
    pub(crate) fn query_row<T>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<T, RowError> {
        let mut rows = self.query(params).map_err(RowError::Store)?;
        match rows.next().map_err(RowError::Store)? {
            Some(row) => read(&row).map_err(RowError::Store),
            None => Err(RowError::Missing),
        }
    }

    /// Whether there is a row.
    pub(crate) fn exists(&mut self, params: impl Params) -> Result<bool, StoreError> {
        Ok(self.query(params)?.next()?.is_some())
    }
}

impl Connection {
    /// A statement, which is kept for the next time.
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>, StoreError> {
        match self {
            Self::Sqlite(conn) => conn.prepare_cached(sql).map(Statement::Sqlite),
            Self::Postgres(conn) => conn.prepare_cached(sql).map(Statement::Postgres),
        }
    }

    /// Statements without parameters.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(conn) => conn.execute_batch(sql),
            Self::Postgres(conn) => conn.execute_batch(sql),
        }
    }

    /// Begins a transaction in which everything read is of one moment.
    pub(crate) fn begin_reading(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(conn) => conn.begin_reading(),
            Self::Postgres(conn) => conn.begin_reading(),
        }
    }

    /// Begins a transaction while which no other connection writes.
    pub(crate) fn begin_writing(&self) -> Result<Generation, StoreError> {
        match self {
            Self::Sqlite(conn) => conn.begin_writing(),
            Self::Postgres(conn) => conn.begin_writing(),
        }
    }

    /// Ends a transaction. What was written in it is durable.
    pub(crate) fn commit(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(conn) => conn.commit(),
            Self::Postgres(conn) => conn.commit(),
        }
    }

    /// Undoes the transaction, if one is open.
    pub(crate) fn roll_back(&self) {
        match self {
            Self::Sqlite(conn) => conn.roll_back(),
            Self::Postgres(conn) => conn.roll_back(),
        }
    }

    /// What other connections see after the transaction, for [`Connection::begin_writing`] to compare.
    pub(crate) fn stamp(&self, generation: Generation) -> Result<Generation, StoreError> {
        match self {
            // SQLite counts by itself, and only what other connections do.
            Self::Sqlite(_) => Ok(generation),
            Self::Postgres(conn) => conn.stamp(generation),
        }
    }

    /// Marks this place in the transaction.
    pub(crate) fn set_savepoint(&self) -> Result<(), StoreError> {
        self.execute_batch("SAVEPOINT step")
    }

    /// Keeps what was written since the savepoint, and forgets that place.
    pub(crate) fn release_savepoint(&self) -> Result<(), StoreError> {
        self.execute_batch("RELEASE SAVEPOINT step")
    }

    /// Undoes what was written since the savepoint, and forgets that place.
    pub(crate) fn roll_back_to_savepoint(&self) -> Result<(), StoreError> {
        if let Self::Postgres(conn) = self {
            conn.drop_writes();
        }
        self.execute_batch("ROLLBACK TO SAVEPOINT step; RELEASE SAVEPOINT step")
    }

    /// Names the journal row that statements are written for from now on.
    pub(crate) fn set_row(&self, row: u64) {
        if let Self::Postgres(conn) = self {
            conn.set_row(row);
        }
    }

    /// The journal row whose statement failed, if it is not the one that was just written.
    pub(crate) fn failed_row(&self) -> Option<u64> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(conn) => conn.failed_row(),
        }
    }

    /// Sends what is queued, and checks what it changed.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(conn) => conn.flush(),
        }
    }

    /// Forgets prepared statements: tables of the same names are about to come or go.
    pub(crate) fn forget_statements(&self) {
        match self {
            Self::Sqlite(conn) => conn.forget_statements(),
            Self::Postgres(conn) => conn.forget_statements(),
        }
    }

    /// A query for the members of a JSON list of texts that is a parameter.
    pub(crate) fn members_of(&self, parameter: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("SELECT value FROM json_each({parameter})"),
            Self::Postgres(_) => format!("SELECT json_array_elements_text({parameter}::json)"),
        }
    }

    /// The schema of tables that stay, and that of temporary ones.
    pub(crate) fn schemas(&self) -> (&'static str, &'static str) {
        match self {
            Self::Sqlite(_) => ("main", "temp"),
            Self::Postgres(_) => (postgres::SCHEMA, "pg_temp"),
        }
    }

    /// Lets a transaction of this connection be idle for as long as it takes.
    pub(crate) fn take_time(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(conn) => conn.execute_batch("SET idle_in_transaction_session_timeout = 0"),
        }
    }

    /// The names of the tables that hold data.
    pub(crate) fn tables(&self) -> Result<Vec<String>, StoreError> {
        let sql = match self {
            Self::Sqlite(_) => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'room' ORDER BY name"
            }
            Self::Postgres(_) => {
                "SELECT CAST(relname AS TEXT) FROM pg_class WHERE relnamespace = CAST('placet' AS regnamespace) AND relkind = 'r'
                 AND relname NOT IN ('format', 'room') ORDER BY relname"
            }
        };
        self.prepare_cached(sql)?.query_map([], |row| row.get(0))
    }

    /// The columns of a table, in order.
    pub(crate) fn columns(&self, table: &str) -> Result<Vec<Column>, StoreError> {
        let sql = match self {
            Self::Sqlite(_) => "SELECT name, type, pk > 0 FROM pragma_table_info(?1) ORDER BY cid",
            Self::Postgres(_) => {
                "SELECT CAST(attname AS TEXT), format_type(atttypid, atttypmod), coalesce(attnum = ANY (indkey), FALSE)
                 FROM pg_attribute LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary
                 WHERE attrelid = CAST('placet.' || ?1 AS regclass) AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
            }
        };
        self.prepare_cached(sql)?.query_map([table], |row| {
            Ok(Column {
                name: row.get(0)?,
                kind: match row.text(1)? {
                    "TEXT" | "text" => Kind::Text,
                    "BLOB" | "bytea" => Kind::Blob,
                    _ => Kind::Int,
                },
                is_key: row.get(2)?,
            })
        })
    }

    /// Lets the numbers that the database gives go on after those that were copied.
    pub(crate) fn restart_numbers(&self) -> Result<(), StoreError> {
        match self {
            // SQLite counts them by itself.
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(conn) => conn.execute_batch(
                "SELECT setval(pg_get_serial_sequence('placet.outbox', 'id'), coalesce(max(id), 0) + 1, false) FROM outbox",
            ),
        }
    }

    /// Makes an empty temporary table like `table`, which hides it until the end of the transaction.
    pub(crate) fn hide(&self, table: &str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(conn) => conn.hide(table),
            Self::Postgres(conn) => conn.hide(table),
        }
    }
}
