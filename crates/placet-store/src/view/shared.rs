//! Looking at values that all processes share.

use std::collections::BTreeMap;

use placet_core::shared::{SharedKey, SharedKind, SharedValue};
use placet_core::time::Timestamp;

use super::View;
use crate::error::StoreError;
use crate::sql::{OptionalExtension, Row};

impl View<'_> {
    /// A shared value. It may have ended.
    pub(crate) fn shared(&self, key: &SharedKey) -> Result<Option<SharedValue>, StoreError> {
        let sql = "SELECT value, until FROM shared WHERE kind = ?1 AND name = ?2";
        let mut statement = self.conn.prepare_cached(sql)?;
        statement
            .query_row((key.kind.as_str(), key.name.as_str()), |row| value(row, 0))
            .optional()
    }

    /// All of a kind, by their names.
    pub(crate) fn shared_of(&self, kind: SharedKind) -> Result<BTreeMap<String, SharedValue>, StoreError> {
        let sql = "SELECT name, value, until FROM shared WHERE kind = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let found = statement.query_map([kind.as_str()], |row| Ok((row.get(0)?, value(row, 1)?)))?;
        Ok(found.into_iter().collect())
    }
}

fn value(row: &Row<'_>, at: usize) -> Result<SharedValue, StoreError> {
    let until: Option<i64> = row.get(at + 1)?;
    Ok(SharedValue {
        text: row.get(at)?,
        until: until.map(Timestamp::from_millis),
    })
}
