//! What a run may call: the agent's tools, narrowed by its workflow and by how deep it is.

use placet_core::call::Args;
use placet_core::run::{DEPTH_MAX, RunStarted};

use crate::model::ToolSpec;
use crate::task::TASK;
use crate::tools::Tools;

/// The tools of one run. What is not offered cannot be called either.
pub(crate) struct RunTools<'a> {
    tools: &'a Tools,
    run: Option<&'a RunStarted>,
}

impl<'a> RunTools<'a> {
    pub(crate) fn new(tools: &'a Tools, run: Option<&'a RunStarted>) -> Self {
        Self { tools, run }
    }

    fn includes(&self, name: &str) -> bool {
        let Some(run) = self.run else { return true };
        let too_deep = name == TASK && run.origin.agent_path.len() >= DEPTH_MAX;
        !too_deep && run.workflow.as_ref().is_none_or(|workflow| workflow.offers(name))
    }

    /// What the model is told about them.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        specs.retain(|spec| self.includes(&spec.name));
        specs
    }

    /// Reads a call as a model wrote it. The error is what the model is told; nothing is judged or run then.
    pub(crate) fn read_call(&self, name: &str, args: &str) -> Result<Args, String> {
        if self.includes(name) && self.tools.get(name).is_some() {
            return self.tools.read_call(name, args);
        }
        let names: Vec<String> = self.specs().into_iter().map(|spec| spec.name).collect();
        Err(format!(
            "there is no tool `{name}`; there are: {}",
            names.join(", ")
        ))
    }
}
