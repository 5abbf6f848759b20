//! Where people are asked: one module per channel.
//!
//! A channel knows how to show and how to listen, never how to decide: what it hears goes to the engine's bus or broker.

pub mod push;
pub mod terminal;
pub mod webhook;

use std::sync::Arc;

use placet_core::config::{ChannelKind, Config};
use placet_core::ids::ChannelName;
use placet_core::steps::Elsewhere;
use placet_engine::channel::Channel;

use webhook::{Webhook, WebhookError};

/// Why a channel of a configuration cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the channel `{channel}` cannot be used: {source}")]
pub struct ConfiguredError {
    /// Which one.
    pub channel: ChannelName,
    /// Why not.
    pub source: WebhookError,
}

/// The channels of a configuration, to be given to [`Builder::channel`](placet_engine::Builder::channel).
pub fn configured(config: &Config) -> Result<Vec<Arc<dyn Channel>>, ConfiguredError> {
    let made = config.channels.iter().map(|(name, channel)| {
        let ChannelKind::Webhook { url, secret, ca } = &channel.kind;
        let webhook = Webhook::from_config(name, url, secret, ca.as_ref());
        match webhook {
            Ok(webhook) => Ok(Arc::new(webhook) as Arc<dyn Channel>),
            Err(source) => Err(ConfiguredError {
                channel: name.clone(),
                source,
            }),
        }
    });
    made.collect()
}

/// Where the people of an earlier run may be: on configured channels, whether or not this process connects to them, and at a
/// terminal. Deliveries to a configured channel stay queued for a server, which connects to all of them.
pub fn elsewhere(config: &Config) -> impl Iterator<Item = (ChannelName, Elsewhere)> {
    let configured = config
        .channels
        .keys()
        .map(|name| (name.clone(), Elsewhere::Delivered));
    let terminal = ChannelName::new(terminal::NAME).ok();
    let push = ChannelName::new(placet_core::push::CHANNEL).ok();
    configured
        .chain(terminal.map(|name| (name, Elsewhere::InboxOnly)))
        .chain(push.map(|name| (name, Elsewhere::Delivered)))
}
