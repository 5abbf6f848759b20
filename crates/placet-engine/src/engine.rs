//! The engine: core driven by a store, with the clocks, the people and the channels around it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use placet_core::analysis::Places as _;
use placet_core::config::Config;
use placet_core::ids::{AgentId, ChannelName, IdError, InteractionId, PersonId, SessionId};
use placet_core::journal::{Event, SYSTEM_SESSION};
use placet_core::step::Step;
use placet_core::steps::{self, Connected, Elsewhere, Fresh, InboxReach, Reach, Rules};
use placet_store::{OpenError, Options, StepError, Store, StoreError, SystemClock};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::callback::{Callback, Callbacks, OnToolApprove};
use crate::channel::Channel;
use crate::outbox;
use crate::places::{DiskPlaces, PlacesError};
use crate::timers::{self, Alarm};
use crate::toolbox::Toolbox;
use crate::transact::Queues;
use crate::waiters::Waiters;

/// Who decides when the embedding program registered a callback.
pub(crate) const CALLBACK: &str = "callback";

/// How often a process looks whether another one wrote to the same file: what an answer from elsewhere may wait.
const NEIGHBOURS: Duration = Duration::from_millis(100);

/// Placet, embedded. Cheap to clone; the last clone to go stops nothing: call [`Engine::shutdown`].
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) queues: Queues,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) committed: watch::Receiver<u64>,
    pub(crate) channels: BTreeMap<ChannelName, Arc<dyn Channel>>,
    pub(crate) callbacks: RwLock<Callbacks>,
    pub(crate) toolbox: Option<(AgentId, Box<dyn Toolbox>)>,
    pub(crate) places: DiskPlaces,
    pub(crate) handlers: crate::bus::Handlers,
    pub(crate) outbox_work: Arc<Notify>,
    pub(crate) alarm: Arc<Alarm>,
    inbox: InboxReach,
    elsewhere: BTreeMap<ChannelName, Elsewhere>,
    role: Role,
    in_force: RwLock<Arc<InForce>>,
    stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

/// The configuration in force and what follows from it. Replaced whole when the file is loaded again.
pub(crate) struct InForce {
    pub(crate) config: Arc<Config>,
    pub(crate) reach: Reach,
    workspace: String,
}

impl InForce {
    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules {
            config: &self.config,
            reach: &self.reach,
            workspace: &self.workspace,
        }
    }
}

/// What this process is to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It keeps the time, delivers, and runs calls.
    Owner,
    /// It lets people answer beside the owner.
    Guest,
}

