//! The agent's tools: how each runs, and what it can show before it does.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::ids::ToolName;
use placet_core::tool::Tool;
use placet_engine::toolbox::Toolbox;
use rusqlite::Connection;
use serde_json::{Value, json};

use super::stage::Stage;

/// The tools of one stage.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    work: PathBuf,
    database: PathBuf,
}

impl Tools {
    pub(super) fn on(stage: &Stage) -> Self {
        Self {
            work: stage.work().to_owned(),
            database: stage.database(),
        }
    }

    /// Runs exactly the call that was allowed.
    pub(super) fn run(&self, call: &ToolCall) -> Result<String, String> {
        let text = |name: &str| {
            call.args
                .text(name)
                .ok_or_else(|| format!("the argument `{name}` is missing"))
        };
        match call.tool.as_str() {
            "read" => fs::read_to_string(self.inside(text("path")?)?).map_err(|error| error.to_string()),
            "write" => {
                let path = self.inside(text("path")?)?;
                fs::write(path, text("content")?).map_err(|error| error.to_string())?;
                Ok("written".to_owned())
            }
            "bash" => self.shell(text("command")?),
            "sql_query" => {
                let db = Connection::open(&self.database).map_err(|error| error.to_string())?;
                let rows = db.execute(text("sql")?, []).map_err(|error| error.to_string())?;
                Ok(format!("{rows} rows changed"))
            }
            other => Err(format!("there is no tool `{other}`")),
        }
    }

    fn shell(&self, command: &str) -> Result<String, String> {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.work)
            .output()
            .map_err(|error| error.to_string())?;
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            Ok(said)
        } else {
            Err(said)
        }
    }

    /// A path of the agent's folder. People may have edited it, so it is checked here as well.
    fn inside(&self, path: &str) -> Result<PathBuf, String> {
        let plain = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if plain {
            Ok(self.work.join(path))
        } else {
            Err(format!("`{path}` is not in the demo's folder"))
        }
    }

    /// How many rows a statement would change: it runs in a transaction that is rolled back.
    fn count(&self, sql: &str) -> rusqlite::Result<usize> {
        let mut db = Connection::open(&self.database)?;
        let attempt = db.transaction()?;
        let rows = attempt.execute(sql, [])?;
        attempt.rollback()?;
        Ok(rows)
    }
}

#[async_trait]
impl Toolbox for Tools {
    /// They are stand-ins for the built-in tools of the same names.
    fn tool(&self, config: &Config, name: &ToolName) -> Option<Tool> {
        Some(config.builtin_tool(name))
    }

    fn schema(&self, tool: &str) -> Option<Value> {
        let argument = match tool {
            "bash" => "command",
            "sql_query" => "sql",
            _ => return None,
        };
        Some(json!({
            "type": "object",
            "properties": { argument: { "type": "string", "minLength": 1 } },
            "required": [argument],
            "additionalProperties": false,
        }))
    }

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        let args = &call.args;
        match (call.tool.as_str(), args.text("path"), args.text("sql")) {
            ("write", Some(path), _) => Ok(vec![Evidence::Diff {
                path: path.to_owned(),
                before: fs::read_to_string(self.inside(path)?).ok(),
                after: args.text("content").map(str::to_owned),
            }]),
            ("sql_query", _, Some(sql)) => {
                let count = self.count(sql).map_err(|error| error.to_string())?;
                Ok(vec![Evidence::Rows {
                    statement: sql.to_owned(),
                    count: u64::try_from(count).unwrap_or(u64::MAX),
                }])
            }
            _ => Ok(Vec::new()),
        }
    }
}
