//! The file of a SQLite store: made, locked, and opened by one process as its owner, by others beside it.

use std::fs::{self, DirBuilder, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::schema;
use crate::error::OpenError;
use crate::sql::Connection;

/// How often the lock is tried before it counts as taken.
const LOCK_TRIES: u32 = 25;
/// How long to wait in between.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Where readers of a store come from.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    /// How long to wait for another program that holds the database.
    pub(crate) busy: Duration,
}

impl File {
    /// A connection that only reads.
    pub(crate) fn reader(&self) -> Result<Connection, OpenError> {
        schema::open_reader(&self.path, self.busy)
    }

    /// A connection to a file of this very version.
    pub(crate) fn verifier(&self) -> Result<Connection, OpenError> {
        schema::open_verifier(&self.path, self.busy)
    }
}

/// The lock on a store's file, as long as this lives.
pub(crate) struct Lock(fs::File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone is not enough: a child process that is just being started still has a copy of the descriptor.
        let _ = self.0.unlock();
    }
}

/// Makes the folder and the file, readable only by this user, and takes the lock.
pub(crate) fn lock(path: &Path) -> Result<Lock, OpenError> {
    let file = |path: &Path, source| OpenError::File {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| file(folder, error))?;
    }
    let lock = lock_file(path)?;
    match patiently(&lock) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => return Err(file(path, error)),
    }
    private(path).map_err(|error| file(path, error))?;
    Ok(Lock(lock))
}

/// Takes the lock. A process that was killed while it started another one leaves that with a copy of the lock until it has
/// begun.
fn patiently(lock: &fs::File) -> Result<(), TryLockError> {
    for _ in 0..LOCK_TRIES {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            decided => return decided,
        }
    }
    lock.try_lock()
}

fn lock_path(path: &Path) -> PathBuf {
    let mut lock_path = path.as_os_str().to_owned();
    lock_path.push(".lock");
    PathBuf::from(lock_path)
}

fn lock_file(path: &Path) -> Result<fs::File, OpenError> {
    let lock_path = lock_path(path);
    private(&lock_path).map_err(|source| OpenError::File {
        path: lock_path,
        source,
    })
}

fn private(path: &Path) -> std::io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
