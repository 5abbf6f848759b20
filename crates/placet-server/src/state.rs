//! What handlers share: the engine, who may come in, the tail of the journal.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use placet_agent::Agent;
use placet_core::config::{Config, DeadRule, LostError};
use placet_core::ids::AgentId;
use placet_core::steps::{self, Challenge};
use placet_core::time::Timestamp;
use placet_engine::{Engine, Peers};
use placet_store::{StepError, StoreError};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use crate::access::{
    Access, AccessError, CredentialId, DEFAULT_AGENT, Hosts, Kept, Made, Throttle, Ticket, Tickets,
    configures_roles, tokens,
};
use crate::live::LiveRows;
use crate::metrics::Metrics;
use crate::push::Push;
use crate::serve::{Listener, ServeError};

/// Wrong credentials from one address: so many at once, and one every six seconds.
const GUESSES_AT_ONCE: f64 = 20.0;
const GUESSES_PER_SECOND: f64 = 1.0 / 6.0;

/// What handlers share. Cheap to clone.
#[derive(Clone)]
pub struct State(Arc<Inner>);

struct Inner {
    engine: Engine,
    agent: Option<Agent>,
    settings: RwLock<Arc<Settings>>,
    /// Told whenever a client may have lost a right.
    access_changes: watch::Sender<()>,
    hosts: Hosts,
    /// Absent when it listens on no address.
    url: Option<String>,
    tickets: Tickets,
    /// Those that the servers of a database share.
    shared_tokens: Option<Kept>,
    /// The challenge that was given out last.
    challenge: RwLock<Option<Challenge>>,
    guesses: Throttle<IpAddr>,
    requests: Throttle<CredentialId>,
    tail: LiveRows,
    metrics: Metrics,
    /// The public key for subscriptions; absent where nothing is sent to devices.
    push_key: Option<String>,
    stop: CancellationToken,
    verifying: Mutex<()>,
    places: Places,
}

/// What a reload replaces, all at once.
struct Settings {
    config: Arc<Config>,
    access: Arc<Access>,
    /// Where the configuration came from, for people.
    source: String,
}

/// Where things are.
pub(crate) struct Places {
    /// The data folder.
    pub(crate) data: PathBuf,
    /// Pages to serve instead of the built-in ones, while working on them.
    pub(crate) web: Option<PathBuf>,
}

/// What a server serves: parts that run already.
pub struct Parts {
    /// The engine.
    pub engine: Engine,
    /// The built-in agent, when there is a model for it.
    pub agent: Option<Agent>,
    /// The configuration that all of them were made from.
    pub config: Config,
    /// Where it came from, for people.
    pub source: String,
    /// The data folder.
    pub data: PathBuf,
    /// Pages to serve instead of the built-in ones, while working on them.
    pub web: Option<PathBuf>,
    /// The channel to devices, which the engine has, too; absent where nothing is sent to them.
    pub push: Option<Arc<Push>>,
}

