//! Building an assistant: the product, its model, its tools, and how freely it may act.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use placet_core::call::Chat;
use placet_core::config::Config;
use placet_core::ids::{AgentId, IdError, PersonId, ToolName};
use placet_core::policy::{Mode, Settings};
use placet_core::time::Millis;
use placet_core::tool::Declared;
use placet_engine::Engine;
use placet_engine::channel::Channel;

use super::reader::Reader;
use super::vendor::{self, ModelError};
use super::{Assistant, ModelNameError, Provider};
use crate::agent::{self, Agent};
use crate::configured;
use crate::model::{AccessError, Model};
use crate::tools::{Surroundings, Tool, Tools};

/// Who the assistant works for by default.
const USER: &str = "user";

/// Builds an [`Assistant`].
#[must_use]
pub struct Builder {
    product: String,
    version: String,
    model: Thinks,
    providers: BTreeMap<String, Provider>,
    config: Config,
    mode: Option<Mode>,
    approval_tools: Vec<String>,
    workspace: Option<PathBuf>,
    store: Option<PathBuf>,
    tools: Vec<Arc<dyn Tool>>,
    prompt: Option<String>,
    user: String,
    asks: Option<(Arc<dyn Channel>, Chat)>,
}

/// What the assistant thinks with.
enum Thinks {
    Nothing,
    Vendor(String),
    Own(Arc<dyn Model>),
}

/// Why an assistant does not start.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// There is nothing to think with.
    #[error("no model is named; `.model(\"provider/model\")` names one")]
    NoModel,
    /// The model's name says nothing.
    #[error(transparent)]
    ModelName(#[from] ModelNameError),
    /// The model cannot be reached as given.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The configuration says something that only `placet serve` and `placet chat` can honour.
    #[error("an assistant does not read `{key}` of its configuration; {instead}")]
    NotForAssistants {
        /// Which section.
        key: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// Invalid name.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The engine does not start.
    #[error(transparent)]
    Engine(#[from] placet_engine::StartError),
    /// The agent does not start.
    #[error(transparent)]
    Agent(#[from] agent::StartError),
}

impl From<ModelError> for InitError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Name(error) => Self::ModelName(error),
            ModelError::Access(error) => Self::Access(error),
        }
    }
}

impl Builder {
    pub(super) fn new(product: String, version: String) -> Self {
        Self {
            product,
            version,
            model: Thinks::Nothing,
            providers: BTreeMap::new(),
            config: Config::builtin(placet_inspect::builtin()),
            mode: None,
            approval_tools: Vec::new(),
            workspace: None,
            store: None,
            tools: Vec::new(),
            prompt: None,
            user: USER.to_owned(),
            asks: None,
        }
    }

