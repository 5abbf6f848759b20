//! A tool of the built-in agent, and the built-in ones.
//!
//! A tool says what it is and what it would do; whether it may is not its business. `run` is called with exactly the call that
//! was allowed, once per grant, and may be dropped at any time: the run was ended, or the call took too long.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use placet_core::call::{Args, ToolCall};
use placet_core::config::Config;
use placet_core::confine::Confinement;
use placet_core::evidence::Evidence;
use placet_core::ids::{SessionId, ToolName};
use placet_core::interaction::InteractionRequest;
use placet_core::policy::Mode;
use placet_core::tool::{Category, OwnOpinion, Risk, Tool as Known};
use placet_engine::Engine;
use placet_engine::toolbox::Toolbox;
use serde_json::Value;

use crate::mcp::{Listing, PinsError, Servers};
use crate::model::{SpokenCall, ToolSpec};
use crate::sandbox::{Sandbox, Support};

mod ask;
mod bash;
mod bash_output;
mod changing;
mod data_modify;
mod database;
mod edit;
mod fetch;
mod files;
mod glob;
mod grep;
mod jobs;
mod kill_bash;
mod ls;
mod process;
mod read;
mod resolved_path;
mod skill;
mod sql_query;
mod todo;
mod unasked;
mod walk;
mod write;

pub use ask::AskUserQuestion;
pub use bash::Bash;
pub use bash_output::BashOutput;
pub use data_modify::DataModify;
pub use database::{Database, DatabaseError, Databases};
pub use edit::Edit;
pub use fetch::Fetch;
pub use files::Workspace;
pub use glob::Glob;
pub use grep::Grep;
pub use jobs::Jobs;
pub use kill_bash::KillBash;
pub use ls::Ls;
pub use read::Read;
pub use skill::Skill;
pub use sql_query::SqlQuery;
pub use todo::Todo;
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

    /// How bad it could be, if worse than its category says. May raise what the policy thinks of it, never lower it.
    fn risk(&self) -> Option<Risk> {
        None
    }

    /// JSON Schema of its arguments.
    fn schema(&self) -> Value;

    /// The calls that one call stands for, when it asks for several things at once: each gets a verdict, a question and a result
    /// of its own. `None` when it is one call, or none that can be read.
    fn apart(&self, args: &str) -> Option<Vec<String>> {
        let _ = args;
        None
    }

    /// Whether it says itself that this call needs approval, or none, in the mode its session has. *Needed* asks a person in every
    /// mode, unless a rule or an override of the operator allows the call. *Not needed* counts where nothing stricter has spoken: a
    /// rule, HIGH risk or `strict`.
    fn needs_approval(&self, call: &ToolCall, mode: Mode) -> OwnOpinion {
        let _ = (call, mode);
        OwnOpinion::Silent
    }

    /// What is wrong with a call that its schema cannot say. The error goes to the model, and no request is made.
    fn check(&self, args: &Args) -> Result<(), String> {
        let _ = args;
        Ok(())
    }

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

    /// What confines this call while it runs, if the tool sees to that. Policy judges the call by it, and the call then runs with
    /// [`Tool::run_within`].
    fn confinement(&self, call: &ToolCall) -> Option<Confinement> {
        let _ = call;
        None
    }

    /// Does it. `shown` is the evidence people saw when they allowed it, if they were asked.
    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String>;

    /// Does it under the confinement that was promised, or not at all. `risk` is what policy found.
    async fn run_within(
        &self,
        call: &ToolCall,
        shown: &[Evidence],
        confinement: &Confinement,
        risk: Risk,
    ) -> Result<String, String> {
        let _ = (call, shown, confinement, risk);
        Err("nothing ran: this tool cannot be confined any more".into())
    }

    /// Another configuration is in force from now on.
    fn reload(&self, config: &Config) {
        let _ = config;
    }

    /// A session is over: what runs on for it ends.
    fn end_session(&self, session: &SessionId) {
        let _ = session;
    }

    /// The agent stops: whatever runs on ends.
    fn shut_down(&self) {}
}

