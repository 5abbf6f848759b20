//! The gate: a call goes in, exactly one outcome comes out.
//!
//! [`Gate::call`] does everything: decide, ask, wait, claim, run once, record. The pieces are there too, for agents that keep
//! their own time: [`Gate::propose`], [`Gate::wait`], [`Gate::claim`], [`Gate::finish`].

use std::collections::VecDeque;
use std::future::Future;

use futures_util::future::join_all;
use placet_core::analysis::Analysis;
use placet_core::call::{Args, ToolCall};
use placet_core::confine::Confinement;
use placet_core::evidence::{EVIDENCE_BYTES_MAX, Evidence};
use placet_core::findings::Findings;
use placet_core::ids::{AgentId, IdError};
use placet_core::interaction::{CallKey, question_in};
use placet_core::journal::CallResult;
use placet_core::outcome::Outcome;
use placet_core::policy::Mode;
use placet_core::preview::Preview;
use placet_core::record::{CallRecord, CallState, GrantState};
use placet_core::run::RunStarted;
use placet_core::time::Millis;
use placet_core::tool::{Category, OwnOpinion, Risk, Tool};
use placet_core::verdict::Verdict;
use placet_store::{StepError, StoreError};

use crate::engine::Engine;
use crate::leases::Held;
use crate::toolbox::{NoToolbox, Toolbox};
use placet_core::step::Step;
use placet_core::steps::{
    self, ClaimRefusal, Claiming, FinishRefusal, Permit, Proposal, ProposeRefusal, Proposed, RunTerms,
};

/// The most characters of a tool's description that are kept with a question.
const DESCRIPTION_CHARS_MAX: usize = 1000;

/// The gate of an [`Engine`].
#[derive(Clone)]
pub struct Gate {
    engine: Engine,
    /// What is stored is stored under these: the lease of a run, and while a call is claimed that of this process.
    leases: Vec<Held>,
}

/// A call on its way in.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The call.
    pub call: ToolCall,
    /// What the agent says its tool is. May raise risk, never lower it.
    pub category: Option<Category>,
    /// What the agent says its risk is. May raise risk, never lower it.
    pub risk: Option<Risk>,
    /// The terms of the run of the built-in agent that makes it, when one does.
    pub run: Option<RunTerms>,
    /// What the tool's definition says about it, as far as the agent knows.
    pub tool_description: Option<String>,
    /// What confines the call while it runs. Counts only for a run of the built-in agent, which keeps the promise.
    pub confinement: Option<Confinement>,
    /// What the agent says the call would do. Shown as its word.
    pub preview: Option<Box<Preview>>,
}

impl From<ToolCall> for Submission {
    fn from(call: ToolCall) -> Self {
        Self {
            call,
            category: None,
            risk: None,
            run: None,
            tool_description: None,
            confinement: None,
            preview: None,
        }
    }
}

