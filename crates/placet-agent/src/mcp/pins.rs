//! How every tool looked when it was first seen. A server can change what a tool says it does after people have learned to
//! trust it; the next approver sees the change.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Definitions by the tools' names, as first seen or as a person last approved them.
pub struct Pins {
    file: Option<PathBuf>,
    seen: Mutex<BTreeMap<String, String>>,
}

/// Why the file cannot be used. Without it no change would be noticed.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// It cannot be read.
    #[error("`{path}`, which says how MCP tools looked when they were first seen, cannot be read: {why}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

impl Pins {
    /// Kept in a file, which is made when the first tool is seen.
    pub fn open(path: &Path) -> Result<Self, PinsError> {
        let unreadable = |why: String| PinsError::Unreadable {
            path: path.to_owned(),
            why,
        };
        let seen = match std::fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        Ok(Self {
            file: Some(path.to_owned()),
            seen: Mutex::new(seen),
        })
    }

    /// Kept as long as this process lives.
    pub fn in_memory() -> Self {
        Self {
            file: None,
            seen: Mutex::default(),
        }
    }

    /// Keeps how a tool looks, unless it was seen before.
    pub(super) fn first_seen(&self, tool: &str, definition: &str) {
        self.change(|seen| {
            let new = !seen.contains_key(tool);
            if new {
                seen.insert(tool.to_owned(), definition.to_owned());
            }
            new
        });
    }

    /// A person has seen that it looks like this now, and let it run.
    pub(super) fn accept(&self, tool: &str, definition: &str) {
        self.change(|seen| {
            seen.insert(tool.to_owned(), definition.to_owned()).as_deref() != Some(definition)
        });
    }

    /// How it looked before, if it looks different now.
    pub(super) fn changed_from(&self, tool: &str, definition: &str) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(tool).filter(|before| *before != definition).cloned()
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, String>) -> bool) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if change(&mut seen)
            && let Some(path) = &self.file
            && let Err(error) = write(path, &seen)
        {
            tracing::error!(path = %path.display(), %error, "how MCP tools look could not be kept");
        }
    }
}

/// Whole or not at all.
fn write(path: &Path, seen: &BTreeMap<String, String>) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    serde_json::to_writer_pretty(&mut file, seen)?;
    file.flush()?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_changed_is_noticed_after_a_restart_until_a_person_has_seen_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp-tools.json");
        let pins = Pins::open(&path).unwrap();
        pins.first_seen("t", "adds");
        pins.first_seen("t", "deletes");
        let pins = Pins::open(&path).unwrap();
        assert_eq!(pins.changed_from("t", "deletes").as_deref(), Some("adds"));
        assert_eq!(pins.changed_from("t", "adds"), None);
        pins.accept("t", "deletes");
        assert_eq!(Pins::open(&path).unwrap().changed_from("t", "deletes"), None);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_and_not_a_clean_slate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp-tools.json");
        std::fs::write(&path, "{").unwrap();
        assert!(Pins::open(&path).is_err());
    }
}
