//! One run, for as long as there is something to do for it. Parked, it is forgotten here; the journal has all of it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use placet_core::config::Workflow;
use placet_core::ids::{CallId, IdError, SessionId, ToolName};
use placet_core::interaction::CallKey;
use placet_core::journal::Event;
use placet_core::lease::LeaseName;
use placet_core::run::{Message, ModelCall, ModelTurn, RequestedCall, Run, RunEffect, RunEnd};
use placet_core::steps::{self, Ending, ProposeRefusal, RunRefusal, RunTerms};
use placet_core::time::Timestamp;
use placet_core::tool::Category;
use placet_core::variables::{self, Variables};
use placet_engine::{Gate, GateError, Held, Submission};
use placet_store::{StepError, StoreError};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::agent::{Inner, LiveDelta, ReplayError};
use crate::execute::{self, Job};
use crate::model::{Delta, Ended, ModelError, Prompt, Spoken, SpokenCall};
use crate::run_tools::RunTools;
use crate::tools::Tools;

#[cfg(test)]
mod tests;

/// How often a model that may answer later is tried.
const TRIES_MAX: u32 = 6;
/// The first pause between two tries; each one is twice as long as the one before.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
/// No pause is longer, whatever a provider asks for.
const PAUSE_MAX: Duration = Duration::from_mins(2);

/// How many calls one turn may have.
const CALLS_MAX: usize = 64;
/// How many calls of a run are under way at once.
const RUNNING_MAX: usize = 8;

/// Why a run could not go on. It is in the store, and goes on when something happens in it or at the next start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DriveError {
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    Gate(#[from] GateError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Id(#[from] IdError),
}

impl DriveError {
    /// Whether the run may go on later without anything happening in it.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Store(error)
            | Self::Gate(GateError::Store(error))
            | Self::Replay(ReplayError::Store(error)) => error.may_pass(),
            Self::Replay(ReplayError::Corrupt { .. }) | Self::Gate(_) | Self::Id(_) => false,
        }
    }

    /// Whether another process drives the run by now.
    fn is_fenced(&self) -> bool {
        matches!(
            self,
            Self::Store(StoreError::Fenced { .. }) | Self::Gate(GateError::Store(StoreError::Fenced { .. }))
        )
    }
}

/// Which process has driven a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Driven {
    /// This one, until it was parked or had ended.
    Here,
    /// Another one has its lease.
    Elsewhere,
}

/// Drives a run until it is parked or has ended.
pub(crate) async fn drive(
    agent: Arc<Inner>,
    session: SessionId,
    wake: Arc<Notify>,
) -> Result<Driven, DriveError> {
    let Some(lease) = agent.engine.hold(&LeaseName::run(&session)).await? else {
        return Ok(Driven::Elsewhere);
    };
    let engine = agent.engine.clone();
    let mut driver = Driver::new(agent, session, wake, lease.clone()).await;
    let went = tokio::select! {
        went = driver.go() => went.map(|()| Driven::Here),
        () = lease.lost() => Ok(Driven::Elsewhere),
    };
    // However it went, no call is left running without its result.
    driver.stop.cancel();
    while driver.jobs.join_next().await.is_some() {}
    match went {
        Ok(Driven::Elsewhere) => Ok(Driven::Elsewhere),
        Err(error) if error.is_fenced() => Ok(Driven::Elsewhere),
        went => {
            let released = engine.release(lease).await;
            let went = went?;
            released?;
            Ok(went)
        }
    }
}

struct Driver {
    agent: Arc<Inner>,
    /// What it stores for the run, it stores under this.
    lease: Held,
    /// The tools there were when the run began.
    tools: Tools,
    run: Run,
    /// The last row that `run` has seen.
    after: u64,
    /// When the run has to be over. Outages move it.
    until: Option<Timestamp>,
    wake: Arc<Notify>,
    /// Calls given to `jobs` by this task.
    begun: BTreeSet<CallId>,
    jobs: JoinSet<()>,
    /// For the calls that are under way.
    room: Arc<Semaphore>,
    /// Over when the newest call that writes is.
    written: Option<CancellationToken>,
    /// Stops the calls that are running.
    stop: CancellationToken,
}

