//! Places without a disk: for the rules' own examples and for tests.

use super::Places;

/// A workspace and a home that are what they say: no links, so the real place of a path is the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedPlaces {
    /// The workspace's root.
    pub workspace: String,
    /// The home folder.
    pub home: Option<String>,
}

impl FixedPlaces {
    /// `/workspace` and `/home/user`: where rules' examples take place.
    pub fn of_examples() -> Self {
        Self {
            workspace: "/workspace".into(),
            home: Some("/home/user".into()),
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
}