    /// The model, `provider/model`: `zhipuai/glm-4.7`, `anthropic/claude-sonnet-4`, `deepseek/deepseek-chat`.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Thinks::Vendor(name.into());
        self
    }

    /// A model of your own instead.
    pub fn own_model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Thinks::Own(model);
        self
    }

    /// How a provider is reached. One that is not given is reached as the environment says.
    pub fn provider(mut self, name: impl Into<String>, provider: Provider) -> Self {
        self.providers.insert(name.into(), provider);
        self
    }

    /// How freely it may act; what the configuration says when not given.
    pub fn approval_mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Tools every session may use without asking, unless HIGH risk, `strict` or a rule says otherwise.
    pub fn approval_tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.approval_tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// How long an approver has. A callback that takes longer has not approved.
    pub fn approval_timeout(mut self, timeout: Duration) -> Self {
        let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.config.approval.timeout = Some(Millis::new(millis));
        self
    }

    /// Rules, people and settings, as a `placet.toml` says them. Settings given after it win. `[databases]`, `[mcp.servers]`, `[models]`,
    /// `[workflows]` and channels that `asks_in` does not connect are refused at the start: an assistant gets those from its program.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// The folder it works in; the current one when not given.
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Keeps everything in a file, where `placet inbox` and `placet audit` find it, and runs survive the process. Otherwise it
    /// is in memory, no inbox is served, and a call without a decision is denied.
    pub fn store(mut self, file: impl Into<PathBuf>) -> Self {
        self.store = Some(file.into());
        self
    }

    /// Adds a tool to the built-in ones, or puts it in the place of one. Its category is the product's word, and counts.
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// What the model is told first.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    /// Whom it works for: they are asked, and sessions are theirs.
    pub fn user(mut self, person: impl Into<String>) -> Self {
        self.user = person.into();
        self
    }

    /// Where its user is asked, when no callback decides.
    pub fn asks_in(mut self, channel: Arc<dyn Channel>, chat: Chat) -> Self {
        self.asks = Some((channel, chat));
        self
    }

    /// Starts, and resumes every run that has not ended.
    pub async fn start(mut self) -> Result<Assistant, InitError> {
        self.check_config()?;
        let agent = AgentId::new(self.product.as_str())?;
        let person = PersonId::new(self.user.as_str())?;
        let allowed = self
            .approval_tools
            .iter()
            .map(|name| ToolName::new(name.as_str()));
        let approval_tools = allowed.collect::<Result<_, IdError>>()?;
        let model = self.thinks()?;
        let workspace = self
            .workspace
            .take()
            .unwrap_or_else(|| self.config.workspace.root.clone().into());
        let workspace = std::path::absolute(&workspace).unwrap_or(workspace);
        let tools = self.all_tools(&workspace)?;
        let reader = Arc::new(Reader::new(Arc::clone(&model), &tools));
        let reader_name = reader.name().to_owned();
        self.decide_by_mode();
        let limits = self.config.agent.limits;
        let mut engine = Engine::builder(self.config)
            .workspace(&workspace)
            .toolbox(agent.clone(), tools.clone());
        let place = self.asks.map(|(channel, chat)| (chat, channel));
        let place = match place {
            Some((chat, channel)) => {
                engine = engine.channel(channel);
                Some(chat)
            }
            None => None,
        };
        let engine = match &self.store {
            Some(file) => engine.start(file).await?,
            None => engine.without_inbox().start_in_memory().await?,
        };
        let mut builder = Agent::builder(engine, tools)
            .named(agent)
            .model(model)
            .model(reader)
            .limits(limits);
        if let Some(prompt) = self.prompt {
            builder = builder.prompt(prompt);
        }
        Ok(Assistant {
            agent: builder.start().await?,
            person,
            place,
            approval_tools,
            reader: reader_name,
        })
    }

    /// A section that nothing here would read is refused: ignored, it would promise what does not happen.
    fn check_config(&self) -> Result<(), InitError> {
        let config = &self.config;
        let connected = self.asks.as_ref().map(|(channel, _)| channel.name());
        let other_channels = config.channels.keys().any(|name| Some(name) != connected);
        let unread = [
            (
                !config.databases.is_empty(),
                "[databases]",
                "give it a tool for the database with `.tool(…)`",
            ),
            (
                !config.mcp_servers.is_empty(),
                "[mcp.servers]",
                "give it the servers' tools with `.tool(…)`",
            ),
            (
                other_channels,
                "[channels]",
                "connect the channel with `.asks_in(…)`",
            ),
            (
                !config.models.is_empty(),
                "[models]",
                "name the model with `.model(…)`",
            ),
            (
                !config.workflows.is_empty(),
                "[workflows]",
                "begin a workflow with `.agent().start_workflow(…)`",
            ),
        ];
        match unread.into_iter().find(|(given, _, _)| *given) {
            Some((_, key, instead)) => Err(InitError::NotForAssistants { key, instead }),
            None => Ok(()),
        }
    }

    fn thinks(&self) -> Result<Arc<dyn Model>, InitError> {
        match &self.model {
            Thinks::Nothing => Err(InitError::NoModel),
            Thinks::Own(model) => Ok(Arc::clone(model)),
            Thinks::Vendor(name) => {
                let product = format!("{}/{}", self.product, self.version);
                Ok(vendor::model(name, &self.providers, &product)?)
            }
        }
    }

    /// The built-in tools and the product's own. What the product says of its own tools is the operator's word, unless the
    /// configuration says something else.
    fn all_tools(&mut self, workspace: &std::path::Path) -> Result<Tools, InitError> {
        let vendors = self.providers.keys().map(String::as_str);
        let named = match &self.model {
            Thinks::Vendor(name) => vendor::split(name).ok().map(|(vendor, _)| vendor),
            Thinks::Nothing | Thinks::Own(_) => None,
        };
        let keys = vendors.chain(named).map(|vendor| {
            let [key, _] = vendor::variables(vendor);
            key
        });
        let builtin = Tools::builtin_in(Surroundings {
            hidden_variables: keys.collect(),
            ..configured::surroundings(&self.config, workspace)
        });
        for tool in &self.tools {
            let name = ToolName::new(tool.name())?;
            self.config
                .tools
                .entry(name)
                .or_insert_with(|| Declared::of_category(tool.category()));
        }
        Ok(builtin.with(self.tools.iter().cloned()))
    }

    fn decide_by_mode(&mut self) {
        let Some(mode) = self.mode else { return };
        let policy = &self.config.policy;
        let settings = Settings {
            mode,
            ..policy.settings().clone()
        };
        self.config.policy = policy.with_settings(settings);
    }
}
