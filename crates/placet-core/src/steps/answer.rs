//! A person answers a question: one vote more, or settled; with edited arguments, a new call to be judged.

use std::collections::BTreeMap;

use crate::call::{Args, ToolCall};
use crate::evidence::Evidence;
use crate::findings::{Findings, Judgement};
use crate::ids::{InteractionId, PersonId};
use crate::interaction::{
    Accepted, Action, Answer, AnswerError, Asked, Ballot, CallKey, Edited, Interaction, Pending, Resolution,
    Resolved, Subject,
};
use crate::journal::Event;
use crate::messages::{Explain, Message, answered, decided, refusal};
use crate::outcome::Nobody;
use crate::policy::Context;
use crate::principal::Principal;
use crate::snapshot::Snapshot;
use crate::step::{Decided, Refusal, Stop};
use crate::time::Timestamp;
use crate::tool::Tool;
use crate::variables::{self, VariablesError};
use crate::verdict::{Decision, Reason};

use super::ask::{Fresh, Question, put};
use super::remember::{Authority, remember};
use super::settle::{Verdicted, settle_answered};
use super::terms::RunTerms;
use super::{Draft, Rules, open_run, resolve};

/// What an answer came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// It counts; more approvals are needed.
    Voted {
        /// How many more.
        needed: u32,
    },
    /// The question is settled.
    Decided {
        /// What that means.
        action: Action,
    },
    /// The edited call needs other people: a new question took this one's place.
    AskedAnew {
        /// The new question.
        question: InteractionId,
    },
}

/// Why an answer was not taken. Variants differ in what the person is told.
#[derive(Debug, thiserror::Error)]
pub enum AnswerRefusal {
    /// There is no such question, or it is not theirs to answer.
    NotFound(InteractionId),
    /// Another approver, or the deadline, was faster.
    AlreadyDecided {
        /// Which question.
        id: InteractionId,
        /// By whom and how.
        how: How,
        /// When.
        at: Timestamp,
    },
    /// It does not count.
    Invalid(AnswerError),
    /// The data does not fit what was asked for; every field that is wrong is named.
    DataInvalid(String),
    /// The edited arguments do not fit the tool.
    EditInvalid(String),
    /// Policy denies the edited call; a deny stays a deny.
    EditDenied(EditDenial),
    /// "Don't ask again" would cover something else than this call.
    ScopeMismatch,
    /// "Don't ask again" for a project or as a rule is not theirs to say.
    WideNotAllowed,
    /// A person refused a call that it would cover.
    RefusedBefore,
    /// The new values of the workflow's variables are not taken.
    Variables(VariablesError),
}

/// How a question was decided before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// With this option, by these people.
    Answered {
        /// The option.
        option: String,
        /// The people.
        by: Vec<PersonId>,
    },
    /// By the clock.
    Expired,
    /// It was revoked.
    Withdrawn,
    /// Another question took its place.
    Replaced {
        /// Which.
        by: InteractionId,
    },
}

/// Why an edited call is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditDenial {
    /// Policy says so.
    Policy(Reason),
    /// It would need people, and there are none.
    Nobody(Nobody),
    /// The approval callback failed.
    CallbackFailed,
}

impl Refusal for AnswerRefusal {}

impl Explain for AnswerRefusal {
    fn message(&self) -> Message {
        match self {
            Self::NotFound(id) => refusal::not_found(id),
            Self::AlreadyDecided { id, how, at } => refusal::already_decided(at, how.message(), id),
            Self::Invalid(error) => error.message(),
            Self::DataInvalid(error) => refusal::data_invalid(error),
            Self::EditInvalid(error) => refusal::edit_invalid(error),
            Self::EditDenied(denial) => refusal::edit_denied(denial.message()),
            Self::ScopeMismatch => refusal::scope_mismatch(),
            Self::WideNotAllowed => refusal::wide_not_allowed(),
            Self::RefusedBefore => refusal::refused_before(),
            Self::Variables(error) => error.message(),
        }
    }
}

