//! `glob`: which files there are, by name.

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::{Value, json};

use super::files::{self, Workspace};
use super::resolved_path;
use super::walk::{self, OUTPUT_BYTES_MAX, Start};
use super::{Tool, object, text};

/// The most files that are listed.
const FILES_MAX: usize = 1000;

/// Finds files by name.
#[derive(Debug, Clone)]
pub struct Glob(pub Workspace);

#[async_trait]
impl Tool for Glob {
    fn name(&self) -> &'static str {
        "glob"
    }

    fn description(&self) -> &'static str {
        "Lists files whose names match a pattern such as `*.rs` (in every folder) or `src/**/test_*.py`, one a line. What \
         `.gitignore` leaves out is left out, and links are not followed."
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        let properties = json!({
            "pattern": { "type": "string", "minLength": 1 },
            "path": files::path_schema(),
        });
        object(&["pattern"], properties)
    }

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        self.0.place(&call.args).await
    }

    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        let (workspace, call, shown) = (self.0.clone(), call.clone(), shown.to_vec());
        files::blocking(move || find(&workspace, &call, &shown)).await
    }

    fn reload(&self, config: &Config) {
        self.0.reload(config);
    }
}

fn find(workspace: &Workspace, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
    let pattern = text(&call.args, "pattern")?;
    let matcher = walk::pattern(pattern)?;
    let start = Start::new(workspace, call, shown)?;
    let (mut listed, mut bytes, mut total) = (Vec::new(), 0, 0_usize);
    let went = start.files(|file| {
        if !matcher.is_match(start.below(file)) || !resolved_path::is_there(file) {
            return;
        }
        total += 1;
        let name = start.shown(file);
        bytes += name.len() + 1;
        if listed.len() < FILES_MAX && bytes <= OUTPUT_BYTES_MAX {
            listed.push(name);
        }
    });
    if total == 0 {
        listed.push(format!("[no file matches `{}`]", walk::printable(pattern)));
    } else if listed.len() < total {
        listed.push(format!("[{} of {total} files are shown]", listed.len()));
    }
    listed.extend(went.note());
    Ok(listed.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tools::a_call;

    fn find(root: &Path, path: &str, pattern: &str) -> Result<String, String> {
        let call = a_call("glob", json!({ "path": path, "pattern": pattern }));
        super::find(&Workspace::new(root), &call, &[])
    }

    fn a_tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [
            (".gitignore", "target/\n"),
            ("b.rs", ""),
            ("src/a.rs", ""),
            ("src/deep/c.rs", ""),
            ("src/deep/c.txt", ""),
            ("target/out.rs", ""),
            (".git/hook.rs", ""),
        ] {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, content).unwrap();
        }
        folder
    }

    #[test]
    fn files_are_found_in_order_without_what_git_ignores() {
        let folder = a_tree();
        assert_eq!(
            find(folder.path(), ".", "*.rs").unwrap(),
            "b.rs\nsrc/a.rs\nsrc/deep/c.rs"
        );
        assert_eq!(find(folder.path(), ".", "src/*.rs").unwrap(), "src/a.rs");
        assert_eq!(
            find(folder.path(), "src", "deep/*").unwrap(),
            "src/deep/c.rs\nsrc/deep/c.txt"
        );
        assert_eq!(
            find(folder.path(), ".", "*.go").unwrap(),
            "[no file matches `*.go`]"
        );
    }

    #[test]
    fn a_link_out_of_the_workspace_shows_nothing_of_what_is_behind_it() {
        let (folder, outside) = (a_tree(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("key.rs"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("src/out")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("key.rs"), folder.path().join("src/key.rs")).unwrap();
        assert!(!find(folder.path(), ".", "*.rs").unwrap().contains("key"));
    }

    #[test]
    fn a_pattern_cannot_climb_out_of_its_folder() {
        let folder = a_tree();
        for pattern in ["../*", "src/../../*", "/etc/*"] {
            assert!(
                find(folder.path(), "src", pattern)
                    .unwrap_err()
                    .contains("leads out"),
                "{pattern}"
            );
        }
    }

    #[test]
    fn a_long_list_is_cut_and_says_so_and_a_name_cannot_pass_for_two() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a\nb.txt"), "").unwrap();
        assert_eq!(find(folder.path(), ".", "*.txt").unwrap(), "a\\nb.txt");
        for number in 0..=FILES_MAX {
            std::fs::write(folder.path().join(format!("{number}.x")), "").unwrap();
        }
        assert!(
            find(folder.path(), ".", "*.x")
                .unwrap()
                .ends_with("\n[1000 of 1001 files are shown]")
        );
    }
}
