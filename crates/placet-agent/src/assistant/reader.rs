//! The model of messages that only read. A run keeps the model it began with, so a run that began to read stays one, also after
//! a crash and in the runs it hands work to.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use placet_core::tool::Category;

use crate::model::{Heard, Model, ModelError, Prompt, Spoken, ToolSpec};
use crate::tools::Tools;

/// A model that is offered only tools that read or ask. What it was not offered it cannot call either.
pub(super) struct Reader {
    name: String,
    model: Arc<dyn Model>,
    offered: BTreeSet<String>,
}

impl Reader {
    pub(super) fn new(model: Arc<dyn Model>, tools: &Tools) -> Self {
        let reads = |name: &String| {
            let category = tools.get(name).map(|tool| tool.category());
            matches!(category, Some(Category::Read | Category::Ask))
        };
        let names = tools.specs().into_iter().map(|spec| spec.name);
        Self {
            name: format!("{} (reading)", model.name()),
            offered: names.filter(reads).collect(),
            model,
        }
    }
}

#[async_trait]
impl Model for Reader {
    fn name(&self) -> &str {
        &self.name
    }

    async fn speak(&self, prompt: Prompt<'_>, heard: &Heard<'_>) -> Result<Spoken, ModelError> {
        let is_offered = |spec: &&ToolSpec| self.offered.contains(&spec.name);
        let tools: Vec<ToolSpec> = prompt.tools.iter().filter(is_offered).cloned().collect();
        let prompt = Prompt {
            tools: &tools,
            ..prompt
        };
        let mut spoken = self.model.speak(prompt, heard).await?;
        for call in &mut spoken.calls {
            if !self.offered.contains(&call.tool) {
                // A name that no tool has: the model is told that it is unknown, and nothing is judged or run.
                call.tool.push_str(" (not offered)");
            }
        }
        Ok(spoken)
    }
}
