//! The built-in agent of a configuration: its tools, and the model it thinks with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use placet_agent::mcp::{Access, Pins, PinsError, Servers, Transport};
use placet_agent::model::{self, ApiKey, ConfiguredError};
use placet_agent::sandbox::{self, Sandbox, Support};
use placet_agent::tools::{Database, Surroundings};
use placet_agent::{Model, Tools};
use placet_channels::secret::{self, SecretError};
use placet_core::call::ToolCall;
use placet_core::config::{
    ChannelKind, Config, ConfigError, Database as ConfiguredDatabase, DatabaseUrl, EnvValue, McpServer,
    McpTransport, Model as Configured, Secret, Workflow,
};
use placet_core::confine::Confinement;
use placet_core::ids::ChannelName;
use placet_core::steps::Elsewhere;
use placet_core::time::Millis;

/// The file that says how MCP tools looked when they were first seen.
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

/// All tools of the agent: the built-in ones, and those of the MCP servers, which are started. How their tools looked when they
/// were first seen is kept in the folder `data`.
pub async fn all_tools(config: &Config, data: &Path) -> Result<Tools, ServersError> {
    let tools = tools(config);
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
    let pins = Pins::open(&data.join(PINS))?;
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

/// The built-in tools. They keep from commands what the configuration in force keeps to itself.
pub fn tools(config: &Config) -> Tools {
    let workspace = workspace(config);
    Tools::builtin_in(Surroundings {
        skills: config.agent.skills.clone(),
        databases: databases(config, &workspace),
        ..Surroundings::of(&workspace)
    })
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

/// Where the people of an earlier run may be that this process goes on with: on configured channels, whether or not it is
/// connected to them, and at a terminal. What is for a webhook waits for a server, which delivers to all of them.
pub fn channels_elsewhere(config: &Config) -> impl Iterator<Item = (ChannelName, Elsewhere)> {
    let configured = config.channels.iter().map(|(name, channel)| {
        let elsewhere = match channel.kind {
            ChannelKind::Webhook => Elsewhere::Delivered,
            _ => Elsewhere::InboxOnly,
        };
        (name.clone(), elsewhere)
    });
    let terminal = ChannelName::new(placet_channels::terminal::NAME).ok();
    configured.chain(terminal.map(|name| (name, Elsewhere::InboxOnly)))
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
pub fn other_models(config: &Config, usual: &str) -> Vec<Arc<dyn Model>> {
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
        Configured::Vendor {
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
