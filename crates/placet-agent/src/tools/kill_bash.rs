//! `kill_bash`: ends a background job, and everything it started.

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::policy::Mode;
use placet_core::tool::{Category, OwnOpinion};
use serde_json::{Value, json};

use super::bash_output::told;
use super::jobs::{Jobs, id_schema};
use super::{Tool, object, text};

/// Ends background jobs.
#[derive(Clone)]
pub struct KillBash(pub Jobs);

#[async_trait]
impl Tool for KillBash {
    fn name(&self) -> &'static str {
        "kill_bash"
    }

    fn description(&self) -> &'static str {
        "Ends a background job of `bash` and everything it started, and returns what it printed last."
    }

    fn category(&self) -> Category {
        Category::Command
    }

    fn schema(&self) -> Value {
        let properties = json!({ "id": id_schema() });
        object(&["id"], properties)
    }

    /// A session may end what it started: that was agreed to, and stopping it undoes nothing.
    fn needs_approval(&self, call: &ToolCall, _: Mode) -> OwnOpinion {
        match call.args.text("id") {
            Some(id) if self.0.knows(&call.session, id) => OwnOpinion::NotNeeded,
            _ => OwnOpinion::Silent,
        }
    }

    async fn run(&self, call: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        Ok(told(&self.0.kill(&call.session, text(&call.args, "id")?).await?))
    }
}
