//! A connection to a PostgreSQL server. Writes are queued and sent together.

use std::cell::{Cell as Slot, RefCell};
use std::collections::HashMap;
use std::error::Error as _;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::schema::{self, Purpose, WRITER_LOCK};
use super::server::Server;
use crate::error::{OpenError, StoreError};
use crate::sql::{Affected, Cell, Generation, Kind, Params, Value};

/// How long the server may take to answer. Longer than it may wait for a lock.
const ANSWER_MAX: Duration = Duration::from_mins(1);
/// The same where whole tables are compared.
const COMPARISON_MAX: Duration = Duration::from_hours(1);

/// A connection, with a runtime of its own that only runs while the thread waits for an answer.
pub(crate) struct Connection {
    server: Server,
    purpose: Purpose,
    client: RefCell<Client>,
    statements: RefCell<HashMap<String, Arc<Prepared>>>,
    /// What is to be sent before the next query.
    writes: RefCell<Vec<Write>>,
    /// What the writes that were sent last changed.
    counts: RefCell<Vec<u64>>,
    /// A transaction to begin before the next statement.
    to_begin: Slot<Option<&'static str>>,
    is_open: Slot<bool>,
    /// Whether the server did not answer in time.
    is_given_up: Slot<bool>,
    /// For reports only: the journal row that statements are written for.
    row: Slot<u64>,
    failed_row: Slot<Option<u64>>,
    /// Dropped last: the client's messages end with it.
    runtime: Runtime,
}

struct Prepared {
    sql: String,
    statement: OnceLock<tokio_postgres::Statement>,
}

struct Write {
    statement: tokio_postgres::Statement,
    params: Vec<Owned>,
    row: u64,
    /// What it means when not exactly one row was changed.
    unless_one: Option<String>,
}

/// A parameter that outlives its statement's caller.
#[derive(Debug)]
enum Owned {
    Null(Kind),
    Int(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// A prepared statement.
pub(crate) struct Statement<'c> {
    conn: &'c Connection,
    prepared: Arc<Prepared>,
}

/// The rows of a query.
#[derive(Default)]
pub(crate) struct Rows {
    rows: Vec<tokio_postgres::Row>,
    next: usize,
}

/// The connection behind a client: it must be polled, and hears what the server says unasked.
pub(super) type Messages =
    tokio_postgres::Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// A row.
#[derive(Clone, Copy)]
pub(crate) struct Row<'r>(&'r tokio_postgres::Row);

