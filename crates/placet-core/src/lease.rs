//! Leases: what only one process may do at a time.
//!
//! A lease has an owner and an end. Its fence grows each time it is taken. A commit made under a lease names its fence, so
//! a process that was paused past its lease cannot store anything under it once another process has taken it.

use std::fmt;

use crate::ids::{ChannelName, SessionId};
use crate::time::Timestamp;

/// What a lease is on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseName(String);

impl LeaseName {
    /// Expiry, escalation, outages, checkpoints and the clean-up.
    pub fn timers() -> Self {
        Self("timers".to_owned())
    }

    /// A process is alive. Claims are bound to it.
    pub fn process(owner: &str) -> Self {
        Self(format!("{PROCESS}{owner}"))
    }

    /// Driving the run of a session.
    pub fn run(session: &SessionId) -> Self {
        Self(format!("run/{session}"))
    }

    /// Delivering to a channel.
    pub fn outbox(channel: &ChannelName) -> Self {
        Self(format!("outbox/{channel}"))
    }

    /// Holding the long connection to a channel's platform.
    pub fn connection(channel: &ChannelName) -> Self {
        Self(format!("connection/{channel}"))
    }

    /// A stored name.
    pub fn stored(name: String) -> Self {
        Self(name)
    }

    /// Whether it says that a process is alive. No other process takes such a lease over, so a commit under it also needs it to
    /// last: the fence of a dead process stays the newest.
    pub fn is_of_process(&self) -> bool {
        self.0.starts_with(PROCESS)
    }

    /// As stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const PROCESS: &str = "process/";

impl fmt::Display for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A process, by the name under which it takes leases.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseOwner(pub String);

/// A lease that was taken, and perhaps has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The process that took it last; `None` once it was given back.
    pub owner: Option<String>,
    /// How often it was taken.
    pub fence: u64,
    /// When it ends, unless its owner renews it.
    pub until: Timestamp,
}

impl Lease {
    /// The process that has it at a moment. A lease that was given back is free whatever the clock of the reader says.
    pub fn holder(&self, now: Timestamp) -> Option<&str> {
        self.owner.as_deref().filter(|_| now < self.until)
    }
}

/// What a commit made under a lease names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence {
    /// The lease.
    pub lease: LeaseName,
    /// Its fence when it was taken.
    pub number: u64,
}
