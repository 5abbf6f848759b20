//! How channels are doing: their connections, and what failed last.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use placet_core::ids::ChannelName;
use placet_core::time::Timestamp;

use crate::engine::Engine;

/// How a channel is doing in this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelHealth {
    /// Its long connection; `None` when it has none.
    pub connection: Option<ConnectionState>,
    /// How often the connection was lost since this process started.
    pub connections_lost: u64,
    /// When something was last delivered.
    pub delivered_at: Option<Timestamp>,
    /// What failed last, in the connection or a delivery. It may have worked since.
    pub last_fault: Option<ChannelFault>,
}

/// How far a long connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// Another process keeps it.
    Elsewhere,
    /// It is being made.
    Connecting,
    /// It is up.
    Connected {
        /// Since then.
        since: Timestamp,
    },
    /// It was lost, or could not be made.
    Retrying {
        /// The next try.
        at: Timestamp,
    },
}

/// Something that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelFault {
    /// When.
    pub at: Timestamp,
    /// What the platform said, or what went wrong on the way to it.
    pub error: String,
}

impl ChannelHealth {
    const NEW: Self = Self {
        connection: None,
        connections_lost: 0,
        delivered_at: None,
        last_fault: None,
    };

    /// Whether people may be unreachable: the connection is down, or the last delivery failed.
    pub fn is_degraded(&self) -> bool {
        let is_down = matches!(self.connection, Some(ConnectionState::Retrying { .. }));
        let failed = self.last_fault.as_ref().map(|fault| fault.at);
        is_down || (self.connection.is_none() && failed > self.delivered_at)
    }
}

/// The health of all channels of this process.
pub(crate) struct Healths(Mutex<BTreeMap<ChannelName, ChannelHealth>>);

impl Healths {
    pub(crate) fn new<'a>(channels: impl Iterator<Item = &'a ChannelName>) -> Self {
        let new = channels.map(|name| (name.clone(), ChannelHealth::NEW));
        Self(Mutex::new(new.collect()))
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<ChannelName, ChannelHealth>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, channel: &ChannelName, change: impl FnOnce(&mut ChannelHealth)) {
        if let Some(health) = self.all().get_mut(channel) {
            change(health);
        }
    }

    pub(crate) fn connection(&self, channel: &ChannelName, state: ConnectionState) {
        self.change(channel, |health| health.connection = Some(state));
    }

    /// The connection is up. Says so only while it is being made: one that was given up meanwhile stays given up.
    pub(crate) fn connected(&self, channel: &ChannelName, since: Timestamp) {
        self.change(channel, |health| {
            if health.connection == Some(ConnectionState::Connecting) {
                health.connection = Some(ConnectionState::Connected { since });
            }
        });
    }

    pub(crate) fn lost(&self, channel: &ChannelName, fault: ChannelFault, again_at: Timestamp) {
        self.change(channel, |health| {
            health.connection = Some(ConnectionState::Retrying { at: again_at });
            health.connections_lost += 1;
            health.last_fault = Some(fault);
        });
    }

    pub(crate) fn delivered(&self, channel: &ChannelName, at: Timestamp) {
        self.change(channel, |health| health.delivered_at = Some(at));
    }

    pub(crate) fn failed(&self, channel: &ChannelName, fault: ChannelFault) {
        self.change(channel, |health| health.last_fault = Some(fault));
    }

    pub(crate) fn connection_of(&self, channel: &ChannelName) -> Option<ConnectionState> {
        self.all().get(channel)?.connection
    }
}

impl Engine {
    /// How the channels of this process are doing.
    pub fn channel_health(&self) -> BTreeMap<ChannelName, ChannelHealth> {
        self.inner.healths.all().clone()
    }
}
