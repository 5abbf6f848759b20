//! The store's clock: wall time that does not jump.
//!
//! Decisions compare deadlines with this clock. It follows the wall clock, but a jump of the wall clock reaches it only
//! together with the [`Outage`](placet_core::journal::Event::Outage) that moves the deadlines.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use placet_core::snapshot::Epoch;
use placet_core::time::{Millis, Outage, Shift, Timestamp};

/// The two clocks of a machine.
pub trait Clock: Send + Sync {
    /// What people read. May jump.
    fn wall(&self) -> Timestamp;
    /// Time since some fixed moment of this process. Never goes back.
    fn monotonic(&self) -> Millis;

    /// Both at one moment. A process that is paused between the two readings takes them again, so that the pause is not mistaken for a
    /// jump of the wall clock.
    fn both(&self) -> (Timestamp, Millis) {
        loop {
            let (before, wall) = (self.monotonic(), self.wall());
            if self.monotonic().get().saturating_sub(before.get()) < DRIFT_MAX.get() {
                return (wall, before);
            }
        }
    }
}

/// The clocks of this machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

static PROCESS_START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    fn wall(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Millis {
        Millis::new(u64::try_from(PROCESS_START.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// A difference between the two clocks below this is drift, and is followed; one above it is a jump.
const DRIFT_MAX: Millis = Millis::from_secs(1);

/// Wall time that does not jump.
pub(crate) struct SteadyClock {
    clock: Arc<dyn Clock>,
    reading: Mutex<Reading>,
    /// Jumps that are not stored yet, the newest last.
    found: Mutex<VecDeque<Found>>,
}

#[derive(Clone, Copy)]
struct Reading {
    /// The journal row of the last outage it knows of.
    epoch: u64,
    /// What both clocks showed at one moment; from there it passes with the monotonic clock.
    wall: Timestamp,
    monotonic: Millis,
}

/// The end of a jump, and what the monotonic clock showed when it was found: what passes until the outage is stored is time like any other.
type Found = (Timestamp, Millis);
/// Several steps may find a jump before one of them has stored it.
const FOUND_MAX: usize = 64;

impl SteadyClock {
    /// `epoch` is the journal row of the last outage so far.
    pub(crate) fn new(clock: Arc<dyn Clock>, epoch: u64) -> Self {
        let (wall, monotonic) = clock.both();
        let reading = Reading {
            epoch,
            wall,
            monotonic,
        };
        Self {
            clock,
            reading: Mutex::new(reading),
            found: Mutex::default(),
        }
    }

    /// The time, and the epoch it belongs to.
    pub(crate) fn now(&self) -> (Timestamp, u64) {
        let reading = *self.reading();
        (reading.at(self.clock.monotonic()), reading.epoch)
    }

    /// Sets it to where an outage ended, unless it has been.
    pub(crate) fn adopt(&self, epoch: Epoch) {
        let mut reading = self.reading();
        if reading.epoch < epoch.row {
            let own = self
                .found()
                .iter()
                .copied()
                .find(|(until, _)| *until == epoch.until);
            *reading = Reading {
                epoch: epoch.row,
                wall: epoch.until,
                monotonic: own.map_or_else(|| self.clock.monotonic(), |(_, monotonic)| monotonic),
            };
        }
    }

    /// The outage that a jump of the wall clock makes. Follows the wall clock if the two have only drifted apart.
    pub(crate) fn jump(&self) -> Option<Outage> {
        let mut reading = self.reading();
        let (wall, monotonic) = self.clock.both();
        let now = reading.at(monotonic);
        let apart = Shift::between(now, wall).as_millis().unsigned_abs();
        if apart > DRIFT_MAX.get() {
            let mut found = self.found();
            if found.len() == FOUND_MAX {
                found.pop_front();
            }
            found.push_back((wall, monotonic));
            return Some(Outage {
                from: now,
                until: wall,
                after: reading.epoch,
            });
        }
        reading.wall = wall;
        reading.monotonic = monotonic;
        None
    }

    fn found(&self) -> MutexGuard<'_, VecDeque<Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reading {
    /// The steady time when the monotonic clock shows this.
    fn at(self, monotonic: Millis) -> Timestamp {
        let passed = monotonic.get().saturating_sub(self.monotonic.get());
        self.wall + Millis::new(passed)
    }
}
