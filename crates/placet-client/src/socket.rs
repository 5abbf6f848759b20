//! The socket of a data folder, both ends: the owner of the store binds it, the commands of the same user connect to it.
//!
//! Each end looks at whose process the other one is before it says anything. The file can be replaced by anyone who may write to
//! the folder, so its place proves nothing.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use crate::client::not_running;
use crate::error::Error;

/// The longest path that `sockaddr_un` takes on Linux, without the byte that ends it.
const PATH_BYTES_MAX: usize = 107;

/// The socket of a store: `placet.sock` beside `placet.db`. A file with another extension keeps it, so that no two stores of a
/// folder have the same socket.
pub fn path(store: &Path) -> PathBuf {
    if store.extension().is_some_and(|extension| extension == "db") {
        return store.with_extension("sock");
    }
    let mut name = store.as_os_str().to_owned();
    name.push(".sock");
    PathBuf::from(name)
}

/// A socket that this process has bound. Its file is removed with it.
#[derive(Debug)]
pub struct Bound {
    path: PathBuf,
}

impl Bound {
    /// Binds the socket of a store that this process owns: a file that is there already is of an owner that died. It appears
    /// under its name only once it listens and is closed to other users.
    pub fn bind(path: &Path) -> io::Result<(Self, UnixListener)> {
        let new = path.with_extension(format!("sock.{}", std::process::id()));
        let _ = fs::remove_file(&new);
        let listener = Reachable::of(&new)?.with(|short| UnixListener::bind(short))?;
        let ready =
            fs::set_permissions(&new, Permissions::from_mode(0o600)).and_then(|()| fs::rename(&new, path));
        if let Err(error) = ready {
            let _ = fs::remove_file(&new);
            return Err(error);
        }
        let bound = Self {
            path: path.to_owned(),
        };
        Ok((bound, listener))
    }
}

impl Drop for Bound {
    /// The store is still this process's, so no other owner can have put a socket there.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Connects to the owner of a store.
pub(crate) async fn connect(path: &Path) -> Result<UnixStream, Error> {
    let at = path.display().to_string();
    let failed = |source| not_running(&at, source);
    let reachable = Reachable::of(path).map_err(failed)?;
    let stream = UnixStream::connect(reachable.short()).await.map_err(failed)?;
    drop(reachable);
    let uid = stream.peer_cred().map_err(failed)?.uid();
    if uid != rustix::process::geteuid().as_raw() {
        return Err(Error::Stranger { at, uid });
    }
    Ok(stream)
}

/// A path that is short enough for the kernel: through an open folder where it is not.
struct Reachable {
    short: PathBuf,
    _folder: Option<File>,
}

impl Reachable {
    fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().len() <= PATH_BYTES_MAX {
            return Ok(Self {
                short: path.to_owned(),
                _folder: None,
            });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::from(io::ErrorKind::InvalidFilename));
        };
        let folder = File::open(folder)?;
        Ok(Self {
            short: Path::new("/proc/self/fd")
                .join(folder.as_raw_fd().to_string())
                .join(name),
            _folder: Some(folder),
        })
    }

    fn short(&self) -> &Path {
        &self.short
    }

    fn with<T>(&self, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        work(&self.short)
    }
}
