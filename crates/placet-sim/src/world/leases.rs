//! What processes hold, and what one that was paused past its lease tries to store.

use std::collections::BTreeMap;

use placet_core::lease::{Fence, LeaseName};
use placet_core::outgoing::Change;
use placet_core::step::Commit;
use placet_core::steps;
use placet_core::time::Millis;
use placet_store::StoreError;

use super::{Check, World};
use crate::sabotage::Sabotage;

/// Shorter than most deadlines, so that leases end while questions are open.
const LASTS: Millis = Millis::from_secs(20);

impl World {
    /// Takes the lease on the timers if it is free. Until then another process keeps the time.
    pub(super) fn keeps_time(&mut self) -> bool {
        let owner = format!("p{}", self.process);
        let lease = LeaseName::timers();
        let taken = self.step(|_, snapshot, now| steps::take_lease(snapshot, now, &lease, &owner, LASTS));
        match taken {
            Ok(fence) => {
                self.tell(|_| format!("{owner} takes the timers"));
                self.timers = Some(fence);
                self.tally.leases += 1;
                true
            }
            Err(_) => false,
        }
    }

    /// A process that was paused goes on where it was: it does not know that another one has its lease.
    pub(super) fn paused_process_goes_on(&mut self) -> Check {
        let Some(fence) = self.paused.pop() else {
            return Ok(());
        };
        let lease = self.look(|stored| stored.lease(&fence.lease).cloned())?;
        let is_stale = lease.is_none_or(|lease| lease.fence != fence.number);
        self.tell(|_| format!("a paused process goes on under {fence:?}"));
        match self.store.commit(self.under(&fence)) {
            Ok(()) if is_stale => Err(format!(
                "promise 2: something was stored under a stale fence: {fence:?}"
            )),
            Err(StoreError::Fenced { .. }) if is_stale => {
                self.tally.fenced += 1;
                Ok(())
            }
            Err(StoreError::Fenced { .. }) => {
                Err(format!("promise 3: {fence:?} was refused, and is the newest"))
            }
            // Anything else is a fault of the disk.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn under(&self, fence: &Fence) -> Commit {
        let fences = match self.sabotage {
            Sabotage::StaleFenceCounts => Vec::new(),
            _ => vec![fence.clone()],
        };
        Commit {
            now: self.now(),
            versions: BTreeMap::new(),
            epoch: None,
            fences,
            events: Vec::new(),
            changes: vec![Change::ForgetInbound {
                before: placet_core::time::Timestamp::from_millis(0),
            }],
        }
    }
}
