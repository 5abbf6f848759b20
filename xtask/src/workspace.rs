//! The workspace as cargo sees it: its crates, where they live and which of each other they name.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::cargo::cargo;

/// The members of the workspace.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) members: Vec<Member>,
}

/// One crate of ours.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// The other crates of ours it names; what comes from a registry is no arrow.
    pub(crate) arrows: Vec<Arrow>,
}

/// One crate of ours naming another.
#[derive(Clone)]
pub(crate) struct Arrow {
    pub(crate) to: String,
    pub(crate) when: When,
}

/// When a dependency is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// In the product, or in building it.
    Always,
    /// Only while testing.
    Testing,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let output = cargo(&["metadata", "--format-version", "1", "--no-deps"])
            .output()
            .context("cannot start cargo metadata")?;
        if !output.status.success() {
            bail!(
                "cargo metadata failed: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        let metadata = serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")?;
        Self::from_metadata(&metadata)
    }

    fn from_metadata(metadata: &Value) -> anyhow::Result<Self> {
        let members: anyhow::Result<_> = list(metadata, "packages")?.iter().map(member).collect();
        Ok(Self {
            root: PathBuf::from(text(metadata, "workspace_root")?),
            members: members?,
        })
    }
}

fn member(package: &Value) -> anyhow::Result<Member> {
    let manifest = Path::new(text(package, "manifest_path")?);
    let mut arrows = Vec::new();
    for dependency in list(package, "dependencies")? {
        if dependency.get("path").is_some_and(Value::is_string) {
            let when = match dependency.get("kind").and_then(Value::as_str) {
                Some("dev") => When::Testing,
                _ => When::Always,
            };
            arrows.push(Arrow {
                to: text(dependency, "name")?.to_owned(),
                when,
            });
        }
    }
    Ok(Member {
        name: text(package, "name")?.to_owned(),
        folder: manifest
            .parent()
            .context("a manifest without a folder")?
            .to_owned(),
        arrows,
    })
}

fn text<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    value
        .get(key)
        .and_then(Value::as_str)
        .with_context(|| format!("cargo metadata has no `{key}`"))
}

fn list<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a Vec<Value>> {
    value
        .get(key)
        .and_then(Value::as_array)
        .with_context(|| format!("cargo metadata has no `{key}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_path_dependencies_are_arrows_and_dev_ones_are_told_apart() {
        let metadata = json!({
            "workspace_root": "/placet",
            "packages": [{
                "name": "placet-store",
                "manifest_path": "/placet/crates/placet-store/Cargo.toml",
                "dependencies": [
                    { "name": "serde", "kind": null },
                    { "name": "placet-core", "kind": null, "path": "/placet/crates/placet-core" },
                    { "name": "placet-sim", "kind": "dev", "path": "/placet/crates/placet-sim" },
                ],
            }],
        });

        let workspace = Workspace::from_metadata(&metadata).unwrap();

        let [store] = workspace.members.as_slice() else {
            panic!("one member")
        };
        assert_eq!(store.folder, Path::new("/placet/crates/placet-store"));
        let arrows: Vec<_> = store
            .arrows
            .iter()
            .map(|arrow| (arrow.to.as_str(), arrow.when))
            .collect();
        assert!(arrows == [("placet-core", When::Always), ("placet-sim", When::Testing)]);
    }
}
