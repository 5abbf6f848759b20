//! What an agent in this process knows about its tools: what they are, their own opinion on a call, and evidence to show.
//! Other agents' tools of the same names are other tools, so a toolbox is consulted for its own agent's calls only.

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::ids::ToolName;
use placet_core::interaction::InteractionRequest;
use placet_core::policy::Mode;
use placet_core::tool::{OwnOpinion, Tool};
use serde_json::Value;

/// What is known of the tools of one agent beyond the configuration. All of it is optional.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// What a tool is, under this configuration. The program that holds the toolbox vouches for it. Without an answer the
    /// tool is known only by the operator's `[tools.NAME]`.
    fn tool(&self, config: &Config, name: &ToolName) -> Option<Tool> {
        let _ = (config, name);
        None
    }

    /// What a tool's definition says about it, for the people who are asked.
    fn description(&self, tool: &str) -> Option<String> {
        let _ = tool;
        None
    }

    /// JSON Schema of a tool's arguments, to check a person's edits against.
    fn schema(&self, tool: &str) -> Option<Value> {
        let _ = tool;
        None
    }

    /// This configuration is in force from now on: told at the start, and whenever it is replaced.
    fn reload(&self, config: &Config) {
        let _ = config;
    }

    /// Whether the tool itself says that this call needs approval, or none (step 9). `mode` is that of the call's session.
    async fn opinion(&self, call: &ToolCall, mode: Mode) -> OwnOpinion {
        let _ = (call, mode);
        OwnOpinion::Silent
    }

    /// The question a call puts to people, when that is all it does (category `ask`): they answer it instead of approving the
    /// call, and the answer is its result. An invalid request leads to the ordinary question about the call.
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
