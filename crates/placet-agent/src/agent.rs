//! The agent of an engine: begins runs, and wakes those that can go on.
//!
//! One task reads the journal. A run has a task of its own only while there is something to do for it: the model speaks, or a
//! call runs. A parked run is a row, and its session's name in one set.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use placet_core::call::{Chat, Origin};
use placet_core::ids::{AgentId, IdError, PersonId, SessionId};
use placet_core::journal::{Event, SYSTEM_SESSION};
use placet_core::run::{EvolveError, Limits, ResumePoint, Run};
use placet_engine::Engine;
use placet_engine::events::Subscription;
use placet_engine::steps::{self, RunRefusal, Said, Saying};
use placet_store::{Committed, StepError, StoreError};
use tokio::sync::{Notify, broadcast};
use tokio::task::{Id, JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::drive::{self, DriveError};
use crate::model::{Delta, Model};
use crate::tools::Tools;

/// The name under which the built-in agent comes to the gate.
pub const AGENT: &str = "placet";
/// What the model is told first, unless the program says something else.
const PROMPT: &str = include_str!("prompt.txt");
/// How many pieces of speech a slow watcher may be behind before it misses some.
const LIVE_DELTAS_KEPT: usize = 1024;
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
    pub(crate) usual_model: String,
    pub(crate) tools: Tools,
    pub(crate) prompt: String,
    pub(crate) limits: Limits,
    pub(crate) agent: AgentId,
    pub(crate) live: broadcast::Sender<LiveDelta>,
    pub(crate) stop: CancellationToken,
    service: Mutex<Option<JoinHandle<()>>>,
}

/// A piece of what a model is saying, for whoever watches. Never stored.
#[derive(Debug, Clone)]
pub(crate) struct LiveDelta {
    pub(crate) session: SessionId,
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
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why the agent was not told something. Nothing happened.
#[derive(Debug, thiserror::Error)]
pub enum TellError {
    /// Nothing happens in this session any more.
    #[error("the session `{0}` has been ended")]
    SessionOver(SessionId),
    /// The session is another person's, or another agent's.
    #[error("the session `{0}` is not yours")]
    NotYours(SessionId),
    /// There is nothing to do.
    #[error("the message is empty")]
    Empty,
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

/// Builds an [`Agent`].
#[must_use]
pub struct Builder {
    engine: Engine,
    tools: Tools,
    models: Vec<Arc<dyn Model>>,
    prompt: String,
    limits: Limits,
    name: Option<AgentId>,
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
        }
    }

    /// The engine it works with.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Tells the agent something: begins a run, or is read after the turn that is under way. The person is whom the transport
    /// recognised. A session belongs to the person who began it.
    pub async fn tell(
        &self,
        session: &SessionId,
        text: &str,
        person: &PersonId,
        chat: Option<Chat>,
    ) -> Result<Said, TellError> {
        self.tell_with(&self.inner.usual_model, session, text, person, chat)
            .await
    }

    /// The same; a run that begins with it thinks with this one of the agent's models.
    pub(crate) async fn tell_with(
        &self,
        model: &str,
        session: &SessionId,
        text: &str,
        person: &PersonId,
        chat: Option<Chat>,
    ) -> Result<Said, TellError> {
        if text.trim().is_empty() {
            return Err(TellError::Empty);
        }
        let saying = Saying {
            session: session.clone(),
            text: text.to_owned(),
            origin: Origin {
                agent: self.inner.agent.clone(),
                agent_path: Vec::new(),
                chat,
                user: Some(person.clone()),
            },
            model: model.to_owned(),
            limits: self.inner.limits,
        };
        let person = person.clone();
        let step = move |view: &placet_store::View<'_>, _| {
            if !may_tell(view, &saying.session, &person)? {
                return Err(TellError::NotYours(saying.session));
            }
            steps::tell(view, &saying).map_err(|refusal| match refusal {
                RunRefusal::SessionOver(session) | RunRefusal::Stale(session) => {
                    TellError::SessionOver(session)
                }
                RunRefusal::Store(error) => TellError::Store(error),
            })
        };
        let told = self.inner.engine.store().step(step).await;
        told.map_err(|error| match error {
            StepError::Refused(refusal) => refusal,
            StepError::Store(error) => TellError::Store(error),
        })
    }

    /// The person a session of the built-in agent belongs to; `None` when it has never run there.
    pub async fn owner(&self, session: &SessionId) -> Result<Option<PersonId>, StoreError> {
        let session = session.clone();
        let read = self
            .inner
            .engine
            .store()
            .read(move |view, _| view.run_owner(&session));
        read.await
    }

    /// Where the run of a session stands; `None` when none is going on.
    pub async fn resume_point(&self, session: &SessionId) -> Result<Option<ResumePoint>, StoreError> {
        let mut run = Run::new(session.clone());
        match self.inner.read_on(&mut run, 0, &mut |_| {}).await {
            Ok(_) => Ok(run.resume_point()),
            Err(ReplayError::Store(error)) => Err(error),
            Err(corrupt) => Err(StoreError::Corrupt {
                what: corrupt.to_string(),
            }),
        }
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
    }
}

/// A new session is anybody's; a known one belongs to whoever first talked to the agent in it, and is no agent's of others.
fn may_tell(
    view: &placet_store::View<'_>,
    session: &SessionId,
    person: &PersonId,
) -> Result<bool, StoreError> {
    if session.as_str() == SYSTEM_SESSION {
        return Ok(false);
    }
    match view.run_owner(session)? {
        Some(owner) => Ok(owner == *person),
        // What they set before they first spoke is theirs too.
        None => {
            let own = |row: &Committed| match &row.event {
                Event::ModeSet { by, .. } | Event::ToolAllowed { by, .. } => by == person,
                _ => false,
            };
            let rows = view.journal(0, PAGE, Some(session))?;
            Ok(rows.len() < PAGE && rows.iter().all(own))
        }
    }
}