/// What the built-in tools are to know.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The folder they work in.
    pub workspace: PathBuf,
    /// Variables of the environment that are kept from commands, besides those that the configuration in force keeps to itself.
    pub hidden_variables: Vec<String>,
    /// Folders of skills beside the workspace's own.
    pub skills: Vec<String>,
    /// Databases they may use.
    pub databases: Vec<Database>,
    /// Whether the system can confine commands.
    pub support: Support,
}

impl Surroundings {
    /// A folder, and nothing else.
    pub fn of(workspace: &Path) -> Self {
        Self {
            workspace: workspace.to_owned(),
            hidden_variables: Vec::new(),
            skills: Vec::new(),
            databases: Vec::new(),
            support: Support::probe(),
        }
    }
}

/// The tools of an agent. Also what the engine knows of them: pass a clone to `Engine::builder(…).toolbox(agent, …)`.
#[derive(Clone, Default)]
pub struct Tools {
    own: Arc<BTreeMap<String, Arc<dyn Tool>>>,
    others: Others,
}

/// Those of MCP servers.
#[derive(Clone, Default)]
enum Others {
    /// There are none.
    #[default]
    None,
    /// Whichever there are at the moment.
    Changing(Servers),
    /// Those there were when a run began; shared by all runs that began with them.
    Held(Arc<Listing>),
}

impl Tools {
    /// These tools. The last of two with the same name counts.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let named = tools.into_iter().map(|tool| (tool.name().to_owned(), tool));
        Self {
            own: Arc::new(named.collect()),
            others: Others::None,
        }
    }

    /// The same, and those of MCP servers. None of them takes the place of one of ours.
    #[must_use]
    pub fn with_servers(self, servers: Servers) -> Self {
        Self {
            others: Others::Changing(servers),
            ..self
        }
    }

    /// The tools there are now, after asking servers that have news: what a run that begins now may call till its end.
    pub(crate) async fn now(&self) -> Self {
        let Others::Changing(servers) = &self.others else {
            return self.clone();
        };
        servers.refresh().await;
        Self {
            own: Arc::clone(&self.own),
            others: Others::Held(servers.listing()),
        }
    }

    /// The built-in tools, working in a folder.
    pub fn builtin(workspace: &Path) -> Self {
        Self::builtin_in(Surroundings::of(workspace))
    }

    /// The built-in tools. Those for databases are there when databases are.
    pub fn builtin_in(surroundings: Surroundings) -> Self {
        let workspace = Workspace::new(&surroundings.workspace);
        let jobs = Jobs::default();
        let sandbox = Sandbox::new(&surroundings.workspace, surroundings.support);
        let bash = Bash::new(workspace.clone(), jobs.clone(), sandbox).hiding(surroundings.hidden_variables);
        let tools = Self::new([
            Arc::new(Read(workspace.clone())) as Arc<dyn Tool>,
            Arc::new(Ls(workspace.clone())),
            Arc::new(Glob(workspace.clone())),
            Arc::new(Grep::new(workspace.clone())),
            Arc::new(Write(workspace.clone())),
            Arc::new(Edit(workspace.clone())),
            Arc::new(bash),
            Arc::new(BashOutput(jobs.clone())),
            Arc::new(KillBash(jobs)),
            Arc::new(Fetch::new()),
            Arc::new(Todo),
            Arc::new(Skill::new(&workspace, &surroundings.skills)),
            Arc::new(AskUserQuestion),
            Arc::new(crate::Task),
        ]);
        if surroundings.databases.is_empty() {
            return tools;
        }
        let databases = Databases::new(surroundings.databases);
        tools.with([
            Arc::new(SqlQuery::new(databases.clone())) as Arc<dyn Tool>,
            Arc::new(DataModify::new(databases)),
        ])
    }

    /// These and others. The last of two with the same name counts.
    #[must_use]
    pub fn with(&self, others: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self {
            others: self.others.clone(),
            ..Self::new(self.own.values().cloned().chain(others))
        }
    }

    /// From here on how tools of MCP servers first looked is in the store of this engine.
    pub(crate) async fn keep_pins_in(&self, engine: &Engine) -> Result<(), PinsError> {
        match &self.others {
            Others::Changing(servers) => servers.keep_pins_in(engine).await,
            Others::None | Others::Held(_) => Ok(()),
        }
    }

    /// Stops the servers some of them come from.
    pub(crate) async fn stop(&self) {
        if let Others::Changing(servers) = &self.others {
            servers.stop().await;
        }
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let own = self.own.get(name).cloned();
        own.or_else(|| self.listing()?.get(name).cloned())
    }

    fn listing(&self) -> Option<Arc<Listing>> {
        match &self.others {
            Others::None => None,
            Others::Changing(servers) => Some(servers.listing()),
            Others::Held(listing) => Some(Arc::clone(listing)),
        }
    }

    fn all(&self) -> BTreeMap<String, Arc<dyn Tool>> {
        let mut all = self
            .listing()
            .map_or_else(BTreeMap::new, |listing| (*listing).clone());
        all.extend(
            self.own
                .iter()
                .map(|(name, tool)| (name.clone(), Arc::clone(tool))),
        );
        all
    }

    /// What a model is told about them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let spec = |tool: &Arc<dyn Tool>| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
        };
        self.all().values().map(spec).collect()
    }

    /// The calls that a model's call stands for; most stand for themselves.
    pub(crate) fn apart(&self, call: SpokenCall) -> Vec<SpokenCall> {
        match self.get(&call.tool).and_then(|tool| tool.apart(&call.args)) {
            Some(parts) => parts
                .into_iter()
                .map(|args| SpokenCall {
                    tool: call.tool.clone(),
                    args,
                })
                .collect(),
            None => vec![call],
        }
    }

    /// A session is over: what runs on for it ends.
    pub(crate) fn end_session(&self, session: &SessionId) {
        self.own.values().for_each(|tool| tool.end_session(session));
    }

    /// Ends whatever runs on.
    pub(crate) fn shut_down(&self) {
        self.own.values().for_each(|tool| tool.shut_down());
    }

    /// Reads a call as a model wrote it. The error is what the model is told; nothing is judged or run then.
    pub(crate) fn read_call(&self, name: &str, args: &str) -> Result<Args, String> {
        let Some(tool) = self.get(name) else {
            let known: Vec<String> = self.all().into_keys().collect();
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
        tool.check(&args)?;
        match tool.question(&args) {
            Some(Err(why)) => Err(why),
            Some(Ok(_)) | None => Ok(args),
        }
    }
}

