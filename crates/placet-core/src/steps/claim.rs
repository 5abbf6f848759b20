//! Claiming a grant, and telling what came of it. Once: the second claim of a grant is always refused.

use crate::call::{CallDigest, ToolCall};
use crate::ids::{AgentId, CallId, InteractionId, SessionId};
use crate::interaction::{CallKey, Cancellation, Interaction, Resolution};
use crate::journal::{CallResult, Event};
use crate::outcome::{CallStatus, Outcome};
use crate::record::{Begins, CallRecord, CallState, GrantState};
use crate::run::RunStarted;
use crate::snapshot::{Need, Snapshot, Undecided};
use crate::step::{Decided, Refusal, Step, Stop};
use crate::time::{Millis, Timestamp};

use super::propose::goes_on;
use super::{Draft, granted_digest, open_run, pending, real_call, resolve};

/// Grants of a call are counted from here.
const FIRST_GRANT: u32 = 1;

/// The right to run one exact call, once. Only a durable claim makes one.
#[derive(Debug, PartialEq)]
#[must_use = "a dropped permit is a claimed call whose result is never recorded"]
pub struct Permit {
    call: ToolCall,
    digest: CallDigest,
    key: CallKey,
    grant: u32,
}

impl Permit {
    /// Exactly what may run: the call as people left it.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Its digest.
    pub fn digest(&self) -> CallDigest {
        self.digest
    }

    /// The call it belongs to.
    pub fn key(&self) -> &CallKey {
        &self.key
    }

    /// The number of the grant.
    pub fn grant(&self) -> u32 {
        self.grant
    }
}

/// By when a claimant gives the result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promise {
    /// Within this time.
    Within(Millis),
    /// While this process has its lease.
    Process(String),
}

/// Whether an allowed call is claimed in the step that allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claiming {
    /// In a step of its own, when the agent is ready to run it.
    Apart,
    /// At once: one commit and, over HTTP, one request less. A call that needs approval is not claimed.
    AtOnce(Promise),
}

/// Why a claim fails.
#[derive(Debug, thiserror::Error)]
pub enum ClaimRefusal {
    /// No such call, or another agent's.
    #[error("there is no call `{0}`")]
    NotFound(CallId),
    /// It still waits for people.
    #[error("the call `{0}` still waits for an answer")]
    StillPending(CallId),
    /// It will not run.
    #[error("the call `{call}` may not run: it is {}", status.as_str())]
    NotGranted {
        /// Which call.
        call: CallId,
        /// What became of it.
        status: CallStatus,
    },
    /// It was claimed before.
    #[error("the call `{0}` was claimed before; a grant is good for one run")]
    AlreadyClaimed(CallId),
    /// The session has been ended since.
    #[error("the session of the call `{0}` has been ended")]
    SessionOver(CallId),
    /// A person stopped the run that made it.
    #[error("the run of the call `{0}` was stopped; nothing is begun in it any more")]
    RunStopped(CallId),
}

impl Refusal for ClaimRefusal {}

/// The exact call a grant lets run: the edited one when a person edited it. Its digest is taken anew; `None` when it is
/// not what was allowed, to the byte: promise 1, checked where it matters most.
fn granted(record: &CallRecord, outcome: &Outcome) -> Option<(ToolCall, CallDigest)> {
    let call = match outcome {
        Outcome::Approved {
            edited: Some(args), ..
        } => record.call.with_args(args.clone()),
        Outcome::Allowed | Outcome::Approved { .. } => record.call.clone(),
        _ => return None,
    };
    let digest = call.digest();
    (digest == granted_digest(record.digest, outcome)).then_some((call, digest))
}

/// Claims the grant of a call.
pub fn claim(
    snapshot: &Snapshot,
    now: Timestamp,
    key: &CallKey,
    promise: &Promise,
) -> Decided<Permit, ClaimRefusal> {
    let (permit, untold) = claimable(snapshot, key)?;
    let mut draft = Draft::new(&permit.call.session);
    draft.event(claimed(&permit, now, promise));
    process(&mut draft, untold.as_ref());
    Ok(draft.finish(permit))
}

fn claimed(permit: &Permit, now: Timestamp, promise: &Promise) -> Event {
    let (lease, process) = match promise {
        Promise::Within(time) => (Some(now + *time), None),
        Promise::Process(process) => (None, Some(process.clone())),
    };
    Event::Claimed {
        call: permit.key.clone(),
        grant: permit.grant,
        lease,
        process,
        child: None,
    }
}

