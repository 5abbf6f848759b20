//! Puts a placet together: configuration, store, engine, tools, agent, channels, server. No other file does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use placet_agent::configured::Setup;
use placet_core::config::Config;
use placet_engine::{Builder, Engine};
use placet_server::{Listen, Listener, Parts, Push, Server};
use placet_store::Location;

/// What a placet is made from.
pub(crate) struct Plan {
    pub(crate) config: Config,
    /// Where the configuration came from, for people.
    pub(crate) source: String,
    /// The data folder.
    pub(crate) data: PathBuf,
    /// The store; several servers share one that is on a database server.
    pub(crate) store: Location,
    pub(crate) listen: Listen,
    pub(crate) work: Work,
    /// Pages to serve instead of the built-in ones, while working on them.
    pub(crate) web: Option<PathBuf>,
}

/// What a placet does besides answering requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Work {
    /// Everything: it connects the channels, and its agent resumes every run.
    Everything,
    /// Conversations and runs that it is asked for, with this model or the usual one. Messages for channels stay queued.
    Asked {
        /// The model of new runs.
        model: Option<String>,
    },
    /// It only lets people look and answer; there is no agent.
    Answers,
}

/// Starts everything. What can fail without a store is tried before the store is opened.
pub(crate) async fn start(plan: Plan) -> anyhow::Result<Server> {
    let Plan {
        config,
        source,
        data,
        store,
        listen,
        work,
        web,
    } = plan;
    let channels = match work {
        Work::Everything => placet_channels::configured(&config)?,
        // An owner for a moment connects to no channel, so it needs none of their secrets.
        Work::Asked { .. } | Work::Answers => Vec::new(),
    };
    let listener = Listener::bind(&config, &data, listen).await?;
    let setup = match &work {
        Work::Everything => Setup::of(&config, &data, None).await?,
        Work::Asked { model } => Setup::of(&config, &data, model.as_deref()).await?,
        Work::Answers => None,
    };
    let mut engine = Engine::builder(config.clone())
        .channels_elsewhere(placet_channels::elsewhere(&config))
        .inbox_at(listener.url(&config))
        .data(&data);
    let push = match work {
        Work::Everything => Some(Arc::new(Push::new(&config)?)),
        Work::Asked { .. } | Work::Answers => None,
    };
    let to_devices = push.iter().map(|push| push.channel());
    engine = channels
        .into_iter()
        .chain(to_devices)
        .fold(engine, Builder::channel);
    if let Some(setup) = &setup {
        engine = setup.known_to(engine);
    }
    let engine = engine.start_at(&store).await?;
    let agent = match setup {
        Some(setup) => {
            let agent = setup.agent(engine.clone());
            let agent = match work {
                Work::Everything => agent.channels(config.agent.channels.iter().cloned()),
                // Whatever else is open in the store belongs to other folders, other people or another day.
                Work::Asked { .. } | Work::Answers => agent.resuming_nothing(),
            };
            Some(agent.start().await?)
        }
        None => None,
    };
    let parts = Parts {
        engine,
        agent,
        config,
        source,
        data,
        web,
        push,
    };
    Ok(Server::new(listener, parts).await?)
}

/// A server around an engine with tools and channels of its own, for the sockets it is given.
pub(crate) async fn around(engine: Engine, data: &Path) -> anyhow::Result<Server> {
    let config = engine.with_config(Config::clone);
    let listener = Listener::bind(&config, data, Listen::Nowhere).await?;
    let parts = Parts {
        engine,
        agent: None,
        config,
        source: "the program".to_owned(),
        data: data.to_owned(),
        web: None,
        push: None,
    };
    Ok(Server::new(listener, parts).await?)
}
