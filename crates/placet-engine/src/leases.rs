//! The leases of this process: taken, renewed while it runs, and lost when another process takes them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use placet_core::lease::{Fence, LeaseName, LeaseOwner};
use placet_core::outgoing::Change;
use placet_core::steps::{self, Promise};
use placet_core::time::Millis;
use placet_store::{StepError, StoreError};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;

/// How long a lease lasts: what others wait before they take over from a process that died.
const LASTS: Millis = Millis::from_secs(20);
/// How often leases are renewed. Three renewals may fail before one is lost.
const RENEWAL: Duration = Duration::from_secs(5);

/// The leases of this process.
pub(crate) struct Leases {
    owner: String,
    held: Mutex<BTreeMap<LeaseName, Held>>,
    /// Those that could not be given back yet.
    given_up: Mutex<BTreeSet<Fence>>,
}

/// A lease that this process has.
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

    /// Waits until another process has it.
    pub async fn lost(&self) {
        self.lost.cancelled().await;
    }
}

impl Leases {
    pub(crate) fn new() -> Self {
        Self {
            owner: uuid::Uuid::now_v7().simple().to_string(),
            held: Mutex::default(),
            given_up: Mutex::default(),
        }
    }

    /// The name of this process.
    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<LeaseName, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn given_up(&self) -> MutexGuard<'_, BTreeSet<Fence>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lose(&self, fence: &Fence) {
        let mut held = self.held();
        // It may have been given back and taken again since.
        if held.get(&fence.lease).is_some_and(|held| held.fence == *fence)
            && let Some(held) = held.remove(&fence.lease)
        {
            tracing::warn!(lease = %fence.lease, "another process has taken a lease of this one");
            held.lost.cancel();
        }
    }
}

impl Engine {
    /// Takes a lease, or returns the one this process has. Nothing while another process has it.
    pub async fn hold(&self, lease: &LeaseName) -> Result<Option<Held>, StoreError> {
        let leases = &self.inner.leases;
        if let Some(held) = leases.held().get(lease) {
            return Ok(Some(held.clone()));
        }
        let owner = leases.owner();
        let take = self.transact(|snapshot, now| steps::take_lease(snapshot, now, lease, owner, LASTS));
        let fence = match take.await {
            Ok(fence) => fence,
            Err(StepError::Refused(_)) => return Ok(None),
            Err(StepError::Store(error)) => return Err(error),
        };
        let held = Held {
            fence,
            lost: CancellationToken::new(),
        };
        leases.held().insert(lease.clone(), held.clone());
        Ok(Some(held))
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
        self.inner.leases.held().get(lease).map(|held| held.fence.clone())
    }

    /// What a claim without a lease promises: it is bound to this process.
    pub(crate) fn promise(&self, lease: Option<Millis>) -> Promise {
        match lease {
            Some(lease) => Promise::Within(lease),
            None => Promise::Process(self.inner.leases.owner().to_owned()),
        }
    }

    /// Gives every lease back when the process stops.
    pub(crate) async fn release_all(&self) -> Result<(), StoreError> {
        let held = std::mem::take(&mut *self.inner.leases.held());
        for held in held.into_values() {
            self.release(held).await?;
        }
        Ok(())
    }

    async fn renew(&self) -> Result<(), StoreError> {
        let leases = &self.inner.leases;
        let now = self.store().now();
        let renew = Change::RenewLeases {
            owner: leases.owner().to_owned(),
            until: now + LASTS,
        };
        self.store_change(renew).await?;
        // Before what is stored is looked at: a lease taken after that is in neither.
        let held: Vec<Fence> = leases.held().values().map(|held| held.fence.clone()).collect();
        let owner = LeaseOwner(leases.owner().to_owned());
        let stored = self
            .store()
            .look(|stored| stored.leases_of(&owner).cloned())
            .await?;
        for fence in held.iter().filter(|fence| !stored.contains(fence)) {
            leases.lose(fence);
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
    let mut tick = tokio::time::interval(RENEWAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(tick.tick()).await.is_some() {
        if let Err(error) = engine.renew().await {
            tracing::error!(%error, "the leases of this process could not be renewed; trying again");
        } else if let Err(error) = engine.settle_doubts().await {
            tracing::error!(%error, "claims that may be stored could not be looked at; trying again");
        }
    }
}
