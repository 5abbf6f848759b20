//! `ls`: what is in a folder.

use std::path::Path;

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::{Value, json};

use super::files::{self, Workspace};
use super::walk::printable;
use super::{Tool, object};

/// The most entries that are listed.
const ENTRIES_MAX: usize = 1000;

/// Lists folders.
#[derive(Debug, Clone)]
pub struct Ls(pub Workspace);

#[async_trait]
impl Tool for Ls {
    fn name(&self) -> &'static str {
        "ls"
    }

    fn description(&self) -> &'static str {
        "Lists a folder, one entry a line; folders end with `/`. Without a path, the workspace."
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        let properties = json!({ "path": files::path_schema() });
        object(&[], properties)
    }

    async fn run(&self, call: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        let folder = self.0.folder(&call.args);
        files::blocking(move || list(&folder)).await
    }
}

fn list(folder: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("`{}` cannot be listed: {error}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let mut name = printable(&entry.file_name().to_string_lossy()).into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            name.push('/');
        }
        names.push(name);
    }
    names.sort_unstable();
    let total = names.len();
    names.truncate(ENTRIES_MAX);
    if total > ENTRIES_MAX {
        names.push(format!("[{ENTRIES_MAX} of {total} entries are shown]"));
    }
    Ok(names.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_from_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        std::fs::write(folder.path().join("a"), "").unwrap();
        assert_eq!(list(folder.path()).unwrap(), "a\nb/");
        assert!(list(&folder.path().join("none")).is_err());
    }
}
