//! Places without a disk: for the rules' own examples and for tests.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Places;

/// A workspace and a home as tables. What is not in the tables is an ordinary place without links.
#[derive(Debug, Clone)]
pub struct FixedPlaces {
    /// The workspace's root.
    pub workspace: String,
    /// The home folder.
    pub home: Option<String>,
    /// Where links lead; `None` for one that cannot be followed.
    pub links: BTreeMap<String, Option<String>>,
    /// The files whose text is known.
    pub files: BTreeMap<String, String>,
}

impl FixedPlaces {
    /// A workspace without a home. It is a repository of its own, with nothing set.
    pub fn at(workspace: &str) -> Self {
        Self {
            workspace: workspace.to_owned(),
            home: None,
            links: BTreeMap::new(),
            files: BTreeMap::from([(format!("{workspace}/.git/config"), String::new())]),
        }
    }

    /// `/workspace` and `/home/user`: where rules' examples take place.
    pub fn of_examples() -> Self {
        Self {
            home: Some("/home/user".into()),
            ..Self::at("/workspace")
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

    fn real<'p>(&self, absolute: &'p str) -> Option<Cow<'p, str>> {
        let followed = self.links.iter().find_map(|(link, target)| {
            let rest = absolute.strip_prefix(link)?;
            let is_below = rest.is_empty() || rest.starts_with('/');
            is_below.then(|| target.as_ref().map(|target| format!("{target}{rest}").into()))
        });
        followed.unwrap_or(Some(Cow::Borrowed(absolute)))
    }

    fn text(&self, absolute: &str) -> Option<String> {
        self.files.get(absolute).cloned()
    }

    fn is_absent(&self, absolute: &str) -> bool {
        !self.files.contains_key(absolute)
    }

    fn matching(&self, pattern: &str) -> Option<Vec<String>> {
        let start = pattern.split(['*', '?', '[']).next()?;
        let matches = |path: &&String| path.strip_prefix(start).is_some_and(|rest| !rest.contains('/'));
        let mut found: Vec<String> = self.files.keys().filter(matches).cloned().collect();
        if found.is_empty() {
            found.push(pattern.replace(['*', '?', '[', ']'], "x"));
        }
        Some(found)
    }

    fn unpacked(&self, absolute: &str) -> Option<Vec<String>> {
        Some(self.files.get(absolute)?.lines().map(str::to_owned).collect())
    }

    fn below(&self, folder: &str) -> Option<Vec<String>> {
        let below = self.files.keys().filter(|path| path.starts_with(folder));
        Some(below.cloned().chain([folder.to_owned()]).collect())
    }
}