impl Answered {
    /// What the approver is told while the request stays pending or is replaced by another one.
    pub fn goes_on(&self) -> Option<Message> {
        match self {
            Self::Decided { .. } => None,
            Self::Voted { needed } => Some(answered::counted(*needed)),
            Self::AskedAnew { question } => Some(answered::asked_anew(question)),
        }
    }
}

impl Explain for How {
    fn message(&self) -> Message {
        match self {
            Self::Answered { option, by } => decided::chosen(by, option),
            Self::Expired => decided::expired(),
            Self::Withdrawn => decided::withdrawn(),
            Self::Replaced { by } => decided::replaced(by),
        }
    }
}

impl Explain for EditDenial {
    fn message(&self) -> Message {
        match self {
            Self::Policy(reason) => reason.message(),
            Self::Nobody(nobody) => nobody.message(),
            Self::CallbackFailed => refusal::callback_failed(),
        }
    }
}

crate::display_in_english!(AnswerRefusal, How, EditDenial);

impl From<AnswerError> for AnswerRefusal {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::NotAsked { id, .. } => Self::NotFound(id),
            other => Self::Invalid(other),
        }
    }
}

/// What was found out about an edited call beforehand, outside the transaction.
#[derive(Debug, Clone)]
pub struct Edit {
    /// What is known of the tool.
    pub tool: Tool,
    /// What the new arguments would do.
    pub findings: Findings,
    /// Whether they fit the tool's schema; the validator's sentence if not.
    pub fits: Result<(), String>,
    /// What the tool can show of the new call.
    pub evidence: Vec<Evidence>,
}

/// An answer with everything found out about it beforehand.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Which question.
    pub id: InteractionId,
    /// The answer.
    pub answer: Answer,
    /// About its edited arguments, if it has any.
    pub edit: Option<Edit>,
    /// What the person may do besides answering.
    pub authority: Authority,
    /// Whether people lately refused a call that "don't ask again" would cover.
    pub refused_before: bool,
    /// For a question that follows.
    pub fresh: Fresh,
}

/// Takes an answer.
pub fn answer(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    reply: &Reply,
) -> Decided<Answered, AnswerRefusal> {
    let pending = match snapshot.interaction(&reply.id)? {
        None => return Err(AnswerRefusal::NotFound(reply.id.clone()).into()),
        Some(Interaction::Pending(pending)) => pending,
        Some(Interaction::Resolved(resolved) | Interaction::Processed(resolved)) => {
            return Err(decided_before(resolved, &reply.answer.by).into());
        }
    };
    let accepted = pending.answer(&reply.answer, now).map_err(AnswerRefusal::from)?;
    let mut draft = Draft::new(&pending.asked.session);
    if let (Some(args), Accepted::Vote(ballot) | Accepted::Decides { ballot, .. }) =
        (&reply.answer.edited_args, &accepted)
    {
        return edited(rules, snapshot, now, reply, pending, args, ballot);
    }
    match accepted {
        Accepted::Vote(ballot) => {
            if change_variables(snapshot, &mut draft, &pending.asked, &ballot)? == Changed::Some {
                return Err(AnswerRefusal::Variables(VariablesError::NotAlone).into());
            }
            let have = u32::try_from(pending.votes.len())
                .unwrap_or(u32::MAX)
                .saturating_add(1);
            draft.event(Event::Voted {
                interaction: pending.asked.id.clone(),
                ballot,
            });
            Ok(draft.finish(Answered::Voted {
                needed: pending.asked.quorum.saturating_sub(have),
            }))
        }
        Accepted::Decides { ballot, action, by } => {
            remember(rules, snapshot, now, &mut draft, reply, &pending.asked, &ballot)?;
            change_variables(snapshot, &mut draft, &pending.asked, &ballot)?;
            let decided = Verdicted {
                ballot: &ballot,
                action,
                by,
                edited: None,
            };
            settle_answered(
                rules,
                snapshot,
                now,
                &mut draft,
                &pending.asked,
                &decided,
                &reply.fresh,
            )?;
            Ok(draft.finish(Answered::Decided { action }))
        }
    }
}

