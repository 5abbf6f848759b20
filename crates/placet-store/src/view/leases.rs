//! Looking at leases.

use std::collections::BTreeSet;

use placet_core::ids::SessionId;
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

    /// How often a lease was taken; nothing when it never was.
    pub(crate) fn fence(&self, lease: &LeaseName) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT fence FROM leases WHERE name = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        statement.query_row([lease.as_str()], |row| row.get(0)).optional()
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

    /// The sessions whose open run was driven by a process that is gone. A process that stops driving a run gives its lease back.
    pub(crate) fn lost_runs(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT name FROM leases WHERE owner <> '' AND until <= ?1 AND name LIKE 'run/%'";
        let mut statement = self.conn.prepare_cached(sql)?;
        let names: Vec<String> = statement.query_map([self.unshifted(now)?], |row| row.get(0))?;
        let mut lost = Vec::new();
        for session in names
            .into_iter()
            .filter_map(|name| LeaseName::stored(name).session())
        {
            if self.run(&session)?.is_some_and(|run| run.ended.is_none()) {
                lost.push(session);
            }
        }
        Ok(lost)
    }
}
