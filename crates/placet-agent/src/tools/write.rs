//! `write`: a file's whole text, replaced at once. People see the diff, and what they saw is what is replaced.

use async_trait::async_trait;
use placet_core::call::{Args, ToolCall};
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::{Value, json};

use super::files::{self, After, Workspace};
use super::{Tool, object, text};

/// Writes files.
#[derive(Debug, Clone)]
pub struct Write(pub Workspace);

fn content(args: &Args) -> Result<After, String> {
    let content = text(args, "content")?.to_owned();
    Ok(Box::new(|_| Ok(content)))
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
        let properties = json!({
            "path": files::path_schema(),
            "content": { "type": "string", "description": "The whole text." },
        });
        object(&["path", "content"], properties)
    }

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        files::shown(&self.0, &call.args, content(&call.args)?).await
    }

    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        let bytes = files::change(&self.0, call, shown, content(&call.args)?).await?;
        Ok(format!("wrote {bytes} bytes to `{}`", text(&call.args, "path")?))
    }

    fn reload(&self, config: &Config) {
        self.0.reload(config);
    }
}
