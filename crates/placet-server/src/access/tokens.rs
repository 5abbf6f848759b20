//! `tokens.toml`: a token for each role, made at the first start, readable only by this user.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use placet_engine::secret::SecretText;
use serde::Deserialize;

const NAME: &str = "tokens.toml";

/// Why the tokens kept beside the data cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// The file cannot be read or written.
    #[error("`{path}` cannot be used: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Others could read it.
    #[error("`{0}` can be read by others; `chmod 600` it, and make new tokens by removing it if they have")]
    Open(PathBuf),
    /// It does not hold three tokens.
    #[error("`{path}` must hold `agent`, `approver` and `admin`, each a token in quotes: {why}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong, without repeating what is in it.
        why: &'static str,
    },
}

/// The tokens of the three roles.
pub(super) struct Kept {
    pub(super) agent: SecretText,
    pub(super) approver: SecretText,
    pub(super) admin: SecretText,
}

/// Where the tokens are kept.
pub(super) fn path(data: &Path) -> PathBuf {
    data.join(NAME)
}

/// The tokens in the data folder; made when there are none.
pub(super) fn keep(data: &Path) -> Result<Kept, TokensError> {
    let path = path(data);
    let failed = |source| TokensError::File {
        path: path.clone(),
        source,
    };
    if !path.try_exists().map_err(failed)? {
        make(data, &path).map_err(failed)?;
    }
    let text = fs::read_to_string(&path).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if fs::metadata(&path).map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(TokensError::Open(path));
        }
    }
    read(&text).map_err(|why| TokensError::Malformed { path, why })
}

/// Writes beside and puts in place: half of it is never visible, and two starts at once agree on one.
fn make(data: &Path, path: &Path) -> io::Result<()> {
    // The store's folder too, and this may be the first to make it.
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(data)?;
    // A temporary file is private from the moment it exists.
    let mut file = tempfile::NamedTempFile::new_in(data)?;
    writeln!(
        file,
        "# Made by `placet serve`. Each line is a password for its role."
    )?;
    for role in ["agent", "approver", "admin"] {
        let random: [u8; 32] = rand::random();
        writeln!(file, "{role} = \"placet_{role}_{}\"", hex::encode(random))?;
    }
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensFile {
    agent: String,
    approver: String,
    admin: String,
}

fn read(text: &str) -> Result<Kept, &'static str> {
    // The error's own text would repeat the line, which is the token.
    let file: TokensFile = toml::from_str(text).map_err(|_| "it is not such a file")?;
    let token = |text: &str| SecretText::new(text).ok_or("a token is empty");
    Ok(Kept {
        agent: token(&file.agent)?,
        approver: token(&file.approver)?,
        admin: token(&file.admin)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_made_once_private_and_different() {
        let data = tempfile::tempdir().unwrap();
        let first = keep(&data.path().join("new")).unwrap();
        let again = keep(&data.path().join("new")).unwrap();
        assert_eq!(first.admin, again.admin);
        assert!(first.admin != first.approver && first.approver != first.agent);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |name| {
                let found = fs::metadata(data.path().join(name)).unwrap();
                found.permissions().mode() & 0o777
            };
            assert_eq!(mode("new/tokens.toml"), 0o600);
            assert_eq!(mode("new"), 0o700, "the store is kept there too");
        }
    }

    #[test]
    fn a_file_that_others_can_read_or_that_is_malformed_is_refused_without_being_printed() {
        let data = tempfile::tempdir().unwrap();
        keep(data.path()).unwrap();
        let path = path(data.path());
        fs::write(&path, "agent = \"hunter2hunter2hunter2\"\nadmin = hunter3").unwrap();
        let Err(error) = keep(data.path()) else {
            panic!("refused")
        };
        assert!(!error.to_string().contains("hunter"), "{error}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            assert!(matches!(keep(data.path()), Err(TokensError::Open(_))));
        }
    }
}
