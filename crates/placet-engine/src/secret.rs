//! Secrets, looked up where the configuration says they are kept.
//!
//! The core only knows the place; this is where it is visited, once, when a channel or a server is made.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};

use placet_core::config::Secret;

/// No secret is longer; a wrong file is.
const BYTES_MAX: u64 = 64 * 1024;

/// A secret's text. Prints as stars.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// A text, without the white space around it. `None` when nothing is left: an empty secret protects nothing.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// A secret that this process made.
    pub fn made(text: String) -> Self {
        Self(text)
    }

    /// The secret itself. Not for printing.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(****)")
    }
}

/// Why a secret is not found. Names the place, never what is in it.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The variable is not set.
    #[error("the environment variable `{0}` is not set; set it to the secret")]
    Unset(String),
    /// What is there is not text.
    #[error("`{0}` does not hold valid UTF-8")]
    NotText(String),
    /// The file cannot be read.
    #[error("the secret's file `{path}` cannot be read: {source}")]
    File {
        /// Which file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// Too much to be a secret.
    #[error("`{0}` holds more than {BYTES_MAX} bytes; a secret is shorter")]
    TooLong(String),
    /// Nothing is there.
    #[error("`{0}` is empty; an empty secret protects nothing")]
    Empty(String),
}

/// Looks a secret up.
pub fn resolve(secret: &Secret) -> Result<SecretText, SecretError> {
    let (place, text) = match secret {
        Secret::Env(name) => {
            let value = std::env::var_os(name).ok_or_else(|| SecretError::Unset(name.clone()))?;
            (
                name,
                value
                    .into_string()
                    .map_err(|_| SecretError::NotText(name.clone()))?,
            )
        }
        Secret::File(path) => (path, read(path)?),
    };
    SecretText::new(&text).ok_or_else(|| SecretError::Empty(place.clone()))
}

fn read(path: &str) -> Result<String, SecretError> {
    let failed = |source| SecretError::File {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(SecretError::TooLong(path.to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| SecretError::NotText(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8]) -> (tempfile::NamedTempFile, Secret) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        (file, Secret::File(path))
    }

    #[test]
    fn a_secret_is_the_text_of_its_file_and_prints_as_stars() {
        let (_file, secret) = file(b"hunter2\n");
        let text = resolve(&secret).unwrap();
        assert_eq!(text.expose(), "hunter2");
        assert_eq!(format!("{text:?}"), "SecretText(****)");
    }

    #[test]
    fn what_protects_nothing_is_refused_without_being_printed() {
        let (_blank, blank) = file(b" \n");
        assert!(matches!(resolve(&blank), Err(SecretError::Empty(_))));
        let (_binary, binary) = file(b"hunter\xff2");
        let error = resolve(&binary).unwrap_err();
        assert!(matches!(error, SecretError::NotText(_)) && !error.to_string().contains("hunter"));
        let (_long, long) = file(&vec![b'x'; 70_000]);
        assert!(matches!(resolve(&long), Err(SecretError::TooLong(_))));
        let missing = resolve(&Secret::File("no/such/file".into())).unwrap_err();
        assert!(
            missing
                .to_string()
                .starts_with("the secret's file `no/such/file` cannot be read")
        );
        let unset = resolve(&Secret::Env("PLACET_TEST_NO_SUCH_VARIABLE".into())).unwrap_err();
        assert!(unset.to_string().contains("is not set"));
    }
}
