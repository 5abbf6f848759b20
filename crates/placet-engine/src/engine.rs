//! The engine: core driven by a store, with the clocks, the people and the channels around it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use placet_core::analysis::Places as _;
use placet_core::config::{Config, Secret};
use placet_core::ids::{AgentId, ChannelName, IdError, InteractionId, PersonId, SessionId};
use placet_core::journal::{Event, SYSTEM_SESSION};
use placet_core::lease::{Fence, LeaseName};
use placet_core::step::Step;
use placet_core::steps::{self, Elsewhere, Fresh, InboxReach, Reach, Rules};
use placet_store::{Location, OpenError, Options, StepError, Store, StoreError, SystemClock};
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::callback::{Callback, Callbacks, OnQuestion, OnToolApprove};
use crate::channel::{Channel, Healths, Route, connection};
use crate::doubts::Doubts;
use crate::leases::{self, Leases};
use crate::outbox;
use crate::places::{DiskPlaces, PlacesError};
use crate::seal::{KeyPlace, Peers, Seal, SealError};
use crate::timers::{self, Alarm};
use crate::toolbox::Toolbox;
use crate::transact::Queues;
use crate::waiters::Waiters;

/// The key for secrets that people give as answers, beside the store's file.
const SEAL_KEY: &str = "seal.key";
/// Who decides when the embedding program registered a callback.
pub(crate) const CALLBACK: &str = "callback";

/// Placet, embedded. Cheap to clone; the last clone to go stops nothing: call [`Engine::shutdown`].
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) queues: Queues,
    pub(crate) leases: Leases,
    pub(crate) doubts: Doubts,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) committed: watch::Receiver<u64>,
    pub(crate) channels: BTreeMap<ChannelName, Arc<dyn Channel>>,
    pub(crate) routes: BTreeMap<ChannelName, Vec<Route>>,
    pub(crate) healths: Healths,
    /// The address of the inbox's pages.
    pub(crate) inbox_url: Option<String>,
    pub(crate) callbacks: RwLock<Callbacks>,
    pub(crate) seal: Seal,
    pub(crate) peers: Peers,
    /// Told that another process may have committed something.
    pub(crate) news: watch::Receiver<()>,
    pub(crate) toolbox: Option<(AgentId, Box<dyn Toolbox>)>,
    pub(crate) places: DiskPlaces,
    pub(crate) handlers: crate::bus::Handlers,
    pub(crate) outbox_work: Arc<Notify>,
    pub(crate) alarm: Arc<Alarm>,
    inbox: InboxReach,
    elsewhere: BTreeMap<ChannelName, Elsewhere>,
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

/// Where the store of an engine is.
#[derive(Clone, Copy)]
enum Place<'a> {
    At(&'a Location),
    Memory,
}

