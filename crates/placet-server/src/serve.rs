//! The server's life: it binds, serves, and ends without losing anything it has acknowledged.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use placet_core::config::Config;
use placet_engine::{Engine, Peers};
use placet_store::StoreError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::access::{
    Access, AccessError, Hosts, Kept, LocalPeer, Made, Peer, SignedOutError, code, configures_roles, tokens,
};
use crate::push;
use crate::state::{Parts, State};
use crate::write_timeout::WriteTimeout;
use crate::{local_router, router};

/// Headers that have not arrived by then are not waited for; nor is the next request of an idle connection.
const HEADER_TIME: Duration = Duration::from_secs(30);
const HEADER_BYTES_MAX: usize = 64 * 1024;
/// A client that reads nothing of the answer for this long is disconnected.
const STALL_TIME: Duration = Duration::from_secs(30);
/// How long open requests have to end when the server does.
const GRACE: Duration = Duration::from_secs(10);
/// Files the store, the logs and the rest of the program need besides connections.
const FILES_BESIDES: u64 = 64;

/// Where a server listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// Where the configuration says.
    Configured,
    /// Here instead.
    At(SocketAddr),
    /// On no address: only on the sockets it is given ([`Server::offer`]). It makes no tokens.
    Nowhere,
}

/// An address that is listened on, and who may come in there: what can fail before the store is opened.
pub struct Listener {
    tcp: Option<TcpListener>,
    address: SocketAddr,
    listen: Listen,
}

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is in use, or not an address of this machine.
    #[error("`{address}` cannot be listened on: {source}")]
    Address {
        /// Which one.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The credentials cannot be used.
    #[error(transparent)]
    Access(#[from] AccessError),
}

/// Why a server cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The credentials cannot be used.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// It is not known who signed out.
    #[error(transparent)]
    SignedOut(#[from] SignedOutError),
}

impl Listener {
    /// Checks the credentials that are there already, and binds the address.
    pub async fn bind(config: &Config, data: &Path, listen: Listen) -> Result<Self, ListenError> {
        if listen != Listen::Nowhere {
            let kept = if configures_roles(config) {
                None
            } else {
                tokens::kept(data).map_err(AccessError::from)?
            };
            Access::load(config, kept.as_ref().map_or(Made::Later, Made::Tokens))?;
        }
        let (tcp, address) = match listen {
            Listen::Configured => listening(config.server.listen).await?,
            Listen::At(address) => listening(address).await?,
            Listen::Nowhere => (None, config.server.listen),
        };
        Ok(Self { tcp, address, listen })
    }

    /// The tokens of the roles that have no configured one, made if this is the first start.
    pub(crate) async fn tokens(
        &self,
        config: &Config,
        engine: &Engine,
        data: &Path,
    ) -> Result<Option<Kept>, AccessError> {
        if self.listen == Listen::Nowhere || configures_roles(config) {
            return Ok(None);
        }
        Ok(Some(match engine.peers() {
            Peers::None => tokens::keep(data)?,
            Peers::Some => tokens::share(engine, data).await?,
        }))
    }

    /// Who may come in.
    pub(crate) fn access(&self, config: &Config, kept: Option<&Kept>) -> Result<Access, AccessError> {
        match self.listen {
            Listen::Nowhere => Ok(Access::without_tokens(config)?),
            Listen::Configured | Listen::At(_) => Access::load(config, kept.map_or(Made::None, Made::Tokens)),
        }
    }

    /// Where it listens: the real port when `:0` was asked for.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where people find its pages.
    pub fn url(&self, config: &Config) -> String {
        Hosts::new(self.address, config.server.hosts.clone()).url()
    }
}

/// A server that has its address and its store, and serves once it runs.
pub struct Server {
    tcp: Option<TcpListener>,
    sockets: Vec<UnixListener>,
    state: State,
    connections: Arc<Semaphore>,
}

impl Server {
    /// A server of parts that run already. When it ends, it stops the agent and closes the engine.
    pub async fn new(mut listener: Listener, parts: Parts) -> Result<Self, ServeError> {
        let tcp = listener.tcp.take();
        let url = tcp.is_some().then(|| listener.url(&parts.config));
        let connections_max = enough_files(parts.config.server.connections_max);
        let push = parts.push.clone();
        let state = State::new(listener, parts, url).await?;
        if let Some(push) = push {
            tokio::spawn(push::run(state.clone(), push));
        }
        Ok(Self {
            tcp,
            sockets: Vec::new(),
            state,
            connections: Arc::new(Semaphore::new(
                usize::try_from(connections_max).unwrap_or(usize::MAX),
            )),
        })
    }

    /// Serves on this socket, too. Processes of the same user that are not confined act there as the person at the terminal.
    pub fn offer(&mut self, socket: UnixListener) {
        self.sockets.push(socket);
    }

    /// Where it listens: the real port when `:0` was asked for.
    pub fn address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }

    /// Where people find it.
    pub fn url(&self) -> String {
        self.state.hosts().url()
    }

    /// What handlers share; reloading goes through it.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// A link that signs one browser in as the person who runs the program, once, at any server of the store. The code is in the fragment,
    /// which browsers keep to themselves.
    pub async fn sign_in_link(&self) -> Result<Option<String>, StoreError> {
        let access = self.state.access();
        let Some(admin) = access.admin() else {
            return Ok(None);
        };
        let code = code::give(self.state.engine(), admin.id).await?;
        Ok(Some(format!("{}/sign-in#{code}", self.url())))
    }

    /// Serves until `stop`. Long polls and streams end at once, other requests within ten seconds; then the store is closed.
    pub async fn run(self, stop: CancellationToken) -> Result<(), StoreError> {
        let connections = TaskTracker::new();
        let listening = TaskTracker::new();
        let is_lasting = self.tcp.is_some();
        if let Some(tcp) = self.tcp {
            let door = Door::new(&self.state, &self.connections, &connections, &stop, router);
            listening.spawn(door.accept_tcp(tcp));
        }
        for socket in self.sockets {
            let door = Door::new(&self.state, &self.connections, &connections, &stop, local_router);
            listening.spawn(door.accept_local(socket));
        }
        listening.close();
        stop.cancelled().await;
        listening.wait().await;
        self.state.stop().cancel();
        connections.close();
        if tokio::time::timeout(GRACE, connections.wait()).await.is_err() {
            tracing::warn!(open = connections.len(), "some connections did not end in time");
        }
        if let Some(agent) = self.state.agent() {
            agent.clone().shutdown().await;
        }
        let engine = self.state.engine().clone();
        if is_lasting {
            engine.shutdown().await
        } else {
            // Approvers answer with `placet inbox` meanwhile, so the time of open questions passes.
            engine.leave().await
        }
    }
}

