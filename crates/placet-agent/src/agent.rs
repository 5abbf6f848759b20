//! The agent of an engine: it starts, continues runs, and stops. `user_message.rs` takes messages from people.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use placet_core::ids::{AgentId, ChannelName, IdError, PersonId, SessionId};
use placet_core::journal::Event;
use placet_core::listing::JournalPage;
use placet_core::run::{EvolveError, Limits, ResumePoint, Run};
use placet_core::snapshot::{Need, Snapshot, Undecided};
use placet_core::steps::{ResumeRefusal, RunHost};
use placet_engine::Engine;
use placet_store::StoreError;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::dispatch::Dispatch;
use crate::mcp::PinsError;
use crate::model::{Delta, Model};
use crate::tools::Tools;

/// What the model is told first, unless the program says something else.
const PROMPT: &str = include_str!("prompt.txt");
/// How many pieces of speech a slow watcher may be behind before it misses some.
const LIVE_DELTAS_KEPT: usize = 1024;
/// How many wakings wait to be heard before the sender waits, too.
const WAKES_KEPT: usize = 64;
/// Rows read at once when a run is resumed.
const PAGE: usize = 512;

/// The built-in agent. Cheap to clone; [`Agent::shutdown`] stops it.
#[derive(Clone)]
pub struct Agent {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) models: BTreeMap<String, Arc<dyn Model>>,
    pub(crate) tools: Tools,
    /// The tools there were when each open run began, as far as this process knows.
    held: Mutex<BTreeMap<SessionId, Tools>>,
    pub(crate) prompt: String,
    pub(crate) host: RunHost,
    /// Runs that are to go on.
    waking: mpsc::Sender<Vec<SessionId>>,
    pub(crate) live: broadcast::Sender<LiveDelta>,
    pub(crate) stop: CancellationToken,
    service: Mutex<Option<JoinHandle<()>>>,
    /// Why it does nothing at the moment.
    trouble: Mutex<Option<String>>,
}

/// A piece of what a model is saying, for watchers. Never stored.
#[derive(Debug, Clone)]
pub(crate) struct LiveDelta {
    pub(crate) session: SessionId,
    /// The last row the model had read: watchers see that first.
    pub(crate) row: u64,
    pub(crate) turn: u32,
    pub(crate) delta: Delta,
}

/// Why an agent does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is nothing to think with.
    #[error("the agent has no model")]
    NoModel,
    /// A built-in name was refused; a defect of this program.
    #[error(transparent)]
    Id(#[from] IdError),
    /// It is not known how tools of MCP servers looked before.
    #[error(transparent)]
    Pins(#[from] PinsError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a run does not go on here. It is in the store as it was.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// This process leaves it alone.
    #[error(transparent)]
    Refused(#[from] ResumeRefusal),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a run cannot be read from the journal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("row {row} cannot follow from the rows before it: {error}")]
    Corrupt { row: u64, error: EvolveError },
}

impl ReplayError {
    /// The same as an error of the store: what cannot be read is corrupt.
    pub(crate) fn into_store(self) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Corrupt { .. } => StoreError::Corrupt {
                what: self.to_string(),
            },
        }
    }
}

/// Builds an [`Agent`].
#[must_use]
pub struct Builder {
    engine: Engine,
    tools: Tools,
    models: Vec<Arc<dyn Model>>,
    prompt: String,
    limits: Limits,
    name: Option<AgentId>,
    channels: BTreeSet<ChannelName>,
    resuming: Resuming,
}

/// Which runs go on by themselves when an agent starts.
#[derive(Clone, Copy)]
enum Resuming {
    /// Every one it can continue.
    Every,
    /// Only those that are named.
    Named,
}

impl Agent {
    /// An agent for an engine, with these tools. The engine must have been built with the same tools as its toolbox.
    pub fn builder(engine: Engine, tools: Tools) -> Builder {
        Builder {
            engine,
            tools,
            models: Vec::new(),
            prompt: PROMPT.to_owned(),
            limits: Limits::USUAL,
            name: None,
            channels: BTreeSet::new(),
            resuming: Resuming::Every,
        }
    }

