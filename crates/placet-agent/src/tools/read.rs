//! `read`: a file's text, or some lines of it.

use std::fmt::Write as _;

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::{Value, json};

use super::files::{self, Workspace};
use super::{Tool, object, text};

/// Lines returned when the model does not say how many.
const LINES_USUAL: usize = 2000;

/// Reads files.
#[derive(Debug, Clone)]
pub struct Read(pub Workspace);

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn description(&self) -> &'static str {
        "Reads a text file. `offset` is the first line wanted, counted from 1; `limit` is how many."
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        let properties = json!({
            "path": files::path_schema(),
            "offset": { "type": "integer", "minimum": 1 },
            "limit": { "type": "integer", "minimum": 1 },
        });
        object(&["path"], properties)
    }

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        self.0.place(&call.args).await
    }

    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        let number = |name: &str| {
            let given = call.args.get(name).and_then(Value::as_u64);
            given.map(|number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let (offset, limit) = (
            number("offset").unwrap_or(1),
            number("limit").unwrap_or(LINES_USUAL),
        );
        let (workspace, asked, shown) = (self.0.clone(), call.clone(), shown.to_vec());
        let read = files::blocking(move || files::read(workspace.to_read(&asked, &shown)?.file()));
        let Some(text) = read.await? else {
            return Err(format!("there is no file `{}`", text(&call.args, "path")?));
        };
        let total = text.lines().count();
        let lines: Vec<&str> = text.lines().skip(offset - 1).take(limit).collect();
        let last = offset.saturating_sub(1).saturating_add(lines.len());
        let mut shown = lines.join("\n");
        if last < total {
            let next = last + 1;
            let _ = write!(
                shown,
                "\n[lines {offset} to {last} of {total}; continue with offset {next}]"
            );
        }
        Ok(shown)
    }

    fn reload(&self, config: &Config) {
        self.0.reload(config);
    }
}
