//! One call that was allowed: claimed, run, and its result stored. Once.

use std::sync::Arc;
use std::time::Duration;

use placet_core::call::{Args, ToolCall};
use placet_core::confine::Confinement;
use placet_core::evidence::Evidence;
use placet_core::interaction::CallKey;
use placet_core::journal::CallResult;
use placet_core::record::{CallRecord, CallState};
use placet_core::run::RunStarted;
use placet_core::steps::ClaimRefusal;
use placet_core::tool::Risk;
use placet_engine::{Gate, GateError, Held, Permit};
use placet_store::StoreError;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::agent::Inner;
use crate::pauses::Pauses;
use crate::task::{self, TASK};
use crate::tools::{Tool, Tools};

/// A call to be run.
pub(crate) struct Job {
    pub(crate) agent: Arc<Inner>,
    /// What is claimed for the run is claimed under its lease.
    pub(crate) lease: Held,
    /// The tools there were when its run began.
    pub(crate) tools: Tools,
    pub(crate) key: CallKey,
    /// The run it belongs to.
    pub(crate) run: RunStarted,
    pub(crate) timeout: Duration,
    /// The call that must be over before.
    pub(crate) after: Option<CancellationToken>,
    /// Dropped with it: then it is over itself.
    pub(crate) _over: Option<DropGuard>,
    /// For the calls of its run that are under way; the others wait.
    pub(crate) room: Arc<Semaphore>,
    pub(crate) stop: CancellationToken,
}

/// Runs a call that was allowed. A result that cannot be stored before this process ends leaves the grant claimed, and people are
/// asked.
pub(crate) async fn execute(job: Job) {
    let call = job.key.call.clone();
    if let Err(error) = attempt(job).await {
        tracing::error!(%call, %error, "the result of a call could not be stored");
    }
}

async fn attempt(job: Job) -> Result<(), GateError> {
    // Waiting happens before the claim, so cancelling here loses nothing. In this order, so that none keeps the one before it waiting.
    let turn = async {
        if let Some(before) = &job.after {
            before.cancelled().await;
        }
        Arc::clone(&job.room).acquire_owned().await
    };
    let _room = tokio::select! {
        room = turn => room,
        () = job.stop.cancelled() => return Ok(()),
    };
    let gate = job.agent.engine.gate().under([&job.lease]);
    let record = gate.record(&job.key).await?;
    let is_task = record
        .as_ref()
        .is_some_and(|record| record.call.tool.as_str() == TASK);
    let promised = record.as_ref().and_then(Promised::of);
    let shown = shown(&job, record).await?;
    if job.stop.is_cancelled() {
        return Ok(());
    }
    if is_task {
        return delegate(&gate, job).await;
    }
    let permit = match gate.claim(&job.key, None).await {
        Ok(permit) => permit,
        Err(error) if is_moot(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    let (ok, output) = match run(&job, &permit, shown, promised).await {
        Ok(output) => (true, output),
        Err(error) => (false, error),
    };
    let result = CallResult::new(ok, &output);
    let mut pauses = Pauses::default();
    loop {
        match gate.finish_claimed(&permit, result.clone()).await {
            // It has run, and only this process knows what came of it.
            Err(GateError::Store(error)) if error.may_pass() => {
                tracing::warn!(call = %job.key.call, %error, "the result of a call cannot be stored yet; trying again");
                let pause = tokio::time::sleep(pauses.next());
                if job.agent.stop.run_until_cancelled(pause).await.is_none() {
                    return Err(error.into());
                }
            }
            finished => return finished,
        }
    }
}

/// Another process runs it or drives its run, or its run or session has just been stopped: the journal says which.
fn is_moot(error: &GateError) -> bool {
    match error {
        GateError::Claim(refusal) => matches!(
            refusal,
            ClaimRefusal::AlreadyClaimed(_) | ClaimRefusal::SessionOver(_) | ClaimRefusal::RunStopped(_)
        ),
        GateError::Store(error) => matches!(error, StoreError::Fenced { .. }),
        _ => false,
    }
}

/// Begins the run that does the call. It is woken like any other, and its end is the call's result.
async fn delegate(gate: &Gate, job: Job) -> Result<(), GateError> {
    let by = job.run;
    match gate.delegate(&job.key, move |call| task::begin(call, &by)).await {
        Err(error) if is_moot(&error) => Ok(()),
        begun => begun,
    }
}

/// What a call was judged by.
struct Promised {
    args: Args,
    confinement: Confinement,
    risk: Risk,
}

impl Promised {
    fn of(record: &CallRecord) -> Option<Self> {
        Some(Self {
            args: record.call.args.clone(),
            confinement: record.verdict.confinement.clone()?,
            risk: record.verdict.risk,
        })
    }

    /// A call that an approver edited was judged without, and is confined all the same as far as it does not ask for more.
    fn held_by(self, call: &ToolCall, tool: &dyn Tool) -> Option<(Confinement, Risk)> {
        if self.args == call.args {
            return Some((self.confinement, self.risk));
        }
        Some((tool.confinement(call)?, Risk::High))
    }
}

async fn run(
    job: &Job,
    permit: &Permit,
    shown: Vec<Evidence>,
    promised: Option<Promised>,
) -> Result<String, String> {
    let call = permit.call();
    let Some(tool) = job.tools.get(call.tool.as_str()) else {
        return Err(format!("there is no tool `{}` any more; nothing ran", call.tool));
    };
    let call = call.clone();
    // On a task of its own, so that a tool that panics is a result and not the end of the run.
    let within = promised.and_then(|promised| promised.held_by(&call, tool.as_ref()));
    let mut running = tokio::spawn(async move {
        match within {
            Some((confinement, risk)) => tool.run_within(&call, &shown, &confinement, risk).await,
            None => tool.run(&call, &shown).await,
        }
    });
    let stopped = tokio::select! {
        ran = &mut running => {
            return ran.unwrap_or_else(|_| Err("the tool failed; what it did until then may have happened".into()));
        }
        () = job.stop.cancelled() => format!("stopped: {} while this ran", stopped_by(job)),
        () = tokio::time::sleep(job.timeout) => format!("stopped after {} seconds", job.timeout.as_secs()),
    };
    running.abort();
    // Until it is gone it may still do something.
    let _ = running.await;
    Err(format!("{stopped}; it may have happened in part"))
}

/// Calls are stopped with their run, and runs with Placet, which continues them when it is started again.
fn stopped_by(job: &Job) -> &'static str {
    if job.agent.stop.is_cancelled() {
        "Placet was shut down"
    } else if job.lease.is_lost() {
        "another process took over the run"
    } else {
        "the run was ended or interrupted"
    }
}

/// What people were shown when they allowed it.
async fn shown(job: &Job, record: Option<CallRecord>) -> Result<Vec<Evidence>, GateError> {
    let question = record.and_then(|record| match record.state {
        CallState::Granted { question, .. } => question,
        _ => None,
    });
    let Some(id) = question else { return Ok(Vec::new()) };
    let question = job.agent.engine.broker().question(&id).await?;
    Ok(question.map_or_else(Vec::new, |question| question.interaction.asked().evidence.clone()))
}
