//! The built-in agent of a configuration: its tools, and the models it thinks with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use placet_core::call::ToolCall;
use placet_core::config::{
    Config, ConfigError, Database as ConfiguredDatabase, DatabaseUrl, EnvValue, McpServer, McpTransport,
    Model as ConfiguredModel, Secret, Workflow,
};
use placet_core::confine::Confinement;
use placet_core::ids::AgentId;
use placet_core::run::Limits;
use placet_core::time::Millis;
use placet_engine::Engine;
use placet_engine::secret::{self, SecretError};

use crate::agent::{self, Agent};
use crate::mcp::{Access, Pins, PinsError, Servers, Transport};
use crate::model::{self, ApiKey, ConfiguredError, Model};
use crate::sandbox::{self, Sandbox, Support};
use crate::tools::{Database, Surroundings, Tools};

/// The file in which older versions kept how MCP tools looked when they were first seen.
const PINS: &str = "mcp-tools.json";

/// Why there is no model to think with.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// None is configured.
    #[error("no model is configured; add a `[models.NAME]` to placet.toml")]
    None,
    /// Several are, and none is named.
    #[error("{} models are configured ({}); name one of them in `[agent] model`", .0.len(), .0.join(", "))]
    Several(Vec<String>),
    /// Not the one that was named.
    #[error("there is no `[models.{0}]`")]
    Unknown(String),
    /// Its key is not where the configuration says.
    #[error("the key of the model `{name}` cannot be used: {source}")]
    Key {
        /// Which model.
        name: String,
        /// Why not.
        source: SecretError,
    },
    /// It cannot be used as configured.
    #[error("the model `{name}` cannot be used: {source}")]
    Unusable {
        /// Which model.
        name: String,
        /// Why not.
        source: ConfiguredError,
    },
}

/// Why the MCP servers cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum ServersError {
    /// A secret is not where the configuration says.
    #[error("a secret of the MCP server `{name}` cannot be used: {source}")]
    Secret {
        /// Which server.
        name: String,
        /// Why not.
        source: SecretError,
    },
    /// It cannot be said how their tools looked when they were first seen.
    #[error(transparent)]
    Pins(#[from] PinsError),
}

/// Why the agent of a configuration cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Its model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Its MCP servers cannot be used.
    #[error(transparent)]
    Servers(#[from] ServersError),
}

/// The agent of a configuration before its engine runs. Its MCP servers run already.
pub struct Setup {
    model: Arc<dyn Model>,
    others: Vec<Arc<dyn Model>>,
    tools: Tools,
    limits: Limits,
}

