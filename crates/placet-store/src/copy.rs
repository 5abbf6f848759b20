//! Copies a store to another place, and proves that the copy is the same.
//!
//! Every table is copied as it is, in one transaction. No process writes to either store meanwhile: a file is locked, and the writers of a
//! server wait. The copy is then verified against the anchor of what was copied.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::error::{OpenError, StoreError};
use crate::location::Location;
use crate::sql::{Cell, Connection, Kind, Row, Value};
use crate::verify::{Verified, verify};

/// How long to wait for others.
const BUSY: Duration = Duration::from_secs(5);
/// How many rows are copied at once.
const PAGE: usize = 500;

/// Why a store was not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The store to copy cannot be opened.
    #[error("`{from}` cannot be copied: {source}")]
    From {
        /// Where it is.
        from: Location,
        /// Why not.
        source: OpenError,
    },
    /// The copy cannot be made there.
    #[error("`{to}` cannot be copied to: {source}")]
    To {
        /// Where it should be.
        to: Location,
        /// Why not.
        source: OpenError,
    },
    /// There is something in the target already.
    #[error("`{0}` is not empty; nothing was copied; name an empty database or a new file")]
    NotEmpty(Location),
    /// What should be copied is damaged.
    #[error("`{0}` is damaged, and nothing was copied; `placet audit verify` says how")]
    Damaged(Location),
    /// The copy is not the same.
    #[error("`{0}` does not hold the same after copying; do not use it")]
    Differs(Location),
    /// Reading or writing failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Copies the store at `from` to the empty store at `to`, and says what was checked there.
pub async fn copy(from: Location, to: Location) -> Result<Verified, CopyError> {
    let (reply, answer) = oneshot::channel();
    std::thread::Builder::new()
        .name("placet-copy".into())
        .spawn(move || drop(reply.send(copy_all(&from, &to))))
        .map_err(|error| StoreError::Io(error.to_string()))?;
    answer
        .await
        .unwrap_or(Err(CopyError::Store(StoreError::Panicked)))
}

fn copy_all(from: &Location, to: &Location) -> Result<Verified, CopyError> {
    let unreadable = |source| CopyError::From {
        from: from.clone(),
        source,
    };
    let unwritable = |source| CopyError::To {
        to: to.clone(),
        source,
    };
    if let Location::File(path) = from {
        // Opening it to write would make it.
        std::fs::metadata(path)
            .map_err(|source| OpenError::File {
                path: path.clone(),
                source,
            })
            .map_err(unreadable)?;
    }
    let (source, _source_lock) = from.writer(BUSY).map_err(unreadable)?;
    source.take_time()?;
    source.begin_writing()?;
    let original = verify(&from.verifier(BUSY).map_err(unreadable)?, None)?;
    if !original.is_sound() {
        source.roll_back();
        return Err(CopyError::Damaged(from.clone()));
    }
    let (target, _target_lock) = to.writer(BUSY).map_err(unwritable)?;
    target.take_time()?;
    target.begin_writing()?;
    let copied = tables(&source, &target, to);
    source.roll_back();
    match copied {
        Ok(()) => target.commit()?,
        Err(error) => {
            target.roll_back();
            return Err(error);
        }
    }
    let made = verify(&to.verifier(BUSY).map_err(unwritable)?, Some(&original.anchor))?;
    if made == original {
        Ok(made)
    } else {
        Err(CopyError::Differs(to.clone()))
    }
}

fn tables(source: &Connection, target: &Connection, to: &Location) -> Result<(), CopyError> {
    let names = target.tables()?;
    for table in names.iter().filter(|table| *table != "service") {
        let sql = format!("SELECT 1 FROM {table} LIMIT 1");
        if target.prepare_cached(&sql)?.exists([])? {
            return Err(CopyError::NotEmpty(to.clone()));
        }
    }
    for table in &names {
        copy_table(source, target, table)?;
    }
    target.restart_numbers()?;
    // Writers that remember the empty store must read it again.
    target.stamp(crate::sql::Generation::default())?;
    Ok(())
}

/// A column that both stores have.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether it is part of the primary key.
    pub(crate) is_key: bool,
}

fn copy_table(source: &Connection, target: &Connection, table: &str) -> Result<(), StoreError> {
    let there = target.columns(table)?;
    let mut columns = source.columns(table)?;
    columns.retain(|column| there.iter().any(|other| other.name == column.name));
    if table == "service" {
        target.prepare_cached("DELETE FROM service")?.execute([])?;
    }
    let names = |columns: &mut dyn Iterator<Item = &Column>| {
        columns
            .map(|column| column.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let all = names(&mut columns.iter());
    let key = names(&mut columns.iter().filter(|column| column.is_key));
    let keys = columns.iter().filter(|column| column.is_key).count();
    let first = format!("SELECT {all} FROM {table} ORDER BY {key} LIMIT {PAGE}");
    let next = format!(
        "SELECT {all} FROM {table} WHERE ({key}) > ({}) ORDER BY {key} LIMIT {PAGE}",
        numbered(keys)
    );
    let insert = format!("INSERT INTO {table} ({all}) VALUES ({})", numbered(columns.len()));
    let mut last: Vec<Owned> = Vec::new();
    loop {
        let mut statement = source.prepare_cached(if last.is_empty() { &first } else { &next })?;
        let after: Vec<Value<'_>> = last.iter().map(Owned::value).collect();
        let mut rows = statement.query(after.as_slice())?;
        let mut read = 0;
        let mut newest = Vec::new();
        while let Some(row) = rows.next()? {
            let values = owned(&row, &columns)?;
            let params: Vec<Value<'_>> = values.iter().map(Owned::value).collect();
            target.prepare_cached(&insert)?.execute(params.as_slice())?;
            read += 1;
            newest = values;
        }
        drop(rows);
        target.flush()?;
        if read < PAGE {
            return Ok(());
        }
        let mut is_key = columns.iter().map(|column| column.is_key);
        newest.retain(|_| is_key.next().unwrap_or(false));
        last = newest;
    }
}

fn numbered(count: usize) -> String {
    (1..=count)
        .map(|number| format!("?{number}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A value on its way.
enum Owned {
    Null(Kind),
    Int(i64),
    Text(String),
    Blob(Vec<u8>),
}

impl Owned {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Null(kind) => Value::Null(*kind),
            Self::Int(number) => Value::Int(*number),
            Self::Text(text) => Value::Text(text),
            Self::Blob(bytes) => Value::Blob(bytes),
        }
    }
}

fn owned(row: &Row<'_>, columns: &[Column]) -> Result<Vec<Owned>, StoreError> {
    let cell = |(at, column): (usize, &Column)| {
        Ok(match row.cell(at)? {
            Cell::Null => Owned::Null(column.kind),
            Cell::Int(number) => Owned::Int(number),
            Cell::Text(text) => Owned::Text(String::from_utf8(text.to_vec()).map_err(|_| {
                StoreError::corrupt(format!("`{}` holds text that is not UTF-8", column.name))
            })?),
            Cell::Blob(bytes) => Owned::Blob(bytes.to_vec()),
        })
    };
    columns.iter().enumerate().map(cell).collect()
}
