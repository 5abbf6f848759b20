//! The cookie of a signed-in browser: it names a credential and an end, signed with a key made from that credential's token.
//!
//! Nothing is kept for it, so a restart signs nobody out; a changed token does. Who was signed out is remembered until the
//! cookie would have ended.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, KeyInit as _, Mac as _};
use placet_core::time::{Millis, Timestamp};
use sha2::Sha256;

use super::{Access, Credential, CredentialId};

/// The cookie's name.
pub(crate) const NAME: &str = "placet";
/// How long somebody stays signed in.
pub(crate) const TTL: Millis = Millis::from_secs(12 * 60 * 60);
const VERSION: &str = "v1";

/// Cookies that were taken back, with when they would have ended.
#[derive(Default)]
pub(crate) struct Cookies(Mutex<HashMap<String, Timestamp>>);

impl Cookies {
    /// A cookie's value for a credential.
    pub(crate) fn make(credential: &Credential, now: Timestamp) -> String {
        let nonce: [u8; 16] = rand::random();
        let ends = (now + TTL).as_millis();
        let signed = format!("{VERSION}.{}.{ends}.{}", credential.id, hex::encode(nonce));
        let mac = hex::encode(mac(credential, &signed).finalize().into_bytes());
        format!("{signed}.{mac}")
    }

    /// Whose a cookie is and when it ends, when it is genuine, young and not taken back.
    pub(crate) fn read<'a>(
        &self,
        access: &'a Access,
        value: &str,
        now: Timestamp,
    ) -> Option<(&'a Credential, Timestamp)> {
        let (signed, given) = value.rsplit_once('.')?;
        let mut parts = signed.split('.');
        let (VERSION, Some(id), Some(ends), Some(nonce), None) = (
            parts.next()?,
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
        let ends = Timestamp::from_millis(ends.parse().ok()?);
        let genuine = now < ends && !self.lock().contains_key(nonce);
        genuine.then_some((credential, ends))
    }

    /// Takes a cookie back.
    pub(crate) fn revoke(&self, value: &str, ends: Timestamp, now: Timestamp) {
        let mut revoked = self.lock();
        revoked.retain(|_, ends| now < *ends);
        if let Some(nonce) = value.split('.').nth(3) {
            revoked.insert(nonce.to_owned(), ends);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mac(credential: &Credential, signed: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new((&credential.cookie_key).into());
    mac.update(signed.as_bytes());
    mac
}
