//! An agent proposes a call: policy judges it, and it is settled at once or parked on a question.

use crate::call::{CallDigest, ToolCall};
use crate::config::Workflow;
use crate::confine::Confinement;
use crate::evidence::Evidence;
use crate::findings::Findings;
use crate::ids::{CallId, InteractionId, SessionId};
use crate::interaction::{CallKey, InteractionRequest, Subject};
use crate::journal::Event;
use crate::outcome::{Denial, OpenOf, Outcome};
use crate::policy::Context;
use crate::record::{CallRecord, CallState, RunRecord};
use crate::snapshot::{Need, ProposedCall, Snapshot, Surroundings, Undecided};
use crate::standing::StandingGrant;
use crate::step::{Decided, Refusal, Step};
use crate::time::{Millis, Timestamp};
use crate::tool::{Category, OwnOpinion, Risk, Tool};
use crate::variables;
use crate::verdict::{AskTerms, Decision, Step as PolicyStep, Verdict};

use super::ask::{Fresh, Question, deciding_callback, put, too_many};
use super::claim::{Claiming, Permit, claim_received};
use super::terms::RunTerms;
use super::{Draft, Rules, open_run};

/// A call with everything found out about it beforehand, outside the transaction.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The call.
    pub call: ToolCall,
    /// Its digest, taken once.
    pub digest: CallDigest,
    /// What is known of its tool.
    pub tool: Tool,
    /// What it would do.
    pub findings: Findings,
    /// What the tool itself says.
    pub own_opinion: OwnOpinion,
    /// What the tool can show of the effect. `None` until the tool was asked, which it is once policy asks a person.
    pub evidence: Option<Vec<Evidence>>,
    /// What the tool's definition says about it.
    pub tool_description: Option<String>,
    /// The question it puts to people, when that is all it does. Checked beforehand.
    pub asks: Option<Box<InteractionRequest>>,
    /// The terms of the run of the built-in agent that makes it, when one does.
    pub run: Option<RunTerms>,
    /// What confines it while it runs.
    pub confinement: Option<Confinement>,
    /// For the question, if one is put.
    pub fresh: Fresh,
    /// Whether it is claimed at once when policy allows it.
    pub claiming: Claiming,
}

impl Proposal {
    /// What policy is told besides the call and what is stored.
    fn context<'a>(&'a self, workspace: &'a str) -> Context<'a> {
        let alone = Context {
            own_opinion: self.own_opinion,
            confinement: self.confinement.as_ref(),
            ..Context::alone(self.digest, workspace)
        };
        match &self.run {
            Some(run) => run.context(alone),
            None => alone,
        }
    }

    fn workflow(&self) -> Option<&Workflow> {
        self.run.as_ref()?.workflow.as_deref()
    }
}

/// How a proposal was received.
#[derive(Debug, PartialEq)]
pub enum Proposed {
    /// Known already: the same call, dispatched again.
    Known(Box<CallRecord>),
    /// Settled at once.
    Settled {
        /// What policy said.
        verdict: Verdict,
        /// What became of it.
        outcome: Outcome,
        /// The right to run it, when it was claimed in the same step.
        permit: Option<Box<Permit>>,
    },
    /// Parked on a question.
    Parked {
        /// What policy said.
        verdict: Verdict,
        /// The question.
        on: InteractionId,
    },
}

/// Why a proposal is not received at all.
#[derive(Debug, thiserror::Error)]
pub enum ProposeRefusal {
    /// The id names another call.
    #[error("the call id `{0}` was used before for a different call")]
    IdTaken(CallId),
    /// The session is another agent's, or Placet's own.
    #[error("there is no session `{0}` for this agent")]
    NotYours(SessionId),
    /// A person stopped the run that makes it.
    #[error("the run of session `{0}` was stopped; nothing is begun in it any more")]
    RunStopped(SessionId),
}

impl Refusal for ProposeRefusal {}

impl Proposed {
    /// The question the call waits for, and the call's category.
    pub fn parked_on(&self) -> Option<(InteractionId, Category)> {
        match self {
            Self::Parked { verdict, on } => Some((on.clone(), verdict.category)),
            Self::Known(record) => match &record.state {
                CallState::Parked { on } => Some((on.clone(), record.verdict.category)),
                CallState::SameAs(_) | CallState::Granted { .. } | CallState::Refused { .. } => None,
            },
            Self::Settled { .. } => None,
        }
    }
}

