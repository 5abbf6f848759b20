//! Wakes the runs that can go on.
//!
//! One task reads the journal. A run has a task of its own only while there is something to do for it: the model speaks, or a
//! call runs. A parked run is a row, and its session's name in one set.
//!
//! The store may be gone for a while. Nothing is given up because of that: the journal is read on from where it was, and what
//! failed is tried again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use placet_core::ids::SessionId;
use placet_core::journal::Event;
use placet_core::lease::LeaseName;
use placet_core::listing::Committed;
use placet_core::snapshot::Need;
use placet_engine::events::Subscription;
use placet_store::StoreError;
use tokio::sync::{Notify, mpsc};
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};

use crate::agent::Inner;
use crate::drive::{self, DriveError, Driven};
use crate::inbound;
use crate::pauses::Pauses;

/// Reads the journal and keeps a task for every run that has something to do.
pub(crate) struct Dispatch {
    agent: Arc<Inner>,
    /// Sessions whose run has not ended.
    open: BTreeSet<SessionId>,
    active: HashMap<SessionId, Active>,
    named: HashMap<Id, SessionId>,
    runs: JoinSet<Result<Driven, DriveError>>,
    /// Open runs that another process was driving when something happened in them. It may be gone before it acts on that.
    elsewhere: BTreeSet<SessionId>,
    /// Chats whose messages are being taken.
    letters: JoinSet<(SessionId, Result<(), StoreError>)>,
    /// What failed for a reason that may pass.
    again: Again,
}

/// What is to be tried again, and when.
#[derive(Default)]
struct Again {
    runs: BTreeSet<SessionId>,
    letters: BTreeSet<SessionId>,
    pauses: Pauses,
    at: Option<Instant>,
}

impl Again {
    fn run(&mut self, session: SessionId) {
        self.runs.insert(session);
        self.set();
    }

    fn letters(&mut self, session: SessionId) {
        self.letters.insert(session);
        self.set();
    }

    fn set(&mut self) {
        if self.at.is_none() {
            self.at = Some(Instant::now() + self.pauses.next());
        }
    }

