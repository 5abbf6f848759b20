//! After a crash: what was claimed and never finished may have happened, or not.

use placet_core::ids::SessionId;
use placet_core::interaction::{CallKey, Subject};
use placet_core::journal::Event;
use placet_core::outcome::{Denial, Outcome};
use placet_core::record::{CallRecord, CallState, GrantState};
use placet_core::time::{LiveTime, Millis, Now};
use placet_core::tool::{Category, Risk};
use placet_core::verdict::{AskTerms, Decision};
use placet_store::{Step, StoreError, View};

use super::ask::{Fresh, Question, put};
use super::settle::settle_call;
use super::terms::RunTerms;
use super::{Draft, Rules, granted_digest};

/// How long people have to say what became of a call that may have happened.
const UNKNOWN_OUTCOME_TIMEOUT: Millis = Millis::from_secs(24 * 3600);

/// A call that was running in a process that is gone.
pub fn recover(
    rules: &Rules<'_>,
    view: &View<'_>,
    now: Now,
    key: &CallKey,
    fresh: &Fresh,
) -> Result<Step<()>, StoreError> {
    lost(rules, view, now, key, fresh, |lease| lease.is_none())
}

/// Read-only calls get a new grant and run again; anything else is asked back to the person.
pub(crate) fn lost(
    rules: &Rules<'_>,
    view: &View<'_>,
    now: Now,
    key: &CallKey,
    fresh: &Fresh,
    is_lost: impl Fn(Option<LiveTime>) -> bool,
) -> Result<Step<()>, StoreError> {
    let Some(record) = view.call(key)? else {
        return Ok(Step::nothing(()));
    };
    let CallState::Granted { outcome, grant, .. } = &record.state else {
        return Ok(Step::nothing(()));
    };
    let GrantState::Claimed { lease } = grant.state else {
        return Ok(Step::nothing(()));
    };
    if !is_lost(lease) {
        return Ok(Step::nothing(()));
    }
    // The run that does it is in the store, whole: it goes on, and its end is the result.
    if delegated(view, key)? {
        return Ok(Step::nothing(()));
    }
    let mut draft = Draft::new(&record.call.session);
    draft.event(Event::LostTrack {
        call: key.clone(),
        grant: grant.number,
    });
    if record.verdict.category == Category::Read {
        settle_call(&mut draft, key, record.grants, outcome.clone());
        return Ok(draft.finish(()));
    }
    ask_back(rules, view, now, &mut draft, &record, outcome, fresh)?;
    Ok(draft.finish(()))
}

/// Whether a run that has not ended does this call.
fn delegated(view: &View<'_>, key: &CallKey) -> Result<bool, StoreError> {
    let Ok(session) = SessionId::of_task(&key.call) else {
        return Ok(false);
    };
    let Some(run) = view.run(&session)?.filter(|run| run.ended.is_none()) else {
        return Ok(false);
    };
    let parent = view.run_started(&run)?.parent;
    Ok(parent.is_some_and(|parent| parent.call == *key))
}

/// "It may have happened: run again, treat as done, skip, terminate?"
fn ask_back(
    rules: &Rules<'_>,
    view: &View<'_>,
    now: Now,
    draft: &mut Draft,
    record: &CallRecord,
    outcome: &Outcome,
    fresh: &Fresh,
) -> Result<(), StoreError> {
    let plain = AskTerms::plain();
    let terms = match &record.verdict.decision {
        Decision::Ask(terms) => terms,
        Decision::Allow | Decision::Deny => &plain,
    };
    let edited = match outcome {
        Outcome::Approved { edited, .. } => edited.clone().map(Box::new),
        _ => None,
    };
    // A second run is judged by the same people as the first, and is never less than serious.
    let question = Question {
        fresh,
        call: &record.call,
        subject: Subject::UnknownOutcome {
            call: record.key(),
            digest: granted_digest(record.digest, outcome),
            edited,
        },
        terms,
        timeout: RunTerms::of(view, &record.call.session)?.within(now, UNKNOWN_OUTCOME_TIMEOUT),
        risk: Risk::High,
        evidence: Vec::new(),
    };
    match put(rules, view, now, question)? {
        Ok((_, asking)) => draft.append(asking),
        Err(nobody) => settle_call(
            draft,
            &record.key(),
            record.grants,
            Outcome::Denied {
                denial: Denial::NobodyToAsk {
                    why: nobody.to_string(),
                },
            },
        ),
    }
    Ok(())
}