/// What a claim would permit, and the question whose asker learns by it that it was settled.
fn claimable(
    snapshot: &Snapshot,
    key: &CallKey,
) -> Result<(Permit, Option<InteractionId>), Stop<ClaimRefusal>> {
    let id = || key.call.clone();
    snapshot.require([Need::CallHead(key.clone()), Need::Call(key.clone())])?;
    let head = real_call(snapshot, key)?.ok_or_else(|| ClaimRefusal::NotFound(id()))?;
    let record = snapshot.call(&head.key)?;
    let (outcome, grant, question) = match &head.state {
        CallState::Granted {
            outcome,
            grant,
            question,
        } => (outcome, grant, question),
        CallState::Refused { outcome, .. } => {
            let status = outcome.status();
            return Err(ClaimRefusal::NotGranted { call: id(), status }.into());
        }
        CallState::Parked { .. } | CallState::SameAs(_) => {
            return Err(ClaimRefusal::StillPending(id()).into());
        }
    };
    if grant.state != GrantState::Issued {
        return Err(ClaimRefusal::AlreadyClaimed(id()).into());
    }
    match head.begins {
        Begins::Yes => {}
        Begins::RunStopped => return Err(ClaimRefusal::RunStopped(id()).into()),
        Begins::SessionOver => return Err(ClaimRefusal::SessionOver(id()).into()),
    }
    let granted = record.as_ref().and_then(|record| granted(record, outcome));
    let (call, digest) = granted.ok_or_else(|| Undecided::Corrupt {
        what: format!("the grant of call `{}` is bound to another digest", id()),
    })?;
    let permit = Permit {
        call,
        digest,
        grant: grant.number,
        key: head.key.clone(),
    };
    Ok((permit, question.clone().filter(|_| head.untold)))
}

/// Claims a call in the step that received and allowed it. Nothing to claim yet where a person stopped its run.
pub(super) fn claim_received(
    draft: &mut Draft,
    snapshot: &Snapshot,
    now: Timestamp,
    (call, digest): (&ToolCall, CallDigest),
    promise: &Promise,
) -> Result<Option<Permit>, Undecided> {
    if is_stopped(snapshot, &call.session, &call.origin.agent)? {
        return Ok(None);
    }
    let permit = Permit {
        call: call.clone(),
        digest,
        key: CallKey::of(call),
        grant: FIRST_GRANT,
    };
    draft.event(claimed(&permit, now, promise));
    Ok(Some(permit))
}

/// Whether a person has stopped the run an agent's call belongs to. Calls of agents without a run belong to none.
fn is_stopped(snapshot: &Snapshot, session: &SessionId, agent: &AgentId) -> Result<bool, Undecided> {
    let stopped = open_run(snapshot, session)?.filter(|run| run.interrupted);
    Ok(stopped.is_some_and(|run| run.started.origin.agent == *agent))
}

/// Claims the grant of a call and begins the run that does it, in one step. What `begin` refuses is the call's result.
pub fn delegate(
    snapshot: &Snapshot,
    key: &CallKey,
    begin: impl Fn(&ToolCall) -> Result<RunStarted, String>,
) -> Decided<(), ClaimRefusal> {
    let (permit, untold) = claimable(snapshot, key)?;
    if !goes_on(snapshot, &permit.call.session)? {
        return Err(ClaimRefusal::RunStopped(key.call.clone()).into());
    }
    let child = child(snapshot, &permit.key)?;
    let made = begin(&permit.call).and_then(|run| Ok((child?, run)));
    let mut draft = Draft::new(&permit.call.session);
    draft.event(Event::Claimed {
        call: permit.key.clone(),
        grant: permit.grant,
        lease: None,
        process: None,
        child: made.as_ref().ok().map(|(session, _)| session.clone()),
    });
    process(&mut draft, untold.as_ref());
    match made {
        Ok((session, run)) => draft.append(first_rows(snapshot, &session, &permit.call, run)?),
        Err(why) => draft.event(Event::Finished {
            call: permit.key,
            grant: permit.grant,
            result: CallResult::new(false, &why),
        }),
    }
    Ok(draft.finish(()))
}

/// A session for the run that does a call, in which nothing has happened yet.
fn child(snapshot: &Snapshot, key: &CallKey) -> Result<Result<SessionId, String>, Undecided> {
    let session = match SessionId::of_task(&key.call) {
        Ok(session) => session,
        Err(error) => return Ok(Err(error.to_string())),
    };
    Ok(if snapshot.session(&session)?.is_new() {
        Ok(session)
    } else {
        Err(format!("there is a session `{session}` already; nothing ran"))
    })
}

