//! Sealing the secrets that people give as answers, and the tokens that servers share: with a key that is not in the store, so that the
//! journal, its copies and its exports hold nothing that can be read without it.
//!
//! All processes of a store need the same key. The first one stores its fingerprint; on a database server another key is refused at the start.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use placet_core::config::Secret;
use placet_core::sealed::{self, PREFIX};
use placet_core::shared::{SharedKey, SharedKind};
use placet_core::steps;
use placet_store::{StepError, Store, StoreError};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use serde_json::Value;

use crate::engine::Engine;
use crate::secret::{self, SecretError};

const KEY_BYTES: usize = 32;
/// What an answer is sealed for; nothing else encrypted with the key opens as one.
const PURPOSE: &str = "placet/sealed/1";
/// What is signed with the key to tell it from others.
const FINGERPRINT: &[u8] = b"placet/sealing-key/1";
const FINGERPRINT_BYTES: usize = 16;

/// The key, and what tells it from others.
pub(crate) struct Seal {
    key: LessSafeKey,
    /// Absent for a key that is gone with the process.
    fingerprint: Option<String>,
}

/// Where the key is.
pub(crate) enum KeyPlace {
    /// Where the configuration says.
    Configured(Secret),
    /// In a file, which is made when it is missing.
    File(PathBuf),
    /// Nowhere: it is gone with the process.
    Memory,
}

/// Who else may have the store open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peers {
    /// No other process: it is a file, or in memory.
    None,
    /// Any number of processes: it is on a database server.
    Some,
}

/// The key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// Its file cannot be read or made.
    #[error("the key `{path}` for secrets that people give as answers cannot be used: {source}")]
    File {
        /// Which file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// It is not a key.
    #[error(
        "the key for secrets that people give as answers does not have {KEY_BYTES} bytes in hexadecimal digits"
    )]
    Malformed,
    /// It is not where the configuration says.
    #[error("`[store] seal_key` cannot be used: {0}")]
    Secret(#[from] SecretError),
    /// Other servers have one, and this one does not.
    #[error(
        "the store is sealed with the key of another server, and this one has none; set `[store] seal_key` to that key at every \
         server, or copy the `seal.key` of the first server's data folder to `{path}`"
    )]
    Missing {
        /// Where it was looked for.
        path: String,
    },
    /// Other servers have another one.
    #[error(
        "this server's sealing key is not the one that the store is sealed with; set `[store] seal_key` to the same key at every \
         server, or copy the `seal.key` of the first server's data folder"
    )]
    Other,
    /// It could not be compared.
    #[error("the sealing key cannot be compared with the store's: {0}")]
    Store(#[from] StoreError),
}

impl Seal {
    /// The key of a process. None is made beside one that other processes have.
    pub(crate) async fn of(place: KeyPlace, store: &Store, peers: Peers) -> Result<Self, SealError> {
        match place {
            KeyPlace::Configured(secret) => Self::parse(secret::resolve(&secret)?.expose()),
            KeyPlace::File(path) => {
                let known = store
                    .look(|stored| stored.shared(&fingerprint_key()).cloned())
                    .await?;
                if peers == Peers::Some && known.is_some() && !path.exists() {
                    let path = path.display().to_string();
                    return Err(SealError::Missing { path });
                }
                Self::kept(&path)
            }
            KeyPlace::Memory => Self::fleeting(),
        }
    }

