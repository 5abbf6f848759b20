//! From a settled question to the outcome of every call that waited for it (design §4, the table).

use crate::call::Args;
use crate::findings::Judgement;
use crate::interaction::{
    Action, Asked, Ballot, CallKey, Cancellation, InteractionRequest, Resolution, Subject,
};
use crate::journal::Event;
use crate::outcome::Outcome;
use crate::record::{CallHead, CallRecord};
use crate::snapshot::{Need, Snapshot, Undecided};
use crate::time::Timestamp;
use crate::verdict::{AskTerms, Decision};
use serde_json::{Map, Value};

use super::ask::{Fresh, Question, put};
use super::terms::RunTerms;
use super::{Draft, Rules, resolve, waiting_on};

/// An answer that settles a question.
pub(crate) struct Verdicted<'a> {
    pub(crate) ballot: &'a Ballot,
    pub(crate) action: Action,
    pub(crate) by: Vec<crate::ids::PersonId>,
    /// The arguments a person changed the call to, already checked and judged.
    pub(crate) edited: Option<(Args, Box<Judgement>)>,
}

/// Settles `asked` and every call parked on it.
pub(crate) fn settle_answered(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    draft: &mut Draft,
    asked: &Asked,
    decided: &Verdicted<'_>,
    fresh: &Fresh,
) -> Result<(), Undecided> {
    let resolution = Resolution::Answered {
        ballot: Box::new(decided.ballot.clone()),
        action: decided.action,
        by: decided.by.clone(),
    };
    let call = asked.call().cloned().map(Need::CallHead);
    snapshot.require(call.into_iter().chain([Need::Copies(asked.id.clone())]))?;
    resolve(draft, snapshot, asked, resolution)?;
    if let Some(head) = waiting_on(snapshot, asked)? {
        if let (Subject::Breaker { .. }, Action::Custom) = (&asked.subject, decided.action) {
            ask_after_all(rules, snapshot, now, draft, asked, full(snapshot, head)?, fresh)?;
        } else {
            let outcome = outcome(rules, snapshot, now, asked, head, decided)?;
            settle_call(draft, &head.key, head.grants, outcome);
        }
    }
    if decided.action == Action::Terminate {
        end(snapshot, draft, asked, decided.ballot)?;
    }
    Ok(())
}

/// Gives one call its outcome, and a grant if that permits it. A call that has had a grant comes here only when no process
/// knows what became of it.
pub(crate) fn settle_call(draft: &mut Draft, call: &CallKey, grants: u32, outcome: Outcome) {
    let permits = outcome.permits();
    let outcome = if permits || grants == 0 {
        Box::new(outcome)
    } else {
        Box::new(Outcome::MayHaveRun {
            then: Box::new(outcome),
        })
    };
    draft.event(Event::Settled {
        call: call.clone(),
        outcome,
        grant: permits.then(|| grants.saturating_add(1)),
    });
}

/// A call with its arguments.
fn full<'s>(snapshot: &'s Snapshot, head: &CallHead) -> Result<&'s CallRecord, Undecided> {
    let record = snapshot.call(&head.key)?.as_ref();
    record.ok_or_else(|| Undecided::Corrupt {
        what: format!("call `{}` is gone", head.key.call),
    })
}

fn outcome(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    asked: &Asked,
    head: &CallHead,
    decided: &Verdicted<'_>,
) -> Result<Outcome, Undecided> {
    let ballot = decided.ballot;
    let by = ballot.by.clone();
    let instruction = ballot.instruction.clone();
    if let (
        Subject::Request { request, .. },
        Action::ApproveAndExecute | Action::ProvideInfo | Action::Custom,
    ) = (&asked.subject, decided.action)
    {
        // The call exists to ask, so the choice is its result; there is nothing to run.
        return Ok(Outcome::Info {
            by,
            feedback: ballot.feedback.clone(),
            data: Some(choice(request, ballot)),
            instruction,
        });
    }
    Ok(match decided.action {
        Action::ApproveAndExecute => {
            let (edited, judgement) = match &decided.edited {
                Some((args, judgement)) => (Some(args), Some(judgement.as_ref())),
                None => (asked.edited_args(), asked.judgement()),
            };
            let digest = match edited {
                Some(args) => full(snapshot, head)?.call.with_args(args.clone()).digest(),
                None => head.digest,
            };
            let memorable = judgement.map_or(head.memorable, |judgement| judgement.verdict.is_memorable());
            let remembered = memorable && matches!(asked.subject, Subject::Call { .. });
            Outcome::Approved {
                by: decided.by.clone(),
                digest,
                edited: edited.cloned(),
                judgement: judgement.cloned().map(Box::new),
                instruction,
                remembered_until: remembered.then(|| now + rules.config.approval.memory),
            }
        }
        Action::RejectWithReason => Outcome::Rejected {
            by,
            reason: ballot.feedback.clone(),
            instruction,
        },
        Action::RetryWithFeedback => Outcome::Retry {
            by,
            feedback: ballot.feedback.clone().unwrap_or_default(),
            instruction,
        },
        Action::ProvideInfo => Outcome::Info {
            by,
            feedback: ballot.feedback.clone(),
            data: ballot.data.clone(),
            instruction,
        },
        // A call offers no custom option; if a stored question ever does, not running is the safe reading.
        Action::Skip | Action::Custom => Outcome::Skipped { by, instruction },
        Action::Terminate => Outcome::Terminated {
            by,
            reason: ballot.feedback.clone(),
        },
    })
}