/// The run begins in the mode people gave the session it works for; nothing else of that session holds in its own.
fn first_rows(
    snapshot: &Snapshot,
    session: &SessionId,
    call: &ToolCall,
    run: RunStarted,
) -> Result<Draft, Undecided> {
    let mut draft = Draft::new(session);
    let mode = snapshot.session(&call.session)?.mode;
    if let (Some(mode), Some(by)) = (mode, run.origin.user.clone()) {
        draft.event(Event::ModeSet { mode, by });
    }
    draft.event(Event::RunStarted(Box::new(run)));
    Ok(draft)
}

/// Marks a settled question as processed: the asker knows.
fn process(draft: &mut Draft, untold: Option<&InteractionId>) {
    if let Some(question) = untold {
        draft.event(Event::Processed {
            interaction: question.clone(),
        });
    }
}

/// The asker has read why a call does not run.
pub fn told(snapshot: &Snapshot, key: &CallKey) -> Decided<()> {
    let Some(record) = real_call(snapshot, key)? else {
        return Ok(Step::nothing(()));
    };
    let mut draft = Draft::new(&record.session);
    if let CallState::Refused { question, .. } = &record.state {
        process(&mut draft, question.as_ref().filter(|_| record.untold));
    }
    Ok(draft.finish(()))
}

/// The asker has read what became of its own question.
pub fn told_question(snapshot: &Snapshot, id: &InteractionId) -> Decided<()> {
    let Some(interaction) = snapshot.interaction(id)? else {
        return Ok(Step::nothing(()));
    };
    let mut draft = Draft::new(&interaction.asked().session);
    if let Interaction::Resolved(_) = interaction {
        process(&mut draft, Some(id));
    }
    Ok(draft.finish(()))
}

/// Why a result is not taken.
#[derive(Debug, thiserror::Error)]
pub enum FinishRefusal {
    /// No such call, or another agent's.
    #[error("there is no call `{0}`")]
    NotFound(CallId),
    /// It was never claimed, so it cannot have run.
    #[error("the call `{0}` was not claimed; a result without a claim is not taken")]
    NotClaimed(CallId),
    /// People had it run again since, and this is the result of the run before.
    #[error("the call `{0}` was allowed to run again; this is the result of an earlier run")]
    Superseded(CallId),
    /// Another result is recorded.
    #[error("the call `{0}` has a different result already")]
    AlreadyFinished(CallId),
}

impl Refusal for FinishRefusal {}

/// Records what a claimed call returned. The same result twice is one result. A claimant that knows under which grant it ran
/// says so.
pub fn finish(
    snapshot: &Snapshot,
    key: &CallKey,
    grant: Option<u32>,
    result: &CallResult,
) -> Decided<(), FinishRefusal> {
    let id = || key.call.clone();
    let record = real_call(snapshot, key)?.ok_or_else(|| FinishRefusal::NotFound(id()))?;
    if grant.is_some_and(|grant| grant < record.grants) {
        return Err(FinishRefusal::Superseded(id()).into());
    }
    let mut draft = Draft::new(&record.session);
    let finished = |grant| Event::Finished {
        call: record.key.clone(),
        grant,
        result: result.clone(),
    };
    match &record.state {
        CallState::Granted { grant, .. } => match &grant.state {
            GrantState::Claimed { .. } | GrantState::Unknown => draft.event(finished(grant.number)),
            GrantState::Done(known) if known == result => {}
            GrantState::Done(_) => return Err(FinishRefusal::AlreadyFinished(id()).into()),
            GrantState::Issued => return Err(FinishRefusal::NotClaimed(id()).into()),
        },
        // Asked back as "it may have happened", and now the claimant says that it did: the question is moot.
        CallState::Parked { on } if record.grants > 0 => {
            if let Some(question) = pending(snapshot, on)? {
                resolve(
                    &mut draft,
                    snapshot,
                    &question.asked,
                    Resolution::Cancelled {
                        why: Cancellation::ResultArrived,
                    },
                )?;
                draft.event(finished(record.grants));
            }
        }
        CallState::Parked { .. } | CallState::SameAs(_) | CallState::Refused { .. } => {
            return Err(FinishRefusal::NotClaimed(id()).into());
        }
    }
    Ok(draft.finish(()))
}