    /// Waits for the time to try again; forever when nothing failed.
    async fn due(&self) {
        match self.at {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    /// Runs and chats whose time has come.
    fn take(&mut self) -> (BTreeSet<SessionId>, BTreeSet<SessionId>) {
        self.at = None;
        (std::mem::take(&mut self.runs), std::mem::take(&mut self.letters))
    }
}

struct Active {
    wake: Arc<Notify>,
    /// Something happened since the task was started: when it ends, it may have missed that.
    news: bool,
}

impl Active {
    fn hears(&mut self) {
        self.news = true;
        self.wake.notify_one();
    }
}

impl Dispatch {
    pub(crate) fn new(agent: Arc<Inner>) -> Self {
        Self {
            agent,
            open: BTreeSet::new(),
            active: HashMap::new(),
            named: HashMap::new(),
            runs: JoinSet::new(),
            elsewhere: BTreeSet::new(),
            letters: JoinSet::new(),
            again: Again::default(),
        }
    }

    /// Works until the agent is stopped. `open` are the runs to be resumed, `written` the chats in which messages wait; those
    /// `woken` later go on too.
    pub(crate) async fn run(
        mut self,
        mut journal: Subscription,
        open: Vec<SessionId>,
        written: Vec<SessionId>,
        mut woken: mpsc::Receiver<Vec<SessionId>>,
    ) {
        self.open.extend(open.iter().cloned());
        for session in open {
            self.start(session);
        }
        for session in written {
            self.take_letters(session);
        }
        let stop = self.agent.stop.clone();
        let mut look_for_lost = tokio::time::interval(self.agent.engine.lease_renewal());
        look_for_lost.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pauses = Pauses::default();
        let mut read_at = Instant::now();
        loop {
            let agent = Arc::clone(&self.agent);
            let next = async {
                tokio::time::sleep_until(read_at).await;
                if agent.trouble().is_some() {
                    // There may be no next row for long.
                    agent.engine.head().await?;
                    agent.recovers();
                }
                journal.next().await
            };
            tokio::select! {
                () = stop.cancelled() => break,
                row = next => match row {
                    Ok(row) => {
                        pauses = Pauses::default();
                        self.heed(&row);
                    }
                    Err(StoreError::Closed) => break,
                    Err(error) => {
                        self.agent.suffers(&error);
                        read_at = Instant::now() + pauses.next();
                    }
                },
                Some(sessions) = woken.recv() => self.wake(sessions),
                _ = look_for_lost.tick() => self.take_over().await,
                Some(ended) = self.runs.join_next_with_id() => self.ended(ended),
                Some(Ok((session, taken))) = self.letters.join_next() => self.letters_taken(session, taken),
                () = self.again.due() => self.try_again(),
            }
        }
        // Runs notice the stop themselves: what runs in them is stopped, and the results say so.
        while self.runs.join_next().await.is_some() {}
        while self.letters.join_next().await.is_some() {}
    }

    fn heed(&mut self, row: &Committed) {
        match &row.event {
            Event::RunStarted(run) => {
                if let Err(why) = self.agent.host.resumes(&row.session, run) {
                    tracing::info!(%why, "a run is left alone");
                    return;
                }
                self.open.insert(row.session.clone());
            }
            Event::RunEnded { .. } => {
                self.open.remove(&row.session);
                self.elsewhere.remove(&row.session);
                self.agent.let_go(&row.session);
            }
            Event::SessionEnded { .. } => self.agent.tools.end_session(&row.session),
            Event::MessageQueued(_) => self.take_letters(row.session.clone()),
            _ => {}
        }
        if let Some(active) = self.active.get_mut(&row.session) {
            active.hears();
        } else if self.open.contains(&row.session) && moves_a_run(&row.event) {
            self.start(row.session.clone());
        }
    }

    fn wake(&mut self, sessions: Vec<SessionId>) {
        for session in sessions {
            let resting = self.open.insert(session.clone());
            if let Some(active) = self.active.get_mut(&session) {
                // Also one that is about to end because its run has: it looks again then, and a run never has two.
                active.hears();
            } else if resting {
                self.start(session);
            }
        }
    }

    /// Continues runs that no process drives any more: theirs is gone, or has let go of them.
    async fn take_over(&mut self) {
        if self.elsewhere.is_empty() {
            return;
        }
        let store = self.agent.engine.store();
        let now = store.now();
        let look = store.look(|stored| {
            stored.require(self.elsewhere.iter().map(LeaseName::run).map(Need::Lease))?;
            let mut free = Vec::new();
            for session in &self.elsewhere {
                let lease = stored.lease(&LeaseName::run(session))?;
                if lease.as_ref().is_none_or(|lease| lease.holder(now).is_none()) {
                    free.push(session.clone());
                }
            }
            Ok(free)
        });
        match look.await {
            Ok(free) => {
                for session in free {
                    if self.open.contains(&session) && !self.active.contains_key(&session) {
                        self.start(session);
                    }
                }
            }
            Err(error) => tracing::error!(%error, "runs of other processes could not be read; trying again"),
        }
    }

    fn start(&mut self, session: SessionId) {
        self.elsewhere.remove(&session);
        let wake = Arc::new(Notify::new());
        let drive = drive::drive(Arc::clone(&self.agent), session.clone(), Arc::clone(&wake));
        let task = self.runs.spawn(drive);
        self.named.insert(task.id(), session.clone());
        self.active.insert(session, Active { wake, news: false });
    }

    fn take_letters(&mut self, session: SessionId) {
        let agent = Arc::clone(&self.agent);
        self.letters.spawn(async move {
            let taken = inbound::take(&agent, &session).await;
            (session, taken)
        });
    }

    fn letters_taken(&mut self, session: SessionId, taken: Result<(), StoreError>) {
        match taken {
            Ok(()) => {}
            Err(error) if error.may_pass() => {
                tracing::warn!(%session, %error, "a message cannot be taken yet; trying again");
                self.again.letters(session);
            }
            Err(error) => {
                tracing::error!(%session, %error, "a message waits for the agent until the next one or the next start");
            }
        }
    }

    fn try_again(&mut self) {
        let (runs, letters) = self.again.take();
        for session in runs {
            if self.open.contains(&session) && !self.active.contains_key(&session) {
                self.start(session);
            }
        }
        for session in letters {
            self.take_letters(session);
        }
    }

    fn ended(&mut self, ended: Result<(Id, Result<Driven, DriveError>), tokio::task::JoinError>) {
        let (id, ended) = match ended {
            Ok((id, ended)) => (id, ended.map_err(|error| (error.may_pass(), error.to_string()))),
            Err(error) => (error.id(), Err((false, error.to_string()))),
        };
        let Some(session) = self.named.remove(&id) else {
            return;
        };
        let missed = self.active.remove(&session).is_some_and(|active| active.news);
        match ended {
            Ok(Driven::Elsewhere) => {
                if self.open.contains(&session) {
                    self.elsewhere.insert(session);
                }
            }
            Ok(Driven::Here) => {
                self.again.pauses = Pauses::default();
                if missed && self.open.contains(&session) {
                    self.start(session);
                }
            }
            Err((true, error)) => {
                tracing::warn!(%session, %error, "a run cannot go on yet; trying again");
                self.again.run(session);
            }
            // It would fail again. The run is in the store.
            Err((false, error)) => tracing::error!(%session, %error, "a run could not go on"),
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

#[cfg(test)]
mod tests {
    use placet_core::config::Config;
    use placet_engine::Engine;
    use serde_json::json;

    use super::*;
    use crate::agent::Agent;
    use crate::model::{Script, Scripted};
    use crate::tools::Tools;

    #[tokio::test]
    async fn a_run_that_is_woken_while_the_one_before_it_ends_has_one_driver() {
        let folder = tempfile::tempdir().unwrap();
        let tools = Tools::builtin(folder.path());
        let engine = Engine::builder(Config::builtin(placet_inspect::builtin()))
            .start_in_memory()
            .await
            .unwrap();
        let script = Script::from_json(json!({ "turns": [] })).unwrap();
        let builder = Agent::builder(engine, tools).model(Arc::new(Scripted::new("scripted", script)));
        let agent = builder.start().await.unwrap();
        let session = SessionId::new("s").unwrap();
        let mut dispatch = Dispatch::new(Arc::clone(&agent.inner));
        dispatch.wake(vec![session.clone()]);
        // The row that ends the first run was read; its task is not over, and the row that begins the next one comes later.
        dispatch.open.remove(&session);
        dispatch.wake(vec![session.clone()]);
        assert_eq!(dispatch.runs.len(), 1);
        // What the task may have missed is looked at again when it is over.
        let ended = dispatch.runs.join_next_with_id().await.unwrap();
        dispatch.ended(ended);
        assert_eq!(dispatch.runs.len(), 1);
        assert!(dispatch.active.contains_key(&session));
        agent.shutdown().await;
    }
}
