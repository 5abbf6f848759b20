//! A tool of the built-in agent, and the built-in ones.
//!
//! A tool says what it is and what it would do; whether it may is not its business. `run` is called with exactly the call that
//! was allowed, once per grant, and may be dropped at any time: the run was ended, or the call took too long.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use placet_core::call::{Args, ToolCall};
use placet_core::evidence::Evidence;
use placet_core::interaction::InteractionRequest;
use placet_core::tool::Category;
use placet_engine::toolbox::Toolbox;
use serde_json::Value;

use crate::model::ToolSpec;

mod ask;
mod bash;
mod edit;
mod files;
mod ls;
mod read;
mod write;

pub use ask::AskUserQuestion;
pub use bash::Bash;
pub use edit::Edit;
pub use ls::Ls;
pub use read::Read;
pub use write::Write;

/// One tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// What the model is told about it.
    fn description(&self) -> &str;

    /// Its kind of effect. May raise what the policy thinks of it, never lower it.
    fn category(&self) -> Category;

    /// JSON Schema of its arguments.
    fn schema(&self) -> Value;

    /// The question it puts to people, when that is all it does. The error tells the model what is wrong with it.
    fn question(&self, args: &Args) -> Option<Result<InteractionRequest, String>> {
        let _ = args;
        None
    }

    /// What it can show of the effect beforehand.
    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        let _ = call;
        Ok(Vec::new())
    }

    /// Does it. `shown` is the evidence people saw when they allowed it, if they were asked.
    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String>;
}

/// The tools of an agent. Also what the engine knows of them: pass a clone to `Engine::builder(…).toolbox(…)`.
#[derive(Clone, Default)]
pub struct Tools(Arc<BTreeMap<String, Arc<dyn Tool>>>);

impl Tools {
    /// These tools. The last of two with the same name counts.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let named = tools.into_iter().map(|tool| (tool.name().to_owned(), tool));
        Self(Arc::new(named.collect()))
    }

    /// The built-in tools, working in a folder.
    pub fn builtin(workspace: &Path) -> Self {
        Self::builtin_hiding(workspace, [])
    }

    /// The same; these variables of the environment are kept from commands. Keys of models belong here.
    pub fn builtin_hiding(workspace: &Path, variables: impl IntoIterator<Item = String>) -> Self {
        Self::new([
            Arc::new(Read::new(workspace)) as Arc<dyn Tool>,
            Arc::new(Ls::new(workspace)),
            Arc::new(Write::new(workspace)),
            Arc::new(Edit::new(workspace)),
            Arc::new(Bash::new(workspace).hiding(variables)),
            Arc::new(AskUserQuestion),
        ])
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.0.get(name)
    }

    /// What a model is told about them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let spec = |tool: &Arc<dyn Tool>| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
        };
        self.0.values().map(spec).collect()
    }

    /// Reads a call as a model wrote it. The error is what the model is told; nothing is judged or run then.
    pub(crate) fn read_call(&self, name: &str, args: &str) -> Result<Args, String> {
        let Some(tool) = self.get(name) else {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            return Err(format!(
                "there is no tool `{name}`; there are: {}",
                known.join(", ")
            ));
        };
        // Models leave the arguments out when there are none.
        let args = if args.trim().is_empty() { "{}" } else { args };
        let args = Args::parse(args.as_bytes()).map_err(|error| error.to_string())?;
        let validator = jsonschema::validator_for(&tool.schema())
            .map_err(|error| format!("the schema of `{name}` is broken: {error}"))?;
        validator.validate(args.as_value()).map_err(|error| {
            format!(
                "the arguments do not fit `{name}`: {error} (at `{}`)",
                error.instance_path()
            )
        })?;
        match tool.question(&args) {
            Some(Err(why)) => Err(why),
            Some(Ok(_)) | None => Ok(args),
        }
    }
}

#[async_trait]
impl Toolbox for Tools {
    fn schema(&self, tool: &str) -> Option<Value> {
        self.get(tool).map(|tool| tool.schema())
    }

    fn question(&self, call: &ToolCall) -> Option<InteractionRequest> {
        self.get(call.tool.as_str())?.question(&call.args)?.ok()
    }

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        match self.get(call.tool.as_str()) {
            Some(tool) => tool.evidence(call).await,
            None => Ok(Vec::new()),
        }
    }
}

/// A text argument the schema requires.
fn text<'a>(args: &'a Args, name: &str) -> Result<&'a str, String> {
    args.text(name)
        .ok_or_else(|| format!("the argument `{name}` is missing"))
}

/// A call of a tool, as the gate hands it over.
#[cfg(test)]
fn a_call(tool: &str, args: Value) -> ToolCall {
    use placet_core::call::Origin;
    use placet_core::ids::{AgentId, CallId, SessionId, ToolName};

    ToolCall {
        id: CallId::new("call-1").unwrap(),
        tool: ToolName::new(tool).unwrap(),
        args: Args::from_value(args).unwrap(),
        session: SessionId::new("s-1").unwrap(),
        origin: Origin {
            agent: AgentId::new("placet").unwrap(),
            agent_path: Vec::new(),
            chat: None,
            user: None,
        },
        group: None,
        description: None,
    }
}