    /// The engine it works with.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// The tools it has now.
    pub fn tools(&self) -> &Tools {
        &self.inner.tools
    }

    /// The model of runs that name none.
    pub fn usual_model(&self) -> &str {
        &self.inner.host.usual_model
    }

    /// Continues the run of a session, and the runs of its delegated tasks. Nothing happens when none is going on.
    pub async fn resume(&self, session: &SessionId) -> Result<(), ResumeError> {
        let store = self.inner.engine.store();
        let family = store.look(|stored| {
            let Some(run) = stored.run(session)?.as_ref().filter(|run| !run.ended) else {
                return Ok(Ok(Vec::new()));
            };
            if let Err(left_alone) = self.inner.host.resumes(session, &run.started) {
                return Ok(Err(left_alone));
            }
            let mut family = stored.descendants(session)?.clone();
            family.push(session.clone());
            Ok(Ok(family))
        });
        let family = family.await??;
        self.inner.wake(family).await;
        Ok(())
    }

    /// The person a session of the built-in agent belongs to; `None` when it has never run there.
    pub async fn owner(&self, session: &SessionId) -> Result<Option<PersonId>, StoreError> {
        let store = self.inner.engine.store();
        store.look(|stored| stored.run_owner(session).cloned()).await
    }

    /// Where the run of a session stands; `None` when none is going on.
    pub async fn resume_point(&self, session: &SessionId) -> Result<Option<ResumePoint>, StoreError> {
        let mut run = Run::new(session.clone());
        match self.inner.read_on(&mut run, 0, &mut |_| {}).await {
            Ok(_) => Ok(run.resume_point()),
            Err(error) => Err(error.into_store()),
        }
    }

    /// Why no run goes on at the moment; `None` while it works.
    pub fn trouble(&self) -> Option<String> {
        let service = &self.inner.service;
        let service = service.lock().unwrap_or_else(PoisonError::into_inner);
        if service.as_ref().is_none_or(JoinHandle::is_finished) {
            return Some("it has stopped".to_owned());
        }
        self.inner.trouble()
    }

    /// Stops working. Runs that are under way go on at the next start; calls that are running are stopped, and their results
    /// say so.
    pub async fn shutdown(self) {
        self.inner.stop.cancel();
        let service = self
            .inner
            .service
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(service) = service {
            // A service that panicked has nothing left to wait for.
            let _ = service.await;
        }
        self.inner.tools.shut_down();
        self.inner.tools.stop().await;
    }
}

impl Builder {
    /// Adds a model. The first one is the usual one.
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.models.push(model);
        self
    }

    /// The name under which it comes to the gate, instead of the built-in one. A run goes on only under the name it began with.
    pub fn named(mut self, name: AgentId) -> Self {
        self.name = Some(name);
        self
    }

    /// What the model is told first.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = prompt.into();
        self
    }

    /// How far runs may go.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Listens on these channels: what people write there, and answers no question, is told to the agent.
    pub fn channels(mut self, channels: impl IntoIterator<Item = ChannelName>) -> Self {
        self.channels.extend(channels);
        self
    }

    /// Resumes nothing by itself, only what [`Agent::resume`] names or a user writes to: for a program that is about
    /// one conversation.
    pub fn resuming_nothing(mut self) -> Self {
        self.resuming = Resuming::Named;
        self
    }

    /// Starts, and resumes every run of its own that has not ended. Those of other agents and other folders are left alone, and
    /// those that think with a model it does not have.
    pub async fn start(self) -> Result<Agent, StartError> {
        let models = self
            .models
            .into_iter()
            .map(|model| (model.name().to_owned(), model));
        let models: Vec<(String, Arc<dyn Model>)> = models.collect();
        let (usual_model, _) = models.first().ok_or(StartError::NoModel)?;
        self.tools.keep_pins_in(&self.engine).await?;
        let host = RunHost {
            agent: self.name.unwrap_or_else(AgentId::built_in),
            workspace: self.engine.workspace().to_owned(),
            models: models.iter().map(|(name, _)| name.clone()).collect(),
            usual_model: usual_model.clone(),
            limits: self.limits,
            channels: self.channels,
        };
        let (live, _) = broadcast::channel(LIVE_DELTAS_KEPT);
        let (waking, woken) = mpsc::channel(WAKES_KEPT);
        let inner = Arc::new(Inner {
            host,
            models: models.into_iter().collect(),
            engine: self.engine,
            tools: self.tools,
            held: Mutex::default(),
            prompt: self.prompt,
            waking,
            live,
            stop: CancellationToken::new(),
            service: Mutex::new(None),
            trouble: Mutex::new(None),
        });
        let store = inner.engine.store();
        // The head first: a run that begins between the two is in both, and woken once too often.
        let look = store.look(|stored| {
            let open = match self.resuming {
                Resuming::Every => inner.own_open_runs(stored)?,
                Resuming::Named => Vec::new(),
            };
            Ok((*stored.head(&())?, open, stored.queued_sessions(&())?.clone()))
        });
        let (head, open, written) = look.await?;
        let journal = inner.engine.subscribe(head, None);
        let dispatch = Dispatch::new(Arc::clone(&inner));
        let service = tokio::spawn(dispatch.run(journal, open, written, woken));
        *inner.service.lock().unwrap_or_else(PoisonError::into_inner) = Some(service);
        Ok(Agent { inner })
    }
}

