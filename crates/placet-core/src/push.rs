//! Devices that are told of new requests, without the page being open.

use crate::ids::{ChatId, PersonId};
use crate::interaction::Locale;
use crate::time::Timestamp;

/// The channel that brings messages to devices. No channel of a configuration has this name.
pub const CHANNEL: &str = "web-push";
/// How many devices one person has at most; a new one takes the place of the oldest.
pub const DEVICES_MAX: usize = 10;

/// A browser that a person lets be told of new requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its name, made from the address.
    pub id: ChatId,
    /// Whose it is.
    pub person: PersonId,
    /// The credential it signed in with: without that it is told nothing.
    pub credential: String,
    /// Where the browser's push service takes messages for it. The address alone is enough to send messages, so no reader gets it.
    pub endpoint: String,
    /// The device's public key: an uncompressed P-256 point.
    pub key: Vec<u8>,
    /// The secret that the browser shares with us.
    pub auth: Vec<u8>,
    /// The language it is told in.
    pub locale: Locale,
    /// Since when.
    pub added_at: Timestamp,
}
