//! What the embedding program knows about its tools: their own opinion on a call, and evidence to show.

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::interaction::InteractionRequest;
use placet_core::tool::OwnOpinion;
use serde_json::Value;

/// The embedding program's knowledge of its tools. All of it is optional.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// JSON Schema of a tool's arguments, to check a person's edits against.
    fn schema(&self, tool: &str) -> Option<Value> {
        let _ = tool;
        None
    }

    /// This configuration is in force from now on: told at the start, and whenever it is replaced.
    fn reload(&self, config: &Config) {
        let _ = config;
    }

    /// Whether the tool itself says that this call needs no approval (step 9).
    async fn opinion(&self, call: &ToolCall) -> OwnOpinion {
        let _ = call;
        OwnOpinion::Silent
    }

    /// The question a call puts to people, when that is all it does (category `ask`): they answer it instead of approving the
    /// call, and the answer is its result. A request that is none leads to the ordinary question about the call.
    fn question(&self, call: &ToolCall) -> Option<InteractionRequest> {
        let _ = call;
        None
    }

    /// What the tool can show of the effect: a diff, the number of rows. Called only when a person will be asked.
    ///
    /// The error is shown beside the question, because its absence is news too; it never lets a call through.
    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        let _ = call;
        Ok(Vec::new())
    }
}

/// No knowledge beyond the configuration.
#[derive(Debug, Clone, Copy)]
pub struct NoToolbox;

#[async_trait]
impl Toolbox for NoToolbox {}
