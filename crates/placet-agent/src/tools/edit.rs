//! `edit`: one passage of a file, replaced. People see the whole change, and what they saw is what happens.

use async_trait::async_trait;
use placet_core::call::{Args, ToolCall};
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::{Value, json};

use super::files::{self, After, Workspace};
use super::{Tool, object, text};

/// Edits files.
#[derive(Debug, Clone)]
pub struct Edit(pub Workspace);

/// What an edit asks for.
struct Replacement {
    path: String,
    old: String,
    new: String,
    everywhere: bool,
}

impl Replacement {
    fn read(args: &Args) -> Result<Self, String> {
        Ok(Self {
            path: text(args, "path")?.to_owned(),
            old: text(args, "old")?.to_owned(),
            new: text(args, "new")?.to_owned(),
            everywhere: args.get("everywhere").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    /// The file's text after the edit. A passage that is not there, or there twice, is not what the model thinks it is.
    fn applied(&self, before: Option<&str>) -> Result<String, String> {
        let path = &self.path;
        let before = before.ok_or_else(|| format!("there is no file `{path}`"))?;
        match before.matches(&self.old).count() {
            0 => Err(format!("`old` is not in `{path}`; read it again")),
            1 => Ok(before.replacen(&self.old, &self.new, 1)),
            _ if self.everywhere => Ok(before.replace(&self.old, &self.new)),
            times => Err(format!(
                "`old` is in `{path}` {times} times; give more of the text around it, or set `everywhere`"
            )),
        }
    }
}

fn edited(args: &Args) -> Result<After, String> {
    let wanted = Replacement::read(args)?;
    Ok(Box::new(move |before| wanted.applied(before)))
}

#[async_trait]
impl Tool for Edit {
    fn name(&self) -> &'static str {
        "edit"
    }

    fn description(&self) -> &'static str {
        "Replaces a passage of a text file. `old` must be there exactly once, unless `everywhere` is set."
    }

    fn category(&self) -> Category {
        Category::Write
    }

    fn schema(&self) -> Value {
        let properties = json!({
            "path": files::path_schema(),
            "old": { "type": "string", "minLength": 1 },
            "new": { "type": "string" },
            "everywhere": { "type": "boolean" },
        });
        object(&["path", "old", "new"], properties)
    }

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        files::shown(&self.0, &call.args, edited(&call.args)?).await
    }

    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        files::change(&self.0, call, shown, edited(&call.args)?).await?;
        Ok(format!("edited `{}`", text(&call.args, "path")?))
    }

    fn reload(&self, config: &Config) {
        self.0.reload(config);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tools::a_call;

    async fn edit(folder: &Path, args: Value) -> Result<String, String> {
        Edit(Workspace::new(folder)).run(&a_call("edit", args), &[]).await
    }

    #[tokio::test]
    async fn a_passage_is_replaced_only_where_it_can_be_meant() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "one two one").unwrap();
        let refused = edit(folder.path(), json!({"path": "a.txt", "old": "one", "new": "1"})).await;
        assert!(refused.unwrap_err().contains("2 times"));
        let refused = edit(
            folder.path(),
            json!({"path": "a.txt", "old": "three", "new": "3"}),
        )
        .await;
        assert!(refused.unwrap_err().contains("not in"));
        edit(folder.path(), json!({"path": "a.txt", "old": "two", "new": "2"}))
            .await
            .unwrap();
        let everywhere = json!({"path": "a.txt", "old": "one", "new": "1", "everywhere": true});
        edit(folder.path(), everywhere).await.unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "1 2 1");
    }

    #[tokio::test]
    async fn edits_of_one_file_by_several_runs_at_once_are_all_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        let lines: Vec<String> = (10..50).map(|n| format!("line {n} is old")).collect();
        let text = lines.join("\n");
        std::fs::write(&file, &text).unwrap();
        let workspace = Workspace::new(folder.path());
        let edits: Vec<_> = (10..50)
            .map(|n| {
                let (old, new) = (format!("line {n} is old"), format!("line {n} is new"));
                let call = a_call("edit", json!({"path": "a.txt", "old": old, "new": new}));
                let edit = Edit(workspace.clone());
                tokio::spawn(async move { edit.run(&call, &[]).await })
            })
            .collect();
        for edit in edits {
            edit.await.unwrap().unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            text.replace("old", "new")
        );
    }
}
