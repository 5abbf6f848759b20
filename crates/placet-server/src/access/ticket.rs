//! The ticket of a signed-in browser: it names a credential, an end and the browser's public key, signed with a key made
//! from that credential's token. A ticket alone is worth nothing: each request also proves that it comes from the holder of
//! the private key (see [`super::proof`]).
//!
//! The server keeps no tickets, so a restart keeps people signed in, at every server with the same tokens; a changed token does not.
//! Signed-out tickets are remembered in the store until they would have ended.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use hmac::{Hmac, KeyInit as _, Mac as _};
use placet_core::shared::SharedKind;
use placet_core::steps;
use placet_core::time::{Millis, Timestamp};
use placet_engine::Engine;
use placet_store::{StepError, StoreError};
use sha2::Sha256;

use super::{Access, Credential, CredentialId, PublicKey};

/// How long a browser stays signed in.
const TTL: Millis = Millis::from_secs(12 * 60 * 60);
const VERSION: &str = "v2";
/// The file of older versions in the data folder: on each line what names a ticket, and when it would have ended.
const FILE: &str = "signed-out";

/// Why it is not known who signed out.
#[derive(Debug, thiserror::Error)]
pub enum SignedOutError {
    /// The file of an older version cannot be moved into the store.
    #[error("`{path}`, which says who was signed out, cannot be moved into the store: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A genuine ticket, as far as it is needed after it was read.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    pub(super) nonce: String,
    ends: Timestamp,
    pub(super) key: PublicKey,
}

/// The tickets that were signed out, at this server or another one of the store: what open streams look at. A request asks the store.
pub(crate) struct Tickets {
    /// With when each would have ended.
    signed_out: RwLock<BTreeMap<String, Timestamp>>,
}

impl Tickets {
    /// Reads the tickets signed out before. What cannot be read is an error: a signed-out browser must not be let in.
    pub(crate) async fn open(engine: &Engine, data: &Path) -> Result<Self, SignedOutError> {
        import(engine, &data.join(FILE)).await?;
        let tickets = Self {
            signed_out: RwLock::default(),
        };
        tickets.look_again(engine).await?;
        Ok(tickets)
    }

    /// Reads again who signed out; whether that changed anything.
    pub(crate) async fn look_again(&self, engine: &Engine) -> Result<bool, StoreError> {
        let store = engine.store();
        let stored = store
            .look(|stored| stored.shared_of(&SharedKind::SignedOut).cloned())
            .await?;
        let now = store.now();
        let mut known = self.signed_out.write().unwrap_or_else(PoisonError::into_inner);
        // What could not be stored stays known here.
        known.retain(|_, ends| now < *ends);
        let mut changed = false;
        for (nonce, value) in stored {
            let ends = value.until.unwrap_or(Timestamp::from_millis(i64::MAX));
            changed |= known.insert(nonce, ends).is_none();
        }
        Ok(changed)
    }

    /// A ticket for the holder of a credential, bound to the browser's key.
    pub(crate) fn make(credential: &Credential, key: &PublicKey, now: Timestamp) -> String {
        let nonce: [u8; 16] = rand::random();
        let ends = (now + TTL).as_millis();
        let signed = format!("{VERSION}.{}.{ends}.{}.{key}", credential.id, hex::encode(nonce));
        let mac = hex::encode(mac(credential, &signed).finalize().into_bytes());
        format!("{signed}.{mac}")
    }

    /// Whose a ticket is, when it is genuine, has not ended and is not signed out.
    pub(crate) fn read<'a>(
        &self,
        access: &'a Access,
        value: &str,
        now: Timestamp,
    ) -> Option<(&'a Credential, Ticket)> {
        let (signed, given) = value.rsplit_once('.')?;
        let mut parts = signed.split('.');
        let (VERSION, Some(id), Some(ends), Some(nonce), Some(key), None) = (
            parts.next()?,
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
        ) else {
            return None;
        };
        let credential = access.by_id(CredentialId::parse(id)?)?;
        // Compares in constant time.
        mac(credential, signed)
            .verify_slice(&hex::decode(given).ok()?)
            .ok()?;
        let ticket = Ticket {
            nonce: nonce.to_owned(),
            ends: Timestamp::from_millis(ends.parse().ok()?),
            key: PublicKey::parse(key)?,
        };
        self.counts(&ticket, now).then_some((credential, ticket))
    }

    /// Whether a ticket has not ended and is not signed out, as far as is known here.
    pub(crate) fn counts(&self, ticket: &Ticket, now: Timestamp) -> bool {
        let signed_out = self.signed_out.read().unwrap_or_else(PoisonError::into_inner);
        now < ticket.ends && !signed_out.contains_key(&ticket.nonce)
    }

    /// Signs a ticket out: at once here, and everywhere when this returns.
    pub(crate) async fn sign_out(&self, engine: &Engine, ticket: &Ticket) -> Result<(), StoreError> {
        self.signed_out
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(ticket.nonce.clone(), ticket.ends);
        sign_out(engine, &ticket.nonce, ticket.ends).await
    }
}

async fn sign_out(engine: &Engine, nonce: &str, ends: Timestamp) -> Result<(), StoreError> {
    let sign_out = engine.transact(|stored, now| steps::sign_out(stored, now, nonce, ends));
    sign_out.await.map_err(StepError::into_store_error)
}

/// Moves what an older version kept in a file into the store.
async fn import(engine: &Engine, file: &Path) -> Result<(), SignedOutError> {
    let failed = |source| SignedOutError::File {
        path: file.to_owned(),
        source,
    };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for line in text.lines() {
        let entry = line
            .split_once(' ')
            .and_then(|(nonce, ends)| Some((nonce, Timestamp::from_millis(ends.parse().ok()?))));
        let (nonce, ends) = entry
            .ok_or_else(|| failed(io::Error::new(ErrorKind::InvalidData, "a line is not `NAME END`")))?;
        sign_out(engine, nonce, ends).await?;
    }
    std::fs::remove_file(file).map_err(failed)
}

fn mac(credential: &Credential, signed: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new((&credential.ticket_key).into());
    mac.update(signed.as_bytes());
    mac
}
