//! The store's clock: wall time that does not jump.
//!
//! Decisions compare deadlines with this clock. It follows the wall clock, but a jump of the wall clock reaches it only
//! together with the [`Outage`](placet_core::journal::Event::Outage) that moves the deadlines.

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
}

#[derive(Clone, Copy)]
struct Reading {
    /// The journal row of the last outage it knows of.
    epoch: u64,
    /// What both clocks showed at one moment; from there it passes with the monotonic clock.
    wall: Timestamp,
    monotonic: Millis,
}

impl SteadyClock {
    /// `epoch` is the journal row of the last outage so far.
    pub(crate) fn new(clock: Arc<dyn Clock>, epoch: u64) -> Self {
        let reading = Reading::new(&*clock, clock.wall(), epoch);
        Self {
            clock,
            reading: Mutex::new(reading),
        }
    }

    /// The time, and the epoch it belongs to.
    pub(crate) fn now(&self) -> (Timestamp, u64) {
        let reading = *self.reading();
        (self.read(reading), reading.epoch)
    }

    /// Sets it to where an outage ended, unless it has been.
    pub(crate) fn adopt(&self, epoch: Epoch) {
        let mut reading = self.reading();
        if reading.epoch < epoch.row {
            *reading = Reading::new(&*self.clock, epoch.until, epoch.row);
        }
    }

    /// The outage that a jump of the wall clock makes. Follows the wall clock if the two have only drifted apart.
    pub(crate) fn jump(&self) -> Option<Outage> {
        let mut reading = self.reading();
        let (now, wall) = (self.read(*reading), self.clock.wall());
        let apart = Shift::between(now, wall).as_millis().unsigned_abs();
        if apart > DRIFT_MAX.get() {
            return Some(Outage {
                from: now,
                until: wall,
                after: reading.epoch,
            });
        }
        *reading = Reading::new(&*self.clock, wall, reading.epoch);
        None
    }

    fn read(&self, reading: Reading) -> Timestamp {
        let passed = self
            .clock
            .monotonic()
            .get()
            .saturating_sub(reading.monotonic.get());
        reading.wall + Millis::new(passed)
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reading {
    fn new(clock: &dyn Clock, wall: Timestamp, epoch: u64) -> Self {
        Self {
            epoch,
            wall,
            monotonic: clock.monotonic(),
        }
    }
}
