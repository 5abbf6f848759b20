//! From a settled question to the outcome of every call that waited for it (design §4, the table).

use placet_core::call::Args;
use placet_core::interaction::{Action, Asked, Ballot, Cancellation, Resolution, Subject};
use placet_core::journal::Event;
use placet_core::outcome::Outcome;
use placet_core::record::CallRecord;
use placet_core::time::Now;
use placet_core::tool::Risk;
use placet_core::verdict::{AskTerms, Decision, Step};
use placet_store::{StoreError, View};
use serde_json::{Map, Value};

use super::ask::{Fresh, Nobody, Question, put};
use super::{Draft, Rules, channel_of, granted_digest, resolve};

/// An answer that settles a question.
pub(crate) struct Verdicted<'a> {
    pub(crate) ballot: &'a Ballot,
    pub(crate) action: Action,
    pub(crate) by: Vec<placet_core::ids::PersonId>,
    /// The arguments a person changed the call to, already checked and judged.
    pub(crate) edited: Option<Args>,
}

/// Settles `asked` and every call parked on it.
pub(crate) fn settle_answered(
    rules: &Rules<'_>,
    view: &View<'_>,
    now: Now,
    draft: &mut Draft,
    asked: &Asked,
    decided: &Verdicted<'_>,
    fresh: &Fresh,
) -> Result<(), StoreError> {
    let resolution = Resolution::Answered {
        ballot: Box::new(decided.ballot.clone()),
        action: decided.action,
        by: decided.by.clone(),
    };
    resolve(draft, view, asked, resolution)?;
    for key in view.waiting_on(&asked.id)? {
        let Some(record) = view.call(&key)? else { continue };
        match (&asked.subject, decided.action) {
            (Subject::Breaker { .. }, Action::Custom) => {
                ask_after_all(rules, view, now, draft, asked, &record, fresh)?;
            }
            _ => settle_call(draft, &record, outcome(rules, now, asked, &record, decided)),
        }
    }
    if decided.action == Action::Terminate {
        end(view, draft, asked, decided.ballot)?;
    }
    Ok(())
}

/// Gives one call its outcome, and a grant if that permits it.
pub(crate) fn settle_call(draft: &mut Draft, record: &CallRecord, outcome: Outcome) {
    let grant = outcome.permits().then(|| record.grants.saturating_add(1));
    draft.event(Event::Settled {
        call: record.key(),
        outcome: Box::new(outcome),
        grant,
    });
}

fn outcome(
    rules: &Rules<'_>,
    now: Now,
    asked: &Asked,
    record: &CallRecord,
    decided: &Verdicted<'_>,
) -> Outcome {
    let ballot = decided.ballot;
    let by = ballot.by.clone();
    let instruction = ballot.instruction.clone();
    match decided.action {
        Action::ApproveAndExecute => {
            let edited = decided.edited.clone().or_else(|| edited_before(asked));
            let digest = match &edited {
                Some(args) => record.call.with_args(args.clone()).digest(),
                None => record.digest,
            };
            // Only what was asked for want of anything better is remembered: HIGH and what a rule asks about is asked every time.
            let remembered = record.verdict.risk == Risk::Medium
                && record.verdict.step == Step::Ask
                && matches!(asked.subject, Subject::Call { .. });
            Outcome::Approved {
                by: decided.by.clone(),
                digest,
                edited,
                instruction,
                remembered_until: remembered.then(|| now.wall + rules.config.approval.memory),
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
        Action::ProvideInfo if matches!(asked.subject, Subject::UnknownOutcome { .. }) => {
            let done = Map::from_iter([("treatedAsDone".to_owned(), Value::Bool(true))]);
            Outcome::Info {
                by,
                feedback: ballot.feedback.clone(),
                data: Some(done),
                instruction,
            }
        }
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
    }
}

/// The arguments people had changed the call to before this question.
fn edited_before(asked: &Asked) -> Option<Args> {
    match &asked.subject {
        Subject::Call { edited, .. } => edited.as_ref().map(|edited| edited.args.clone()),
        Subject::UnknownOutcome { edited, .. } => edited.as_deref().cloned(),
        Subject::Breaker { .. } | Subject::Request { .. } => None,
    }
}

/// "Go on asking": the call that tripped the breaker gets its ordinary question.
fn ask_after_all(
    rules: &Rules<'_>,
    view: &View<'_>,
    now: Now,
    draft: &mut Draft,
    breaker: &Asked,
    record: &CallRecord,
    fresh: &Fresh,
) -> Result<(), StoreError> {
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
        timeout: rules
            .config
            .timeout(terms.timeout, None, channel_of(&record.call)),
        risk: record.verdict.risk,
        evidence: breaker.evidence.clone(),
    };
    match put(rules, view, now, question)? {
        Ok((_, asking)) => draft.append(asking),
        Err(Nobody(why)) => {
            let denial = placet_core::outcome::Denial::NobodyToAsk { why };
            settle_call(draft, record, Outcome::Denied { denial });
        }
    }
    Ok(())
}

/// Ends the session: whatever else is open in it is withdrawn.
fn end(view: &View<'_>, draft: &mut Draft, asked: &Asked, ballot: &Ballot) -> Result<(), StoreError> {
    // What may have happened is asked back even in a session that was ended before.
    if !view.session(&asked.session)?.ended {
        draft.event(Event::SessionEnded {
            by: ballot.by.to_string(),
        });
    }
    for other in view.pending_in_session(&asked.session)? {
        if other.id == asked.id {
            continue;
        }
        resolve(
            draft,
            view,
            &other,
            Resolution::Cancelled {
                why: Cancellation::Terminated,
            },
        )?;
        settle_waiting(
            view,
            draft,
            &other,
            &Outcome::Terminated {
                by: ballot.by.clone(),
                reason: ballot.feedback.clone(),
            },
        )?;
    }
    Ok(())
}

/// Gives every call parked on `asked` the same outcome. For outcomes that do not permit it.
pub(crate) fn settle_waiting(
    view: &View<'_>,
    draft: &mut Draft,
    asked: &Asked,
    outcome: &Outcome,
) -> Result<(), StoreError> {
    for key in view.waiting_on(&asked.id)? {
        if let Some(record) = view.call(&key)? {
            settle_call(draft, &record, outcome.clone());
        }
    }
    Ok(())
}

/// The exact call a grant lets run: the edited one when a person edited it.
pub(crate) fn granted_call(record: &CallRecord, outcome: &Outcome) -> Option<placet_core::call::ToolCall> {
    let call = match outcome {
        Outcome::Approved {
            edited: Some(args), ..
        } => record.call.with_args(args.clone()),
        Outcome::Allowed | Outcome::Approved { .. } => record.call.clone(),
        _ => return None,
    };
    // Promise 1, checked where it matters most: what runs is what was allowed, to the byte.
    (call.digest() == granted_digest(record, outcome)).then_some(call)
}
