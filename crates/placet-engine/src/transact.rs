//! Load, decide, commit: the one way anything is stored.
//!
//! A decision is a pure function ([`placet_core::steps`]). It runs on a snapshot, and its events are committed together with
//! the versions of the sessions it was decided on. If one of them has changed since, the step is decided again on a new
//! snapshot; nothing of a lost race is stored, and none is reported as damage.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use placet_core::ids::SessionId;
use placet_core::lease::{Fence, LeaseName};
use placet_core::outgoing::Change;
use placet_core::snapshot::Snapshot;
use placet_core::step::{Commit, Decided, Turn, turn};
use placet_core::steps;
use placet_core::time::Timestamp;
use placet_store::{StepError, StoreError};
use tokio::sync::{Mutex, MutexGuard};

use crate::engine::Engine;
use crate::leases::Held;

/// How often a step is decided before its store counts as too busy.
const TRIES_MAX: usize = 1000;

/// How many queues there are for steps that lost a race.
const QUEUES: usize = 64;

/// How long a step waits in a queue. The one before it may be in a future that its caller has stopped polling, and that caller
/// may be waiting for this one.
const QUEUE_WAIT: Duration = Duration::from_millis(20);

/// Where steps that lost a race wait for each other. Steps of one session that all try at once would lose to each other over
/// and over; one after another, each is decided once.
pub(crate) struct Queues([Mutex<()>; QUEUES]);

impl Default for Queues {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl Queues {
    /// Waits for a turn in the queue of a session, up to a limit.
    async fn turn(&self, session: Option<&SessionId>) -> Option<MutexGuard<'_, ()>> {
        let mut hasher = DefaultHasher::new();
        session.hash(&mut hasher);
        let queue = usize::try_from(hasher.finish()).unwrap_or_default() % QUEUES;
        tokio::time::timeout(QUEUE_WAIT, self.0.get(queue)?.lock())
            .await
            .ok()
    }
}

impl Engine {
    /// Runs one step: loads what `decide` asks for, decides, and commits what it decided. Answers once that is durable.
    ///
    /// `decide` runs once more for each load and each lost race, so it must be a function of its arguments.
    pub async fn transact<T, E>(
        &self,
        decide: impl Fn(&Snapshot, Timestamp) -> Decided<T, E>,
    ) -> Result<T, StepError<E>> {
        // Before anything is decided by it: a grant that ended while the machine slept has ended.
        self.heed_clock().await?;
        self.attempt(&[], decide).await
    }

    /// The same under leases: refused with [`StoreError::Fenced`] once another process has taken one of them.
    pub async fn transact_under<'l, T, E>(
        &self,
        leases: impl IntoIterator<Item = &'l Held>,
        decide: impl Fn(&Snapshot, Timestamp) -> Decided<T, E>,
    ) -> Result<T, StepError<E>> {
        self.heed_clock().await?;
        let fences: Vec<Fence> = leases.into_iter().map(Held::fence).cloned().collect();
        self.attempt(&fences, decide).await
    }

    /// Records an outage if the wall clock has jumped.
    pub(crate) async fn heed_clock(&self) -> Result<(), StoreError> {
        let Some(outage) = self.store().clock_jump() else {
            return Ok(());
        };
        // The process that has the lease records it; this one's clock follows.
        let Some(timers) = self.held(&LeaseName::timers()) else {
            return Ok(());
        };
        let (from, until) = (outage.from, outage.until);
        tracing::warn!(%from, %until, "the clock was set; pending questions keep the time they have left");
        let fences = [timers];
        let record = self.attempt(&fences, |snapshot, _| steps::record_outage(snapshot, outage));
        match record.await.map_err(StepError::into_store_error) {
            // Another process keeps the time by now.
            Err(StoreError::Fenced { .. }) => Ok(()),
            recorded => recorded,
        }
    }

    async fn attempt<T, E>(
        &self,
        fences: &[Fence],
        decide: impl Fn(&Snapshot, Timestamp) -> Decided<T, E>,
    ) -> Result<T, StepError<E>> {
        let store = self.store();
        let mut snapshot = Snapshot::default();
        let mut queued = None;
        for _ in 0..TRIES_MAX {
            let Some(now) = store.now_for(&snapshot) else {
                snapshot = store.load(snapshot.needs()).await?;
                continue;
            };
            let (mut commit, value) = match turn(&mut snapshot, now, &decide) {
                Turn::Load(needs) => {
                    snapshot = store.load(needs).await?;
                    continue;
                }
                Turn::Commit(commit, value) => (commit, value),
                Turn::Answer(value) => return Ok(value),
                Turn::Refused(refusal) => return Err(StepError::Refused(refusal)),
                Turn::Corrupt(what) => return Err(StoreError::Corrupt { what }.into()),
            };
            commit.fences = fences.to_vec();
            let first = commit.versions.keys().next().cloned();
            match store.commit(commit).await {
                Ok(()) => return Ok(value),
                Err(StoreError::Conflict { what }) => {
                    if queued.is_none() {
                        queued = self.inner.queues.turn(first.as_ref()).await;
                    }
                    let newer = store.load(snapshot.needs()).await?;
                    if newer == snapshot {
                        return Err(StoreError::Corrupt { what }.into());
                    }
                    snapshot = newer;
                }
                Err(StoreError::Fenced { lease }) => {
                    for fence in fences.iter().filter(|fence| fence.lease == lease) {
                        self.lose(fence);
                    }
                    return Err(StoreError::Fenced { lease }.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Busy.into())
    }

    /// Stores an operational change that depends on nothing.
    pub(crate) async fn store_change(&self, change: Change) -> Result<(), StoreError> {
        self.store_change_under(None, change).await
    }

    /// The same under a lease.
    pub(crate) async fn store_change_under(
        &self,
        lease: Option<&Held>,
        change: Change,
    ) -> Result<(), StoreError> {
        let commit = Commit {
            now: self.store().now(),
            versions: BTreeMap::new(),
            epoch: None,
            fences: lease.map(Held::fence).cloned().into_iter().collect(),
            events: Vec::new(),
            changes: vec![change],
        };
        let stored = self.store().commit(commit).await;
        if let (Err(StoreError::Fenced { .. }), Some(lease)) = (&stored, lease) {
            self.lose(lease.fence());
        }
        stored
    }
}