impl Place<'_> {
    /// Where the key that seals secrets is.
    fn key(self, configured: Option<Secret>, data: Option<&Path>) -> KeyPlace {
        match (self, configured, data) {
            (Place::At(_), Some(secret), _) => KeyPlace::Configured(secret),
            (Place::At(Location::File(path)), None, _) => KeyPlace::File(path.with_file_name(SEAL_KEY)),
            (Place::At(Location::Server(_)), None, Some(folder)) => KeyPlace::File(folder.join(SEAL_KEY)),
            (Place::At(Location::Server(_)), None, None) | (Place::Memory, _, _) => KeyPlace::Memory,
        }
    }

    fn peers(self) -> Peers {
        match self {
            Place::At(Location::Server(_)) => Peers::Some,
            Place::At(Location::File(_)) | Place::Memory => Peers::None,
        }
    }
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
    /// Secrets that people give as answers could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
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
    data: Option<PathBuf>,
    inbox: InboxReach,
    inbox_url: Option<String>,
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
            data: None,
            inbox: InboxReach::Open,
            inbox_url: None,
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

    pub(crate) fn question_callback(&self, session: &SessionId) -> Option<Arc<dyn OnQuestion>> {
        let callbacks = self.inner.callbacks.read();
        callbacks
            .unwrap_or_else(PoisonError::into_inner)
            .question_of(session)
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
            // Questions stay open; agents come back after the next start.
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
        self.stop().await?;
        self.inner.store.clone().close().await
    }

    /// The same for a program that leaves its questions to other processes: their time passes while nothing runs.
    pub async fn leave(self) -> Result<(), StoreError> {
        self.stop().await?;
        self.inner.store.clone().leave().await
    }

    async fn stop(&self) -> Result<(), StoreError> {
        self.inner.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        // One process does this for all.
        if let Some(timers) = self.held(&LeaseName::timers()) {
            self.checkpoint_under(timers).await?;
        }
        self.release_all().await
    }

    /// Covers all rows by a checkpoint, unless another process keeps the time by now.
    pub(crate) async fn checkpoint_under(&self, timers: Fence) -> Result<(), StoreError> {
        let covered = self.inner.store.checkpoint(vec![timers.clone()]).await;
        if let Err(StoreError::Fenced { .. }) = covered {
            self.lose(&timers);
            return Ok(());
        }
        covered
    }

    pub(crate) fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.inner.in_force.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The store, for reading what happened.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Tells whenever another process may have committed something, with or without journal rows. Silent for a store in a file.
    pub fn news(&self) -> watch::Receiver<()> {
        self.inner.news.clone()
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
    /// messages for them stay queued for those processes.
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

    /// The folder for the key that seals secrets when the store is on a server and `[store] seal_key` names none. Replicas need the same key,
    /// and one with another does not start. Without a folder such answers can be read until this process ends.
    pub fn data(mut self, folder: &Path) -> Self {
        self.data = Some(folder.to_owned());
        self
    }

    /// The inbox is not served: a call without a channel has no approver, and is denied at once.
    pub fn without_inbox(mut self) -> Self {
        self.inbox = InboxReach::Closed;
        self
    }

    /// Where people find the web inbox: channels link to a question's page when they cannot show all of it.
    pub fn inbox_at(mut self, url: impl Into<String>) -> Self {
        self.inbox_url = Some(url.into());
        self
    }

    /// Another clock, for tests.
    pub fn clock(mut self, clock: Arc<dyn placet_store::Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Opens the store at `path`, recovers what a crash left behind, and starts the services.
    pub async fn start(self, path: &Path) -> Result<Engine, StartError> {
        self.start_at(&Location::from(path)).await
    }

    /// The same for a store that is in a file or on a server.
    pub async fn start_at(self, location: &Location) -> Result<Engine, StartError> {
        self.start_with(Place::At(location)).await
    }

    /// The same without a file: everything is gone when the process is.
    pub async fn start_in_memory(self) -> Result<Engine, StartError> {
        self.start_with(Place::Memory).await
    }

    async fn start_with(self, place: Place<'_>) -> Result<Engine, StartError> {
        let mut channels = BTreeMap::new();
        for channel in self.channels {
            let name = channel.name().clone();
            if channels.insert(name.clone(), channel).is_some() {
                return Err(StartError::ChannelTwice(name));
            }
        }
        let routes = channels
            .iter()
            .map(|(name, channel)| (name.clone(), Arc::clone(channel).routes()))
            .collect();
        let waiters = Arc::new(Waiters::default());
        let (head, committed) = watch::channel(0_u64);
        let (tell, news) = watch::channel(());
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
            on_look: Some(Box::new(move || {
                tell.send_replace(());
            })),
            ..Options::default()
        };
        let key = place.key(self.config.store.seal_key.clone(), self.data.as_deref());
        let peers = place.peers();
        let store = match place {
            Place::At(location) => Store::open_at(location, options).await?,
            Place::Memory => Store::open_in_memory(options)?,
        };
        // After the store, whose folder this may have made.
        let seal = Seal::of(key, &store, peers).await?;
        let home = std::env::home_dir();
        let places = DiskPlaces::new(&self.workspace, home.as_deref())?;
        let workspace = places.workspace().to_owned();
        let surfaces = (self.inbox, &self.elsewhere);
        let reach = reach(&self.config, &channels, surfaces, &self.callbacks);
        if let Some((_, toolbox)) = &self.toolbox {
            toolbox.reload(&self.config);
        }
        let engine = Engine {
            inner: Arc::new(Inner {
                store,
                seal,
                peers,
                news,
                queues: Queues::default(),
                leases: Leases::new(self.config.store.lease),
                doubts: Doubts::default(),
                waiters,
                committed,
                healths: Healths::new(channels.keys()),
                channels,
                routes,
                inbox_url: self.inbox_url,
                callbacks: RwLock::new(self.callbacks),
                toolbox: self.toolbox,
                places,
                handlers: crate::bus::Handlers::default(),
                outbox_work,
                alarm,
                inbox: self.inbox,
                elsewhere: self.elsewhere,
                in_force: RwLock::new(Arc::new(InForce {
                    config: Arc::new(self.config),
                    reach,
                    workspace,
                })),
                stop: CancellationToken::new(),
                tasks: TaskTracker::new(),
            }),
        };
        engine.agree_on_key().await?;
        engine.begin().await?;
        engine.recover().await?;
        engine.spawn_services();
        Ok(engine)
    }
}

