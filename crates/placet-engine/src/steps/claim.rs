//! Claiming a grant, and telling what came of it. Once: the second claim of a grant is refused for ever.

use placet_core::call::{CallDigest, ToolCall};
use placet_core::ids::{AgentId, CallId, InteractionId, SessionId};
use placet_core::interaction::{CallKey, Cancellation, Resolution};
use placet_core::journal::{CallResult, Event};
use placet_core::outcome::{CallStatus, Outcome};
use placet_core::record::{CallRecord, CallState, GrantState};
use placet_core::run::RunStarted;
use placet_core::time::{Millis, Now};
use placet_store::{Step, StoreError, View};

use super::propose::goes_on;
use super::{Draft, granted_digest, pending, real_call, resolve};
use crate::gate::key_of;

/// Grants of a call are counted from here.
const FIRST_GRANT: u32 = 1;

/// The right to run one exact call, once. Only a durable claim makes one.
#[derive(Debug, PartialEq)]
#[must_use = "a dropped permit is a claimed call whose result nobody will know"]
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

/// Whether an allowed call is claimed in the step that allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claiming {
    /// In a step of its own, when the agent is ready to run it.
    Apart,
    /// At once: one commit and, over HTTP, one request less. A call that is asked about is not claimed.
    AtOnce {
        /// The claimant promises a result by then; without a lease it lives and dies with this process.
        lease: Option<Millis>,
    },
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
    /// Somebody claimed it before.
    #[error("the call `{0}` was claimed before; a grant is good for one run")]
    AlreadyClaimed(CallId),
    /// The session has been ended since.
    #[error("the session of the call `{0}` has been ended")]
    SessionOver(CallId),
    /// A person stopped the run that made it.
    #[error("the run of the call `{0}` was stopped; nothing is begun in it any more")]
    RunStopped(CallId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A call as it is stored, with its digest taken anew. A stored call never changes, so this is read outside the transaction.
#[derive(Debug)]
pub struct Reread {
    call: ToolCall,
    digest: CallDigest,
}

impl Reread {
    /// Reads the call a key really stands for.
    pub fn of(view: &View<'_>, key: &CallKey) -> Result<Option<Self>, StoreError> {
        let record = match view.call(key)? {
            Some(CallRecord {
                state: CallState::SameAs(other),
                ..
            }) => view.call(&other)?,
            record => record,
        };
        Ok(record.map(|record| Self {
            digest: record.call.digest(),
            call: record.call,
        }))
    }

    /// The exact call a grant lets run: the edited one when a person edited it. `None` when it is not what was allowed, to the
    /// byte: promise 1, checked where it matters most.
    fn granted(&self, received: CallDigest, outcome: &Outcome) -> Option<(ToolCall, CallDigest)> {
        let (call, digest) = match outcome {
            Outcome::Approved {
                edited: Some(args), ..
            } => {
                let call = self.call.with_args(args.clone());
                let digest = call.digest();
                (call, digest)
            }
            Outcome::Allowed | Outcome::Approved { .. } => (self.call.clone(), self.digest),
            _ => return None,
        };
        (digest == granted_digest(received, outcome)).then_some((call, digest))
    }
}

/// Claims the grant of a call. With a lease, the claimant promises a result by then; without one it lives and dies with
/// this process.
pub fn claim(
    view: &View<'_>,
    now: Now,
    key: &CallKey,
    reread: &Reread,
    lease: Option<Millis>,
) -> Result<Step<Permit>, ClaimRefusal> {
    let (permit, untold) = claimable(view, key, reread)?;
    let mut draft = Draft::new(&permit.call.session);
    draft.event(claimed(&permit, now, lease));
    process(&mut draft, untold.as_ref());
    Ok(draft.finish(permit))
}

fn claimed(permit: &Permit, now: Now, lease: Option<Millis>) -> Event {
    Event::Claimed {
        call: permit.key.clone(),
        grant: permit.grant,
        lease: lease.map(|lease| now.live + lease),
        child: None,
    }
}

/// What a claim would permit, and the question whose asker learns by it that it was settled.
fn claimable(
    view: &View<'_>,
    key: &CallKey,
    reread: &Reread,
) -> Result<(Permit, Option<InteractionId>), ClaimRefusal> {
    let id = || key.call.clone();
    let record = real_call(view, key)?.ok_or_else(|| ClaimRefusal::NotFound(id()))?;
    let (outcome, grant, question) = match record.state {
        CallState::Granted {
            outcome,
            grant,
            question,
        } => (outcome, grant, question),
        CallState::Refused { outcome, .. } => {
            return Err(ClaimRefusal::NotGranted {
                call: id(),
                status: outcome.status(),
            });
        }
        CallState::Parked { .. } | CallState::SameAs(_) => return Err(ClaimRefusal::StillPending(id())),
    };
    if grant.state != GrantState::Issued {
        return Err(ClaimRefusal::AlreadyClaimed(id()));
    }
    if record.session_over {
        return Err(ClaimRefusal::SessionOver(id()));
    }
    if is_stopped(view, &record.session, &record.key.agent)? {
        return Err(ClaimRefusal::RunStopped(id()));
    }
    let granted = reread.granted(record.digest, &outcome);
    let (call, digest) = granted.ok_or_else(|| StoreError::Corrupt {
        what: format!("the grant of call `{}` is bound to another digest", id()),
    })?;
    let permit = Permit {
        call,
        digest,
        grant: grant.number,
        key: record.key,
    };
    Ok((permit, question.filter(|_| record.untold)))
}

/// Claims a call in the step that received and allowed it. Nothing to claim yet where a person stopped its run.
pub(super) fn claim_received(
    draft: &mut Draft,
    view: &View<'_>,
    now: Now,
    (call, digest): (&ToolCall, CallDigest),
    lease: Option<Millis>,
) -> Result<Option<Permit>, StoreError> {
    if is_stopped(view, &call.session, &call.origin.agent)? {
        return Ok(None);
    }
    let permit = Permit {
        call: call.clone(),
        digest,
        key: key_of(call),
        grant: FIRST_GRANT,
    };
    draft.event(claimed(&permit, now, lease));
    Ok(Some(permit))
}

/// Whether a person has stopped the run an agent's call belongs to. Calls of agents without a run belong to none.
fn is_stopped(view: &View<'_>, session: &SessionId, agent: &AgentId) -> Result<bool, StoreError> {
    let run = view.run(session)?;
    match run.filter(|run| run.ended.is_none() && run.interrupted.is_some()) {
        Some(run) => Ok(view.run_started(&run)?.origin.agent == *agent),
        None => Ok(false),
    }
}

/// Claims the grant of a call and begins the run that does it, in one step. What `begin` refuses is the call's result.
pub fn delegate(
    view: &View<'_>,
    key: &CallKey,
    reread: &Reread,
    begin: impl FnOnce(&ToolCall) -> Result<RunStarted, String>,
) -> Result<Step<()>, ClaimRefusal> {
    let (permit, untold) = claimable(view, key, reread)?;
    if !goes_on(view, &permit.call.session)? {
        return Err(ClaimRefusal::RunStopped(key.call.clone()));
    }
    let made = begin(&permit.call).and_then(|run| Ok((child(view, &permit.key)?, run)));
    let mut draft = Draft::new(&permit.call.session);
    draft.event(Event::Claimed {
        call: permit.key.clone(),
        grant: permit.grant,
        lease: None,
        child: made.as_ref().ok().map(|(session, _)| session.clone()),
    });
    process(&mut draft, untold.as_ref());
    match made {
        Ok((session, run)) => draft.append(first_rows(view, &session, &permit.call, run)?),
        Err(why) => draft.event(Event::Finished {
            call: permit.key,
            grant: permit.grant,
            result: CallResult::new(false, &why),
        }),
    }
    Ok(draft.finish(()))
}

/// A session for the run that does a call, in which nothing has happened yet.
fn child(view: &View<'_>, key: &CallKey) -> Result<SessionId, String> {
    let session = SessionId::of_task(&key.call).map_err(|error| error.to_string())?;
    let rows = view.journal(0, 1, Some(&session));
    if rows.map_err(|error| error.to_string())?.is_empty() {
        Ok(session)
    } else {
        Err(format!("there is a session `{session}` already; nothing ran"))
    }
}

/// The run begins in the mode people gave the session it works for; nothing else of that session holds in its own.
fn first_rows(
    view: &View<'_>,
    session: &SessionId,
    call: &ToolCall,
    run: RunStarted,
) -> Result<Draft, StoreError> {
    let mut draft = Draft::new(session);
    let mode = view.session(&call.session)?.mode;
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
pub fn told(view: &View<'_>, key: &CallKey) -> Result<Step<()>, StoreError> {
    let Some(record) = real_call(view, key)? else {
        return Ok(Step::nothing(()));
    };
    let mut draft = Draft::new(&record.session);
    if let CallState::Refused { question, .. } = &record.state {
        process(&mut draft, question.as_ref().filter(|_| record.untold));
    }
    Ok(draft.finish(()))
}

/// The asker has read what became of its own question.
pub fn told_question(view: &View<'_>, id: &InteractionId) -> Result<Step<()>, StoreError> {
    let Some(interaction) = view.interaction(id)? else {
        return Ok(Step::nothing(()));
    };
    let mut draft = Draft::new(&interaction.asked().session);
    if view.awaits_processing(id)? {
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
    /// Another result is recorded.
    #[error("the call `{0}` has a different result already")]
    AlreadyFinished(CallId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Records what a claimed call returned. The same result twice is one result.
pub fn finish(view: &View<'_>, key: &CallKey, result: &CallResult) -> Result<Step<()>, FinishRefusal> {
    let id = || key.call.clone();
    let record = real_call(view, key)?.ok_or_else(|| FinishRefusal::NotFound(id()))?;
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
            GrantState::Done(_) => return Err(FinishRefusal::AlreadyFinished(id())),
            GrantState::Issued => return Err(FinishRefusal::NotClaimed(id())),
        },
        // Asked back as "it may have happened", and now the claimant says that it did: the question is moot.
        CallState::Parked { on } if record.grants > 0 => {
            if let Some(question) = pending(view, on)? {
                resolve(
                    &mut draft,
                    view,
                    &question.asked,
                    Resolution::Cancelled {
                        why: Cancellation::ResultArrived,
                    },
                )?;
                draft.event(finished(record.grants));
            }
        }
        CallState::Parked { .. } | CallState::SameAs(_) | CallState::Refused { .. } => {
            return Err(FinishRefusal::NotClaimed(id()));
        }
    }
    Ok(draft.finish(()))
}
