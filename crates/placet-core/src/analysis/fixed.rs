//! Places without a disk: for the rules' own examples and for tests.

use std::sync::Arc;

use super::{Places, Programs};

/// A workspace and a home that are what they say: no links, so the real place of a path is the path.
#[derive(Debug, Clone)]
pub struct FixedPlaces {
    /// The workspace's root.
    pub workspace: String,
    /// The home folder.
    pub home: Option<String>,
    /// What is known about programs.
    pub programs: Arc<Programs>,
}

impl FixedPlaces {
    /// A workspace without a home.
    pub fn at(workspace: &str) -> Self {
        Self {
            workspace: workspace.to_owned(),
            home: None,
            programs: Programs::builtin(),
        }
    }

    /// `/workspace` and `/home/user`: where rules' examples take place.
    pub fn of_examples() -> Self {
        Self {
            workspace: "/workspace".into(),
            home: Some("/home/user".into()),
            programs: Programs::builtin(),
        }
    }
}

impl Places for FixedPlaces {
    fn workspace(&self) -> &str {
        &self.workspace
    }

    fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    fn real(&self, absolute: &str) -> Option<String> {
        Some(absolute.to_owned())
    }

    fn programs(&self) -> &Programs {
        &self.programs
    }

    /// The workspace is a repository of its own, with nothing set; there are no other files.
    fn text(&self, absolute: &str) -> Option<String> {
        let own = absolute.strip_prefix(&self.workspace)? == "/.git/config";
        own.then(String::new)
    }

    fn is_absent(&self, _: &str) -> bool {
        true
    }

    fn matching(&self, pattern: &str) -> Option<Vec<String>> {
        Some(vec![pattern.replace(['*', '?', '[', ']'], "x")])
    }

    fn below(&self, folder: &str) -> Option<Vec<String>> {
        Some(vec![folder.to_owned()])
    }
}
