//! The leases of this process: taken, renewed while it runs, and lost when another process takes them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use placet_core::lease::{Fence, LeaseName, LeaseOwner};
use placet_core::outgoing::Change;
use placet_core::steps::{self, Promise};
use placet_core::time::{Millis, Timestamp};
use placet_store::{StepError, StoreError};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;

/// Leases are renewed so many times while they last: three renewals may fail before one is lost.
const RENEWALS: u32 = 4;

/// The leases of this process.
pub(crate) struct Leases {
    owner: String,
    /// How long a lease lasts: what others wait before they take over from a process that died.
    lasts: Millis,
    held: Mutex<BTreeMap<LeaseName, Kept>>,
    /// Those that could not be given back yet.
    given_up: Mutex<BTreeSet<Fence>>,
}

/// A lease that this process has, and until when it has it at least.
struct Kept {
    lease: Held,
    until: Timestamp,
}

/// A lease that this process took. It may be over, or another process may have it by now: commits under it find out.
#[derive(Debug, Clone)]
pub struct Held {
    fence: Fence,
    lost: CancellationToken,
}

impl Held {
    /// What commits under it name.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Whether another process has it, as far as this one knows.
    pub fn is_lost(&self) -> bool {
        self.lost.is_cancelled()
    }

    /// Waits until another process has it.
    pub async fn lost(&self) {
        self.lost.cancelled().await;
    }
}

impl Leases {
    pub(crate) fn new(lasts: Millis) -> Self {
        Self {
            lasts,
            owner: uuid::Uuid::now_v7().simple().to_string(),
            held: Mutex::default(),
            given_up: Mutex::default(),
        }
    }

    /// The name of this process.
    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// How often a process renews its leases, and looks for those of processes that are gone.
    pub(crate) fn renewal(&self) -> Duration {
        Duration::from_millis(self.lasts.get()) / RENEWALS
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<LeaseName, Kept>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn given_up(&self) -> MutexGuard<'_, BTreeSet<Fence>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lose(&self, fence: &Fence) {
        let mut held = self.held();
        // It may have been given back and taken again since.
        if held
            .get(&fence.lease)
            .is_some_and(|kept| kept.lease.fence == *fence)
            && let Some(kept) = held.remove(&fence.lease)
        {
            tracing::warn!(lease = %fence.lease, "a lease was lost");
            kept.lease.lost.cancel();
        }
    }

    /// A lease was renewed.
    fn lengthen(&self, fence: &Fence, until: Timestamp) {
        let mut held = self.held();
        if let Some(kept) = held
            .get_mut(&fence.lease)
            .filter(|kept| kept.lease.fence == *fence)
        {
            kept.until = kept.until.max(until);
        }
    }

    /// Whether no other process can count a lease as over yet.
    fn lasts_at(&self, now: Timestamp, fence: &Fence) -> bool {
        let held = self.held();
        let kept = held.get(&fence.lease).filter(|kept| kept.lease.fence == *fence);
        kept.is_some_and(|kept| now < kept.until)
    }
}

impl Engine {
    /// Takes a lease, or returns the one this process has. Nothing while another process has it.
    pub async fn hold(&self, lease: &LeaseName) -> Result<Option<Held>, StoreError> {
        let leases = &self.inner.leases;
        if let Some(kept) = leases.held().get(lease) {
            return Ok(Some(kept.lease.clone()));
        }
        let (owner, lasts) = (leases.owner(), leases.lasts);
        let until = self.store().now() + lasts;
        let take = self.transact(|snapshot, now| steps::take_lease(snapshot, now, lease, owner, lasts));
        let fence = match take.await {
            Ok(fence) => fence,
            Err(StepError::Refused(_)) => return Ok(None),
            Err(StepError::Store(error)) => return Err(error),
        };
        let held = Held {
            fence,
            lost: CancellationToken::new(),
        };
        let kept = Kept {
            lease: held.clone(),
            until,
        };
        leases.held().insert(lease.clone(), kept);
        Ok(Some(held))
    }