/// Whether anything was done.
#[derive(PartialEq, Eq)]
enum Progress {
    Made,
    None,
}

impl Driver {
    async fn new(agent: Arc<Inner>, session: SessionId, wake: Arc<Notify>, lease: Held) -> Self {
        Self {
            lease,
            tools: agent.tools_of(&session).await,
            run: Run::new(session),
            after: 0,
            until: None,
            stop: agent.stop.child_token(),
            agent,
            wake,
            begun: BTreeSet::new(),
            jobs: JoinSet::new(),
            room: Arc::new(Semaphore::new(RUNNING_MAX)),
            written: None,
        }
    }

    async fn go(&mut self) -> Result<(), DriveError> {
        loop {
            self.catch_up().await?;
            if self.agent.stop.is_cancelled() {
                return Ok(());
            }
            if self.is_overdue() {
                // What runs is stopped, runs it handed work to are as late as it is, and nothing is begun.
                self.stop.cancel();
                if self.run.is_running() || !self.jobs.is_empty() {
                    self.wait(None).await;
                } else {
                    self.end(RunEnd::TimedOut).await?;
                }
                continue;
            }
            let mut progress = self.propose().await?;
            for effect in self.run.effects() {
                if self.carry_out(effect).await? == Progress::Made {
                    progress = Progress::Made;
                }
            }
            if progress == Progress::Made {
                continue;
            }
            let idle = self.jobs.is_empty();
            if !self.run.is_open() || (self.run.is_parked() && idle) {
                return Ok(());
            }
            self.wait(self.time_left()).await;
        }
    }

    /// The gate, for as long as this process drives the run.
    fn gate(&self) -> Gate {
        self.agent.engine.gate().under([&self.lease])
    }

    /// Waits until something happens, or until time is over.
    async fn wait(&mut self, at_most: Option<Duration>) {
        let idle = self.jobs.is_empty();
        tokio::select! {
            () = self.wake.notified() => {}
            Some(_) = self.jobs.join_next(), if !idle => {}
            () = self.agent.stop.cancelled() => {}
            () = over(at_most) => {}
        }
    }

    /// How long the run may still take, if that is limited.
    fn time_left(&self) -> Option<Duration> {
        let left = self.until?.remaining_from(self.agent.engine.store().now());
        Some(Duration::from_millis(left.get()))
    }

    fn is_overdue(&self) -> bool {
        self.run.is_open() && self.time_left().is_some_and(|left| left.is_zero())
    }

    /// Reads what happened since, and says of refused calls that the run has read why.
    async fn catch_up(&mut self) -> Result<(), DriveError> {
        let (mut told, mut over) = (Vec::new(), None);
        let agent = self.agent.host.agent.clone();
        let mut seen = |event: &Event| match event {
            // Earlier turns are long told.
            Event::ModelTurn(_) => told.clear(),
            Event::Settled { call, outcome, .. } if call.agent == agent && !outcome.permits() => {
                told.push(call.clone());
            }
            Event::RunStarted(_) => over = Some(false),
            Event::RunInterrupted { .. } | Event::SessionEnded { .. } => over = Some(true),
            _ => {}
        };
        self.after = self.agent.read_on(&mut self.run, self.after, &mut seen).await?;
        self.until = match self.run.started().and_then(|run| run.until) {
            Some(_) => {
                let (store, session) = (self.agent.engine.store(), self.run.session());
                let run = store.look(|stored| stored.run(session).cloned()).await?;
                run.and_then(|run| run.started.until)
            }
            None => None,
        };
        if over.is_some() {
            self.tools = self.agent.tools_of(self.run.session()).await;
        }
        match over {
            Some(true) => self.stop.cancel(),
            // Another run: what was stopped before does not stop it.
            Some(false) if self.stop.is_cancelled() => self.stop = self.agent.stop.child_token(),
            Some(false) | None => {}
        }
        for call in told {
            self.gate().acknowledge(&call).await?;
        }
        Ok(())
    }