impl Setup {
    /// The agent with the model that is named, or the one of `[agent]`. `None` when no model is configured, or several are and none
    /// is named.
    pub async fn of(config: &Config, data: &Path, named: Option<&str>) -> Result<Option<Self>, SetupError> {
        let model = match model(config, named) {
            Ok(model) => model,
            Err(ModelError::None) => return Ok(None),
            Err(error @ ModelError::Several(_)) => {
                tracing::warn!(%error, "there is no built-in agent");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(warning) = sandbox(config).warning() {
            tracing::warn!("{warning}");
        }
        Ok(Some(Self {
            others: other_models(config, model.name()),
            model,
            tools: all_tools(config, data).await?,
            limits: config.agent.limits,
        }))
    }

    /// Makes its tools known to the engine that is being built.
    pub fn known_to(&self, engine: placet_engine::Builder) -> placet_engine::Builder {
        engine.toolbox(AgentId::built_in(), self.tools.clone())
    }

    /// The agent of that engine, to be started.
    pub fn agent(self, engine: Engine) -> agent::Builder {
        let agent = Agent::builder(engine, self.tools)
            .limits(self.limits)
            .model(self.model);
        self.others.into_iter().fold(agent, agent::Builder::model)
    }
}

/// All tools of the agent: the built-in ones, and those of the MCP servers, which are started.
async fn all_tools(config: &Config, data: &Path) -> Result<Tools, ServersError> {
    let tools = Tools::builtin_in(surroundings(config, &workspace(config)));
    if config.mcp_servers.is_empty() {
        return Ok(tools);
    }
    let sandbox = sandbox(config);
    let access = config.mcp_servers.iter().map(|(name, server)| {
        access(name, server, &sandbox).map_err(|source| ServersError::Secret {
            name: name.clone(),
            source,
        })
    });
    let access = access.collect::<Result<Vec<Access>, _>>()?;
    let pins = Pins::moving(&data.join(PINS))?;
    Ok(tools.with_servers(Servers::start(access, pins).await))
}

/// What confines the agent's commands and servers. [`Sandbox::warning`] says when nothing does.
pub fn sandbox(config: &Config) -> Sandbox {
    let sandbox = Sandbox::new(&workspace(config), Support::probe());
    sandbox.reload(config);
    sandbox
}

/// What would confine a call while it runs, if the built-in agent makes it.
pub fn confinement(config: &Config, call: &ToolCall) -> Option<Confinement> {
    let confined = sandbox::confines(call).then(|| sandbox(config));
    confined?.confinement(&call.args)
}

fn workspace(config: &Config) -> PathBuf {
    let workspace = PathBuf::from(&config.workspace.root);
    std::path::absolute(&workspace).unwrap_or(workspace)
}

fn access(name: &str, server: &McpServer, sandbox: &Sandbox) -> Result<Access, SecretError> {
    let looked_up = |place: &Secret| secret::resolve(place).map(|text| text.expose().to_owned());
    let transport = match &server.transport {
        McpTransport::Command { program, args, env } => {
            let value = |value: &EnvValue| match value {
                EnvValue::Plain(text) => Ok(text.clone()),
                EnvValue::Secret(place) => looked_up(place),
            };
            let env = env.iter().map(|(name, given)| Ok((name.clone(), value(given)?)));
            Transport::Command {
                program: program.clone(),
                args: args.clone(),
                env: env.collect::<Result<_, SecretError>>()?,
            }
        }
        McpTransport::Url { url, bearer } => Transport::Url {
            url: url.clone(),
            bearer: bearer.as_ref().map(looked_up).transpose()?,
        },
    };
    let duration = |length: Millis| Duration::from_millis(length.get());
    Ok(Access {
        name: name.to_owned(),
        transport,
        tools: server.tools.clone(),
        start_timeout: duration(server.start_timeout),
        call_timeout: server.call_timeout.map(duration),
        sandbox: server.sandbox.map(|level| (sandbox.clone(), level)),
    })
}

/// What the built-in tools are to know. They keep from commands what the configuration in force keeps to itself.
pub(crate) fn surroundings(config: &Config, workspace: &Path) -> Surroundings {
    Surroundings {
        skills: config.agent.skills.clone(),
        databases: databases(config, workspace),
        ..Surroundings::of(workspace)
    }
}

/// The configured databases. One whose address is not where the configuration says is there, too, and says so when it is used.
fn databases(config: &Config, workspace: &Path) -> Vec<Database> {
    let database = |(name, configured): (&String, &ConfiguredDatabase)| {
        let dialect = configured.dialect;
        let url = match &configured.url {
            DatabaseUrl::Plain(url) => Ok(url.clone()),
            DatabaseUrl::Kept(place) => secret::resolve(place)
                .map(|url| url.expose().to_owned())
                .map_err(|error| error.to_string()),
        };
        let found = url
            .and_then(|url| Database::new(name, dialect, &url, workspace).map_err(|error| error.to_string()));
        found.unwrap_or_else(|why| {
            tracing::warn!(database = %name, %why, "a database cannot be used");
            Database::unusable(name, dialect, why)
        })
    };
    config.databases.iter().map(database).collect()
}

/// Why a workflow cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowFileError {
    /// `[workflows]` has no such name. A file is never named from outside.
    #[error("there is no workflow `{0}` in `[workflows]`")]
    Unknown(String),
    /// Its file cannot be read.
    #[error("the file of the workflow `{name}` cannot be read: {source}")]
    File {
        /// Which workflow.
        name: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Its file is refused.
    #[error(transparent)]
    Refused(#[from] ConfigError),
}

/// A workflow of the configuration, as its file says now.
pub fn workflow(config: &Config, name: &str) -> Result<Workflow, WorkflowFileError> {
    let unknown = || WorkflowFileError::Unknown(name.to_owned());
    let path = config.workflows.get(name).ok_or_else(unknown)?;
    let text = std::fs::read_to_string(path).map_err(|source| WorkflowFileError::File {
        name: name.to_owned(),
        source,
    })?;
    Ok(Workflow {
        name: Some(name.to_owned()),
        ..Workflow::parse(&text, path)?
    })
}

/// The other configured models that can be used, for runs that began with one of them.
fn other_models(config: &Config, usual: &str) -> Vec<Arc<dyn Model>> {
    let others = config.models.keys().filter(|name| *name != usual);
    let made = others.filter_map(|name| {
        let made = model(config, Some(name));
        made.inspect_err(|error| tracing::warn!(%error, "a model is left out"))
            .ok()
    });
    made.collect()
}

/// The model that is named, or the one of `[agent]`.
pub fn model(config: &Config, named: Option<&str>) -> Result<Arc<dyn Model>, ModelError> {
    let unnamed = || match config
        .models
        .keys()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
    {
        none if none.is_empty() => ModelError::None,
        several => ModelError::Several(several),
    };
    let name = named.or(config.agent.model.as_deref()).ok_or_else(unnamed)?;
    let configured = config
        .models
        .get(name)
        .ok_or_else(|| ModelError::Unknown(name.to_owned()))?;
    let key = match configured {
        ConfiguredModel::Vendor {
            api_key: Some(place), ..
        } => {
            let key = secret::resolve(place).map_err(|source| ModelError::Key {
                name: name.to_owned(),
                source,
            })?;
            Some(ApiKey::new(key.expose()))
        }
        _ => None,
    };
    model::configured(name, configured, key).map_err(|source| ModelError::Unusable {
        name: name.to_owned(),
        source,
    })
}
