//! Looking at leases.

use std::collections::BTreeSet;

use placet_core::lease::{Fence, Lease, LeaseName};
use placet_core::time::Timestamp;

use super::View;
use crate::error::StoreError;
use crate::sql::OptionalExtension;

impl View<'_> {
    /// A lease, as it was last taken.
    pub(crate) fn lease(&self, name: &LeaseName) -> Result<Option<Lease>, StoreError> {
        let sql = "SELECT owner, fence, until FROM leases WHERE name = ?1";
        let shift = self.shift()?;
        let mut statement = self.conn.prepare_cached(sql)?;
        let lease = statement.query_row([name.as_str()], |row| {
            let owner: String = row.get(0)?;
            Ok(Lease {
                owner: Some(owner).filter(|owner| !owner.is_empty()),
                fence: row.get(1)?,
                until: Timestamp::from_millis(row.get(2)?) + shift,
            })
        });
        lease.optional()
    }

    /// The fence a commit under a lease must name; nothing when it was never taken, or is of a process that let it end.
    /// `now` is as the column of pending times holds it.
    pub(crate) fn fence(&self, name: &LeaseName, now: i64) -> Result<Option<u64>, StoreError> {
        let ends_after = if name.is_of_process() { now } else { i64::MIN };
        let sql = "SELECT fence FROM leases WHERE name = ?1 AND until > ?2";
        let mut statement = self.conn.prepare_cached(sql)?;
        let fence = statement.query_row((name.as_str(), ends_after), |row| row.get(0));
        fence.optional()
    }

    /// The leases that a process took last.
    pub(crate) fn leases_of(&self, owner: &str) -> Result<BTreeSet<Fence>, StoreError> {
        let sql = "SELECT name, fence FROM leases WHERE owner = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let leases = statement.query_map([owner], |row| {
            Ok(Fence {
                lease: LeaseName::stored(row.get(0)?),
                number: row.get(1)?,
            })
        })?;
        Ok(leases.into_iter().collect())
    }
}