    /// Brings the calls of a turn to the gate, together.
    async fn propose(&mut self) -> Result<Progress, DriveError> {
        let wanted = self.run.effects().into_iter().filter_map(|effect| match effect {
            RunEffect::Propose(id) => self.run.call(&id),
            RunEffect::AskModel | RunEffect::Execute(_) | RunEffect::End(_) => None,
        });
        let terms = self.run.started().map(|run| RunTerms {
            workflow: run.workflow.clone().map(Arc::from),
            until: self.until,
        });
        let turn: Vec<Submission> = wanted
            .map(|call| {
                let tool = self.tools.get(call.tool.as_str());
                Submission {
                    run: terms.clone(),
                    confinement: tool.as_ref().and_then(|tool| tool.confinement(&call)),
                    category: tool.as_ref().map(|tool| tool.category()),
                    risk: tool.and_then(|tool| tool.risk()),
                    ..Submission::from(call)
                }
            })
            .collect();
        if turn.is_empty() {
            return Ok(Progress::None);
        }
        let gate = self.gate();
        let proposing = gate.propose_all(turn);
        tokio::pin!(proposing);
        // What the tools can show may take a while to find out; stopping the run does not wait for that.
        let proposed = loop {
            tokio::select! {
                proposed = &mut proposing => break proposed,
                () = self.agent.stop.cancelled() => return Ok(Progress::Made),
                () = self.wake.notified() => {
                    self.catch_up().await?;
                    if self.stop.is_cancelled() {
                        return Ok(Progress::Made);
                    }
                }
            }
        };
        for proposed in proposed {
            match proposed {
                // Stopped while it was on its way: nothing was asked, and the end of the run says so.
                Err(GateError::Propose(ProposeRefusal::RunStopped(_))) | Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Progress::Made)
    }

    async fn carry_out(&mut self, effect: RunEffect) -> Result<Progress, DriveError> {
        match effect {
            RunEffect::AskModel => self.ask_model().await?,
            // Done before, together with the others of the turn.
            RunEffect::Propose(_) => return Ok(Progress::None),
            RunEffect::Execute(id) => {
                if !self.begun.insert(id.clone()) {
                    return Ok(Progress::None);
                }
                self.execute(id);
                return Ok(Progress::None);
            }
            // What was begun and not yet claimed must not run after the end: it is stopped, and looked at once more.
            RunEffect::End(_) if !self.jobs.is_empty() => {
                self.stop.cancel();
                while self.jobs.join_next().await.is_some() {}
                // A user may write before the end is stored: the calls that follow from that are not stopped.
                self.stop = self.agent.stop.child_token();
            }
            RunEffect::End(how) => self.end(how).await?,
        }
        Ok(Progress::Made)
    }

    fn execute(&mut self, call: CallId) {
        // A run that has not begun wants nothing executed.
        let Some(mut run) = self.run.started().cloned() else {
            return;
        };
        // For the runs it hands work to.
        run.until = self.until;
        if let Some(workflow) = &mut run.workflow {
            workflow.variables.clone_from(self.run.variables());
        }
        // Calls that write do so in the order they were wanted: in the end a file is what the last one made of it.
        let tool = self
            .run
            .call(&call)
            .and_then(|call| self.tools.get(call.tool.as_str()));
        let writes = tool.is_some_and(|tool| tool.category() == Category::Write);
        let over = writes.then(CancellationToken::new);
        let job = Job {
            after: over.as_ref().and_then(|over| self.written.replace(over.clone())),
            _over: over.map(CancellationToken::drop_guard),
            lease: self.lease.clone(),
            agent: Arc::clone(&self.agent),
            tools: self.tools.clone(),
            key: CallKey {
                agent: self.agent.host.agent.clone(),
                call,
            },
            timeout: Duration::from_millis(run.limits.call_timeout.get()),
            run,
            room: Arc::clone(&self.room),
            stop: self.stop.clone(),
        };
        self.jobs.spawn(execute::execute(job));
    }

    async fn end(&mut self, how: RunEnd) -> Result<(), DriveError> {
        let ending = Ending {
            session: self.run.session().clone(),
            how,
            seen: (self.run.turns(), self.run.said()),
            words: self.run.last_words().to_owned(),
            next: self.run.held_over(),
        };
        let is_child = self.run.started().is_some_and(|run| run.parent.is_some());
        if is_child || matches!(ending.how, RunEnd::Terminated { .. }) {
            // Nothing follows in its session, so nothing runs on for it: also not what was begun while the session ended.
            self.agent.tools.end_session(&ending.session);
        }
        let engine = &self.agent.engine;
        let end = engine.transact_under(Some(&self.lease), |snapshot, _| steps::end_run(snapshot, &ending));
        stored(end.await)
    }

    /// Lets the model speak, and stores what it said. If the session ends meanwhile, its words are dropped.
    async fn ask_model(&mut self) -> Result<(), DriveError> {
        let agent = Arc::clone(&self.agent);
        let run = self.run.clone();
        let tools = self.tools.clone();
        let speaking = speak(&agent, &tools, &run, self.after);
        tokio::pin!(speaking);
        let spoken = loop {
            tokio::select! {
                spoken = &mut speaking => break spoken,
                () = agent.stop.cancelled() => return Ok(()),
                () = over(self.time_left()) => return Ok(()),
                () = self.wake.notified() => {
                    self.catch_up().await?;
                    if !self.run.effects().contains(&RunEffect::AskModel) {
                        return Ok(());
                    }
                }
            }
        };
        let spoken = match spoken {
            Ok(spoken) => spoken,
            Err(error) => {
                return self
                    .end(RunEnd::Failed {
                        why: error.to_string(),
                    })
                    .await;
            }
        };
        let session = self.run.session().clone();
        let turn = read_turn(&self.tools, &self.run, spoken)?;
        let take = agent.engine.transact_under(Some(&self.lease), |snapshot, _| {
            steps::take_turn(snapshot, &session, &turn)
        });
        stored(take.await)
    }
}

/// Ends after a while, or never.
async fn over(after: Option<Duration>) {
    match after {
        Some(after) => tokio::time::sleep(after).await,
        None => std::future::pending().await,
    }
}

/// A refusal means that something happened meanwhile; the run looks again.
fn stored(step: Result<(), StepError<RunRefusal>>) -> Result<(), DriveError> {
    match step {
        Ok(()) | Err(StepError::Refused(RunRefusal::Stale(_) | RunRefusal::SessionOver(_))) => Ok(()),
        Err(StepError::Store(error)) => Err(error.into()),
    }
}

/// The conversation as the model reads it: with the secrets that people gave as answers, which the journal holds sealed.
fn opened(agent: &Inner, run: &Run) -> Vec<Message> {
    let open = |text: &String| agent.engine.open_sealed(text).into_owned();
    let message = |message: &Message| match message {
        Message::User { text } => Message::User { text: open(text) },
        Message::Result { call, ok, text } => Message::Result {
            call: call.clone(),
            ok: *ok,
            text: open(text),
        },
        Message::Model { .. } => message.clone(),
    };
    run.transcript().iter().map(message).collect()
}

/// What the model is told first, with the variables of its workflow as they are now.
fn system_prompt<'a>(usual: &'a str, workflow: Option<&'a Workflow>, variables: &Variables) -> Cow<'a, str> {
    let prompt = workflow
        .and_then(|workflow| workflow.prompt.as_deref())
        .unwrap_or(usual);
    if variables.is_empty() {
        return Cow::Borrowed(prompt);
    }
    let now = Value::Object(variables.clone());
    let (filled, operation) = (variables::filled(prompt, variables), variables::OPERATION);
    Cow::Owned(format!(
        "{filled}\n\nVariables of this workflow, as they are now: {now}\nPeople may change them in their answers. To ask for new \
         values, call askUserQuestion with `context` {{\"operationType\": \"{operation}\"}}."
    ))
}

/// Asks the model, with patience.
async fn speak(agent: &Inner, tools: &Tools, run: &Run, row: u64) -> Result<Spoken, ModelError> {
    let started = run
        .started()
        .ok_or_else(|| ModelError::never("no run has begun"))?;
    let model = agent.models.get(&started.model);
    let model = model.ok_or_else(|| ModelError::never(format!("there is no model `{}`", started.model)))?;
    let specs = RunTools::new(tools, Some(started)).specs();
    let workflow = started.workflow.as_ref();
    let transcript = opened(agent, run);
    let system = system_prompt(&agent.prompt, workflow.map(AsRef::as_ref), run.variables());
    let prompt = Prompt {
        system: &system,
        transcript: &transcript,
        tools: &specs,
    };
    let turn = run.turns().saturating_add(1);
    let heard = |delta: Delta| {
        // Having no watcher is not an error.
        let _ = agent.live.send(LiveDelta {
            session: run.session().clone(),
            row,
            turn,
            delta,
        });
    };
    let timeout = Duration::from_millis(started.limits.turn_timeout.get());
    let mut pause = PAUSE_FIRST;
    for _ in 1..TRIES_MAX {
        match once(model.as_ref(), prompt, &heard, timeout).await {
            Err(ModelError::Again { why, after }) => {
                tracing::warn!(session = %run.session(), %why, "the model did not answer; trying again");
                heard(Delta::Again(why));
                // Many runs that failed together do not come back together.
                let jitter = pause.mul_f64(rand::random_range(0.5..1.0));
                tokio::time::sleep(after.unwrap_or(jitter).min(PAUSE_MAX)).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
            spoken => return spoken,
        }
    }
    once(model.as_ref(), prompt, &heard, timeout).await
}

async fn once(
    model: &dyn crate::Model,
    prompt: Prompt<'_>,
    heard: &crate::model::Heard<'_>,
    timeout: Duration,
) -> Result<Spoken, ModelError> {
    let spoken = tokio::time::timeout(timeout, model.speak(prompt, heard)).await;
    spoken.unwrap_or_else(|_| {
        Err(ModelError::again(format!(
            "the model said nothing whole within {} seconds",
            timeout.as_secs()
        )))
    })
}

/// Reads what a model said. What is no call is kept as such: the model is told, and nothing is judged or run.
fn read_turn(tools: &Tools, run: &Run, spoken: Spoken) -> Result<ModelTurn, IdError> {
    let offer = RunTools::new(tools, run.started());
    let cut = match spoken.ended {
        Ended::Whole => None,
        Ended::CutOff(cut) => Some(cut),
    };
    let calls = spoken.calls.into_iter().flat_map(|call| match cut {
        None => tools.apart(call),
        Some(_) => vec![call],
    });
    let calls = calls.enumerate().map(|(n, call)| {
        Ok(ModelCall {
            id: CallId::new(format!("call_{}", uuid::Uuid::now_v7().simple()))?,
            wanted: match &cut {
                Some(cut) => nonsense(
                    call,
                    format!("{cut}; nothing of this turn ran: call again, with less at once"),
                ),
                None if n >= CALLS_MAX => nonsense(
                    call,
                    format!("a turn has at most {CALLS_MAX} calls; this one did not run"),
                ),
                None => read_call(&offer, call),
            },
        })
    });
    Ok(ModelTurn {
        turn: run.turns().saturating_add(1),
        calls: calls.collect::<Result<_, IdError>>()?,
        text: spoken.text,
        thinking: spoken.thinking,
        usage: spoken.usage,
        cut: cut.map(|cut| format!("{cut} before it had said all; {}", cut.advice())),
    })
}

fn read_call(offer: &RunTools<'_>, call: SpokenCall) -> RequestedCall {
    let read = offer.read_call(&call.tool, &call.args).and_then(|args| {
        let tool = ToolName::new(call.tool.as_str()).map_err(|error| error.to_string())?;
        Ok((tool, args))
    });
    match read {
        Ok((tool, args)) => RequestedCall::Call { tool, args },
        Err(why) => nonsense(call, why),
    }
}

fn nonsense(call: SpokenCall, why: String) -> RequestedCall {
    RequestedCall::Nonsense {
        tool: call.tool,
        args: call.args,
        why,
    }
}