/// What was chosen, in the words the asker offered it in.
pub(crate) fn chosen(request: &InteractionRequest, id: &str) -> Map<String, Value> {
    let mut choice = Map::new();
    choice.insert("selectedOptionId".into(), id.into());
    if let Some(option) = request.options.iter().find(|option| option.option_id == id) {
        choice.insert("label".into(), option.label.clone().into());
        if !option.metadata.is_empty() {
            choice.insert("metadata".into(), Value::Object(option.metadata.clone()));
        }
    }
    choice
}

/// The same, with what the person gave beside it.
fn choice(request: &InteractionRequest, ballot: &Ballot) -> Map<String, Value> {
    let mut choice = chosen(request, &ballot.option);
    if let Some(data) = &ballot.data {
        choice.insert("data".into(), Value::Object(data.clone()));
    }
    choice
}

/// "Go on asking": the call that tripped the breaker gets its ordinary question.
fn ask_after_all(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    draft: &mut Draft,
    breaker: &Asked,
    record: &CallRecord,
    fresh: &Fresh,
) -> Result<(), Undecided> {
    let plain = AskTerms::plain();
    let terms = match &record.verdict.decision {
        Decision::Ask(terms) => terms,
        Decision::Allow | Decision::Deny => &plain,
    };
    let question = Question {
        fresh,
        call: &record.call,
        subject: Subject::Call {
            call: record.key(),
            digest: record.digest,
            answers: terms.answers.clone(),
            edited: None,
        },
        terms,
        timeout: RunTerms::of(snapshot, &record.call.session)?.timeout(rules, now, terms, &record.call),
        risk: record.verdict.risk,
        evidence: breaker.evidence.clone(),
        tool_description: breaker.tool_description.clone(),
    };
    match put(rules, snapshot, now, question)? {
        Ok((_, asking)) => draft.append(asking),
        Err(nobody) => {
            let denial = crate::outcome::Denial::NobodyToAsk { why: nobody };
            settle_call(draft, &record.key(), record.grants, Outcome::Denied { denial });
        }
    }
    Ok(())
}

/// Ends the whole run, from its root down: ending it at a helper's question ends all of it. Whatever else
/// is open in it is withdrawn.
fn end(snapshot: &Snapshot, draft: &mut Draft, asked: &Asked, ballot: &Ballot) -> Result<(), Undecided> {
    let root = snapshot.root_of(&asked.session)?;
    let outcome = Outcome::Terminated {
        by: ballot.by.clone(),
        reason: ballot.feedback.clone(),
    };
    let mut family = vec![root.clone()];
    family.extend_from_slice(snapshot.descendants(root)?);
    if !family.contains(&asked.session) {
        family.push(asked.session.clone());
    }
    for session in family {
        let mut own = Draft::new(&session);
        // What may have happened is asked back even in a session that was ended before.
        if !snapshot.session(&session)?.ended {
            own.event(Event::SessionEnded {
                by: ballot.by.to_string(),
            });
        }
        for other in snapshot.pending_in_session(&session)? {
            if other.id != asked.id {
                let why = Cancellation::Terminated;
                resolve(&mut own, snapshot, other, Resolution::Cancelled { why })?;
                settle_waiting(snapshot, &mut own, other, &outcome)?;
            }
        }
        draft.append(own);
    }
    Ok(())
}

/// Gives the call parked on `asked` an outcome that does not permit it.
pub(crate) fn settle_waiting(
    snapshot: &Snapshot,
    draft: &mut Draft,
    asked: &Asked,
    outcome: &Outcome,
) -> Result<(), Undecided> {
    if let Some(head) = waiting_on(snapshot, asked)? {
        settle_call(draft, &head.key, head.grants, outcome.clone());
    }
    Ok(())
}