/// Why a configuration is not put in force. The one before stays.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// It would drop all rules or all people without saying so.
    #[error(transparent)]
    Lost(#[from] LostError),
    /// Its tokens cannot be used.
    #[error(transparent)]
    Access(#[from] AccessError),
}

impl State {
    pub(crate) async fn new(
        listener: Listener,
        parts: Parts,
        url: Option<String>,
    ) -> Result<Self, ServeError> {
        let (engine, data) = (&parts.engine, &parts.data);
        let kept = listener.tokens(&parts.config, engine, data).await?;
        let access = listener.access(&parts.config, kept.as_ref())?;
        let tickets = Tickets::open(engine, data).await?;
        let shared_tokens = kept.filter(|_| engine.peers() == Peers::Some);
        let (metrics, stop) = (Metrics::default(), CancellationToken::new());
        metrics.configure(&parts.config);
        let push_key = match &parts.push {
            Some(push) => Some(push.start(&parts.engine).await?),
            None => None,
        };
        let tail = LiveRows::start(&parts.engine, metrics.clone(), stop.clone()).await?;
        let per_second = f64::from(parts.config.server.requests_per_second);
        let state = Self(Arc::new(Inner {
            engine: parts.engine,
            agent: parts.agent,
            hosts: Hosts::new(listener.address(), parts.config.server.hosts.clone()),
            url,
            settings: RwLock::new(Arc::new(Settings {
                config: Arc::new(parts.config),
                access: Arc::new(access),
                source: parts.source,
            })),
            access_changes: watch::Sender::new(()),
            tickets,
            shared_tokens,
            challenge: RwLock::default(),
            guesses: Throttle::new(GUESSES_PER_SECOND, GUESSES_AT_ONCE),
            requests: Throttle::new(per_second, per_second),
            tail,
            metrics,
            push_key,
            stop,
            verifying: Mutex::default(),
            places: Places {
                data: parts.data,
                web: parts.web,
            },
        }));
        let following = state.clone();
        tokio::spawn(async move {
            let stop = following.stop().clone();
            stop.run_until_cancelled(following.follow_sign_outs()).await;
        });
        Ok(state)
    }

    /// Ends streams here of browsers that sign out at another server.
    async fn follow_sign_outs(self) {
        let mut news = self.0.engine.news();
        while news.changed().await.is_ok() {
            // A request asks the store by itself; only streams outlive their request.
            if self.0.access_changes.receiver_count() == 0 {
                continue;
            }
            match self.0.tickets.look_again(&self.0.engine).await {
                Ok(true) => {
                    self.0.access_changes.send_replace(());
                }
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "who signed out cannot be read; looking again"),
            }
        }
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The built-in agent, when there is a model for it.
    pub fn agent(&self) -> Option<&Agent> {
        self.0.agent.as_ref()
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.settings().config)
    }

    /// Who may come in.
    pub fn access(&self) -> Arc<Access> {
        Arc::clone(&self.settings().access)
    }

    /// Whether this is the name of an agent: the built-in one, or one with a token.
    pub(crate) fn is_agent(&self, name: &str) -> bool {
        let configured = &self.config().server.agents;
        name == DEFAULT_AGENT
            || name == crate::api::sample::AGENT
            || name == AgentId::built_in().as_str()
            || configured.keys().any(|agent| agent.as_str() == name)
    }

    /// Where the configuration came from.
    pub(crate) fn source(&self) -> String {
        self.settings().source.clone()
    }

    /// Ends when the server does.
    pub fn stop(&self) -> &CancellationToken {
        &self.0.stop
    }

    /// The wall clock.
    pub fn now(&self) -> Timestamp {
        self.0.engine.store().now()
    }

    /// The rules in force that can never apply. The journal is read only when some rule may be one of them.
    pub async fn dead_rules(&self) -> Result<Vec<DeadRule>, StoreError> {
        let config = self.config();
        let suspects = config.dead_rules(&BTreeSet::new());
        if suspects.is_empty() {
            return Ok(suspects);
        }
        let used = self
            .0
            .engine
            .store()
            .look(|stored| stored.tools_used(&()).cloned())
            .await?;
        Ok(config.dead_rules(&used))
    }

    /// Puts another configuration in force: policy, people and tokens. Channels and addresses stay as they were.
    pub fn reload(&self, config: Config, source: String) -> Result<(), ReloadError> {
        config.may_replace(&self.config())?;
        let kept = match (configures_roles(&config), &self.0.shared_tokens) {
            (true, _) => None,
            (false, Some(shared)) => Some(shared.clone()),
            (false, None) if self.0.engine.peers() == Peers::Some => None,
            (false, None) => Some(tokens::keep(&self.0.places.data).map_err(AccessError::from)?),
        };
        let access = Access::load(&config, kept.as_ref().map_or(Made::None, Made::Tokens))?;
        self.0.engine.reload(config.clone());
        self.0.metrics.configure(&config);
        let settings = Arc::new(Settings {
            config: Arc::new(config),
            access: Arc::new(access),
            source,
        });
        *self.0.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
        self.0.access_changes.send_replace(());
        Ok(())
    }

    /// Signs a browser's ticket out: at once here, and everywhere when this returns.
    pub(crate) async fn sign_out(&self, ticket: &Ticket) -> Result<(), StoreError> {
        let signed_out = self.0.tickets.sign_out(&self.0.engine, ticket).await;
        self.0.access_changes.send_replace(());
        signed_out
    }

    /// The challenge for browsers to sign now.
    pub(crate) async fn challenge(&self) -> Result<String, StoreError> {
        let now = self.now();
        let known = self
            .0
            .challenge
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(known) = known.filter(|known| known.is_current(now)) {
            return Ok(known.text);
        }
        let random: [u8; 16] = rand::random();
        let fresh = hex::encode(random);
        let current = self
            .0
            .engine
            .transact(|stored, now| steps::current_challenge(stored, now, &fresh));
        let current = current.await.map_err(StepError::into_store_error)?;
        let text = current.text.clone();
        *self.0.challenge.write().unwrap_or_else(PoisonError::into_inner) = Some(current);
        Ok(text)
    }

    /// Tells whenever a client may have lost a right.
    pub(crate) fn access_changes(&self) -> watch::Receiver<()> {
        self.0.access_changes.subscribe()
    }

    /// Where people find the pages; nowhere if it listens on no address.
    pub(crate) fn url(&self) -> Option<&str> {
        self.0.url.as_deref()
    }

    pub(crate) fn hosts(&self) -> &Hosts {
        &self.0.hosts
    }

    pub(crate) fn tickets(&self) -> &Tickets {
        &self.0.tickets
    }

    pub(crate) fn tail(&self) -> &LiveRows {
        &self.0.tail
    }

    /// The public key for subscriptions of devices.
    pub(crate) fn push_key(&self) -> Option<&str> {
        self.0.push_key.as_deref()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Held while the whole journal is checked: one check at a time.
    pub(crate) fn verifying(&self) -> &Mutex<()> {
        &self.0.verifying
    }

    pub(crate) fn places(&self) -> &Places {
        &self.0.places
    }

    /// Whether a credential may make one more request now.
    pub(crate) fn requests_allowed(&self, credential: CredentialId) -> bool {
        self.0.requests.take(credential)
    }

    /// Counts a wrong credential; whether there were not too many of them.
    pub(crate) fn guess_allowed(&self, peer: IpAddr) -> bool {
        self.0.guesses.take(peer)
    }

    fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.0.settings.read().unwrap_or_else(PoisonError::into_inner))
    }
}