/// Takes the connections of one listener.
struct Door {
    state: State,
    router: Router,
    free: Arc<Semaphore>,
    connections: TaskTracker,
    stop: CancellationToken,
}

impl Door {
    fn new(
        state: &State,
        free: &Arc<Semaphore>,
        connections: &TaskTracker,
        stop: &CancellationToken,
        router: fn(State) -> Router,
    ) -> Self {
        Self {
            state: state.clone(),
            router: router(state.clone()),
            free: Arc::clone(free),
            connections: connections.clone(),
            stop: stop.clone(),
        }
    }

    async fn accept_tcp(self, listener: TcpListener) {
        while let Some((permit, (stream, peer))) = self.next(|cx| listener.poll_accept(cx)).await {
            // Answers are small, and a client waits for them.
            let _ = stream.set_nodelay(true);
            self.spawn(permit, stream, Peer(peer.ip()));
        }
    }

    async fn accept_local(self, listener: UnixListener) {
        while let Some((permit, (stream, _))) = self.next(|cx| listener.poll_accept(cx)).await {
            match LocalPeer::of(&stream) {
                Ok(peer) => self.spawn(permit, stream, peer),
                Err(error) => tracing::warn!(%error, "a process was refused at the socket"),
            }
        }
    }

    /// The next connection; none once the server stops. When all are taken, new ones wait in the system's queue.
    async fn next<T>(
        &self,
        mut accept: impl FnMut(&mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Option<(OwnedSemaphorePermit, T)> {
        loop {
            let permit = self
                .stop
                .run_until_cancelled(Arc::clone(&self.free).acquire_owned())
                .await?
                .ok()?;
            match self.stop.run_until_cancelled(poll_fn(&mut accept)).await? {
                Ok(accepted) => return Some((permit, accepted)),
                Err(error) => {
                    // Out of files, or the caller is gone already: neither is a reason to end.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        }
    }

    fn spawn<S, P>(&self, permit: OwnedSemaphorePermit, stream: S, peer: P)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        P: Clone + Send + Sync + 'static,
    {
        let (router, state) = (self.router.clone(), self.state.clone());
        self.connections.spawn(async move {
            let _counted = state.metrics().connection();
            serve(stream, peer, router, state.stop()).await;
            drop(permit);
        });
    }
}

async fn listening(address: SocketAddr) -> Result<(Option<TcpListener>, SocketAddr), ListenError> {
    let failed = |source| ListenError::Address { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    warn_of_neighbours(address);
    Ok((Some(listener), address))
}

async fn serve<S, P>(stream: S, peer: P, router: Router, stop: &CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    P: Clone + Send + Sync + 'static,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream, STALL_TIME)), service);
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
            "other machines reach this address over plain HTTP, so anyone on the network can read tokens, questions and \
             answers; browsers refuse to sign in there. Put a proxy that speaks TLS in front, name it in `[server] hosts`, and \
             listen on 127.0.0.1"
        );
    }
}

/// Raises the limit of open files as far as it goes; how many connections fit under it.
fn enough_files(connections_max: u32) -> u32 {
    use placet_core::config::Server;
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
    // Without a setting, as many connections as fit are what the operator expects.
    if now < wanted && connections_max != Server::CONNECTIONS_MAX {
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