/// Whether an answer changes variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changed {
    None,
    Some,
}

/// Changes the variables of the workflow that asks: of the run at hand, and of those whose work it does.
fn change_variables(
    snapshot: &Snapshot,
    draft: &mut Draft,
    asked: &Asked,
    ballot: &Ballot,
) -> Result<Changed, Stop<AnswerRefusal>> {
    let mut found = Changed::None;
    if ballot.data.is_none() {
        return Ok(found);
    }
    let mut next = Some(asked.session.clone());
    while let Some(session) = next.take() {
        let Some(run) = open_run(snapshot, &session)? else {
            return Ok(found);
        };
        let changed = variables::changed(asked, ballot, &run.variables).map_err(AnswerRefusal::Variables)?;
        if let Some(event) = changed {
            let mut own = Draft::new(&session);
            own.event(event);
            draft.append(own);
            found = Changed::Some;
        }
        next = run.started.parent.as_ref().map(|parent| parent.session.clone());
    }
    Ok(found)
}

/// The loser of a race is told who decided and when; a stranger is told nothing.
fn decided_before(resolved: &Resolved, by: &Principal) -> AnswerRefusal {
    let id = resolved.asked.id.clone();
    // Escalated or not is no longer known, and being told counts for both.
    if !resolved.asked.concerns(by, true) {
        return AnswerRefusal::NotFound(id);
    }
    let how = match &resolved.resolution {
        Resolution::Answered { by, ballot, .. } => How::Answered {
            option: ballot.option.clone(),
            by: by.clone(),
        },
        Resolution::Expired { .. } => How::Expired,
        Resolution::Cancelled { .. } => How::Withdrawn,
        Resolution::Superseded { by } => How::Replaced { by: by.clone() },
    };
    AnswerRefusal::AlreadyDecided {
        id,
        how,
        at: resolved.at,
    }
}

/// Approve with edited arguments: a new call. Its schema is checked, policy decides again, earlier votes are void.
fn edited(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    reply: &Reply,
    pending: &Pending,
    args: &Args,
    ballot: &Ballot,
) -> Decided<Answered, AnswerRefusal> {
    let Rejudged {
        call,
        key,
        run,
        judgement,
        evidence,
    } = judge_again(rules, snapshot, reply, pending, args)?;
    let mut draft = Draft::new(&pending.asked.session);
    let variables = change_variables(snapshot, &mut draft, &pending.asked, ballot)?;
    let mut settle = |by: Vec<PersonId>| {
        let decided = Verdicted {
            ballot,
            action: Action::ApproveAndExecute,
            by,
            edited: Some((args.clone(), judgement.clone())),
        };
        settle_answered(
            rules,
            snapshot,
            now,
            &mut draft,
            &pending.asked,
            &decided,
            &reply.fresh,
        )
    };
    let terms = match &judgement.verdict.decision {
        Decision::Deny => {
            let reason = judgement.verdict.reason.clone();
            return Err(AnswerRefusal::EditDenied(EditDenial::Policy(reason)).into());
        }
        Decision::Allow => {
            settle(vec![ballot.by.clone()])?;
            return Ok(draft.finish(Answered::Decided {
                action: Action::ApproveAndExecute,
            }));
        }
        Decision::Ask(terms) => terms,
    };
    let question = Question {
        fresh: &reply.fresh,
        call: &call,
        subject: Subject::Call {
            call: key,
            digest: call.digest(),
            answers: terms.answers.clone(),
            edited: Some(Box::new(Edited {
                by: ballot.by.clone(),
                args: args.clone(),
                judgement: Some(judgement.clone()),
            })),
        },
        terms,
        timeout: run.timeout(rules, now, terms, &call),
        risk: judgement.verdict.risk,
        evidence,
        tool_description: pending.asked.tool_description.clone(),
    };
    let (asked, asking) = match put(rules, snapshot, now, question)? {
        Ok(put) => put,
        Err(nobody) => return Err(AnswerRefusal::EditDenied(EditDenial::Nobody(nobody)).into()),
    };
    // Would the editor's own approval complete the new question? Then no other approver is needed.
    let fresh = Pending {
        asked,
        votes: BTreeMap::new(),
        escalated: false,
    };
    let approval = Answer {
        edited_args: None,
        remember: None,
        ..reply.answer.clone()
    };
    let vote = match fresh.answer(&approval, now) {
        Ok(Accepted::Decides { by, .. }) => {
            settle(by)?;
            return Ok(draft.finish(Answered::Decided {
                action: Action::ApproveAndExecute,
            }));
        }
        Ok(Accepted::Vote(ballot)) => Some(ballot),
        Err(AnswerError::NotAsked { .. } | AnswerError::OwnRequest { .. }) => None,
        Err(other) => return Err(AnswerRefusal::from(other).into()),
    };
    if variables == Changed::Some {
        return Err(AnswerRefusal::Variables(VariablesError::NotAlone).into());
    }
    let by = fresh.asked.id;
    supersede(draft, snapshot, &pending.asked, by, asking, vote)
}