/// Why an engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store failed while starting.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workspace cannot be found.
    #[error(transparent)]
    Workspace(#[from] PlacesError),
    /// Two channels have the same name.
    #[error("two channels are named `{0}`")]
    ChannelTwice(ChannelName),
    /// A built-in name was refused; a defect of this program.
    #[error(transparent)]
    Id(#[from] IdError),
}

/// Builds an [`Engine`].
#[must_use]
pub struct Builder {
    config: Config,
    channels: Vec<Arc<dyn Channel>>,
    callbacks: Callbacks,
    toolbox: Option<(AgentId, Box<dyn Toolbox>)>,
    workspace: PathBuf,
    inbox: InboxReach,
    elsewhere: BTreeMap<ChannelName, Elsewhere>,
    clock: Arc<dyn placet_store::Clock>,
}

impl Engine {
    /// An engine with this configuration.
    pub fn builder(config: Config) -> Builder {
        let workspace = PathBuf::from(&config.workspace.root);
        Builder {
            config,
            channels: Vec::new(),
            callbacks: Callbacks::default(),
            toolbox: None,
            workspace,
            inbox: InboxReach::Open,
            elsewhere: BTreeMap::new(),
            clock: Arc::new(SystemClock),
        }
    }

    /// Replaces the configuration. Questions already asked keep the terms they were asked on.
    pub fn reload(&self, config: Config) {
        if let Some((_, toolbox)) = &self.inner.toolbox {
            toolbox.reload(&config);
        }
        self.put_in_force(|_| Arc::new(config));
    }

    /// Under one lock, so that no older configuration comes back.
    fn put_in_force(&self, config: impl FnOnce(&Arc<Config>) -> Arc<Config>) {
        let mut in_force = self
            .inner
            .in_force
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let config = config(&in_force.config);
        *in_force = Arc::new(InForce {
            reach: self.inner.reach(&config),
            config,
            workspace: self.inner.places.workspace().to_owned(),
        });
    }

    /// Looks at the configuration in force.
    pub fn with_config<T>(&self, look: impl FnOnce(&Config) -> T) -> T {
        look(&self.in_force().config)
    }

    /// Changes who decides in place of people, from now on.
    pub(crate) fn change_callbacks<T>(&self, change: impl FnOnce(&mut Callbacks) -> T) -> T {
        let changed = change(
            &mut self
                .inner
                .callbacks
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        );
        self.put_in_force(Arc::clone);
        changed
    }

    /// Who decides about the calls of a session in place of people.
    pub(crate) fn callback(&self, session: &SessionId) -> Option<Callback> {
        let callbacks = self.inner.callbacks.read();
        callbacks.unwrap_or_else(PoisonError::into_inner).of(session)
    }

    /// Runs something beside the caller, until it is done or the engine stops.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.inner.stop.clone();
        self.inner
            .tasks
            .spawn(async move { stop.run_until_cancelled(task).await });
    }

    /// What a waiter is told; `None` when it has to look again.
    pub(crate) async fn unless_stopped<T>(
        &self,
        told: oneshot::Receiver<T>,
    ) -> Result<Option<T>, StoreError> {
        match self.inner.stop.run_until_cancelled(told).await {
            Some(told) => Ok(told.ok()),
            // Questions stay open; whoever waits comes back after the next start.
            None => Err(StoreError::Closed),
        }
    }

    /// Looks at the clock now, and not when the next deadline was expected: for clocks that do not pass evenly.
    pub fn look_at_the_clock(&self) {
        self.inner.alarm.ring();
        self.inner.outbox_work.notify_one();
    }

    /// Stops the services and closes the store. Everything acknowledged is on disk already.
    pub async fn shutdown(self) -> Result<(), StoreError> {
        self.inner.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        self.inner.store.checkpoint().await?;
        self.inner.store.clone().close().await
    }

    pub(crate) fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.inner.in_force.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The store, for reading what happened.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Where paths of the agent really lead.
    pub fn places(&self) -> &DiskPlaces {
        &self.inner.places
    }

    /// The folder the agent works in, with every link resolved.
    pub fn workspace(&self) -> &str {
        self.inner.places.workspace()
    }

    pub(crate) fn fresh() -> Result<Fresh, IdError> {
        let uuid = uuid::Uuid::now_v7();
        Ok(Fresh {
            id: InteractionId::new(format!("int_{}", uuid.simple()))?,
            random: rand::random(),
        })
    }
}

impl Builder {
    /// Adds a channel.
    pub fn channel(mut self, channel: Arc<dyn Channel>) -> Self {
        self.channels.push(channel);
        self
    }

    /// Lets `callback` decide what would otherwise be asked of the session's own user. Rules that name approvers are still
    /// asked of those people.
    pub fn on_tool_approve(mut self, callback: impl OnToolApprove) -> Self {
        self.callbacks.decide_everywhere(Callback::new(callback));
        self
    }

    /// Channels that other processes connect to, at other times: their people find their questions in the inbox meanwhile, and
    /// what waits to be shown there is left to those processes.
    pub fn channels_elsewhere(
        mut self,
        channels: impl IntoIterator<Item = (ChannelName, Elsewhere)>,
    ) -> Self {
        self.elsewhere.extend(channels);
        self
    }

    /// What is known about the tools of `agent` beyond the configuration. It says nothing about other agents' tools.
    pub fn toolbox(mut self, agent: AgentId, toolbox: impl Toolbox + 'static) -> Self {
        self.toolbox = Some((agent, Box::new(toolbox)));
        self
    }

    /// The folder the agent works in; paths outside it are HIGH.
    pub fn workspace(mut self, root: &Path) -> Self {
        root.clone_into(&mut self.workspace);
        self
    }

