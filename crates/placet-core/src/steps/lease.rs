//! Taking a lease.

use crate::lease::{Fence, LeaseName};
use crate::outgoing::Change;
use crate::snapshot::Snapshot;
use crate::step::{Decided, Refusal, Step};
use crate::time::{Millis, Timestamp};

/// Another process has the lease.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{lease}` is held by `{owner}` until {until}")]
pub struct LeaseHeld {
    /// Which lease.
    pub lease: LeaseName,
    /// The process.
    pub owner: String,
    /// When the lease ends, unless it is renewed.
    pub until: Timestamp,
}

impl Refusal for LeaseHeld {}

/// Takes a lease that is free, over or the owner's own. Each time it gets a new fence.
pub fn take_lease(
    snapshot: &Snapshot,
    now: Timestamp,
    lease: &LeaseName,
    owner: &str,
    lasts: Millis,
) -> Decided<Fence, LeaseHeld> {
    let stored = snapshot.lease(lease)?;
    if let Some(stored) = stored
        && let Some(holder) = stored.holder(now).filter(|holder| *holder != owner)
    {
        let held = LeaseHeld {
            lease: lease.clone(),
            owner: holder.to_owned(),
            until: stored.until,
        };
        return Err(held.into());
    }
    let number = stored.as_ref().map_or(1, |lease| lease.fence.saturating_add(1));
    let fence = Fence {
        lease: lease.clone(),
        number,
    };
    Ok(Step::new(fence.clone()).change(Change::TakeLease {
        fence,
        owner: owner.to_owned(),
        until: now + lasts,
    }))
}
