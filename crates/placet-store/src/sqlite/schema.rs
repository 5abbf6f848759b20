//! The schema: versioned migrations, and how a connection is set up.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{OpenError, StoreError};
use crate::sql;

/// Each migration takes the schema from its index to the next version.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001.sql"),
    include_str!("../../migrations/0002.sql"),
    include_str!("../../migrations/0003.sql"),
    include_str!("../../migrations/0004.sql"),
    include_str!("../../migrations/0005.sql"),
    include_str!("../../migrations/0006.sql"),
    include_str!("../../migrations/0007.sql"),
    include_str!("../../migrations/0008.sql"),
    include_str!("../../migrations/0009.sql"),
    include_str!("../../migrations/0010.sql"),
    include_str!("../../migrations/0011.sql"),
    include_str!("../../migrations/0012.sql"),
    include_str!("../../migrations/0013.sql"),
    include_str!("../../migrations/0014.sql"),
];
/// "Plct": tells our files from other SQLite files.
const APPLICATION_ID: i32 = 0x506c_6374;
/// More than the number of different statements, so that none is ever compiled twice.
const STATEMENTS_CACHED: usize = 128;
/// A received call of 2 KiB and its question fill a page of 4 KiB so badly that a quarter of it stays empty. Rows larger
/// than a small page spill into pages of their own, which they fill: 3.8 KB a question instead of 4.5, and commits of
/// one step write half as much.
const PAGE_BYTES: u32 = 2048;
/// Folding the write-ahead log back costs a sync of its own; at 16 MiB it is rare enough not to show.
const WAL_PAGES: u32 = 8192;
/// What the writer keeps of the file in memory: enough for the upper pages of every index at a hundred thousand questions.
const WRITER_CACHE_KIB: i32 = 16 * 1024;

pub(crate) fn open_writer(path: &Path, busy: Duration) -> Result<sql::Connection, OpenError> {
    let mut conn = open_to_write(path, busy)?;
    // Only has an effect on an empty file.
    conn.pragma_update(None, "page_size", PAGE_BYTES)
        .map_err(StoreError::from)?;
    migrate(&mut conn, path)?;
    conn.pragma_update(None, "journal_mode", "wal")
        .map_err(StoreError::from)?;
    Ok(wrapped(conn))
}

fn open_to_write(path: &Path, busy: Duration) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(StoreError::from)?;
    prepare(&conn, busy).map_err(|error| not_ours(error, path))?;
    let set = |name, value: &dyn rusqlite::ToSql| {
        conn.pragma_update(None, name, value)
            .map_err(|error| not_ours(error, path))
    };
    set("wal_autocheckpoint", &WAL_PAGES)?;
    set("cache_size", &-WRITER_CACHE_KIB)?;
    set("synchronous", &"full")?;
    Ok(conn)
}

/// Opens the file to compare it with what this version would have written; an older one would differ without being damaged.
pub(crate) fn open_verifier(path: &Path, busy: Duration) -> Result<sql::Connection, OpenError> {
    let conn = open_to_read(path, busy)?;
    let found = checked_version(&conn, path)?;
    up_to_date(found)?;
    Ok(wrapped(conn))
}

pub(crate) fn open_reader(path: &Path, busy: Duration) -> Result<sql::Connection, OpenError> {
    open_to_read(path, busy).map(wrapped)
}

fn open_to_read(path: &Path, busy: Duration) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(StoreError::from)?;
    prepare(&conn, busy).map_err(|error| not_ours(error, path))?;
    checked_version(&conn, path)?;
    Ok(conn)
}

/// Whether a file is there and holds something of ours.
pub(crate) fn check_existing(path: &Path, busy: Duration) -> Result<(), OpenError> {
    // SQLite reports a missing file as "unable to open", which says little.
    let metadata = std::fs::metadata(path).map_err(|source| OpenError::File {
        path: path.to_owned(),
        source,
    })?;
    if !metadata.is_file() {
        return Err(OpenError::NotADatabase(path.to_owned()));
    }
    let conn = open_to_read(path, busy)?;
    let tables: u64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(StoreError::from)?;
    if tables == 0 {
        return Err(OpenError::NotADatabase(path.to_owned()));
    }
    Ok(())
}

fn wrapped(conn: Connection) -> sql::Connection {
    sql::Connection::Sqlite(super::Connection(conn))
}

pub(super) fn open_raw_in_memory() -> Result<Connection, OpenError> {
    let mut conn = Connection::open_in_memory().map_err(StoreError::from)?;
    prepare(&conn, Duration::ZERO).map_err(StoreError::from)?;
    migrate(&mut conn, Path::new(":memory:"))?;
    Ok(conn)
}

/// A connection to an empty database in memory.
pub(crate) fn open_in_memory() -> Result<sql::Connection, OpenError> {
    open_raw_in_memory().map(wrapped)
}

pub(super) fn prepare(conn: &Connection, busy: Duration) -> rusqlite::Result<()> {
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    conn.busy_timeout(busy)?;
    // Without this a statement is compiled again whenever a bound value might suggest another plan: a sixth of the writer's time.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "temp_store", "memory")
}

fn migrate(conn: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let found = checked_version(conn, path)?;
    let missing = MIGRATIONS.get(found as usize..).unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    let transaction = conn.transaction().map_err(StoreError::from)?;
    for migration in missing {
        transaction.execute_batch(migration).map_err(StoreError::from)?;
    }
    transaction
        .pragma_update(None, "user_version", MIGRATIONS.len())
        .map_err(StoreError::from)?;
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(StoreError::from)?;
    transaction.commit().map_err(StoreError::from)?;
    Ok(())
}

fn known_version() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

fn version(conn: &Connection) -> rusqlite::Result<u32> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The file's version. Refuses files of a newer one, and files that other programs made.
fn checked_version(conn: &Connection, path: &Path) -> Result<u32, OpenError> {
    let found = version(conn).map_err(|error| not_ours(error, path))?;
    let known = known_version();
    let application: i32 = conn
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(StoreError::from)?;
    let tables: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| not_ours(error, path))?;
    if tables > 0 && application != APPLICATION_ID {
        return Err(OpenError::NotADatabase(path.to_owned()));
    }
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    Ok(found)
}

fn up_to_date(found: u32) -> Result<(), OpenError> {
    let known = known_version();
    if found < known {
        return Err(OpenError::Older { found, known });
    }
    Ok(())
}

fn not_ours(error: rusqlite::Error, path: &Path) -> OpenError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => OpenError::NotADatabase(path.to_owned()),
        _ => OpenError::Store(error.into()),
    }
}