    /// Nobody looks at the inbox: a call without a channel has nobody to ask, and is denied at once.
    pub fn without_inbox(mut self) -> Self {
        self.inbox = InboxReach::Closed;
        self
    }

    /// Another clock, for tests.
    pub fn clock(mut self, clock: Arc<dyn placet_store::Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Opens the store at `path`, recovers what a crash left behind, and starts the services.
    pub async fn start(self, path: &Path) -> Result<Engine, StartError> {
        self.start_with(Role::Owner, |options| Store::open(path, options))
            .await
    }

    /// The same without a file: everything is gone when the process is.
    pub async fn start_in_memory(self) -> Result<Engine, StartError> {
        self.start_with(Role::Owner, Store::open_in_memory).await
    }

    /// Opens the store at `path` beside the process that runs on it, or after it: for people who answer from elsewhere on the
    /// same machine. Nothing is run, delivered or expired from here; the owner does that, and hears of answers at once.
    pub async fn join(self, path: &Path) -> Result<Beside, StartError> {
        let engine = self
            .start_with(Role::Guest, |options| Store::join(path, options))
            .await?;
        Ok(Beside { engine })
    }

    async fn start_with(
        self,
        role: Role,
        open: impl FnOnce(Options) -> Result<Store, OpenError>,
    ) -> Result<Engine, StartError> {
        let mut channels = BTreeMap::new();
        for channel in self.channels {
            let name = channel.name().clone();
            if channels.insert(name.clone(), channel).is_some() {
                return Err(StartError::ChannelTwice(name));
            }
        }
        let waiters = Arc::new(Waiters::default());
        let (head, committed) = watch::channel(0_u64);
        let (outbox_work, alarm) = (Arc::new(Notify::new()), Arc::new(Alarm::default()));
        let options = Options {
            clock: self.clock,
            on_commit: Some(Box::new({
                let (waiters, outbox_work, alarm) =
                    (Arc::clone(&waiters), Arc::clone(&outbox_work), Arc::clone(&alarm));
                move |rows| {
                    waiters.wake(rows);
                    if let Some(last) = rows.last() {
                        head.send_replace(last.id);
                    }
                    alarm.heed(rows);
                    outbox_work.notify_one();
                }
            })),
            ..Options::default()
        };
        let store = open(options)?;
        let root = match role {
            Role::Owner => self.workspace,
            // People must be shown what would happen where the agent works, not where they sit.
            Role::Guest => {
                let root = store.read(|view, _| view.workspace()).await?;
                root.map_or(self.workspace, PathBuf::from)
            }
        };
        let home = std::env::home_dir();
        let places = DiskPlaces::new(&root, home.as_deref())?;
        let workspace = places.workspace().to_owned();
        let surfaces = (self.inbox, &self.elsewhere);
        let reach = reach(&self.config, role, &channels, surfaces, &self.callbacks);
        if let Some((_, toolbox)) = &self.toolbox {
            toolbox.reload(&self.config);
        }
        let engine = Engine {
            inner: Arc::new(Inner {
                store,
                queues: Queues::default(),
                waiters,
                committed,
                channels,
                callbacks: RwLock::new(self.callbacks),
                toolbox: self.toolbox,
                places,
                handlers: crate::bus::Handlers::default(),
                outbox_work,
                alarm,
                inbox: self.inbox,
                elsewhere: self.elsewhere,
                role,
                in_force: RwLock::new(Arc::new(InForce {
                    config: Arc::new(self.config),
                    reach,
                    workspace,
                })),
                stop: CancellationToken::new(),
                tasks: TaskTracker::new(),
            }),
        };
        if role == Role::Owner {
            engine.begin().await?;
            engine.recover().await?;
        }
        engine.spawn_services();
        Ok(engine)
    }
}

/// A store joined by [`Builder::join`]: people can look and answer; calls are for the owner.
pub struct Beside {
    engine: Engine,
}

impl Beside {
    /// The broker.
    pub fn broker(&self) -> crate::broker::Broker {
        self.engine.broker()
    }

