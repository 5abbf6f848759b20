//! `ls`: what is in a folder.

use std::fs::File;
use std::path::Path;

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use rustix::fs::{AtFlags, Dir, DirEntry, FileType};
use serde_json::{Value, json};

use super::files::{self, Workspace};
use super::resolved_path;
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

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        self.0.place(&call.args).await
    }

    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        let (workspace, call, shown) = (self.0.clone(), call.clone(), shown.to_vec());
        files::blocking(move || list(workspace.to_read(&call, &shown)?.file())).await
    }

    fn reload(&self, config: &Config) {
        self.0.reload(config);
    }
}

/// The entries of the folder at a real place. No link is followed.
fn list(real: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("`{}` cannot be listed: {error}", real.display());
    let folder = resolved_path::open(real).map_err(failed)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&folder).map_err(|error| failed(error.into()))? {
        let entry = entry.map_err(|error| failed(error.into()))?;
        let name = entry.file_name().to_string_lossy();
        if matches!(&*name, "." | "..") {
            continue;
        }
        let mut name = printable(&name).into_owned();
        if is_folder(&folder, &entry) {
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

fn is_folder(folder: &File, entry: &DirEntry) -> bool {
    match entry.file_type() {
        // Some file systems do not say.
        FileType::Unknown => rustix::fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir()),
        known => known.is_dir(),
    }
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
