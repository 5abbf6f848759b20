//! An agent proposes a call: policy judges it, and it is settled at once or parked on a question.

use std::collections::BTreeSet;
use std::sync::Arc;

use placet_core::analysis::Analysis;
use placet_core::call::ToolCall;
use placet_core::config::Workflow;
use placet_core::evidence::Evidence;
use placet_core::ids::{CallId, InteractionId};
use placet_core::interaction::{CallKey, Subject};
use placet_core::journal::Event;
use placet_core::outcome::{Denial, Outcome};
use placet_core::policy::Context;
use placet_core::record::CallRecord;
use placet_core::time::Now;
use placet_core::tool::{OwnOpinion, Tool};
use placet_core::verdict::{AskTerms, Decision, Step as PolicyStep, Verdict};
use placet_store::{Step, StoreError, View};

use super::ask::{Fresh, Nobody, Question, put};
use super::{Draft, Rules, channel_of, memory_place};

/// A call with everything found out about it beforehand, outside the transaction.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The call.
    pub call: ToolCall,
    /// What is known of its tool.
    pub tool: Tool,
    /// What its arguments would do.
    pub analysis: Analysis,
    /// What the tool itself says.
    pub own_opinion: OwnOpinion,
    /// What the tool can show.
    pub evidence: Vec<Evidence>,
    /// The workflow it runs in.
    pub workflow: Option<Arc<Workflow>>,
    /// For the question, if one is put.
    pub fresh: Fresh,
}

/// How a proposal was received.
#[derive(Debug, Clone, PartialEq)]
pub enum Proposed {
    /// Known already: the same call, dispatched again.
    Known(Box<CallRecord>),
    /// Settled at once.
    Settled {
        /// What policy said.
        verdict: Verdict,
        /// What became of it.
        outcome: Outcome,
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
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Receives a call.
pub fn propose(
    rules: &Rules<'_>,
    view: &View<'_>,
    now: Now,
    proposal: &Proposal,
) -> Result<Step<Proposed>, ProposeRefusal> {
    let call = &proposal.call;
    let digest = call.digest();
    let key = CallKey { agent: call.origin.agent.clone(), call: call.id.clone() };
    if let Some(known) = view.call(&key)? {
        return match known.digest == digest && known.call.session == call.session {
            true => Ok(Step::nothing(Proposed::Known(Box::new(known)))),
            false => Err(ProposeRefusal::IdTaken(call.id.clone())),
        };
    }
    let session = view.session(&call.session)?;
    let standing = view.standing(&call.tool, now.wall)?;
    let nothing = BTreeSet::new();
    let verdict = rules.config.policy.decide(
        call,
        &proposal.tool,
        &proposal.analysis,
        &Context {
            digest,
            mode: session.mode,
            own_opinion: proposal.own_opinion,
            session_allow_list: &session.allow_list,
            workflow_allow_list: proposal.workflow.as_ref().map_or(&nothing, |workflow| &workflow.auto_approved_tools),
            standing: &standing,
            remembered: view
                .remembered_until(&memory_place(call), &call.tool, digest)?
                .is_some_and(|until| now.wall < until),
        },
    );
    let mut draft = Draft::new(&call.session);
    let receive = |outcome: Option<Outcome>| Event::CallReceived {
        call: Box::new(call.clone()),
        digest,
        verdict: Box::new(verdict.clone()),
        policy: rules.config.policy.version(),
        outcome: outcome.map(Box::new),
    };
    let settled = |mut draft: Draft, outcome: Outcome| {
        draft.event(receive(Some(outcome.clone())));
        draft.finish(Proposed::Settled { verdict: verdict.clone(), outcome })
    };
    if session.ended {
        return Ok(settled(draft, Outcome::Denied { denial: Denial::SessionOver }));
    }
    let terms = match &verdict.decision {
        Decision::Deny => {
            let denial = Denial::Policy { reason: verdict.reason.clone() };
            return Ok(settled(draft, Outcome::Denied { denial }));
        }
        Decision::Allow => {
            let mut step = settled(draft, Outcome::Allowed);
            if verdict.step == PolicyStep::AllowList
                && let Some(used) = standing.iter().find(|grant| grant.covers(call, &proposal.analysis, digest))
            {
                step.events.push((call.session.clone(), Event::StandingUsed { id: used.id.clone(), call: key }));
            }
            return Ok(step);
        }
        Decision::Ask(terms) => terms,
    };
    if let Some((by, reason)) = view.rejected(&call.session, digest)? {
        return Ok(settled(draft, Outcome::Denied { denial: Denial::RejectedBefore { by, reason } }));
    }
    if let Some((on, same_as)) = view.pending_same(&call.session, digest)? {
        draft.event(receive(None));
        draft.event(Event::Joined { call: key, same_as, interaction: on.clone() });
        return Ok(draft.finish(Proposed::Parked { verdict, on }));
    }
    let max = rules.config.approval.open_questions_max;
    if session.open_questions >= max {
        return Ok(settled(draft, Outcome::Denied { denial: Denial::TooManyOpen { max } }));
    }
    let tripped = session.rejections >= rules.config.approval.rejections_max;
    let subject = match tripped {
        true => Subject::Breaker { rejections: session.rejections, call: key },
        false => Subject::Call { call: key, digest, answers: terms.answers.clone(), edited: None },
    };
    // The breaker's question is about how to go on, so it is the session's own people's, not the rule's.
    let plain = AskTerms::plain();
    let question = Question {
        fresh: &proposal.fresh,
        call,
        subject,
        terms: if tripped { &plain } else { terms },
        timeout: rules.config.timeout(terms.timeout, proposal.workflow.as_deref(), channel_of(call)),
        risk: verdict.risk,
        evidence: proposal.evidence.clone(),
    };
    match put(rules, view, now, question)? {
        Ok((asked, asking)) => {
            draft.event(receive(None));
            draft.append(asking);
            Ok(draft.finish(Proposed::Parked { verdict, on: asked.id }))
        }
        Err(Nobody(why)) => Ok(settled(draft, Outcome::Denied { denial: Denial::NobodyToAsk { why } })),
    }
}
