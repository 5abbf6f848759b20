//! `placet serve`: the HTTP API and the web inbox, until it is told to stop.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use anyhow::Context as _;
use placet_core::messages::{cannot, policy_file, refused, serve};
use placet_engine::StartError;
use placet_server::{Listen, ListenError, Server, State};
use placet_store::OpenError;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::args::ServeArgs;
use crate::config_file::{self, Loaded, Source};
use crate::exit::Exit;
use crate::owner::{Offered, Place};
use crate::wiring::{Plan, Work};
use crate::{locale, output, store, wiring};

mod log;

use log::Log;

/// Runs the command.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<Exit> {
    let log = Log::start(args)?;
    let Loaded { config, source } = config_file::load(args.config.as_deref())?;
    // A reload reads the same file: one that is missing then is refused like a broken one.
    let file = match &source {
        Source::File(path) => Some(path.clone()),
        Source::BuiltIn => None,
    };
    let data = match &args.data {
        Some(data) => data.clone(),
        None => config_file::user_folder("XDG_DATA_HOME", ".local/share")
            .with_context(|| locale::say(&cannot::find_home()))?,
    };
    let plan = Plan {
        store: store::location(args.store.as_deref(), &config, &data)?,
        config,
        source: source.to_string(),
        data: data.clone(),
        listen: args.listen.map_or(Listen::Configured, Listen::At),
        work: Work::Everything,
        web: args.web.clone(),
    };
    let served = Runtime::new()?.block_on(serve(args, plan, data, file));
    log.end();
    served
}

async fn serve(args: &ServeArgs, plan: Plan, data: PathBuf, file: Option<PathBuf>) -> anyhow::Result<Exit> {
    let place = Place::new(plan.store.clone(), &data, &plan.config);
    let claim = place.claim().map_err(friendly)?;
    let server = wiring::start(plan).await.map_err(friendly)?;
    let offered = Offered::new(server, &place, claim)?;
    let server = offered.server();
    // Before the address is printed: until then a signal would end the process.
    let signals = Signals::heed().with_context(|| locale::say(&cannot::catch_signals()))?;
    announce(args, server, &data).await?;
    warn_of_dead_rules(server.state()).await;
    let stop = CancellationToken::new();
    let signals = tokio::spawn(signals.handle(stop.clone(), server.state().clone(), file));
    let ended = offered.run(stop).await;
    signals.abort();
    ended.with_context(|| locale::say(&cannot::close_store()))?;
    Ok(Exit::Success)
}

/// What to do when another process has the store, or the address.
fn friendly(error: anyhow::Error) -> anyhow::Error {
    if let Some(StartError::Open(OpenError::InUse(_))) = error.downcast_ref() {
        return error.context(locale::say(&refused::data_in_use()));
    }
    match error.downcast_ref() {
        Some(ListenError::Address { source, .. }) if source.kind() == ErrorKind::AddrInUse => {
            error.context(locale::say(&refused::address_in_use()))
        }
        _ => error,
    }
}

async fn announce(args: &ServeArgs, server: &Server, data: &std::path::Path) -> anyhow::Result<()> {
    let (url, link) = (server.url(), server.sign_in_link().await?.unwrap_or_default());
    let tokens = data.join("tokens.toml");
    let text = if args.json {
        let object = json!({
            "listen": server.address(),
            "url": url,
            "signIn": link,
            "data": data,
        });
        format!("{object}\n")
    } else {
        locale::say(&serve::announced(link, tokens.display(), url))
    };
    Ok(output::print(&text)?)
}

/// A rule that can never apply protects nothing: the operator is warned before relying on it.
async fn warn_of_dead_rules(state: &State) {
    match state.dead_rules().await {
        Ok(dead) => {
            for rule in dead {
                tracing::warn!("{}", locale::say(&policy_file::dead_rule(rule)));
            }
        }
        Err(error) => tracing::warn!(%error, "{}", locale::say(&cannot::look_for_dead_rules())),
    }
}

/// SIGHUP loads the configuration again; SIGTERM and SIGINT stop the server.
struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on signals wait for [`Signals::handle`].
    fn heed() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn handle(mut self, stop: CancellationToken, state: State, config: Option<PathBuf>) {
        loop {
            tokio::select! {
                _ = self.hangup.recv() => reload(&state, config.as_deref()).await,
                _ = self.terminate.recv() => break,
                _ = self.interrupt.recv() => break,
            }
        }
        tracing::info!("{}", locale::say(&serve::stopping()));
        stop.cancel();
    }
}

/// A file that is refused changes nothing: the policy that was in force stays in force.
async fn reload(state: &State, config: Option<&std::path::Path>) {
    let loaded = config_file::load(config).and_then(|Loaded { config, source }| {
        state.reload(config, source.to_string())?;
        Ok(source)
    });
    match loaded {
        Ok(source) => {
            tracing::info!(%source, "{}", locale::say(&serve::reloaded()));
            warn_of_dead_rules(state).await;
        }
        Err(error) => {
            let error = output::sentence(&error);
            tracing::error!("{}", locale::say(&serve::not_reloaded(error)));
        }
    }
}
