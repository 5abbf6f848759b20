//! The ticket of a signed-in browser: it names a credential, an end and the browser's public key, signed with a key made
//! from that credential's token. A ticket alone is worth nothing: each request also proves that it comes from the holder of
//! the private key (see [`super::proof`]).
//!
//! The server keeps no tickets, so a restart keeps people signed in; a changed token does not. Signed-out tickets are remembered in a
//! file until they would have ended, so that a restart does not revive them.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, KeyInit as _, Mac as _};
use placet_core::time::{Millis, Timestamp};
use sha2::Sha256;

use super::{Access, Credential, CredentialId, PublicKey};

/// How long a browser stays signed in.
const TTL: Millis = Millis::from_secs(12 * 60 * 60);
const VERSION: &str = "v2";
/// The file in the data folder: on each line what names a ticket, and when it would have ended.
const FILE: &str = "signed-out";

/// A genuine ticket, as far as it is needed after it was read.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    nonce: String,
    ends: Timestamp,
    pub(super) key: PublicKey,
}

/// Revoked tickets, with when they would have ended.
pub(crate) struct Tickets {
    path: PathBuf,
    /// Looked into by every request, and so never held while the disk is waited for.
    revoked: Mutex<HashMap<String, Timestamp>>,
    /// Held while the file is written.
    writing: Mutex<()>,
}

impl Tickets {
    /// Reads the tickets revoked before. A file that cannot be read is an error: a signed-out browser must not be let in.
    pub(crate) fn open(data: &Path) -> io::Result<Self> {
        let path = data.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let revoked = text.lines().map(|line| {
            let (nonce, ends) = line.split_once(' ')?;
            Some((nonce.to_owned(), Timestamp::from_millis(ends.parse().ok()?)))
        });
        let revoked = revoked
            .collect::<Option<_>>()
            .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "a line is not `NAME END`"))?;
        Ok(Self {
            path,
            revoked: Mutex::new(revoked),
            writing: Mutex::new(()),
        })
    }

    /// A ticket for the holder of a credential, bound to the browser's key.
    pub(crate) fn make(credential: &Credential, key: &PublicKey, now: Timestamp) -> String {
        let nonce: [u8; 16] = rand::random();
        let ends = (now + TTL).as_millis();
        let signed = format!("{VERSION}.{}.{ends}.{}.{key}", credential.id, hex::encode(nonce));
        let mac = hex::encode(mac(credential, &signed).finalize().into_bytes());
        format!("{signed}.{mac}")
    }

    /// Whose a ticket is, when it is genuine, has not ended and is not revoked.
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

    /// Whether a ticket has not ended and is not revoked.
    pub(crate) fn counts(&self, ticket: &Ticket, now: Timestamp) -> bool {
        now < ticket.ends && !self.lock().contains_key(&ticket.nonce)
    }

    /// Revokes a ticket: at once, and on disk when this returns. Waits for the disk.
    pub(crate) fn revoke(&self, ticket: Ticket, now: Timestamp) -> io::Result<()> {
        self.lock().insert(ticket.nonce, ticket.ends);
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = {
            let mut revoked = self.lock();
            revoked.retain(|_, ends| now < *ends);
            let line = |(nonce, ends): (&String, &Timestamp)| format!("{nonce} {}\n", ends.as_millis());
            revoked.iter().map(line).collect::<String>()
        };
        let folder = self.path.parent().ok_or(ErrorKind::NotFound)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(lines.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        std::fs::File::open(folder)?.sync_all()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Timestamp>> {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mac(credential: &Credential, signed: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new((&credential.ticket_key).into());
    mac.update(signed.as_bytes());
    mac
}
