//! `write`: a file's whole text, replaced at once. People see the diff, and what they saw is what is replaced.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::{Value, json};

use super::{Tool, files, text};

/// Writes files.
#[derive(Debug, Clone)]
pub struct Write {
    workspace: PathBuf,
}

impl Write {
    /// Writes in this folder.
    pub fn new(workspace: &Path) -> Self {
        Self {
            workspace: workspace.to_owned(),
        }
    }
}

#[async_trait]
impl Tool for Write {
    fn name(&self) -> &'static str {
        "write"
    }

    fn description(&self) -> &'static str {
        "Writes a text file, replacing all of it. Folders that are missing are made."
    }

    fn category(&self) -> Category {
        Category::Write
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1, "description": "Relative to the workspace, or absolute." },
                "content": { "type": "string", "description": "The whole text." },
            },
            "required": ["path", "content"],
            "additionalProperties": false,
        })
    }

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        let path = text(&call.args, "path")?.to_owned();
        let file = files::resolve(&self.workspace, &path);
        let before = files::blocking(move || files::read(&file)).await?;
        Ok(vec![Evidence::Diff {
            path,
            before,
            after: Some(text(&call.args, "content")?.to_owned()),
        }])
    }

    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        let (path, content) = (
            text(&call.args, "path")?.to_owned(),
            text(&call.args, "content")?.to_owned(),
        );
        let file = files::resolve(&self.workspace, &path);
        let (bytes, shown) = (content.len(), shown.to_vec());
        files::blocking(move || {
            files::as_shown(&path, &file, &shown)?;
            files::replace(&file, &content)?;
            Ok(format!("wrote {bytes} bytes to `{path}`"))
        })
        .await
    }
}
