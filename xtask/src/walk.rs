//! The walk: the files that a call passes, as ARCHITECTURE.md lists them, are there, few, and in the order in which each is entered.

use std::path::Path;

use crate::shape::{read, rust_files};
use crate::workspace::Workspace;

/// Where the walk is, and how a line of it begins.
const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "## The walk";
const ROW: &str = "| `crates/";
/// A newcomer reads so many files and no more.
const FILES_MAX: usize = 10;

/// A file, and how it is entered: by a function that a file before it calls, or by a request.
struct Stop<'t> {
    file: &'t str,
    entry: &'t str,
}

/// What is wrong with the walk, in the words a reader needs to mend it.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let document = read(&workspace.root.join(DOCUMENT))?;
    let stops = stops(&document);
    let mut faults = Vec::new();
    if stops.is_empty() || stops.len() > FILES_MAX {
        let count = stops.len();
        faults.push(format!(
            "{DOCUMENT}: `{HEADING}` lists {count} files; list 1 to {FILES_MAX}, or shorten the way"
        ));
    }
    let mut passed = String::new();
    for stop in stops {
        let path = workspace.root.join(stop.file);
        if !path.is_file() {
            faults.push(format!(
                "{DOCUMENT}: the walk names `{}`, which is not there",
                stop.file
            ));
            continue;
        }
        let module = module(&path)?;
        faults.extend(fault(&stop, &module, &passed));
        passed.push_str(&module);
    }
    Ok(faults)
}

/// Why a file does not come where the walk says.
fn fault(stop: &Stop<'_>, module: &str, passed: &str) -> Option<String> {
    let Stop { file, entry } = stop;
    if entry.contains('/') {
        return None;
    }
    if !module.contains(&format!("fn {entry}(")) && !module.contains(&format!("fn {entry}<")) {
        return Some(format!(
            "{DOCUMENT}: the walk enters `{file}` by `{entry}`, which is not in it"
        ));
    }
    if !passed.contains(&format!("{entry}(")) {
        return Some(format!(
            "{DOCUMENT}: no file before `{file}` in the walk calls `{entry}`"
        ));
    }
    None
}

fn stops(document: &str) -> Vec<Stop<'_>> {
    let walk = document.split(HEADING).nth(1).unwrap_or_default();
    let walk = walk.split("\n## ").next().unwrap_or_default();
    let rows = walk.lines().filter(|line| line.starts_with(ROW));
    rows.filter_map(|row| {
        let mut quoted = row.split('`').skip(1).step_by(2);
        let (file, entry) = (quoted.next()?, quoted.next()?);
        Some(Stop { file, entry })
    })
    .collect()
}

/// A file with the files of its own folder: what a reader takes for one module.
fn module(path: &Path) -> anyhow::Result<String> {
    let mut text = read(path)?;
    let folder = path.with_extension("");
    if folder.is_dir() {
        for file in rust_files(&folder)? {
            text.push_str(&read(&file)?);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALK: &str = "# A\n\n## The walk\n\n| file | by |\n|---|---|\n| `crates/a.rs` | `POST /v1/calls` |\n\
                        | `crates/b.rs` | `step` |\n\n## Next\n| `crates/c.rs` | `no` |\n";

    #[test]
    fn the_walk_ends_with_its_section() {
        let files: Vec<&str> = stops(WALK).iter().map(|stop| stop.file).collect();
        assert_eq!(files, ["crates/a.rs", "crates/b.rs"]);
    }

    #[test]
    fn a_file_that_no_file_before_it_enters_is_found() {
        let stops = stops(WALK);
        let step = &stops[1];
        assert_eq!(fault(&stops[0], "", ""), None);
        assert_eq!(fault(step, "pub fn step(", "gate.step(call)"), None);
        assert!(fault(step, "pub fn step(", "gate.other(call)").is_some());
        assert!(fault(step, "pub fn other(", "gate.step(call)").is_some());
    }
}
