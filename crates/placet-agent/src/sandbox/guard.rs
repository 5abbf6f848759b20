//! Files of the workspace that a confined command must leave as they are: those that decide what runs or what is asked later,
//! outside the sandbox (`.git/hooks`, `sub/.cargo/config.toml`, `placet.toml` and their like, as inspection knows them).
//!
//! Landlock grants a folder with everything below it and takes nothing back. So these files are remembered before a confined
//! command runs, wherever they are in the workspace, and put back when it has ended. A workspace that is too large to look
//! through is not guarded: `is_possible` says so before a command is judged, and the command needs approval.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use placet_core::analysis::{FixedPlaces, PathConcern};
use placet_core::confine::{Confinement, Need};
use placet_inspect::path::{Use, place};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// The most entries of the workspace that are looked at.
const ENTRIES_MAX: usize = 100_000;
/// The most guarded entries that are remembered.
const GUARDED_MAX: usize = 2000;
/// The largest file that is remembered, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// What git itself writes all the time lies beside these.
const OF_GIT: [&str; 4] = ["config", "config.worktree", "hooks", "info"];
/// Package managers write programs here.
const INSTALLED: &str = "node_modules";

/// Guarded files as they were. They are put back when this is dropped.
pub(crate) struct Guard {
    search: Search,
    before: BTreeMap<PathBuf, Entry>,
    is_over: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Folder,
    Link(PathBuf),
    File { mode: u32, bytes: Vec<u8> },
}

/// Whether the guarded files of a workspace can be kept as they are under this confinement.
pub(super) fn is_possible(workspace: &Path, confinement: &Confinement) -> bool {
    Guard::remember(workspace, confinement).is_ok()
}

impl Guard {
    /// Remembers the guarded files of a workspace; `None` where an approver was told that they are not kept.
    pub(crate) fn new(workspace: &Path, confinement: &Confinement) -> Result<Option<Self>, String> {
        if confinement.needs.contains(&Need::Unguarded) {
            return Ok(None);
        }
        let guard = Self::remember(workspace, confinement).map(Some);
        guard.map_err(|error| format!("the guarded files of the workspace cannot be remembered: {error}"))
    }

    fn remember(workspace: &Path, confinement: &Confinement) -> io::Result<Self> {
        let search = Search::new(workspace, confinement)?;
        let mut before = BTreeMap::new();
        let mut left = ENTRIES_MAX;
        search.each(Locked::Fails, |path, is_guarded| {
            if is_guarded {
                match Entry::of(&search.workspace.join(path)) {
                    Ok(entry) => {
                        before.insert(path.to_owned(), entry);
                    }
                    // Another program removed it since it was listed.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            left = left
                .checked_sub(1)
                .filter(|_| before.len() <= GUARDED_MAX)
                .ok_or_else(|| {
                    let most = format!("more than {ENTRIES_MAX} entries or {GUARDED_MAX} guarded ones");
                    io::Error::other(most)
                })?;
            Ok(())
        })?;
        Ok(Self {
            search,
            before,
            is_over: false,
        })
    }

    /// Puts back what has changed; says which.
    pub(crate) fn restore(mut self) -> Vec<String> {
        self.put_back()
    }

    /// Looks through the whole workspace, however much the command left there.
    fn put_back(&mut self) -> Vec<String> {
        self.is_over = true;
        let (folder, before) = (&self.search.workspace, &self.before);
        // A new repository is not a changed one.
        let is_of_new_repository = |path: &Path| {
            let mut above = path.ancestors().filter(|above| above.ends_with(".git"));
            above.any(|git| !before.contains_key(git))
        };
        let mut changed = Vec::new();
        let walked = self.search.each(Locked::Opens, |path, is_guarded| {
            if is_guarded && !before.contains_key(path) && !is_of_new_repository(path) {
                changed.push((path.to_owned(), None));
            }
            Ok(())
        });
        let within = |path: &Path, missing| -> io::Result<(PathBuf, OwnedFd)> {
            let held = hold(folder, path.parent().unwrap_or(Path::new("")), missing)?;
            Ok((path_of(&held).join(path.file_name().unwrap_or_default()), held))
        };
        let now = |path: &Path| {
            let (path, _held) = within(path, Missing::Fails)?;
            Entry::of(&path)
        };
        let is_changed = |(path, entry): &(&PathBuf, &Entry)| now(path).ok().as_ref() != Some(entry);
        let others = self.before.iter().filter(is_changed);
        changed.extend(others.map(|(path, entry)| (path.clone(), Some(entry))));
        for (path, entry) in &changed {
            let put_back = match entry {
                Some(entry) => within(path, Missing::IsMade).and_then(|(path, _held)| entry.put(&path)),
                None => match within(path, Missing::Fails) {
                    // It went with the folder that it was in.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    found => found.and_then(|(path, _held)| remove(&path)),
                },
            };
            report(folder, path, &put_back);
        }
        report(folder, Path::new(""), &walked);
        changed
            .iter()
            .map(|(path, _)| path.display().to_string())
            .collect()
    }
}

fn report(workspace: &Path, path: &Path, put_back: &io::Result<()>) {
    if let Err(error) = put_back {
        let (workspace, path) = (workspace.display(), path.display());
        tracing::error!(%workspace, %path, %error, "a guarded file that a confined command changed cannot be put back");
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        for path in self.put_back() {
            tracing::warn!(%path, "a confined command changed a guarded file; it was put back");
        }
    }
}

impl Entry {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(path)?;
        if metadata.is_symlink() {
            return fs::read_link(path).map(Self::Link);
        }
        if metadata.is_dir() {
            return Ok(Self::Folder);
        }
        if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
            let path = path.display();
            return Err(io::Error::other(format!(
                "`{path}` is no file of at most {FILE_BYTES_MAX} bytes"
            )));
        }
        Ok(Self::File {
            mode: metadata.permissions().mode(),
            bytes: fs::read(path)?,
        })
    }