impl Builder {
    /// Adds a model. The first one is the usual one.
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.models.push(model);
        self
    }

    /// The name under which it comes to the gate, instead of [`AGENT`]. A run goes on only under the name it began with.
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

    /// Starts, and resumes every run that has not ended.
    pub async fn start(self) -> Result<Agent, StartError> {
        let usual_model = self.models.first().map(|model| model.name().to_owned());
        let (live, _) = broadcast::channel(LIVE_DELTAS_KEPT);
        let inner = Arc::new(Inner {
            usual_model: usual_model.ok_or(StartError::NoModel)?,
            models: self
                .models
                .into_iter()
                .map(|model| (model.name().to_owned(), model))
                .collect(),
            engine: self.engine,
            tools: self.tools,
            prompt: self.prompt,
            limits: self.limits,
            agent: self.name.map_or_else(|| AgentId::new(AGENT), Ok)?,
            live,
            stop: CancellationToken::new(),
            service: Mutex::new(None),
        });
        let store = inner.engine.store();
        // The head first: a run that begins between the two is in both, and woken once too often.
        let (head, open) = store
            .read(|view, _| Ok((view.head()?, view.open_runs()?)))
            .await?;
        let journal = inner.engine.subscribe(head, None);
        let desk = Dispatch {
            agent: Arc::clone(&inner),
            open: open.iter().cloned().collect(),
            active: HashMap::new(),
            named: HashMap::new(),
            runs: JoinSet::new(),
        };
        let service = tokio::spawn(desk.run(journal, open));
        *inner.service.lock().unwrap_or_else(PoisonError::into_inner) = Some(service);
        Ok(Agent { inner })
    }
}

impl Inner {
    /// Applies the rows after `after` to a run; says how far it came. Every row is shown to `seen`.
    pub(crate) async fn read_on(
        &self,
        run: &mut Run,
        mut after: u64,
        seen: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<u64, ReplayError> {
        loop {
            let session = run.session().clone();
            let page = self.engine.store();
            let page = page
                .read(move |view, _| view.journal(after, PAGE, Some(&session)))
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

/// Reads the journal and keeps a task for every run that has something to do.
struct Dispatch {
    agent: Arc<Inner>,
    /// Sessions whose run has not ended.
    open: BTreeSet<SessionId>,
    active: HashMap<SessionId, Active>,
    named: HashMap<Id, SessionId>,
    runs: JoinSet<Result<(), DriveError>>,
}

struct Active {
    wake: Arc<Notify>,
    /// Something happened since the task was started: when it ends, it may have missed that.
    news: bool,
}

impl Dispatch {
    async fn run(mut self, mut journal: Subscription, open: Vec<SessionId>) {
        for session in open {
            self.start(session);
        }
        let stop = self.agent.stop.clone();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                row = journal.next() => match row {
                    Ok(row) => self.heed(&row),
                    Err(error) => {
                        tracing::error!(%error, "the agent can no longer read the journal; runs go on at the next start");
                        stop.cancel();
                    }
                },
                Some(ended) = self.runs.join_next_with_id() => self.ended(ended),
            }
        }
        // Runs notice the stop themselves: what runs in them is stopped, and the results say so.
        while self.runs.join_next().await.is_some() {}
    }

    fn heed(&mut self, row: &Committed) {
        match &row.event {
            Event::RunStarted(_) => {
                self.open.insert(row.session.clone());
            }
            Event::RunEnded { .. } => {
                self.open.remove(&row.session);
            }
            Event::SessionEnded { .. } => self.agent.tools.end_session(&row.session),
            _ => {}
        }
        if let Some(active) = self.active.get_mut(&row.session) {
            active.news = true;
            active.wake.notify_one();
        } else if self.open.contains(&row.session) && moves_a_run(&row.event) {
            self.start(row.session.clone());
        }
    }

    fn start(&mut self, session: SessionId) {
        let wake = Arc::new(Notify::new());
        let drive = drive::drive(Arc::clone(&self.agent), session.clone(), Arc::clone(&wake));
        let task = self.runs.spawn(drive);
        self.named.insert(task.id(), session.clone());
        self.active.insert(session, Active { wake, news: false });
    }

    fn ended(&mut self, ended: Result<(Id, Result<(), DriveError>), tokio::task::JoinError>) {
        let (id, failed) = match ended {
            Ok((id, Ok(()))) => (id, None),
            Ok((id, Err(error))) => (id, Some(error.to_string())),
            Err(error) => (error.id(), Some(error.to_string())),
        };
        let Some(session) = self.named.remove(&id) else {
            return;
        };
        let missed = self.active.remove(&session).is_some_and(|active| active.news);
        match failed {
            // What failed is not tried again at once: it would fail again. The run is in the store.
            Some(error) => tracing::error!(%session, %error, "a run could not go on"),
            None if missed && self.open.contains(&session) => self.start(session),
            None => {}
        }
    }
}

/// Whether a row can give a parked run something to do.
fn moves_a_run(event: &Event) -> bool {
    matches!(
        event,
        Event::RunStarted(_)
            | Event::UserSaid { .. }
            | Event::Settled { .. }
            | Event::Finished { .. }
            | Event::RunInterrupted { .. }
            | Event::SessionEnded { .. }
    )
}
