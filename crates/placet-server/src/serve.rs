//! The server's life: it binds, serves, and ends without losing anything it has acknowledged.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use placet_agent::Agent;
use placet_channels::unbuilt::unbuilt;
use placet_channels::webhook::{Webhooks, WebhooksError};
use placet_core::config::Config;
use placet_core::ids::AgentId;
use placet_engine::Engine;
use placet_store::StoreError;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::access::{Access, AccessError, Peer, Tickets};
use crate::builtin::{self, ModelError, ServersError};
use crate::router;
use crate::stall::Unstalled;
use crate::state::{Parts, Places, State};

/// Headers that have not arrived by then are not waited for; nor is the next request of an idle connection.
const HEADER_TIME: Duration = Duration::from_secs(30);
const HEADER_BYTES_MAX: usize = 64 * 1024;
/// Whoever asks and takes nothing of the answer for this long is not waited for.
const STALL_TIME: Duration = Duration::from_secs(30);
/// How long open requests have to end when the server does.
const GRACE: Duration = Duration::from_secs(10);
/// Files the store, the logs and the rest of the program need besides connections.
const FILES_BESIDES: u64 = 64;

/// What a server is made from.
pub struct Options {
    /// The configuration.
    pub config: Config,
    /// Where it came from, for people.
    pub source: String,
    /// The data folder.
    pub data: PathBuf,
    /// Where to listen, instead of where the configuration says.
    pub listen: Option<SocketAddr>,
    /// Pages to serve instead of the built-in ones, while working on them.
    pub web: Option<PathBuf>,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken, or not ours.
    #[error("`{address}` cannot be listened on: {source}")]
    Listen {
        /// Which one.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Nobody could come in.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// It is not known who signed out.
    #[error("who was signed out cannot be read from `{}`: {source}", data.display())]
    SignedOut {
        /// The data folder.
        data: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A channel cannot be used.
    #[error(transparent)]
    Channel(#[from] WebhooksError),
    /// The engine does not start.
    #[error(transparent)]
    Engine(#[from] placet_engine::StartError),
    /// The built-in agent has nothing to think with.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Its MCP servers cannot be used.
    #[error(transparent)]
    Servers(#[from] ServersError),
    /// The built-in agent does not start.
    #[error(transparent)]
    Agent(#[from] placet_agent::StartError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A server that has its address and its store, and serves once it runs.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    state: State,
    router: Router,
    connections_max: u32,
}

impl Server {
    /// Opens everything that can fail to open: tokens, channels, the address, the store.
    pub async fn bind(options: Options) -> Result<Self, StartError> {
        let Options {
            config,
            source,
            data,
            listen,
            web,
        } = options;
        let access = Access::load(&config, &data)?;
        let tickets = Tickets::open(&data).map_err(|source| StartError::SignedOut {
            data: data.clone(),
            source,
        })?;
        let webhooks = Webhooks::from_config(&config)?;
        warn_of_unbuilt(&config);
        let address = listen.unwrap_or(config.server.listen);
        let failed = |source| StartError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        warn_of_neighbours(address);
        let store = data.join(&config.store.path);
        let model = match builtin::model(&config, None) {
            Ok(model) => Some(model),
            Err(ModelError::None) => None,
            Err(error @ ModelError::Several(_)) => {
                tracing::warn!(%error, "there is no built-in agent");
                None
            }
            Err(error) => return Err(error.into()),
        };
        let tools = match &model {
            Some(_) => {
                if let Some(warning) = builtin::sandbox(&config).warning() {
                    tracing::warn!("{warning}");
                }
                builtin::all_tools(&config, &data).await?
            }
            None => builtin::tools(&config),
        };
        let elsewhere = builtin::channels_elsewhere(&config);
        let mut builder = Engine::builder(config.clone()).channels_elsewhere(elsewhere);
        if model.is_some() {
            builder = builder.toolbox(AgentId::built_in(), tools.clone());
        }
        let builder = webhooks.channels().fold(builder, placet_engine::Builder::channel);
        let engine = builder.start(&store).await?;
        let agent = match model {
            Some(model) => {
                let others = builtin::other_models(&config, model.name());
                let agent = Agent::builder(engine.clone(), tools)
                    .model(model)
                    .limits(config.agent.limits)
                    .channels(config.agent.channels.iter().cloned());
                let agent = others.into_iter().fold(agent, placet_agent::Builder::model);
                Some(agent.start().await?)
            }
            None => None,
        };
        let connections_max = enough_files(config.server.connections_max);
        let state = State::new(Parts {
            engine,
            agent,
            config,
            source,
            access,
            tickets,
            webhooks,
            listen: address,
            places: Places { data, web },
            stop: CancellationToken::new(),
        })
        .await?;
        Ok(Self {
            router: router(state.clone()),
            listener,
            address,
            state,
            connections_max,
        })
    }

    /// Where it listens: the real port when `:0` was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where people find it.
    pub fn url(&self) -> String {
        self.state.hosts().url()
    }

    /// What handlers share; reloading goes through it.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// A link that signs one browser in as the person who runs the program, once. The code is in the fragment, which browsers
    /// keep to themselves.
    pub fn sign_in_link(&self) -> Option<String> {
        let access = self.state.access();
        let code = self.state.codes().give(access.admin()?.id);
        Some(format!("{}/sign-in#{code}", self.url()))
    }

    /// Serves until `stop`. Long polls and streams end at once, other requests within ten seconds; then the store is closed.
    pub async fn run(self, stop: CancellationToken) -> Result<(), StoreError> {
        let connections = TaskTracker::new();
        self.accept(&stop, &connections).await;
        drop(self.listener);
        self.state.stop().cancel();
        connections.close();
        if tokio::time::timeout(GRACE, connections.wait()).await.is_err() {
            tracing::warn!(open = connections.len(), "some connections did not end in time");
        }
        if let Some(agent) = self.state.agent() {
            agent.clone().shutdown().await;
        }
        self.state.engine().clone().shutdown().await
    }

    async fn accept(&self, stop: &CancellationToken, connections: &TaskTracker) {
        let open = Arc::new(Semaphore::new(
            usize::try_from(self.connections_max).unwrap_or(usize::MAX),
        ));
        loop {
            // Whoever comes when all are taken waits in the system's queue.
            let Some(Ok(permit)) = stop.run_until_cancelled(Arc::clone(&open).acquire_owned()).await else {
                return;
            };
            let (stream, peer) = match stop.run_until_cancelled(self.listener.accept()).await {
                None => return,
                Some(Ok(accepted)) => accepted,
                Some(Err(error)) => {
                    // Out of files, or the caller is gone already: neither is a reason to end.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                }
            };
            let (router, state) = (self.router.clone(), self.state.clone());
            connections.spawn(async move {
                let _counted = state.metrics().connection();
                serve(stream, peer, router, state.stop()).await;
                drop(permit);
            });
        }
    }
}

async fn serve(stream: TcpStream, peer: SocketAddr, router: Router, stop: &CancellationToken) {
    // Answers are small and somebody waits for them.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer.ip()));
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(Unstalled::new(stream, STALL_TIME)), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Says that others can listen in, where they can.
fn warn_of_neighbours(address: SocketAddr) {
    if !address.ip().is_loopback() {
        tracing::warn!(
            %address,
            "other machines reach this address over plain HTTP, and whoever is on the way can read tokens, questions and \
             answers; browsers refuse to sign in there. Put a proxy that speaks TLS in front, name it in `[server] hosts`, and \
             listen on 127.0.0.1"
        );
    }
}

/// Says which channels reach nobody, before somebody waits for an answer from there.
pub(crate) fn warn_of_unbuilt(config: &Config) {
    for unbuilt in unbuilt(config) {
        tracing::warn!("{unbuilt}");
    }
}

/// Raises the limit of open files as far as it goes; how many connections fit under it.
fn enough_files(connections_max: u32) -> u32 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = u64::from(connections_max) + FILES_BESIDES;
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    if current >= wanted {
        return connections_max;
    }
    let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let new = Rlimit {
        current: Some(raised),
        maximum: limit.maximum,
    };
    let now = match setrlimit(Resource::Nofile, new) {
        Ok(()) => raised,
        Err(_) => current,
    };
    if now < wanted {
        tracing::warn!(
            files = now,
            wanted,
            "the system allows fewer open files than `[server] connections_max` needs, so fewer connections fit; raise the \
             limit (`ulimit -Hn`, `LimitNOFILE=` of a service), or lower `connections_max`"
        );
    }
    u32::try_from(now.saturating_sub(FILES_BESIDES).max(1))
        .unwrap_or(connections_max)
        .min(connections_max)
}