impl Connection {
    /// Connects. The schema must be there and of this version.
    pub(super) fn open(server: &Server, purpose: Purpose) -> Result<Self, OpenError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| StoreError::Io(error.to_string()))?;
        let client = runtime.block_on(schema::connect(server, purpose))?;
        Ok(Self {
            server: server.clone(),
            purpose,
            client: RefCell::new(client),
            statements: RefCell::default(),
            writes: RefCell::default(),
            counts: RefCell::default(),
            to_begin: Slot::new(None),
            is_open: Slot::new(false),
            is_given_up: Slot::new(false),
            row: Slot::new(0),
            failed_row: Slot::new(None),
            runtime,
        })
    }

    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>, StoreError> {
        if !self.is_open.get() && self.to_begin.get().is_none() {
            self.reconnect_if_lost()?;
        }
        let mut statements = self.statements.borrow_mut();
        let known = statements.get(sql).map(Arc::clone);
        let prepared = known.unwrap_or_else(|| {
            let prepared = Arc::new(Prepared {
                sql: sql.replace('?', "$"),
                statement: OnceLock::new(),
            });
            statements.insert(sql.to_owned(), Arc::clone(&prepared));
            prepared
        });
        Ok(Statement { conn: self, prepared })
    }

    pub(crate) fn execute_batch(&self, sql: &str) -> Result<(), StoreError> {
        self.send(None)?;
        let client = self.client.borrow();
        self.wait(client.batch_execute(sql))
    }

    pub(crate) fn begin_reading(&self) -> Result<(), StoreError> {
        self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ")
    }

    /// Waits for the writers before this one. They see each other's commits, because a lock is let go after its commit.
    pub(crate) fn begin_writing(&self) -> Result<Generation, StoreError> {
        self.begin(WRITER_LOCK)?;
        let generation = self.generation();
        if generation.is_err() {
            self.roll_back();
        }
        generation
    }

    fn generation(&self) -> Result<Generation, StoreError> {
        let mut statement = self.prepare_cached("SELECT generation FROM service")?;
        let mut rows = statement.query(&[(); 0])?;
        match rows.next().map(|row| row.cell(0)).transpose()? {
            Some(Cell::Int(generation)) => Ok(Generation(generation)),
            _ => Err(StoreError::corrupt("the table `service` is empty")),
        }
    }

    /// Begins with the next statement. A connection that was lost is made again first.
    fn begin(&self, sql: &'static str) -> Result<(), StoreError> {
        self.writes.borrow_mut().clear();
        self.failed_row.set(None);
        self.reconnect_if_lost()?;
        self.to_begin.set(Some(sql));
        Ok(())
    }

    /// Makes the connection again if the server ended it since it was last used.
    fn reconnect_if_lost(&self) -> Result<(), StoreError> {
        // Lets the runtime read what came in meanwhile: the end of the connection, for instance.
        self.runtime.block_on(async {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        });
        if !self.client.borrow().is_closed() && !self.is_given_up.get() {
            return Ok(());
        }
        let connected = self.runtime.block_on(schema::connect(&self.server, self.purpose));
        let client = connected.map_err(|error| match error {
            OpenError::Store(error) => error,
            other => StoreError::Unreachable(other.to_string()),
        })?;
        self.statements.borrow_mut().clear();
        self.client.replace(client);
        self.is_given_up.set(false);
        Ok(())
    }

    pub(crate) fn commit(&self) -> Result<(), StoreError> {
        self.send(None)?;
        let client = self.client.borrow();
        let committed = self.wait(client.batch_execute("COMMIT"));
        self.is_open.set(false);
        committed
    }

    pub(crate) fn roll_back(&self) {
        self.writes.borrow_mut().clear();
        if self.to_begin.take().is_none() && self.is_open.replace(false) {
            let client = self.client.borrow();
            // A connection that does not answer is closed, and the server rolls back.
            let _ = self.wait(client.batch_execute("ROLLBACK"));
        }
    }

    /// Tells other connections that something was written, when the transaction commits.
    pub(crate) fn stamp(&self, generation: Generation) -> Result<Generation, StoreError> {
        self.prepare_cached("UPDATE service SET generation = generation + 1")?
            .execute(&[(); 0])?;
        self.prepare_cached("SELECT pg_notify('placet', '')")?
            .execute(&[(); 0])?;
        Ok(Generation(generation.0.wrapping_add(1)))
    }

    pub(crate) fn set_row(&self, row: u64) {
        self.row.set(row);
    }

    pub(crate) fn failed_row(&self) -> Option<u64> {
        self.failed_row.get()
    }

    /// Forgets what was not sent yet.
    pub(crate) fn drop_writes(&self) {
        self.writes.borrow_mut().clear();
    }

    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.send(None).map(|_| ())
    }

    pub(crate) fn forget_statements(&self) {
        self.statements.borrow_mut().clear();
    }

    pub(crate) fn hide(&self, table: &str) -> Result<(), StoreError> {
        self.execute_batch(&format!(
            "CREATE TEMP TABLE {table} (LIKE {}.{table} INCLUDING ALL) ON COMMIT DROP",
            super::SCHEMA
        ))
    }

    pub(crate) fn expect_one(&self, at: usize, otherwise: String) {
        if let Some(write) = self.writes.borrow_mut().get_mut(at) {
            write.unless_one = Some(otherwise);
        }
    }

    pub(crate) fn count(&self, at: usize) -> Result<usize, StoreError> {
        self.flush()?;
        let counted = self.counts.borrow().get(at).copied().unwrap_or(0);
        Ok(usize::try_from(counted).unwrap_or(usize::MAX))
    }

    /// Sends what is queued and then `query`, in one go. The error is that of the first statement that fails.
    fn send(&self, query: Option<(&tokio_postgres::Statement, &[Owned])>) -> Result<Rows, StoreError> {
        let writes = std::mem::take(&mut *self.writes.borrow_mut());
        let begin = self.to_begin.take();
        if writes.is_empty() && begin.is_none() && query.is_none() {
            return Ok(Rows::default());
        }
        let client = self.client.borrow();
        let answers = self.wait(async {
            let mut started = Box::pin(client.batch_execute(begin.unwrap_or_default()));
            // A request is handed over when its future is first polled. The answers come in the same order.
            let mut first = None;
            if begin.is_some() {
                first = poll_once(started.as_mut()).await;
            }
            let mut sent = Vec::with_capacity(writes.len());
            for write in &writes {
                let mut future = Box::pin(client.execute_raw(&write.statement, &write.params));
                let answer = poll_once(future.as_mut()).await;
                sent.push((future, answer));
            }
            let mut asked = Box::pin(ask(&client, query));
            let rows = poll_once(asked.as_mut()).await;
            // Taken in order, too: an answer that is not taken holds up those behind it.
            if begin.is_some() {
                match first {
                    Some(answer) => answer?,
                    None => started.await?,
                }
            }
            let mut counts = Vec::with_capacity(sent.len());
            for (future, answer) in sent {
                counts.push(match answer {
                    Some(answer) => answer,
                    None => future.await,
                });
            }
            let rows = match rows {
                Some(rows) => rows,
                None => asked.await,
            };
            Ok((counts, rows))
        });
        if begin.is_some() {
            self.is_open.set(true);
        }
        let (counted, rows) = answers?;
        let mut counts = Vec::with_capacity(counted.len());
        for (write, count) in writes.iter().zip(counted) {
            let checked = count
                .map_err(StoreError::from)
                .and_then(|count| match &write.unless_one {
                    Some(otherwise) if count != 1 => Err(StoreError::corrupt(otherwise.as_str())),
                    _ => Ok(count),
                });
            if checked.is_err() {
                self.failed_row.set(Some(write.row));
            }
            counts.push(checked?);
        }
        self.counts.replace(counts);
        rows.map(|rows| Rows { rows, next: 0 }).map_err(StoreError::from)
    }

    /// Waits for the server. One that does not answer in time is given up.
    fn wait<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, StoreError> {
        let most = match self.purpose {
            Purpose::Writing | Purpose::Reading => ANSWER_MAX,
            Purpose::Verifying => COMPARISON_MAX,
        };
        let answer = self
            .runtime
            .block_on(async { tokio::time::timeout(most, work).await });
        answer.map_or_else(
            |_| {
                self.is_given_up.set(true);
                let seconds = most.as_secs();
                Err(StoreError::Unreachable(format!(
                    "it did not answer for {seconds} seconds"
                )))
            },
            |answer| answer.map_err(StoreError::from),
        )
    }

    fn prepare(
        &self,
        prepared: &Prepared,
        params: &[Owned],
    ) -> Result<tokio_postgres::Statement, StoreError> {
        if let Some(statement) = prepared.statement.get() {
            return Ok(statement.clone());
        }
        let types: Vec<Type> = params.iter().map(Owned::kind).collect();
        // Within the transaction that the statement is for: it may be about tables that only exist there.
        self.send(None)?;
        let client = self.client.borrow();
        let statement = self.wait(client.prepare_typed(&prepared.sql, &types))?;
        Ok(prepared.statement.get_or_init(|| statement).clone())
    }
}