    /// Everything committed after row `after`, by whomever; see [`Engine::subscribe`].
    pub fn subscribe(&self, after: u64, session: Option<SessionId>) -> crate::events::Subscription {
        self.engine.subscribe(after, session)
    }

    /// The store, for reading what happened.
    pub fn store(&self) -> &Store {
        self.engine.store()
    }

    /// Closes the store. Whoever owns it is not disturbed.
    pub async fn close(self) -> Result<(), StoreError> {
        self.engine.shutdown().await
    }
}

impl Engine {
    /// Says in the journal that Placet runs, since when it had not, and under which policy.
    async fn begin(&self) -> Result<(), StartError> {
        let session = SessionId::new(SYSTEM_SESSION)?;
        let down_for = self.inner.store.down_for();
        let policy = self.in_force().config.policy.version();
        let workspace = Some(self.inner.places.workspace().to_owned());
        let begin = self.transact(|snapshot, _| {
            let started = Event::Started {
                down_for,
                policy,
                workspace: workspace.clone(),
                checkpoints: Some(*snapshot.checkpoints(&())?),
            };
            Ok(Step::new(()).event(session.clone(), started))
        });
        Ok(begin.await.map_err(StepError::into_store_error)?)
    }

    /// What was running when the last process died may have happened, or not.
    async fn recover(&self) -> Result<(), StartError> {
        let lost = self.inner.store.read(|view, _| view.claimed_by_process()).await?;
        for (key, _) in lost {
            let (in_force, fresh) = (self.in_force(), Self::fresh()?);
            let recover =
                self.transact(|snapshot, now| steps::recover(&in_force.rules(), snapshot, now, &key, &fresh));
            match recover.await.map_err(StepError::into_store_error) {
                // It stays claimed, so nobody can run it; that is no reason to keep the others from starting.
                Err(error @ StoreError::Corrupt { .. }) => {
                    tracing::error!(%error, ?key, "a call that was running cannot be read; it is left as it is");
                }
                recovered => recovered?,
            }
        }
        Ok(())
    }

    fn spawn_services(&self) {
        let inner = &self.inner;
        inner.tasks.spawn(neighbours(self.clone(), inner.stop.clone()));
        if inner.role == Role::Guest {
            return;
        }
        inner.tasks.spawn(timers::run(self.clone(), inner.stop.clone()));
        // Also without channels: what is still queued for one that is gone must be given up, not waited for.
        inner.tasks.spawn(outbox::run(self.clone(), inner.stop.clone()));
    }
}

/// Listens for what other processes commit to the same file.
async fn neighbours(engine: Engine, stop: CancellationToken) {
    let mut tick = tokio::time::interval(NEIGHBOURS);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(tick.tick()).await.is_some() {
        if let Err(error) = engine.store().look_around().await {
            tracing::error!(%error, "what others stored could not be read; trying again");
        }
    }
}

impl Inner {
    /// The channels whose outgoing things are left to another process.
    pub(crate) fn left_to_others(&self) -> impl Iterator<Item = &ChannelName> {
        self.elsewhere
            .keys()
            .filter(|name| !self.channels.contains_key(*name))
    }

    fn reach(&self, config: &Config) -> Reach {
        let callbacks = self.callbacks.read().unwrap_or_else(PoisonError::into_inner);
        let surfaces = (self.inbox, &self.elsewhere);
        reach(config, self.role, &self.channels, surfaces, &callbacks)
    }
}

fn reach(
    config: &Config,
    role: Role,
    channels: &BTreeMap<ChannelName, Arc<dyn Channel>>,
    (inbox, elsewhere): (InboxReach, &BTreeMap<ChannelName, Elsewhere>),
    callbacks: &Callbacks,
) -> Reach {
    Reach {
        channels: match role {
            Role::Owner => Connected::These(channels.keys().cloned().collect()),
            Role::Guest => Connected::Elsewhere,
        },
        elsewhere: elsewhere.clone(),
        inbox,
        chats_of: config.people.own_chats(),
        callback: PersonId::new(CALLBACK).ok(),
        callback_decides: callbacks.reach(),
    }
}