impl Engine {
    /// Says in the journal that Placet runs, under which policy, and from when until when it did not.
    async fn begin(&self) -> Result<(), StartError> {
        let session = SessionId::new(SYSTEM_SESSION)?;
        // Claims are bound to the first, outages are recorded under the second.
        self.hold(&LeaseName::process(self.inner.leases.owner())).await?;
        let timers = self.hold(&LeaseName::timers()).await?;
        let outage = self.inner.store.outage_before().filter(|_| timers.is_some());
        let policy = self.in_force().config.policy.version();
        let workspace = Some(self.inner.places.workspace().to_owned());
        let begin = self.transact(|snapshot, _| {
            let started = Event::Started {
                down_for: None,
                policy,
                workspace: workspace.clone(),
                checkpoints: Some(*snapshot.checkpoints(&())?),
            };
            let step = match outage {
                Some(outage) => steps::record_outage(snapshot, outage)?,
                None => Step::new(()),
            };
            Ok(step.event(session.clone(), started))
        });
        Ok(begin.await.map_err(StepError::into_store_error)?)
    }

    /// What was running when the last process died may have happened, or not.
    async fn recover(&self) -> Result<(), StartError> {
        let now = self.inner.store.now();
        let lost = self
            .inner
            .store
            .look(|stored| stored.claimed_by_process(&now).cloned());
        for key in lost.await? {
            let (in_force, fresh) = (self.in_force(), Self::fresh()?);
            let recover =
                self.transact(|snapshot, now| steps::recover(&in_force.rules(), snapshot, now, &key, &fresh));
            match recover.await.map_err(StepError::into_store_error) {
                // It stays claimed, so it cannot run; the others can still start.
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
        inner.tasks.spawn(leases::run(self.clone(), inner.stop.clone()));
        inner.tasks.spawn(timers::run(self.clone(), inner.stop.clone()));
        // Also without channels: what is still queued for one that is gone must be given up, not waited for.
        inner.tasks.spawn(outbox::run(self.clone(), inner.stop.clone()));
        for channel in inner.channels.values() {
            inner.tasks.spawn(connection::keep(
                self.clone(),
                Arc::clone(channel),
                inner.stop.clone(),
            ));
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
        reach(config, &self.channels, surfaces, &callbacks)
    }
}

fn reach(
    config: &Config,
    channels: &BTreeMap<ChannelName, Arc<dyn Channel>>,
    (inbox, elsewhere): (InboxReach, &BTreeMap<ChannelName, Elsewhere>),
    callbacks: &Callbacks,
) -> Reach {
    Reach {
        channels: channels.keys().cloned().collect(),
        elsewhere: elsewhere.clone(),
        inbox,
        chats_of: config.people.own_chats(),
        callback: PersonId::new(CALLBACK).ok(),
        callback_decides: callbacks.reach(),
        callback_answers: callbacks.answers(),
    }
}