/// Closes a question in favour of the one about its edited call, with the editor's vote if it counts there.
fn supersede(
    mut draft: Draft,
    snapshot: &Snapshot,
    asked: &Asked,
    by: InteractionId,
    asking: Draft,
    vote: Option<Ballot>,
) -> Decided<Answered, AnswerRefusal> {
    resolve(
        &mut draft,
        snapshot,
        asked,
        Resolution::Superseded { by: by.clone() },
    )?;
    draft.append(asking);
    if let Some(ballot) = vote {
        draft.event(Event::Voted {
            interaction: by.clone(),
            ballot,
        });
    }
    Ok(draft.finish(Answered::AskedAnew { question: by }))
}

/// A call with a person's arguments, checked and judged.
struct Rejudged {
    call: ToolCall,
    key: CallKey,
    run: RunTerms,
    judgement: Box<Judgement>,
    evidence: Vec<Evidence>,
}

fn judge_again(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    reply: &Reply,
    pending: &Pending,
    args: &Args,
) -> Result<Rejudged, Stop<AnswerRefusal>> {
    let not_found = || AnswerRefusal::NotFound(reply.id.clone());
    let record = match pending.asked.call() {
        Some(key) => snapshot.call(key)?.as_ref().ok_or_else(not_found)?,
        None => return Err(not_found().into()),
    };
    let Some(edit) = &reply.edit else {
        return Err(AnswerRefusal::EditInvalid("the tool is not known".into()).into());
    };
    // The scope was shown for the call as it was shown.
    if reply.answer.remember.is_some() {
        return Err(AnswerRefusal::ScopeMismatch.into());
    }
    edit.fits.clone().map_err(AnswerRefusal::EditInvalid)?;
    let call = record.call.with_args(args.clone());
    let run = RunTerms::of(snapshot, &call.session)?;
    let session = snapshot.session(&call.session)?;
    let context = Context {
        mode: session.mode,
        session_allow_list: &session.allow_list,
        ..Context::alone(call.digest(), rules.workspace)
    };
    let policy = &rules.config.policy;
    let verdict = policy.decide(&call, &edit.tool, &edit.findings.analysis, &run.context(context));
    Ok(Rejudged {
        key: record.key(),
        judgement: Box::new(Judgement {
            verdict,
            findings: edit.findings.clone(),
        }),
        evidence: edit.evidence.clone(),
        call,
        run,
    })
}
