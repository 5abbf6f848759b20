//! Where time enters: a wall clock for people, a monotonic one for live time.

use std::sync::{LazyLock, Mutex, PoisonError};
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

/// How old the live time an owner wrote down can be.
const HEARTBEAT_MAX: Millis = Millis::from_secs(10);

/// Live time, as one process sees it.
#[derive(Debug)]
pub(crate) enum LiveClock {
    /// This process keeps it.
    Kept(Running),
    /// Another one does, or nobody.
    Followed(Mutex<Following>),
}

/// Time that passes: how far it had come, and what has passed on the monotonic clock since.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Running {
    from: LiveTime,
    since: Millis,
}

/// Somebody else's time. It passes while they run, as far as was seen when last looked.
#[derive(Debug, Default)]
pub(crate) struct Following {
    seen: Option<Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    written: Written,
    /// When, on the monotonic clock of this process.
    at: Millis,
    /// Passing, if there is an owner.
    running: Option<Running>,
}

/// What an owner wrote down: how far live time had come, and when that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) live: LiveTime,
    pub(crate) wall: Option<Timestamp>,
}

impl Written {
    /// How long ago that was, by the wall clock.
    pub(crate) fn ago(self, clock: &dyn Clock) -> Millis {
        let passed = |wall: Timestamp| clock.wall().as_millis().saturating_sub(wall.as_millis());
        Millis::new(u64::try_from(self.wall.map_or(0, passed)).unwrap_or(0))
    }
}

/// Whether somebody keeps live time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A process does.
    Here,
    /// Nobody does: time stands still.
    Away,
}

impl LiveClock {
    pub(crate) fn kept(from: LiveTime, clock: &dyn Clock) -> Self {
        Self::Kept(Running::start(from, clock))
    }

    pub(crate) fn now(&self, clock: &dyn Clock) -> Now {
        let live = match self {
            Self::Kept(running) => running.live(clock),
            Self::Followed(following) => following
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .live(clock),
        };
        Now {
            wall: clock.wall(),
            live,
        }
    }
}

impl Running {
    fn start(from: LiveTime, clock: &dyn Clock) -> Self {
        let since = clock.monotonic();
        Self { from, since }
    }

    fn live(self, clock: &dyn Clock) -> LiveTime {
        let elapsed = clock.monotonic().get().saturating_sub(self.since.get());
        self.from + Millis::new(elapsed)
    }
}

impl Following {
    /// Looks at what the owner wrote down last.
    pub(crate) fn look(&mut self, written: Written, owner: Owner, clock: &dyn Clock) {
        let running = match (owner, self.seen) {
            // Where the next owner will begin.
            (Owner::Away, _) => None,
            (Owner::Here, Some(seen)) if seen.written == written => Some(
                seen.running
                    .unwrap_or_else(|| Running::start(written.live, clock)),
            ),
            (Owner::Here, seen) => Some(Running::start(written.live + age(written, seen, clock), clock)),
        };
        self.seen = Some(Seen {
            written,
            at: clock.monotonic(),
            running,
        });
    }

    fn live(&self, clock: &dyn Clock) -> LiveTime {
        match self.seen {
            Some(Seen {
                running: Some(running),
                ..
            }) => running.live(clock),
            Some(Seen { written, .. }) => written.live,
            None => LiveTime::from_millis(0),
        }
    }
}

/// How long ago something was written that had not been at the last look. A wall clock that jumped meanwhile must not eat a
/// question's time.
fn age(written: Written, seen: Option<Seen>, clock: &dyn Clock) -> Millis {
    let by_wall = written.ago(clock);
    let most = match seen {
        Some(seen) => Millis::new(clock.monotonic().get().saturating_sub(seen.at.get())),
        None => HEARTBEAT_MAX,
    };
    by_wall.min(most).min(HEARTBEAT_MAX)
}
