//! House rules that no lint knows: every crate takes the workspace's lints, every module says what it is for, and the walk in
//! ARCHITECTURE.md is the way a call takes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::walk;
use crate::workspace::Workspace;

/// Every file that breaks a house rule, in the words a reader needs to mend it.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for member in &workspace.members {
        let manifest = member.folder.join("Cargo.toml");
        if !takes_workspace_lints(&read(&manifest)?) {
            faults.push(format!(
                "{}: add `[lints]` with `workspace = true`",
                shown(&manifest, &workspace.root)
            ));
        }
        for module in rust_files(&member.folder.join("src"))? {
            if !has_header(&read(&module)?) {
                faults.push(format!(
                    "{}: begin with a `//!` header that says what the module is for",
                    shown(&module, &workspace.root)
                ));
            }
        }
    }
    faults.extend(walk::check(workspace)?);
    Ok(faults)
}

fn takes_workspace_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true")
}

fn has_header(module: &str) -> bool {
    module.starts_with("//! ")
}

/// All `.rs` files below `folder`, in order of their paths, so that two runs report alike.
pub(crate) fn rust_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

pub(crate) fn shown<'a>(path: &'a Path, root: &Path) -> std::path::Display<'a> {
    path.strip_prefix(root).unwrap_or(path).display()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_without_the_workspace_lints_is_found() {
        assert!(takes_workspace_lints(
            "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"
        ));
        assert!(!takes_workspace_lints(
            "[package]\nname = \"a\"\nversion.workspace = true\n"
        ));
        assert!(!takes_workspace_lints(
            "[lints]\n\n[dependencies]\nworkspace = true\n"
        ));
    }

    #[test]
    fn a_module_header_is_its_first_line() {
        assert!(has_header("//! Words.\n\nuse std::fs;\n"));
        assert!(!has_header("use std::fs;\n//! Words.\n"));
        assert!(!has_header("//!\n"));
        assert!(!has_header(""));
    }

    #[test]
    fn this_crate_keeps_the_rules_it_checks() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = rust_files(&source).unwrap();
        assert!(
            files.iter().any(|file| file.ends_with("test/tally.rs")),
            "folders are searched too"
        );
        for file in files {
            assert!(has_header(&read(&file).unwrap()), "{}", file.display());
        }
    }
}