    /// How often processes look for what another one has left.
    pub fn lease_renewal(&self) -> Duration {
        self.inner.leases.renewal()
    }

    /// Gives a lease back, so that another process can take it at once. If that fails, it is tried again with the next renewal.
    pub async fn release(&self, held: Held) -> Result<(), StoreError> {
        let leases = &self.inner.leases;
        leases.held().remove(&held.fence.lease);
        leases.given_up().insert(held.fence.clone());
        self.give_back(held.fence).await
    }

    async fn give_back(&self, fence: Fence) -> Result<(), StoreError> {
        self.store_change(Change::ReleaseLease(fence.clone())).await?;
        self.inner.leases.given_up().remove(&fence);
        Ok(())
    }

    /// Forgets a lease that a commit found taken by another process.
    pub(crate) fn lose(&self, fence: &Fence) {
        self.inner.leases.lose(fence);
    }

    /// The fence of a lease that this process has.
    pub(crate) fn held(&self, lease: &LeaseName) -> Option<Fence> {
        let held = self.inner.leases.held();
        held.get(lease).map(|kept| kept.lease.fence.clone())
    }

    /// What a claim promises, and the lease it is bound to: without a time of its own it is bound to this process, which must not
    /// count as gone when it is stored.
    pub(crate) async fn promise(&self, time: Option<Millis>) -> Result<(Promise, Option<Held>), StoreError> {
        if let Some(time) = time {
            return Ok((Promise::Within(time), None));
        }
        let leases = &self.inner.leases;
        let name = LeaseName::process(leases.owner());
        let lost = || StoreError::Fenced { lease: name.clone() };
        let mut alive = self.hold(&name).await?.ok_or_else(lost)?;
        if !self.is_bound(&alive) {
            // This process was paused. Nothing was claimed meanwhile, so that it goes on changes nothing.
            self.renew().await?;
            alive = self.hold(&name).await?.ok_or_else(lost)?;
        }
        Ok((Promise::Process(leases.owner().to_owned()), Some(alive)))
    }

    /// Whether a claim that is bound to the lease of this process still binds others.
    pub(crate) fn is_bound(&self, alive: &Held) -> bool {
        self.inner.leases.lasts_at(self.store().now(), &alive.fence)
    }

    /// Gives every lease back when the process stops.
    pub(crate) async fn release_all(&self) -> Result<(), StoreError> {
        let held = std::mem::take(&mut *self.inner.leases.held());
        for kept in held.into_values() {
            self.release(kept.lease).await?;
        }
        Ok(())
    }

    async fn renew(&self) -> Result<(), StoreError> {
        let leases = &self.inner.leases;
        let until = self.store().now() + leases.lasts;
        let renew = Change::RenewLeases {
            owner: leases.owner().to_owned(),
            until,
        };
        self.store_change(renew).await?;
        // Before what is stored is looked at: a lease taken after that is in neither.
        let held: Vec<Fence> = leases
            .held()
            .values()
            .map(|kept| kept.lease.fence.clone())
            .collect();
        let owner = LeaseOwner(leases.owner().to_owned());
        let stored = self
            .store()
            .look(|stored| stored.leases_of(&owner).cloned())
            .await?;
        let (kept, lost): (Vec<_>, Vec<_>) = held.iter().partition(|fence| stored.contains(fence));
        for fence in lost {
            leases.lose(fence);
        }
        for fence in kept {
            leases.lengthen(fence, until);
        }
        // After the renewal, which is of all leases in the name of this process.
        let given_up = leases.given_up().clone();
        for fence in given_up {
            self.give_back(fence).await?;
        }
        Ok(())
    }
}

/// Renews the leases of this process until it stops.
pub(crate) async fn run(engine: Engine, stop: CancellationToken) {
    let mut tick = tokio::time::interval(engine.lease_renewal());
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(tick.tick()).await.is_some() {
        if let Err(error) = engine.renew().await {
            tracing::error!(%error, "the leases of this process could not be renewed; trying again");
        } else if let Err(error) = engine.settle_doubts().await {
            tracing::error!(%error, "claims that may be stored could not be looked at; trying again");
        }
    }
}