/// Receives a call. `None` when a person has to agree and the tool was not asked yet what it can show: nothing is stored, and the proposal
/// is made again with the evidence.
pub fn propose(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    proposal: &Proposal,
) -> Decided<Option<Proposed>, ProposeRefusal> {
    let (call, digest) = (&proposal.call, proposal.digest);
    let key = CallKey::of(call);
    let proposed = ProposedCall::new(call, digest);
    let run = Need::Run(call.session.clone());
    snapshot.require([Need::Surroundings(proposed.clone()), run])?;
    let around = snapshot.surroundings(&proposed)?;
    if let Some(known) = &around.known {
        if known.digest != digest || known.call.session != call.session {
            return Err(ProposeRefusal::IdTaken(call.id.clone()).into());
        }
        return Ok(Step::nothing(Some(Proposed::Known(Box::new(known.clone())))));
    }
    if !around.session.is_open_to(&call.origin.agent) {
        return Err(ProposeRefusal::NotYours(call.session.clone()).into());
    }
    if proposal.run.is_some() && !goes_on(snapshot, &call.session)? {
        return Err(ProposeRefusal::RunStopped(call.session.clone()).into());
    }
    let verdict = verdict(rules, now, proposal, around);
    let desk = Desk {
        rules,
        snapshot,
        now,
        proposal,
        key,
        around,
        verdict,
    };
    if around.session.ended {
        return Ok(desk.denied(Denial::SessionOver));
    }
    match &desk.verdict.decision {
        Decision::Deny => Ok(desk.denied(Denial::Policy {
            reason: desk.verdict.reason.clone(),
        })),
        Decision::Allow => desk.allowed(),
        Decision::Ask(terms) => desk.ask(terms),
    }
}

/// Receives a call, and the same call made again in the same turn. A call that needs approval is one question that several wait
/// for, in one commit: no answer comes in between. What is returned is about the first call and those that joined it; the rest is
/// received on its own.
pub fn propose_together(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    first: &Proposal,
    same: &[Proposal],
) -> Decided<Option<Vec<Proposed>>, ProposeRefusal> {
    let mut step = propose(rules, snapshot, now, first)?;
    let Some(proposed) = step.value else {
        return Ok(Step::nothing(None));
    };
    let parked_on = match &proposed {
        Proposed::Parked { on, .. } => Some(on.clone()),
        Proposed::Known(_) | Proposed::Settled { .. } => None,
    };
    let mut all = vec![proposed];
    let around = snapshot.surroundings(&ProposedCall::new(&first.call, first.digest))?;
    let joined = around.pending_same.as_ref().map(|(_, call)| call.clone());
    let same_as = joined.unwrap_or_else(|| CallKey::of(&first.call));
    for (proposal, on) in same.iter().zip(parked_on.iter().cycle()) {
        let around = snapshot.surroundings(&ProposedCall::new(&proposal.call, proposal.digest))?;
        let verdict = verdict(rules, now, proposal, around);
        if around.known.is_some() || !matches!(verdict.decision, Decision::Ask(_)) {
            break;
        }
        let desk = Desk {
            rules,
            snapshot,
            now,
            proposal,
            key: CallKey::of(&proposal.call),
            around,
            verdict,
        };
        let join = desk.join(on.clone(), same_as.clone());
        step.events.extend(join.events);
        all.extend(join.value);
    }
    Ok(Step {
        events: step.events,
        changes: step.changes,
        value: Some(all),
    })
}

/// Whether the run of a session goes on, and was not stopped.
pub(super) fn goes_on(snapshot: &Snapshot, session: &SessionId) -> Result<bool, Undecided> {
    Ok(snapshot.run(session)?.as_ref().is_some_and(RunRecord::goes_on))
}

/// What policy says of a call, with what is stored about its session; nothing is asked or stored.
pub fn judge(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    proposal: &Proposal,
) -> Result<Verdict, Undecided> {
    let around = snapshot.surroundings(&ProposedCall::new(&proposal.call, proposal.digest))?;
    Ok(verdict(rules, now, proposal, around))
}

