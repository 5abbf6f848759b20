//! What processes hold, and what one that was paused past its leases tries to store.

use std::collections::BTreeMap;

use placet_core::lease::{Fence, LeaseName};
use placet_core::outgoing::Change;
use placet_core::snapshot::Snapshot;
use placet_core::step::{Commit, Decided, Step};
use placet_core::steps::{self, Promise, Rules};
use placet_core::time::{Millis, Timestamp};
use placet_store::{StepError, StoreError};

use super::{Check, World};
use crate::sabotage::Sabotage;

/// Shorter than most deadlines, so that leases end while questions are open.
const LASTS: Millis = Millis::from_secs(20);

/// A process, by the name under which it takes leases, and the leases it believes to have.
#[derive(Debug, Clone, Default)]
pub(super) struct Process {
    pub(super) name: String,
    held: BTreeMap<LeaseName, Fence>,
}

impl World {
    /// As many processes as the seed says start under new names: one, two or three.
    pub(super) fn start_processes(&mut self) {
        let count = 1 + self.seed % 3;
        self.processes = (0..count).map(|_| self.new_process()).collect();
        self.acting = 0;
    }

    fn new_process(&mut self) -> Process {
        self.made += 1;
        Process {
            name: format!("p{}", self.made),
            held: BTreeMap::new(),
        }
    }

    /// The name of the process that acts.
    pub(super) fn name(&self) -> String {
        let process = self.processes.get(self.acting);
        process.map(|process| process.name.clone()).unwrap_or_default()
    }

    /// One of the processes acts next.
    pub(super) fn change_process(&mut self) {
        self.acting = self.dice.pick(self.processes.len());
    }

    /// The process that acts dies alone, or is only taken for dead. The others do not learn of it until its leases end.
    pub(super) fn process_dies(&mut self) {
        let new = self.new_process();
        self.tell(|world| format!("{} dies, {} starts", world.name(), new.name));
        if let Some(process) = self.processes.get_mut(self.acting) {
            let gone = std::mem::replace(process, new);
            self.paused.extend(gone.held.into_values());
        }
    }

    /// All processes die. Those that are only paused may go on later.
    pub(super) fn processes_die(&mut self) {
        for gone in std::mem::take(&mut self.processes) {
            self.paused.extend(gone.held.into_values());
        }
        self.start_processes();
    }

    /// The process that acts renews its leases. One that was paused does so late.
    pub(super) fn renew(&mut self) {
        let renew = Change::RenewLeases {
            owner: self.name(),
            until: self.now() + LASTS,
        };
        let _ = self.step(|_, _, _| -> Decided<()> { Ok(Step::nothing(()).change(renew.clone())) });
    }

    /// Takes a lease if it is free, or returns the one that the process believes to have.
    pub(super) fn hold(&mut self, lease: &LeaseName) -> Option<Fence> {
        let held = self
            .processes
            .get(self.acting)
            .and_then(|process| process.held.get(lease));
        if let Some(held) = held {
            return Some(held.clone());
        }
        let (owner, acting) = (self.name(), self.acting);
        let taken = self.step(|_, snapshot, now| steps::take_lease(snapshot, now, lease, &owner, LASTS));
        let fence = taken.ok()?;
        self.tell(|_| format!("{owner} takes {lease}"));
        self.tally.leases += 1;
        // Another process may act by now, and this one may be gone.
        if let Some(process) = self
            .processes
            .get_mut(acting)
            .filter(|process| process.name == owner)
        {
            process.held.insert(lease.clone(), fence.clone());
        }
        Some(fence)
    }

    /// A step under leases. A stale fence is forgotten, as the engine does.
    pub(super) fn step_under<T, E>(
        &mut self,
        fences: &[Fence],
        decide: impl Fn(&Rules<'_>, &Snapshot, Timestamp) -> Decided<T, E>,
    ) -> Result<T, StepError<E>> {
        let stored = self.step_fenced(self.now(), fences, decide);
        if let Err(StepError::Store(StoreError::Fenced { lease })) = &stored {
            self.tally.fenced += 1;
            for process in &mut self.processes {
                process
                    .held
                    .retain(|name, fence| name != lease || !fences.contains(fence));
            }
        }
        stored
    }

    /// The process that keeps the time acts, or this one takes the lease if it is free.
    pub(super) fn keeps_time(&mut self) -> Option<Fence> {
        let timers = LeaseName::timers();
        let keeper = self
            .processes
            .iter()
            .position(|process| process.held.contains_key(&timers));
        self.acting = keeper.unwrap_or(self.acting);
        self.hold(&timers)
    }

    /// What a claim of the process that acts promises, and the lease it is bound to.
    pub(super) fn promise(&mut self) -> Option<(Promise, Fence)> {
        let name = self.name();
        let alive = self.hold(&LeaseName::process(&name))?;
        Some((Promise::Process(name), alive))
    }

    /// A claimant must count as alive when its claim is stored: the others would ask at once what became of the call.
    pub(super) fn claimant_is_alive(&self, promise: &Promise) -> Check {
        let Promise::Process(name) = promise else {
            return Ok(());
        };
        let lease = LeaseName::process(name);
        let alive = self.look(|stored| stored.lease(&lease).cloned())?;
        match alive.filter(|alive| alive.holder(self.now()) == Some(name)) {
            Some(_) => Ok(()),
            None => Err(format!("promise 2: {name} claimed a call, and counts as gone")),
        }
    }

    /// A process that was paused goes on where it was: it does not know that another one has its lease.
    pub(super) fn paused_process_goes_on(&mut self) -> Check {
        let Some(fence) = self.paused.pop() else {
            return Ok(());
        };
        let lease = self.look(|stored| stored.lease(&fence.lease).cloned())?;
        let newest = lease.as_ref().is_some_and(|lease| lease.fence == fence.number);
        let is_over = lease.is_none_or(|lease| lease.holder(self.now()).is_none());
        let is_stale = !newest || (fence.lease.is_of_process() && is_over);
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
                before: Timestamp::from_millis(0),
            }],
        }
    }
}
