//! `tokens.toml`: a token for each role, made at the first start, readable only by this user.
//!
//! Beside a store in a file it is where the tokens are. Servers of a database share theirs through the store, where they are sealed; the
//! file is then the operator's copy.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use placet_core::shared::SharedKind;
use placet_core::steps;
use placet_engine::Engine;
use placet_engine::secret::SecretText;
use placet_store::{StepError, StoreError};
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
    /// The store's are sealed with another key.
    #[error(
        "the store's token of the role `{0}` cannot be opened with this server's sealing key; set `[store] seal_key` to the key it was \
         sealed with, or `[server.tokens]`"
    )]
    Sealed(&'static str),
    /// The store failed.
    #[error("the tokens that servers share cannot be read: {0}")]
    Store(#[from] StoreError),
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
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(super) agent: SecretText,
    pub(super) approver: SecretText,
    pub(super) admin: SecretText,
}

/// The tokens in the data folder; made when there are none.
pub(crate) fn keep(data: &Path) -> Result<Kept, TokensError> {
    if let Some(kept) = kept(data)? {
        return Ok(kept);
    }
    let path = data.join(NAME);
    let failed = |source| TokensError::File {
        path: path.clone(),
        source,
    };
    let written = write(data, &fresh()).map_err(failed)?;
    // Two starts at once agree on the tokens of one.
    match written.persist_noclobber(&path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(failed(error.error)),
        _ => kept(data)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into())),
    }
}

/// The tokens of the servers of a database: those of the store, or of the first server that starts. Copies them to the data folder.
pub(crate) async fn share(engine: &Engine, data: &Path) -> Result<Kept, TokensError> {
    let here = kept(data)?;
    let own = here.clone().unwrap_or_else(fresh);
    let shared = Kept {
        agent: share_one(engine, "agent", &own.agent).await?,
        approver: share_one(engine, "approver", &own.approver).await?,
        admin: share_one(engine, "admin", &own.admin).await?,
    };
    if here.as_ref() != Some(&shared) {
        let path = data.join(NAME);
        let written = write(data, &shared).and_then(|file| file.persist(&path).map_err(io::Error::from));
        written.map_err(|source| TokensError::File { path, source })?;
    }
    Ok(shared)
}

async fn share_one(engine: &Engine, role: &'static str, own: &SecretText) -> Result<SecretText, TokensError> {
    // Sealed for one role each, so that a row does not count as another role's.
    let purpose = format!("placet/token/{role}");
    let unusable = || TokensError::Sealed(role);
    let (key, sealed) = (
        SharedKind::Token.named(role),
        engine.seal_for(&purpose, own.expose()).ok_or_else(unusable)?,
    );
    let first = engine.transact(|stored, now| steps::share_first(stored, now, &key, &sealed));
    let stored = first.await.map_err(StepError::into_store_error)?;
    let opened = engine.open_for(&purpose, &stored).ok_or_else(unusable)?;
    SecretText::new(&opened).ok_or_else(unusable)
}

/// The tokens in the data folder, if there are any.
pub(crate) fn kept(data: &Path) -> Result<Option<Kept>, TokensError> {
    let path = data.join(NAME);
    let failed = |source| TokensError::File {
        path: path.clone(),
        source,
    };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if fs::metadata(&path).map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(TokensError::Open(path));
        }
    }
    let kept = read(&text).map_err(|why| TokensError::Malformed { path, why })?;
    Ok(Some(kept))
}

fn fresh() -> Kept {
    let token = |role: &str| {
        let random: [u8; 32] = rand::random();
        SecretText::made(format!("placet_{role}_{}", hex::encode(random)))
    };
    Kept {
        agent: token("agent"),
        approver: token("approver"),
        admin: token("admin"),
    }
}

/// Writes tokens beside their place: half of a file is never visible there.
fn write(data: &Path, kept: &Kept) -> io::Result<tempfile::NamedTempFile> {
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
    for (role, token) in [
        ("agent", &kept.agent),
        ("approver", &kept.approver),
        ("admin", &kept.admin),
    ] {
        writeln!(file, "{role} = \"{}\"", token.expose())?;
    }
    file.as_file().sync_all()?;
    Ok(file)
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
        let path = data.path().join(NAME);
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