    fn put(&self, path: &Path) -> io::Result<()> {
        remove(path)?;
        match self {
            Self::Folder => fs::create_dir(path),
            Self::Link(target) => symlink(target, path),
            Self::File { mode, bytes } => {
                // Not through a link that stands there again.
                let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
                file.write_all(bytes)?;
                file.set_permissions(fs::Permissions::from_mode(*mode))
            }
        }
    }
}

/// Removes a file or a link, or a folder with all it holds.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// What to do where a folder is missing, or where something else stands in its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fails,
    IsMade,
}

/// Opens a folder of the workspace without following links. What is done below [`path_of`] it is done there, whatever a process that the
/// command left behind puts in its place meanwhile.
fn hold(workspace: &Path, folder: &Path, missing: Missing) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut held = rustix::fs::open(workspace, flags, Mode::empty())?;
    for name in folder {
        held = match openat(&held, name, flags, Mode::empty()) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if missing == Missing::IsMade => {
                let path = path_of(&held).join(name);
                remove(&path)?;
                fs::create_dir(&path)?;
                openat(&held, name, flags, Mode::empty())?
            }
            found => found?,
        };
    }
    Ok(held)
}

/// The folder as the system names what this process holds open.
fn path_of(held: &OwnedFd) -> PathBuf {
    Path::new("/proc/self/fd").join(held.as_raw_fd().to_string())
}

/// What to do about a folder that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Locked {
    Fails,
    /// The command locked it, so it is opened.
    Opens,
}

/// How a workspace is looked through.
struct Search {
    workspace: PathBuf,
    places: FixedPlaces,
    /// A person allows the command more than its confinement: it may install packages.
    may_install: bool,
}

impl Search {
    fn new(workspace: &Path, confinement: &Confinement) -> io::Result<Self> {
        let workspace = fs::canonicalize(workspace)?;
        let root = workspace
            .to_str()
            .ok_or_else(|| io::Error::other("the workspace's name is not valid UTF-8"))?;
        Ok(Self {
            places: FixedPlaces::at(root),
            may_install: !confinement.needs.is_empty(),
            workspace,
        })
    }

    /// Shows every entry of the workspace by its path below it, folders before what is in them, and whether it is guarded.
    fn each(&self, locked: Locked, mut show: impl FnMut(&Path, bool) -> io::Result<()>) -> io::Result<()> {
        let mut folders = vec![(PathBuf::new(), false)];
        while let Some((folder, is_guarded)) = folders.pop() {
            let full = self.workspace.join(&folder);
            let entries = fs::read_dir(&full).or_else(|error| {
                if error.kind() == io::ErrorKind::PermissionDenied && locked == Locked::Opens {
                    let held = hold(&self.workspace, &folder, Missing::Fails)?;
                    fs::set_permissions(path_of(&held), fs::Permissions::from_mode(0o700))?;
                }
                fs::read_dir(&full)
            });
            let entries = match entries {
                // It is gone already.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name();
                let is_of_git = folder.ends_with(".git");
                let is_left_out = is_of_git && !OF_GIT.iter().any(|own| name == *own);
                if is_left_out || (self.may_install && name == INSTALLED) {
                    continue;
                }
                let path = folder.join(name);
                let is_guarded = is_guarded || self.is_guarded(&path);
                show(&path, is_guarded)?;
                if entry.file_type()?.is_dir() {
                    folders.push((path, is_guarded));
                }
            }
        }
        Ok(())
    }

    /// Files that only hold secrets are not: nothing runs because of them, and a store of Placet's that lies in the workspace is one that
    /// Placet itself writes to meanwhile.
    fn is_guarded(&self, path: &Path) -> bool {
        let (_, concern) = place(&path.to_string_lossy(), &self.places).risk(Use::Write);
        concern.is_some_and(|concern| concern != PathConcern::Secrets)
    }
}
