//! Where time enters: a wall clock for people, a monotonic one for live time.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use placet_core::time::{LiveTime, Millis, Now, Timestamp};

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

/// Live time: what the store remembered at opening, and what has passed on the monotonic clock since.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LiveClock {
    live_at_open: LiveTime,
    opened: Millis,
}

impl LiveClock {
    pub(crate) fn start(live_at_open: LiveTime, clock: &dyn Clock) -> Self {
        Self {
            live_at_open,
            opened: clock.monotonic(),
        }
    }

    pub(crate) fn now(self, clock: &dyn Clock) -> Now {
        let elapsed = clock.monotonic().get().saturating_sub(self.opened.get());
        Now {
            wall: clock.wall(),
            live: self.live_at_open + Millis::new(elapsed),
        }
    }
}
