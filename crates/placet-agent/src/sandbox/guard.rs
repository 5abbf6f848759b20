//! Files of the workspace that a confined command must leave as they are: those that decide what runs or what is asked later,
//! outside the sandbox (`.git/hooks`, `.git/config`, `placet.toml` and their like, as inspection knows them).
//!
//! Landlock grants a folder with everything below it and takes nothing back. So these files are remembered before a confined
//! command runs, and put back when it has ended. Those at the top of the workspace are looked at, and what is below them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use placet_core::analysis::FixedPlaces;
use placet_core::tool::Risk;
use placet_inspect::path::{Use, place};

/// The most entries that are remembered.
const ENTRIES_MAX: usize = 2000;
/// The largest file that is remembered, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// What git itself writes all the time lies beside these.
const OF_GIT: [&str; 4] = ["config", "config.worktree", "hooks", "info"];

/// Guarded files as they were. They are put back when this is dropped.
pub(crate) struct Guard {
    workspace: PathBuf,
    before: BTreeMap<PathBuf, Entry>,
}

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Folder,
    Link(PathBuf),
    File { mode: u32, bytes: Vec<u8> },
}

impl Guard {
    /// Remembers the guarded files of a workspace.
    pub(crate) fn new(workspace: &Path) -> Result<Self, String> {
        let workspace = fs::canonicalize(workspace).map_err(|error| error.to_string())?;
        let before = entries(&workspace)?;
        Ok(Self { workspace, before })
    }

    /// Puts back what has changed; says which.
    pub(crate) fn restore(&self) -> Vec<String> {
        let now = match entries(&self.workspace) {
            Ok(now) => now,
            Err(why) => return vec![why],
        };
        let mut changed = Vec::new();
        // A new repository is not a changed one.
        let begun = |path: &Path| path.starts_with(".git") && !self.before.contains_key(Path::new(".git"));
        for path in now.keys().rev() {
            if !self.before.contains_key(path) && !begun(path) {
                changed.push(path);
                self.report(path, &remove(&self.workspace.join(path)));
            }
        }
        for (path, entry) in &self.before {
            if now.get(path) != Some(entry) {
                changed.push(path);
                self.report(path, &entry.put(&self.workspace.join(path)));
            }
        }
        changed.iter().map(|path| path.display().to_string()).collect()
    }

    fn report(&self, path: &Path, put_back: &io::Result<()>) {
        if let Err(error) = put_back {
            let (workspace, path) = (self.workspace.display(), path.display());
            tracing::error!(%workspace, %path, %error, "a guarded file that a confined command changed cannot be put back");
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        for path in self.restore() {
            tracing::warn!(%path, "a confined command changed a guarded file; it was put back");
        }
    }
}

impl Entry {
    fn put(&self, path: &Path) -> io::Result<()> {
        remove(path)?;
        match self {
            Self::Folder => fs::create_dir(path),
            Self::Link(target) => symlink(target, path),
            Self::File { mode, bytes } => {
                fs::write(path, bytes)?;
                fs::set_permissions(path, fs::Permissions::from_mode(*mode))
            }
        }
    }
}

/// Removes a file or a link, and a folder that is empty; one that is in the way of something else with all it holds.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn entries(workspace: &Path) -> Result<BTreeMap<PathBuf, Entry>, String> {
    let root = workspace
        .to_str()
        .ok_or("the workspace's name is not valid UTF-8")?;
    let places = FixedPlaces::at(root);
    let mut found = BTreeMap::new();
    let unreadable = |error: io::Error| format!("the guarded files of the workspace cannot be read: {error}");
    for entry in fs::read_dir(workspace).map_err(unreadable)? {
        let name = PathBuf::from(entry.map_err(unreadable)?.file_name());
        let (risk, _) = place(&name.to_string_lossy(), &places).risk(Use::Write);
        if risk == Risk::High {
            remember(workspace, &name, &mut found).map_err(unreadable)?;
        }
    }
    Ok(found)
}

fn remember(workspace: &Path, path: &Path, found: &mut BTreeMap<PathBuf, Entry>) -> io::Result<()> {
    if found.len() >= ENTRIES_MAX {
        return Err(io::Error::other(format!("there are more than {ENTRIES_MAX}")));
    }
    let full = workspace.join(path);
    let metadata = fs::symlink_metadata(&full)?;
    let entry = if metadata.is_symlink() {
        Entry::Link(fs::read_link(&full)?)
    } else if metadata.is_dir() {
        for name in names(&full, path)? {
            remember(workspace, &path.join(name), found)?;
        }
        Entry::Folder
    } else if metadata.is_file() && metadata.len() <= FILE_BYTES_MAX {
        Entry::File {
            mode: metadata.permissions().mode(),
            bytes: fs::read(&full)?,
        }
    } else {
        return Ok(());
    };
    found.insert(path.to_owned(), entry);
    Ok(())
}

/// What is looked at in a guarded folder.
fn names(full: &Path, path: &Path) -> io::Result<Vec<PathBuf>> {
    if path == Path::new(".git") {
        let there = OF_GIT
            .iter()
            .filter(|name| full.join(name).symlink_metadata().is_ok());
        return Ok(there.map(PathBuf::from).collect());
    }
    let names = fs::read_dir(full)?.map(|entry| Ok(PathBuf::from(entry?.file_name())));
    names.collect()
}