async fn ask(
    client: &Client,
    query: Option<(&tokio_postgres::Statement, &[Owned])>,
) -> Result<Vec<tokio_postgres::Row>, Error> {
    let Some((statement, params)) = query else {
        return Ok(Vec::new());
    };
    let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|param| param as &(dyn ToSql + Sync)).collect();
    client.query(statement, &params).await
}

/// Hands a request over without waiting for its answer.
async fn poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        })
    })
    .await
}

impl<'c> Statement<'c> {
    pub(crate) fn execute(&mut self, params: &dyn Params) -> Result<Affected<'c>, StoreError> {
        let params = owned(params)?;
        let statement = self.conn.prepare(&self.prepared, &params)?;
        let mut writes = self.conn.writes.borrow_mut();
        let at = writes.len();
        writes.push(Write {
            statement,
            params,
            row: self.conn.row.get(),
            unless_one: None,
        });
        Ok(Affected::Queued(self.conn, at))
    }

    pub(crate) fn query(&mut self, params: &dyn Params) -> Result<Rows, StoreError> {
        let params = owned(params)?;
        let statement = self.conn.prepare(&self.prepared, &params)?;
        self.conn.send(Some((&statement, &params)))
    }
}

fn owned(params: &dyn Params) -> Result<Vec<Owned>, StoreError> {
    let mut list = Vec::new();
    params.each(&mut |value| {
        list.push(match value {
            Value::Null(kind) => Owned::Null(kind),
            Value::Int(number) => Owned::Int(number),
            // PostgreSQL has no texts with a zero byte in them. Ids have none; what a platform calls a message may.
            Value::Text(text) if text.contains('\0') => Owned::Text(text.replace('\0', "\u{fffd}")),
            Value::Text(text) => Owned::Text(text.to_owned()),
            Value::Blob(bytes) => Owned::Blob(bytes.to_vec()),
        });
        Ok(())
    })?;
    Ok(list)
}