impl Inner {
    /// Why nothing can be done at the moment.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble_now().clone()
    }

    /// The journal cannot be read.
    pub(crate) fn suffers(&self, from: &StoreError) {
        let trouble = self
            .trouble_now()
            .replace(format!("it cannot read the journal: {from}"));
        if trouble.is_none() {
            tracing::error!(error = %from, "the agent cannot read the journal; trying again");
        }
    }

    /// The journal can be read again.
    pub(crate) fn recovers(&self) {
        *self.trouble_now() = None;
        tracing::info!("the agent can read the journal again");
    }

    fn trouble_now(&self) -> MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open runs it is to resume.
    fn own_open_runs(&self, stored: &Snapshot) -> Result<Vec<SessionId>, Undecided> {
        let open = stored.open_runs(&())?;
        stored.require(open.iter().cloned().map(Need::Run))?;
        let mut own = Vec::new();
        for session in open {
            let run = match stored.run(session) {
                Ok(Some(run)) => run,
                Ok(None) => continue,
                // It cannot continue; the others can.
                Err(error) => {
                    tracing::error!(%error, %session, "a run cannot be read; it is left as it is");
                    continue;
                }
            };
            match self.host.resumes(session, &run.started) {
                Ok(()) => own.push(session.clone()),
                Err(why) => tracing::info!(%why, "a run is left alone"),
            }
        }
        Ok(own)
    }

    /// Wakes every open run. A spurious wake-up is harmless.
    async fn wake(&self, sessions: Vec<SessionId>) {
        // An agent that has stopped wakes no run: they continue at the next start.
        let _ = self.waking.send(sessions).await;
    }

    /// What the run of a session may call. Servers may change their tools at any time; a run keeps those it began with, and
    /// one that is resumed by another process those it finds there.
    pub(crate) async fn tools_of(&self, session: &SessionId) -> Tools {
        let held = |all: &BTreeMap<SessionId, Tools>| all.get(session).cloned();
        if let Some(tools) = held(&self.held.lock().unwrap_or_else(PoisonError::into_inner)) {
            return tools;
        }
        let tools = self.tools.now().await;
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(session.clone()).or_insert(tools).clone()
    }

    /// The run of a session has ended; the next one looks again.
    pub(crate) fn let_go(&self, session: &SessionId) {
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(session);
    }

    /// Applies the rows after `after` to a run; says how far it came. Every row is shown to `seen`.
    pub(crate) async fn read_on(
        &self,
        run: &mut Run,
        mut after: u64,
        seen: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<u64, ReplayError> {
        loop {
            let page = JournalPage::of(run.session(), after, PAGE);
            let page = self
                .engine
                .store()
                .look(|stored| stored.journal(&page).cloned())
                .await?;
            let Some(last) = page.last() else { return Ok(after) };
            after = last.id;
            for row in &page {
                seen(&row.event);
                run.evolve(&row.event)
                    .map_err(|error| ReplayError::Corrupt { row: row.id, error })?;
            }
        }
    }
}