    /// The key in a file; created when missing.
    pub(crate) fn kept(path: &Path) -> Result<Self, SealError> {
        let failed = |source| SealError::File {
            path: path.display().to_string(),
            source,
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let mut private = DirBuilder::new();
            private.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
            private.create(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(path) {
            Ok(mut file) => {
                let key: [u8; KEY_BYTES] = rand::random();
                file.write_all(hex(&key).as_bytes()).map_err(failed)?;
                file.sync_all().map_err(failed)?;
                Self::new(&key)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::parse(&fs::read_to_string(path).map_err(failed)?)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// A key that is gone with the process.
    pub(crate) fn fleeting() -> Result<Self, SealError> {
        Ok(Self {
            fingerprint: None,
            ..Self::new(&rand::random::<[u8; KEY_BYTES]>())?
        })
    }

    fn parse(text: &str) -> Result<Self, SealError> {
        Self::new(&bytes(text.trim()).ok_or(SealError::Malformed)?)
    }

    fn new(key: &[u8]) -> Result<Self, SealError> {
        let unbound = UnboundKey::new(&CHACHA20_POLY1305, key).map_err(|_| SealError::Malformed)?;
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), FINGERPRINT);
        let tag = tag.as_ref().iter().take(FINGERPRINT_BYTES).copied();
        Ok(Self {
            key: LessSafeKey::new(unbound),
            fingerprint: Some(hex(&tag.collect::<Vec<u8>>())),
        })
    }

    /// Seals a text for one purpose; `None` if that fails, and then nothing of it may be stored.
    fn seal(&self, purpose: &str, secret: &str) -> Option<String> {
        let nonce: [u8; NONCE_LEN] = rand::random();
        let mut sealed = secret.as_bytes().to_vec();
        let nonce_once = Nonce::assume_unique_for_key(nonce);
        self.key
            .seal_in_place_append_tag(nonce_once, Aad::from(purpose.as_bytes()), &mut sealed)
            .ok()?;
        Some(format!("{PREFIX}{}{}", hex(&nonce), hex(&sealed)))
    }

    fn open(&self, purpose: &str, sealed: &str) -> Option<String> {
        let mut bytes = bytes(sealed.strip_prefix(PREFIX)?)?;
        let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let purpose = Aad::from(purpose.as_bytes());
        let opened = self.key.open_in_place(nonce, purpose, text).ok()?;
        String::from_utf8(opened.to_vec()).ok()
    }
}

fn fingerprint_key() -> SharedKey {
    SharedKind::SealingKey.named("fingerprint")
}

impl Engine {
    /// Makes sure that all processes of the store seal with the same key.
    pub(crate) async fn agree_on_key(&self) -> Result<(), SealError> {
        let Some(own) = &self.inner.seal.fingerprint else {
            return Ok(());
        };
        let key = fingerprint_key();
        let first = self.transact(|stored, now| steps::share_first(stored, now, &key, own));
        let known = first.await.map_err(StepError::into_store_error)?;
        if known == *own {
            return Ok(());
        }
        if self.inner.peers == Peers::Some {
            return Err(SealError::Other);
        }
        tracing::warn!(
            "the sealing key is another than before; secrets that people gave as answers until now cannot be opened"
        );
        let instead = self.transact(|stored, now| steps::share_instead(stored, now, &key, own));
        Ok(instead.await.map_err(StepError::into_store_error)?)
    }

    /// Who else may have the store open.
    pub fn peers(&self) -> Peers {
        self.inner.peers
    }

    /// Seals a text that only [`Engine::open_for`] opens, for the same purpose. `None` if that fails.
    pub fn seal_for(&self, purpose: &str, secret: &str) -> Option<String> {
        self.inner.seal.seal(purpose, secret)
    }

    /// Opens what was sealed for this purpose. `None` if it was sealed for another one, with another key, or was changed.
    pub fn open_for(&self, purpose: &str, sealed: &str) -> Option<String> {
        self.inner.seal.open(purpose, sealed)
    }

    /// Seals everything in a value, field by field. `None` if that fails.
    pub(crate) fn sealed(&self, value: Value) -> Option<Value> {
        let seal = |text: &str| self.inner.seal.seal(PURPOSE, text).map(Value::from);
        match value {
            Value::Null => Some(Value::Null),
            Value::String(text) => seal(&text),
            Value::Bool(_) | Value::Number(_) => seal(&value.to_string()),
            Value::Array(items) => items.into_iter().map(|item| self.sealed(item)).collect(),
            Value::Object(fields) => {
                let field = |(name, value)| Some((name, self.sealed(value)?));
                fields
                    .into_iter()
                    .map(field)
                    .collect::<Option<_>>()
                    .map(Value::Object)
            }
        }
    }

    /// A text for the agent that asked: with the secrets that people gave as answers. One that was sealed with another key stays sealed.
    pub fn open_sealed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut opened = String::new();
        let mut rest = text;
        while let Some(found) = sealed::next_in(rest) {
            let (before, after) = (rest.get(..found.start), rest.get(found.end..));
            let (Some(before), Some(token), Some(after)) = (before, rest.get(found), after) else {
                break;
            };
            opened.push_str(before);
            opened.push_str(self.inner.seal.open(PURPOSE, token).as_deref().unwrap_or(token));
            rest = after;
        }
        if rest.len() == text.len() {
            return Cow::Borrowed(text);
        }
        opened.push_str(rest);
        Cow::Owned(opened)
    }

    /// The same for every text in a value.
    pub fn open_sealed_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(opened) = self.open_sealed(text) {
                    *text = opened;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.open_sealed_in(item)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.open_sealed_in(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    (hex.len().is_multiple_of(2)).then(|| pairs.map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_opened_by_the_same_key_only_and_not_when_it_was_changed() {
        let (key, other) = (Seal::fleeting().unwrap(), Seal::fleeting().unwrap());
        let sealed = key.seal(PURPOSE, "k-123 密钥").unwrap();
        assert!(sealed::is_sealed(&sealed) && !sealed.contains("k-123"));
        assert_ne!(
            key.seal(PURPOSE, "k-123 密钥"),
            Some(sealed.clone()),
            "the same secret looks different each time"
        );
        assert_eq!(key.open(PURPOSE, &sealed).as_deref(), Some("k-123 密钥"));
        assert_eq!(other.open(PURPOSE, &sealed), None);
        assert_eq!(
            key.open("placet/token/admin", &sealed),
            None,
            "sealed for something else"
        );
        let mut changed = sealed.clone();
        let last = changed.pop();
        changed.push(if last == Some('0') { '1' } else { '0' });
        assert_eq!(key.open(PURPOSE, &changed), None);
    }

    #[test]
    fn a_key_is_made_once_and_for_nobody_else_to_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("seal.key");
        let first = Seal::kept(&path).unwrap();
        let sealed = first.seal(PURPOSE, "x").unwrap();
        let again = Seal::kept(&path).unwrap();
        assert_eq!(again.open(PURPOSE, &sealed).as_deref(), Some("x"));
        assert_eq!(again.fingerprint, first.fingerprint);
        assert!(
            !fs::read_to_string(&path)
                .unwrap()
                .contains(&first.fingerprint.unwrap())
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
        fs::write(&path, "not a key").unwrap();
        assert!(matches!(Seal::kept(&path), Err(SealError::Malformed)));
    }
}