impl Owned {
    fn kind(&self) -> Type {
        match self {
            Self::Int(_) | Self::Null(Kind::Int) => Type::INT8,
            Self::Text(_) | Self::Null(Kind::Text) => Type::TEXT,
            Self::Blob(_) | Self::Null(Kind::Blob) => Type::BYTEA,
        }
    }
}

impl ToSql for Owned {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null(_) => Ok(IsNull::Yes),
            Self::Int(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Blob(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::TEXT, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}

impl Rows {
    pub(crate) fn next(&mut self) -> Option<Row<'_>> {
        let row = self.rows.get(self.next)?;
        self.next += 1;
        Some(Row(row))
    }
}

impl<'r> Row<'r> {
    pub(crate) fn cell(self, column: usize) -> Result<Cell<'r>, StoreError> {
        let missing = || StoreError::corrupt(format!("a row has no column {column}"));
        let kind = self.0.columns().get(column).ok_or_else(missing)?.type_();
        let cell = match *kind {
            Type::INT8 => self
                .0
                .try_get(column)
                .map(|cell: Option<i64>| cell.map(Cell::Int)),
            Type::INT4 => self
                .0
                .try_get(column)
                .map(|cell: Option<i32>| cell.map(|number| Cell::Int(number.into()))),
            Type::BOOL => self
                .0
                .try_get(column)
                .map(|cell: Option<bool>| cell.map(|truth| Cell::Int(truth.into()))),
            Type::BYTEA => self
                .0
                .try_get(column)
                .map(|cell: Option<&[u8]>| cell.map(Cell::Blob)),
            _ => self
                .0
                .try_get(column)
                .map(|cell: Option<&str>| cell.map(|text| Cell::Text(text.as_bytes()))),
        };
        Ok(cell
            .map_err(|error| StoreError::corrupt(error.to_string()))?
            .unwrap_or(Cell::Null))
    }
}

/// What the server says, by what the caller can do about it.
impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match error.as_db_error() {
            Some(told) => said(told),
            None => Self::Unreachable(match error.source() {
                Some(cause) => format!("{error}: {cause}"),
                None => error.to_string(),
            }),
        }
    }
}

fn said(told: &DbError) -> StoreError {
    let said = match told.detail() {
        Some(detail) => format!("{} ({detail})", told.message()),
        None => told.message().to_owned(),
    };
    match told.code() {
        &SqlState::T_R_SERIALIZATION_FAILURE
        | &SqlState::T_R_DEADLOCK_DETECTED
        | &SqlState::LOCK_NOT_AVAILABLE
        | &SqlState::QUERY_CANCELED => StoreError::Busy,
        &SqlState::DISK_FULL => StoreError::Full,
        &SqlState::READ_ONLY_SQL_TRANSACTION | &SqlState::INSUFFICIENT_PRIVILEGE => StoreError::ReadOnly,
        &SqlState::ADMIN_SHUTDOWN
        | &SqlState::CRASH_SHUTDOWN
        | &SqlState::CANNOT_CONNECT_NOW
        | &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        | &SqlState::TOO_MANY_CONNECTIONS => StoreError::Unreachable(said),
        // Class 23: integrity.
        code if code.code().starts_with("23") => StoreError::corrupt(said),
        _ => StoreError::Io(said),
    }
}