fn verdict(rules: &Rules<'_>, now: Timestamp, proposal: &Proposal, around: &Surroundings) -> Verdict {
    let memory = rules.config.approval.memory;
    // A clock that was set back makes no approval last longer than it was meant to.
    let remembered = |until| now < until && until <= now + memory;
    let standing = around.standing_at(now);
    let context = Context {
        mode: around.session.mode,
        session_allow_list: &around.session.allow_list,
        standing: &standing,
        remembered: around.remembered_until.is_some_and(remembered),
        ..proposal.context(rules.workspace)
    };
    let policy = &rules.config.policy;
    policy.decide(
        &proposal.call,
        &proposal.tool,
        &proposal.findings.analysis,
        &context,
    )
}

/// A judged call, about to be settled or parked.
struct Desk<'a> {
    rules: &'a Rules<'a>,
    snapshot: &'a Snapshot,
    now: Timestamp,
    proposal: &'a Proposal,
    key: CallKey,
    around: &'a Surroundings,
    verdict: Verdict,
}

impl Desk<'_> {
    fn received(&self, outcome: Option<Outcome>) -> Draft {
        let mut draft = Draft::new(&self.proposal.call.session);
        draft.event(Event::CallReceived {
            call: Box::new(self.proposal.call.clone()),
            digest: self.proposal.digest,
            verdict: Box::new(self.verdict.clone()),
            findings: Some(self.proposal.findings.stored(&self.proposal.call.args)),
            policy: self.rules.config.policy.version(),
            outcome: outcome.map(Box::new),
        });
        draft
    }

    fn settled(&self, draft: Draft, outcome: Outcome, permit: Option<Permit>) -> Step<Option<Proposed>> {
        draft.finish(Some(Proposed::Settled {
            verdict: self.verdict.clone(),
            outcome,
            permit: permit.map(Box::new),
        }))
    }

    fn parked(&self, draft: Draft, on: InteractionId) -> Step<Option<Proposed>> {
        draft.finish(Some(Proposed::Parked {
            verdict: self.verdict.clone(),
            on,
        }))
    }

    /// Waits for a question that is open about the same call.
    fn join(&self, on: InteractionId, same_as: CallKey) -> Step<Option<Proposed>> {
        let mut draft = self.received(None);
        draft.event(Event::Joined {
            call: self.key.clone(),
            same_as,
            interaction: on.clone(),
        });
        self.parked(draft, on)
    }

    fn denied(&self, denial: Denial) -> Step<Option<Proposed>> {
        let outcome = Outcome::Denied { denial };
        self.settled(self.received(Some(outcome.clone())), outcome, None)
    }

    fn allowed(&self) -> Decided<Option<Proposed>, ProposeRefusal> {
        let mut draft = self.received(Some(Outcome::Allowed));
        if self.verdict.step == PolicyStep::AllowList
            && !self.listed()
            && let Some(used) = self
                .around
                .standing_at(self.now)
                .iter()
                .find(|grant| self.covers(grant))
        {
            draft.event(Event::StandingUsed {
                id: used.id.clone(),
                call: self.key.clone(),
            });
        }
        let permit = match &self.proposal.claiming {
            Claiming::Apart => None,
            Claiming::AtOnce(promise) => {
                let call = (&self.proposal.call, self.proposal.digest);
                claim_received(&mut draft, self.snapshot, self.now, call, promise)?
            }
        };
        Ok(self.settled(draft, Outcome::Allowed, permit))
    }

    /// Whether a list lets the tool run, so that no standing grant is used up for it.
    fn listed(&self) -> bool {
        let tool = &self.proposal.call.tool;
        self.around.session.allow_list.contains(tool)
            || self
                .rules
                .config
                .policy
                .settings()
                .auto_approved_tools
                .contains(tool)
            || self
                .proposal
                .workflow()
                .is_some_and(|workflow| workflow.auto_approved_tools.contains(tool))
    }

    fn run(&self) -> RunTerms {
        self.proposal.run.clone().unwrap_or_default()
    }

    fn covers(&self, grant: &StandingGrant) -> bool {
        let (call, analysis) = (&self.proposal.call, &self.proposal.findings.analysis);
        grant
            .scope
            .covers(call, analysis, self.proposal.digest, self.rules.workspace)
    }

    fn ask(&self, terms: &AskTerms) -> Decided<Option<Proposed>, ProposeRefusal> {
        if let Some((by, reason)) = self.around.rejected.clone() {
            return Ok(self.denied(Denial::RejectedBefore { by, reason }));
        }
        if let Some((on, same_as)) = self.around.pending_same.clone() {
            return Ok(self.join(on, same_as));
        }
        let limits = &self.rules.config.approval;
        if self.around.session.open_questions >= limits.open_questions_max {
            return Ok(self.denied(Denial::TooManyOpen {
                max: limits.open_questions_max,
                of: OpenOf::Session,
            }));
        }
        match put(self.rules, self.snapshot, self.now, self.question(terms)?)? {
            Ok((asked, asking)) => {
                if let Some((max, of)) = too_many(self.rules, self.snapshot, &asked)? {
                    return Ok(self.denied(Denial::TooManyOpen { max, of }));
                }
                // A call that puts a question of its own runs nothing, so there is nothing to show.
                if self.proposal.evidence.is_none() && self.proposal.asks.is_none() {
                    return Ok(Step::nothing(None));
                }
                let mut draft = self.received(None);
                draft.append(asking);
                Ok(self.parked(draft, asked.id))
            }
            Err(nobody) => Ok(self.denied(Denial::NobodyToAsk { why: nobody })),
        }
    }

    /// The question about this call; or, after too many rejections in a row, the question how to go on at all. That one is
    /// asked on the same terms: an approver of the call may also end the run.
    fn question<'q>(&'q self, terms: &'q AskTerms) -> Result<Question<'q>, Undecided> {
        let call = &self.proposal.call;
        let (call_key, digest, rejections) = (
            self.key.clone(),
            self.proposal.digest,
            self.around.session.rejections,
        );
        let ordinary = Subject::Call {
            call: call_key,
            digest,
            answers: terms.answers.clone(),
            edited: None,
        };
        if let Some(request) = &self.proposal.asks {
            return self.own_question(request, terms);
        }
        // A program is not worn out by asking, and cannot say how to go on.
        let by_program =
            || deciding_callback(self.rules.reach, self.snapshot, &call.session, &ordinary, terms);
        let subject = if rejections >= self.rules.config.approval.rejections_max && by_program()?.is_none() {
            Subject::Breaker {
                rejections,
                call: self.key.clone(),
            }
        } else {
            ordinary
        };
        Ok(Question {
            fresh: &self.proposal.fresh,
            call,
            subject,
            terms,
            timeout: self.run().timeout(self.rules, self.now, terms, call),
            risk: self.verdict.risk,
            evidence: self.proposal.evidence.clone().unwrap_or_default(),
            tool_description: self.proposal.tool_description.clone(),
        })
    }

    /// What the call itself asks. Answering it runs nothing, so no breaker and no approval stand before it.
    fn own_question<'q>(
        &'q self,
        request: &InteractionRequest,
        terms: &'q AskTerms,
    ) -> Result<Question<'q>, Undecided> {
        let call = &self.proposal.call;
        let mut request = InteractionRequest {
            request_id: Some(self.proposal.fresh.id.clone()),
            session_id: call.session.clone(),
            ..request.clone()
        };
        if let Some(open) = open_run(self.snapshot, &call.session)? {
            variables::complete(&mut request, &open.variables);
        }
        let run = self.run();
        let timeout = match request.timeout_seconds {
            Some(seconds) => run.within(self.now, Millis::from_secs(seconds)),
            None => run.timeout(self.rules, self.now, terms, call),
        };
        Ok(Question {
            fresh: &self.proposal.fresh,
            risk: request.risk.unwrap_or(Risk::Low),
            call,
            timeout,
            subject: Subject::Request {
                agent: call.origin.agent.clone(),
                request: Box::new(request),
                call: Some(self.key.clone()),
            },
            terms,
            evidence: Vec::new(),
            tool_description: None,
        })
    }
}
