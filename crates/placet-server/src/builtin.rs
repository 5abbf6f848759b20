//! The built-in agent of a configuration: its tools, and the model it thinks with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use placet_agent::model::{self, ApiKey, ConfiguredError};
use placet_agent::tools::{Database, Surroundings};
use placet_agent::{Model, Tools};
use placet_channels::secret::{self, SecretError};
use placet_core::config::{Config, Database as ConfiguredDatabase, DatabaseUrl, Model as Configured, Secret};

/// Why there is no model to think with.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// None is configured.
    #[error(
        "no model is configured; add a `[models.NAME]` to placet.toml, and name it in `[agent]` if there are several"
    )]
    None,
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

/// The built-in tools. Keys and addresses that are in the environment for us are kept from commands.
pub fn tools(config: &Config) -> Tools {
    let workspace = PathBuf::from(&config.workspace.root);
    let workspace = std::path::absolute(&workspace).unwrap_or(workspace);
    let keys = config.models.values().filter_map(|model| match model {
        Configured::Vendor { api_key, .. } => api_key.as_ref(),
        Configured::Scripted { .. } => None,
    });
    let addresses = config
        .databases
        .values()
        .filter_map(|database| match &database.url {
            DatabaseUrl::Kept(secret) => Some(secret),
            DatabaseUrl::Plain(_) => None,
        });
    let hidden = keys.chain(addresses).filter_map(|secret| match secret {
        Secret::Env(name) => Some(name.clone()),
        Secret::File(_) => None,
    });
    Tools::builtin_in(Surroundings {
        hidden_variables: hidden.collect(),
        skills: config.agent.skills.clone(),
        databases: databases(config, &workspace),
        workspace,
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

/// The model that is named, or the one of `[agent]`.
pub fn model(config: &Config, named: Option<&str>) -> Result<Arc<dyn Model>, ModelError> {
    let name = named.or(config.agent.model.as_deref()).ok_or(ModelError::None)?;
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
