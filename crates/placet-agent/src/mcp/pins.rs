//! How every tool looked when it was first seen. A server can change what a tool says it does after people have learned to
//! trust it; the next approver sees the change.
//!
//! The store has them, so they hold at every process of it. MCP servers start before the store is opened; what they say of their
//! tools until then is pinned before the agent starts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use placet_core::shared::SharedKind;
use placet_core::steps;
use placet_engine::Engine;
use placet_store::{StepError, StoreError};

/// Definitions by the tools' names, as first seen or as a person last approved them.
#[derive(Default)]
pub struct Pins {
    /// Where they are, while it is open.
    engine: Mutex<Option<Engine>>,
    /// What this process knows of them. Judging a call waits for nothing.
    seen: Mutex<BTreeMap<String, String>>,
    /// The file of an older version, with what it holds.
    older: Option<(PathBuf, BTreeMap<String, String>)>,
}

/// Why the pins cannot be used. Without them no change would be noticed.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// The file of an older version cannot be read.
    #[error("`{path}`, which says how MCP tools looked when they were first seen, cannot be read: {why}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// It cannot be removed after its pins were moved into the store.
    #[error("`{path}`, whose pins of MCP tools are in the store now, cannot be removed: {source}")]
    Left {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The store failed.
    #[error("how MCP tools looked when they were first seen cannot be read: {0}")]
    Store(#[from] StoreError),
}

impl Pins {
    /// Those of the store, and of the file in which an older version kept them.
    pub fn moving(file: &Path) -> Result<Self, PinsError> {
        let unreadable = |why: String| PinsError::Unreadable {
            path: file.to_owned(),
            why,
        };
        let older = match std::fs::read_to_string(file) {
            Ok(text) => {
                let seen = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
                Some((file.to_owned(), seen))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(error.to_string())),
        };
        Ok(Self {
            older,
            ..Self::default()
        })
    }

    /// From here on they are in the store of this engine.
    pub(super) async fn keep_in(&self, engine: &Engine) -> Result<(), PinsError> {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine.clone());
        if let Some((path, seen)) = &self.older
            && path.exists()
        {
            for (tool, definition) in seen {
                share_first(engine, tool, definition).await?;
            }
            std::fs::remove_file(path).map_err(|source| PinsError::Left {
                path: path.clone(),
                source,
            })?;
        }
        Ok(self.look_again().await?)
    }

    /// Learns what other processes pinned, and what was approved at them.
    pub(super) async fn look_again(&self) -> Result<(), StoreError> {
        let Some(engine) = self.engine() else {
            return Ok(());
        };
        let stored = engine
            .store()
            .look(|stored| stored.shared_of(&SharedKind::Tool).cloned())
            .await?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = stored
            .into_iter()
            .map(|(tool, definition)| (tool, definition.text))
            .collect();
        Ok(())
    }

    /// Pins how a tool looks, unless it was seen before.
    pub(super) async fn first_seen(&self, tool: &str, definition: &str) -> Result<(), StoreError> {
        let is_known = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains_key(tool);
        let Some(engine) = self.engine().filter(|_| !is_known) else {
            return Ok(());
        };
        let pinned = share_first(&engine, tool, definition).await?;
        self.learn(tool, pinned);
        Ok(())
    }

    /// A person has seen that it looks like this now, and let it run.
    pub(super) async fn accept(&self, tool: &str, definition: &str) -> Result<(), StoreError> {
        let Some(engine) = self.engine() else {
            return Ok(());
        };
        let key = SharedKind::Tool.named(tool);
        let accept = engine.transact(|stored, now| steps::share_instead(stored, now, &key, definition));
        accept.await.map_err(StepError::into_store_error)?;
        self.learn(tool, definition.to_owned());
        Ok(())
    }

    /// How it looked before, if it looks different now.
    pub(super) fn changed_from(&self, tool: &str, definition: &str) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(tool).filter(|before| *before != definition).cloned()
    }

    /// Lets go of the engine, which knows of the tools and so of these pins.
    pub(super) fn close(&self) {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn engine(&self) -> Option<Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn learn(&self, tool: &str, definition: String) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(tool.to_owned(), definition);
    }
}

async fn share_first(engine: &Engine, tool: &str, definition: &str) -> Result<String, StoreError> {
    let key = SharedKind::Tool.named(tool);
    let first = engine.transact(|stored, now| steps::share_first(stored, now, &key, definition));
    first.await.map_err(StepError::into_store_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_and_not_a_clean_slate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp-tools.json");
        assert!(Pins::moving(&path).is_ok());
        std::fs::write(&path, "{").unwrap();
        assert!(Pins::moving(&path).is_err());
    }
}
