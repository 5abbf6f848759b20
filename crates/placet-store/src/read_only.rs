//! Looking at a store from outside: while another process has it open, or when nobody has.

use std::path::Path;
use std::time::Duration;

use placet_core::ids::{AgentId, CallId};
use placet_core::interaction::CallKey;
use rusqlite::Connection;

use crate::error::{OpenError, StoreError};
use crate::schema;
use crate::view::View;

/// How long to wait for a writer that is folding its log back.
const BUSY: Duration = Duration::from_secs(5);

/// A store opened for looking. Takes no lock, changes nothing and disturbs nobody.
pub struct ReadOnly {
    conn: Connection,
}

impl ReadOnly {
    /// Opens the store in a file that must exist.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        // SQLite reports a missing file as "unable to open", which says little.
        let metadata = std::fs::metadata(path).map_err(|source| OpenError::File {
            path: path.to_owned(),
            source,
        })?;
        if !metadata.is_file() {
            return Err(OpenError::NotADatabase(path.to_owned()));
        }
        let conn = schema::open_reader(path, BUSY)?;
        if conn
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
                row.get::<_, u64>(0)
            })
            .map_err(StoreError::from)?
            == 0
        {
            return Err(OpenError::NotADatabase(path.to_owned()));
        }
        Ok(Self { conn })
    }

    /// Looks at one state of the store: whatever is written meanwhile is not seen.
    pub fn read<T, E>(&self, look: impl FnOnce(&View<'_>) -> Result<T, E>) -> Result<T, E>
    where
        E: From<StoreError>,
    {
        self.conn.execute_batch("BEGIN").map_err(StoreError::from)?;
        let seen = look(&View::new(&self.conn));
        self.conn.execute_batch("ROLLBACK").map_err(StoreError::from)?;
        seen
    }

    /// The calls that agents named `id`; ids are unique per agent only.
    pub fn calls_named(&self, id: &CallId) -> Result<Vec<CallKey>, StoreError> {
        let sql = "SELECT agent FROM calls WHERE call = ?1 ORDER BY agent";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query([id.as_str()])?;
        let mut keys = Vec::new();
        while let Some(row) = rows.next()? {
            let agent = AgentId::new(row.get::<_, String>(0)?)
                .map_err(|error| StoreError::corrupt(format!("a stored id is not one: {error}")))?;
            keys.push(CallKey {
                agent,
                call: id.clone(),
            });
        }
        Ok(keys)
    }
}
