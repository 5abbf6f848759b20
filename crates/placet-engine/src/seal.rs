//! Sealing the secrets that people give as answers: with a key beside the store, so that the journal, its copies and its exports hold nothing
//! that can be read without it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use placet_core::sealed::{self, PREFIX};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde_json::Value;

use crate::engine::Engine;

const KEY_BYTES: usize = 32;
/// What a sealed text is for; nothing else encrypted with the key opens as one.
const PURPOSE: &[u8] = b"placet/sealed/1";

/// The key, and nothing else.
pub(crate) struct Seal(LessSafeKey);

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
}

impl Seal {
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
                let text = fs::read_to_string(path).map_err(failed)?;
                Self::new(&bytes(text.trim()).ok_or(SealError::Malformed)?)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// A key that is gone with the process.
    pub(crate) fn fleeting() -> Result<Self, SealError> {
        Self::new(&rand::random::<[u8; KEY_BYTES]>())
    }

    fn new(key: &[u8]) -> Result<Self, SealError> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, key).map_err(|_| SealError::Malformed)?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// Seals a text; `None` if that fails, and then nothing of it may be stored.
    fn seal(&self, secret: &str) -> Option<String> {
        let nonce: [u8; NONCE_LEN] = rand::random();
        let mut sealed = secret.as_bytes().to_vec();
        let purpose = Aad::from(PURPOSE);
        let nonce_once = Nonce::assume_unique_for_key(nonce);
        self.0
            .seal_in_place_append_tag(nonce_once, purpose, &mut sealed)
            .ok()?;
        Some(format!("{PREFIX}{}{}", hex(&nonce), hex(&sealed)))
    }

    fn open(&self, sealed: &str) -> Option<String> {
        let mut bytes = bytes(sealed.strip_prefix(PREFIX)?)?;
        let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let opened = self.0.open_in_place(nonce, Aad::from(PURPOSE), text).ok()?;
        String::from_utf8(opened.to_vec()).ok()
    }
}

impl Engine {
    /// Seals everything in a value, field by field. `None` if that fails.
    pub(crate) fn sealed(&self, value: Value) -> Option<Value> {
        let seal = |text: &str| self.inner.seal.seal(text).map(Value::from);
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
            opened.push_str(self.inner.seal.open(token).as_deref().unwrap_or(token));
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
        let sealed = key.seal("k-123 密钥").unwrap();
        assert!(sealed::is_sealed(&sealed) && !sealed.contains("k-123"));
        assert_ne!(
            key.seal("k-123 密钥"),
            Some(sealed.clone()),
            "the same secret looks different each time"
        );
        assert_eq!(key.open(&sealed).as_deref(), Some("k-123 密钥"));
        assert_eq!(other.open(&sealed), None);
        let mut changed = sealed.clone();
        let last = changed.pop();
        changed.push(if last == Some('0') { '1' } else { '0' });
        assert_eq!(key.open(&changed), None);
    }

    #[test]
    fn a_key_is_made_once_and_for_nobody_else_to_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("seal.key");
        let sealed = Seal::kept(&path).unwrap().seal("x").unwrap();
        assert_eq!(Seal::kept(&path).unwrap().open(&sealed).as_deref(), Some("x"));
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