/// Why the gate could not do its work. In every case the call did not run.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The proposal was not received.
    #[error(transparent)]
    Propose(#[from] ProposeRefusal),
    /// There was no grant to claim.
    #[error(transparent)]
    Claim(#[from] ClaimRefusal),
    /// The result was not taken.
    #[error(transparent)]
    Finish(#[from] FinishRefusal),
    /// No such call.
    #[error("there is no call `{0}`")]
    NotFound(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An id could not be made.
    #[error(transparent)]
    Id(#[from] IdError),
}

impl<E> From<StepError<E>> for GateError
where
    GateError: From<E>,
{
    fn from(error: StepError<E>) -> Self {
        match error {
            StepError::Refused(refusal) => refusal.into(),
            StepError::Store(error) => error.into(),
        }
    }
}

/// What came out of [`Gate::call`].
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    /// It ran.
    Ran {
        /// What it returned.
        result: CallResult,
        /// Why it was allowed to: by policy, or by whom and with which changes.
        outcome: Outcome,
        /// The arguments it ran with.
        args: Args,
    },
    /// It did not run.
    NotRun(Outcome),
}

impl Engine {
    /// The gate.
    pub fn gate(&self) -> Gate {
        Gate {
            engine: self.clone(),
            leases: Vec::new(),
        }
    }

    fn has_toolbox(&self, call: &ToolCall) -> bool {
        let toolbox = self.inner.toolbox.as_ref();
        toolbox.is_some_and(|(agent, _)| *agent == call.origin.agent)
    }

    /// The toolbox of the agent that makes a call; other agents have none.
    fn toolbox(&self, call: &ToolCall) -> &dyn Toolbox {
        match &self.inner.toolbox {
            Some((agent, toolbox)) if *agent == call.origin.agent => toolbox.as_ref(),
            Some(_) | None => &NoToolbox,
        }
    }

    /// What is known of the tool of a call.
    pub fn tool_of(&self, call: &ToolCall) -> Tool {
        let toolbox = self.toolbox(call);
        let config = &self.in_force().config;
        let described = toolbox.tool(config, &call.tool);
        let mut tool = described.unwrap_or_else(|| config.tool_of(call));
        if tool.schema.is_none() {
            tool.schema = toolbox.schema(call.tool.as_str());
        }
        tool
    }

    /// The same, after what its agent says of it.
    pub(crate) fn tool(&self, submission: &Submission) -> Tool {
        self.tool_of(&submission.call)
            .raised_by(submission.category, submission.risk)
    }

    /// What a call would do. Once per call: afterwards it is read from the journal.
    pub(crate) fn inspect(&self, tool: &Tool, args: &Args) -> Findings {
        let config = &self.in_force().config;
        config.inspect.inspect(tool, args, &self.inner.places)
    }

    /// What the tool can show of the effect of a call. Too large to keep is refused, not cut: half a diff misleads.
    pub(crate) async fn evidence(&self, call: &ToolCall) -> Vec<Evidence> {
        let given = match self.toolbox(call).evidence(call).await {
            Ok(given) => given,
            Err(why) => return vec![Evidence::Failed { why }],
        };
        let bytes = serde_json::to_vec(&given).map_or(usize::MAX, |json| json.len());
        if bytes > EVIDENCE_BYTES_MAX {
            return vec![Evidence::Failed {
                why: format!("the evidence has {bytes} bytes, too many to keep"),
            }];
        }
        given
    }
}

impl Gate {
    /// The same for the process that drives a run: once another process has taken the lease, nothing is proposed, claimed or begun.
    #[must_use]
    pub fn under<'l>(mut self, leases: impl IntoIterator<Item = &'l Held>) -> Self {
        self.leases.extend(leases.into_iter().cloned());
        self
    }

    /// Decides, asks if need be, waits, and runs `run` at most once with exactly the call that was allowed.
    ///
    /// If this process dies while `run` is at work, the grant becomes *unknown* at the next start, and a person is asked before
    /// anything runs again (read-only calls simply run again).
    ///
    /// ```
    /// use placet_core::call::ToolCall;
    /// use placet_core::config::Config;
    /// use placet_core::outcome::Outcome;
    /// use placet_engine::{Engine, Finished};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let config = Config::parse("[tools.read]\ncategory = 'read'", "placet.toml", std::iter::empty(), placet_inspect::builtin())?;
    /// let engine = Engine::builder(config).start_in_memory().await?;
    /// let call: ToolCall = serde_json::from_value(json!({
    ///     "id": "call_1", "tool": "read", "args": { "path": "README.md" },
    ///     "session": "job-1", "origin": { "agent": "my-agent" },
    /// }))?;
    /// let finished = engine.gate().call(call, async |_| Ok("# Placet".to_owned())).await?;
    /// assert!(matches!(finished, Finished::Ran { outcome: Outcome::Allowed, result, .. } if result.output == "# Placet"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call<F, Fut>(&self, submission: impl Into<Submission>, run: F) -> Result<Finished, GateError>
    where
        F: FnOnce(ToolCall) -> Fut,
        Fut: Future<Output = Result<String, String>>,
    {
        let submission = submission.into();
        let key = CallKey::of(&submission.call);
        let (outcome, claimed) = match self.propose_claiming(submission, None).await? {
            Proposed::Settled { outcome, permit, .. } => (outcome, permit.map(|permit| *permit)),
            Proposed::Parked { .. } => (self.wait(&key).await?, None),
            Proposed::Known(record) => match finished_before(&record) {
                Some(finished) => return Ok(finished),
                None => (self.wait(&key).await?, None),
            },
        };
        if !outcome.permits() {
            self.acknowledge(&key).await?;
            return Ok(Finished::NotRun(outcome));
        }
        let permit = match claimed {
            Some(permit) => permit,
            None => self.claim(&key, None).await?,
        };
        let args = permit.call().args.clone();
        let (ok, output) = match run(permit.call().clone()).await {
            Ok(output) => (true, output),
            Err(error) => (false, error),
        };
        let result = CallResult::new(ok, &output);
        self.finish_claimed(&permit, result.clone()).await?;
        Ok(Finished::Ran {
            result,
            outcome,
            args,
        })
    }

    /// Receives a call: judged, and settled at once or parked on a question.
    pub async fn propose(&self, submission: impl Into<Submission>) -> Result<Proposed, GateError> {
        let proposal = self.prepare(submission.into()).await?;
        self.receive_one(proposal).await
    }

    /// The same, and claims the call in the same step when policy allows it: for an agent that runs it at once. A call that is
    /// asked about is parked as usual, and claimed after its answer.
    pub async fn propose_claiming(
        &self,
        submission: impl Into<Submission>,
        lease: Option<Millis>,
    ) -> Result<Proposed, GateError> {
        let mut proposal = self.prepare(submission.into()).await?;
        let (promise, alive) = self.engine.promise(lease).await?;
        proposal.claiming = Claiming::AtOnce(promise);
        let key = CallKey::of(&proposal.call);
        let proposed = self.clone().under(&alive).receive_one(proposal).await?;
        if let Proposed::Settled { permit: Some(_), .. } = &proposed {
            self.still_bound(&key, alive.as_ref()).await?;
        }
        Ok(proposed)
    }

    /// Receives the calls of one turn together. Each is judged on its own; questions are shown as one group. A call
    /// made twice is one question, however fast it is answered.
    pub async fn propose_all(&self, turn: Vec<Submission>) -> Vec<Result<Proposed, GateError>> {
        let prepared = join_all(turn.into_iter().map(|submission| self.prepare(submission))).await;
        let mut received: Vec<Option<Result<Proposed, GateError>>> = Vec::new();
        let mut proposals = VecDeque::new();
        for (at, prepared) in prepared.into_iter().enumerate() {
            match prepared {
                Ok(proposal) => {
                    received.push(None);
                    proposals.push_back((at, proposal));
                }
                Err(error) => received.push(Some(Err(error))),
            }
        }
        while let Some((first_at, first)) = proposals.pop_front() {
            // A call that puts a question of its own is never the same as another one.
            let same = |proposal: &Proposal| first.asks.is_none() && proposal.digest == first.digest;
            let (ats, again): (Vec<_>, Vec<_>) = proposals
                .iter()
                .filter(|(_, proposal)| same(proposal))
                .cloned()
                .unzip();
            let together = match self.receive(first, &again).await {
                Ok(together) => together.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            };
            for (at, proposed) in [first_at].into_iter().chain(ats).zip(together) {
                proposals.retain(|(other, _)| *other != at);
                if let Some(slot) = received.get_mut(at) {
                    *slot = Some(proposed);
                }
            }
        }
        received.into_iter().flatten().collect()
    }

    /// Decides on a call and stores what follows. Where policy asks, the tool is asked first what it can show: a question is not
    /// stored without its evidence.
    ///
    /// `again` is the same call, made again in the same turn. What is returned is about the first, and about those of the others that
    /// wait for the same question.
    async fn receive(&self, mut first: Proposal, again: &[Proposal]) -> Result<Vec<Proposed>, GateError> {
        loop {
            let in_force = self.engine.in_force();
            let propose = self.engine.transact_under(&self.leases, |snapshot, now| {
                steps::propose_together(&in_force.rules(), snapshot, now, &first, again)
            });
            let proposed = propose.await;
            if let Claiming::AtOnce(_) = first.claiming {
                self.engine.heed_claim(&CallKey::of(&first.call), &proposed);
            }
            if let Some(together) = proposed? {
                for (proposal, proposed) in [&first].into_iter().chain(again).zip(&together) {
                    self.engine.consult_callback(&proposal.call, proposed);
                }
                return Ok(together);
            }
            first.evidence = Some(self.engine.evidence(&first.call).await);
        }
    }

    async fn receive_one(&self, proposal: Proposal) -> Result<Proposed, GateError> {
        let id = proposal.call.id.to_string();
        let proposed = self.receive(proposal, &[]).await?.pop();
        proposed.ok_or(GateError::NotFound(id))
    }

    /// What policy would say, explained; nothing is asked or stored. A call of the built-in agent counts as confined here without a
    /// run, too: nothing runs.
    pub async fn check(&self, submission: impl Into<Submission>) -> Result<(Verdict, Analysis), GateError> {
        let submission = submission.into();
        let is_ours = submission.call.origin.agent == AgentId::built_in();
        let confinement = submission.confinement.clone().filter(|_| is_ours);
        let mut proposal = self.prepare(submission).await?;
        proposal.confinement = confinement;
        let in_force = self.engine.in_force();
        let judged = self.engine.transact(|snapshot, now| {
            let verdict = steps::judge(&in_force.rules(), snapshot, now, &proposal)?;
            Ok(Step::nothing(verdict))
        });
        let verdict = judged.await.map_err(StepError::into_store_error)?;
        Ok((verdict, proposal.findings.analysis))
    }

    /// Waits until a call is settled. Dropping the wait changes nothing: the question stays open.
    pub async fn wait(&self, key: &CallKey) -> Result<Outcome, GateError> {
        let mut key = key.clone();
        loop {
            // Registered before looking, so that an answer between the two is not missed.
            let settled = self.engine.inner.waiters.for_call(&key);
            let look = self
                .engine
                .inner
                .store
                .look(|stored| stored.call_head(&key).cloned());
            let state = look.await?.map(|head| head.state);
            if let Some(CallState::Parked { .. }) = state {
                match self.engine.unless_stopped(settled).await? {
                    Some(outcome) => return Ok(outcome),
                    None => continue,
                }
            }
            drop(settled);
            self.engine.inner.waiters.forget_call(&key);
            match state {
                Some(CallState::Granted { outcome, .. } | CallState::Refused { outcome, .. }) => {
                    return Ok(outcome);
                }
                Some(CallState::SameAs(other)) => key = other,
                Some(CallState::Parked { .. }) => {}
                None => return Err(GateError::NotFound(key.call.to_string())),
            }
        }
    }

    /// A call, as far as it has come. A call that is the same as another one is that one's [`CallState::SameAs`].
    pub async fn record(&self, key: &CallKey) -> Result<Option<CallRecord>, GateError> {
        Ok(self
            .engine
            .inner
            .store
            .look(|stored| stored.call(key).cloned())
            .await?)
    }

    /// Claims the right to run a call, once. With a lease the claimant promises a result by then; without one it lives and
    /// dies with this process.
    pub async fn claim(&self, key: &CallKey, lease: Option<Millis>) -> Result<Permit, GateError> {
        let (promise, alive) = self.engine.promise(lease).await?;
        let leases = self.leases.iter().chain(&alive);
        let claim = self
            .engine
            .transact_under(leases, |snapshot, now| steps::claim(snapshot, now, key, &promise));
        let claimed = claim.await;
        self.engine.heed_claim(key, &claimed);
        let permit = claimed?;
        self.still_bound(key, alive.as_ref()).await?;
        Ok(permit)
    }

    /// A process that was paused in its claim for so long that it counts as gone must not run the call: others ask by now what
    /// became of it.
    async fn still_bound(&self, key: &CallKey, alive: Option<&Held>) -> Result<(), StoreError> {
        let Some(alive) = alive.filter(|alive| !self.engine.is_bound(alive)) else {
            return Ok(());
        };
        let lease = alive.fence().lease.clone();
        self.engine.doubt_claim(key);
        self.engine.settle_doubts().await?;
        Err(StoreError::Fenced { lease })
    }

    /// Claims the right to run a call, once, and begins the run that does it, in one step: there is no moment at which no process
    /// knows whether it was begun. That run's end is the call's result. `begin` sees exactly the call that was allowed; its
    /// error is the result of a call that nothing was begun for.
    pub async fn delegate<F>(&self, key: &CallKey, begin: F) -> Result<(), GateError>
    where
        F: Fn(&ToolCall) -> Result<RunStarted, String>,
    {
        let delegate = self
            .engine
            .transact_under(&self.leases, |snapshot, _| steps::delegate(snapshot, key, &begin));
        Ok(delegate.await?)
    }

    /// Records what a claimed call returned. Also of a process that has lost its run meanwhile: it ran, and no other process knows
    /// what came of it.
    pub async fn finish(&self, key: &CallKey, result: CallResult) -> Result<(), GateError> {
        let finish = self
            .engine
            .transact(|snapshot, _| steps::finish(snapshot, key, None, &result));
        Ok(finish.await?)
    }

    /// The same for the holder of a permit: if people had the call run again since, this is not the result of that.
    pub async fn finish_claimed(&self, permit: &Permit, result: CallResult) -> Result<(), GateError> {
        let (key, grant) = (permit.key(), Some(permit.grant()));
        let finish = self
            .engine
            .transact(|snapshot, _| steps::finish(snapshot, key, grant, &result));
        Ok(finish.await?)
    }

    /// Says that the agent has read why a call does not run.
    pub async fn acknowledge(&self, key: &CallKey) -> Result<(), GateError> {
        let told = self
            .engine
            .transact_under(&self.leases, |snapshot, _| steps::told(snapshot, key));
        Ok(told.await.map_err(StepError::into_store_error)?)
    }

    /// How freely the agent of a call's session may act.
    async fn mode_of(&self, call: &ToolCall) -> Result<Mode, StoreError> {
        let store = &self.engine.inner.store;
        let own = store
            .look(|stored| Ok(stored.session(&call.session)?.mode))
            .await?;
        Ok(own.unwrap_or(self.engine.in_force().config.policy.settings().mode))
    }

    async fn prepare(&self, submission: Submission) -> Result<Proposal, GateError> {
        let tool = self.engine.tool(&submission);
        let findings = self.engine.inspect(&tool, &submission.call.args);
        let toolbox = self.engine.toolbox(&submission.call);
        let own_opinion = if self.engine.has_toolbox(&submission.call) {
            let mode = self.mode_of(&submission.call).await?;
            toolbox.opinion(&submission.call, mode).await
        } else {
            OwnOpinion::Silent
        };
        let asks = match toolbox.question(&submission.call) {
            Some(request) => request.checked().ok(),
            // A tool of another agent whose purpose is a person's answer: people answer it instead of approving it.
            None if tool.category == Category::Ask && !self.engine.has_toolbox(&submission.call) => {
                question_in(&submission.call)
            }
            None => None,
        };
        let asks = asks.map(Box::new);
        let tool_description = toolbox.description(submission.call.tool.as_str());
        let tool_description = tool_description.or(submission.tool_description);
        Ok(Proposal {
            tool_description: tool_description.map(shortened),
            tool,
            asks,
            findings,
            own_opinion,
            // Without a toolbox there is no tool to ask, only what the agent says.
            evidence: (!self.engine.has_toolbox(&submission.call)).then(|| said(submission.preview)),
            confinement: submission.confinement.filter(|_| submission.run.is_some()),
            run: submission.run,
            fresh: Engine::fresh()?,
            claiming: Claiming::Apart,
            digest: submission.call.digest(),
            call: submission.call,
        })
    }
}

/// What the agent says, as evidence.
fn said(preview: Option<Box<Preview>>) -> Vec<Evidence> {
    let preview = preview.filter(|preview| !preview.is_empty());
    preview
        .into_iter()
        .map(|preview| Evidence::Said { preview })
        .collect()
}

/// A definition may be as long as its author likes; people are told how much of it is left out.
fn shortened(description: String) -> String {
    let chars = description.chars().count();
    if chars <= DESCRIPTION_CHARS_MAX {
        return description;
    }
    let kept: String = description.chars().take(DESCRIPTION_CHARS_MAX).collect();
    format!("{kept} … [{} more characters]", chars - DESCRIPTION_CHARS_MAX)
}

fn finished_before(record: &CallRecord) -> Option<Finished> {
    let CallState::Granted { outcome, grant, .. } = &record.state else {
        return None;
    };
    let GrantState::Done(result) = &grant.state else {
        return None;
    };
    let args = match outcome {
        Outcome::Approved {
            edited: Some(args), ..
        } => args.clone(),
        _ => record.call.args.clone(),
    };
    Some(Finished::Ran {
        result: result.clone(),
        outcome: outcome.clone(),
        args,
    })
}