#[async_trait]
impl Toolbox for Tools {
    fn tool(&self, config: &Config, name: &ToolName) -> Option<Known> {
        self.own.get(name.as_str()).map(|_| config.builtin_tool(name))
    }

    fn description(&self, tool: &str) -> Option<String> {
        self.get(tool).map(|tool| tool.description().to_owned())
    }

    fn schema(&self, tool: &str) -> Option<Value> {
        self.get(tool).map(|tool| tool.schema())
    }

    fn reload(&self, config: &Config) {
        self.own.values().for_each(|tool| tool.reload(config));
    }

    async fn opinion(&self, call: &ToolCall, mode: Mode) -> OwnOpinion {
        let tool = self.get(call.tool.as_str());
        tool.map_or(OwnOpinion::Silent, |tool| tool.needs_approval(call, mode))
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

/// The schema of arguments: these, of which some are required, and no others.
fn object(required: &[&str], properties: Value) -> Value {
    let schema: [(&str, Value); 4] = [
        ("type", "object".into()),
        ("properties", properties),
        ("required", required.into()),
        ("additionalProperties", false.into()),
    ];
    let schema = schema.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(schema.collect())
}

/// A text argument the schema requires.
fn text<'a>(args: &'a Args, name: &str) -> Result<&'a str, String> {
    args.text(name)
        .ok_or_else(|| format!("the argument `{name}` is missing"))
}

/// A call of a tool, as the gate hands it over.
#[cfg(test)]
pub(crate) fn a_call(tool: &str, args: Value) -> ToolCall {
    use placet_core::call::Origin;
    use placet_core::ids::{AgentId, CallId, ToolName};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_knows_every_built_in_tool_and_no_argument_slips_past_its_schema() {
        let folder = tempfile::tempdir().unwrap();
        for spec in Tools::builtin(folder.path()).specs() {
            assert!(
                Known::builtin(&ToolName::new(&spec.name).unwrap()).is_some(),
                "{}",
                spec.name
            );
            assert_eq!(spec.schema["additionalProperties"], false, "{}", spec.name);
        }
    }
}
