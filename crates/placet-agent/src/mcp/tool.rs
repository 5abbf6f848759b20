//! A tool of an MCP server, as the agent and the gate see it.

use std::sync::Arc;

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::confine::Confinement;
use placet_core::evidence::Evidence;
use placet_core::tool::{Category, Risk};
use serde_json::Value;

use super::definition::Definition;
use super::server::Server;
use crate::tools::Tool;

/// The tools of one server, as it described them last.
pub(super) fn of(server: &Arc<Server>) -> impl Iterator<Item = Arc<dyn Tool>> {
    server.definitions().into_iter().map(|definition| {
        Arc::new(McpTool {
            server: Arc::clone(server),
            definition,
        }) as Arc<dyn Tool>
    })
}

struct McpTool {
    server: Arc<Server>,
    definition: Definition,
}

impl McpTool {
    /// How it looked before, if it looks different now.
    fn changed_from(&self) -> Option<String> {
        let Definition { name, text, .. } = &self.definition;
        self.server.pins().changed_from(name, text)
    }

    fn title(&self) -> String {
        format!("definition of {}", self.definition.name)
    }
}

#[async_trait]
impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn description(&self) -> &str {
        &self.definition.description
    }

    /// Whatever the server says: a hint of its own lowers nothing.
    fn category(&self) -> Category {
        Category::Command
    }

    fn risk(&self) -> Option<Risk> {
        (self.definition.destructive || self.changed_from().is_some()).then_some(Risk::High)
    }

    fn schema(&self) -> Value {
        self.definition.schema.clone()
    }

    async fn evidence(&self, _: &ToolCall) -> Result<Vec<Evidence>, String> {
        let Some(before) = self.changed_from() else {
            return Ok(Vec::new());
        };
        let note = Evidence::Note {
            title: "This tool has changed".into(),
            text: format!(
                "The MCP server `{}` describes it differently than when it was first seen, or last approved.",
                self.server.name()
            ),
        };
        let diff = Evidence::Diff {
            path: self.title(),
            before: Some(Definition::pretty(&before)),
            after: Some(Definition::pretty(&self.definition.text)),
        };
        Ok(vec![note, diff])
    }

    fn confinement(&self, _: &ToolCall) -> Option<Confinement> {
        self.server.confinement()
    }

    async fn run_within(
        &self,
        call: &ToolCall,
        shown: &[Evidence],
        confinement: &Confinement,
        _: Risk,
    ) -> Result<String, String> {
        // It was started under what its entry says, and the entry holds until Placet is started again.
        if self.server.confinement().as_ref() != Some(confinement) {
            return Err(
                "nothing ran: the MCP server is not confined as it was when the call was judged".into(),
            );
        }
        self.run(call, shown).await
    }

    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        let now = Definition::pretty(&self.definition.text);
        let seen = |evidence: &Evidence| {
            matches!(evidence, Evidence::Diff { path, after: Some(after), .. }
                if *path == self.title() && *after == now)
        };
        if shown.iter().any(seen) {
            let Definition { name, text, .. } = &self.definition;
            if let Err(error) = self.server.pins().accept(name, text).await {
                tracing::error!(tool = %name, %error, "an approved change of an MCP tool could not be stored; its next call needs approval again");
            }
        }
        let arguments = call.args.as_value().as_object().cloned().unwrap_or_default();
        self.server.call(&self.definition, arguments).await
    }
}
