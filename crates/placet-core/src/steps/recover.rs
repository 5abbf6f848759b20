//! After a crash: what was claimed and never finished may have happened, or not.

use crate::ids::SessionId;
use crate::interaction::{CallKey, Subject};
use crate::journal::Event;
use crate::lease::LeaseName;
use crate::outcome::{Denial, Outcome};
use crate::record::{CallRecord, CallState, GrantState};
use crate::snapshot::{Snapshot, Undecided};
use crate::step::{Decided, Step};
use crate::time::{Millis, Timestamp};
use crate::tool::{Category, Risk};
use crate::verdict::{AskTerms, Decision, Verdict};

use super::ask::{Fresh, Question, put};
use super::settle::settle_call;
use super::terms::RunTerms;
use super::{Draft, Rules, granted_digest, open_run};

/// How long people have to say what became of a call that may have happened.
const UNKNOWN_OUTCOME_TIMEOUT: Millis = Millis::from_secs(24 * 3600);

/// A call that was running in a process that is gone.
pub fn recover(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    key: &CallKey,
    fresh: &Fresh,
) -> Decided<()> {
    lost(rules, snapshot, now, key, fresh, |lease, process| {
        match (lease, process) {
            (Some(_), _) => Ok(false),
            // A row of an older version: its process was the only one, and is gone.
            (None, None) => Ok(true),
            (None, Some(process)) => is_gone(snapshot, now, process),
        }
    })
}

/// A call that this process claimed without hearing that it had: nothing runs under the claim. Whether it did is not a
/// matter of trust in this process, so it is treated like any other claim without a result.
pub fn disown(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    key: &CallKey,
    process: &str,
    fresh: &Fresh,
) -> Decided<()> {
    lost(rules, snapshot, now, key, fresh, |_, claimant| {
        Ok(claimant == Some(process))
    })
}

/// Read-only calls get a new grant and run again; anything else is asked back to the person.
pub(crate) fn lost(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    key: &CallKey,
    fresh: &Fresh,
    is_lost: impl Fn(Option<Timestamp>, Option<&str>) -> Result<bool, Undecided>,
) -> Decided<()> {
    let Some(record) = snapshot.call(key)? else {
        return Ok(Step::nothing(()));
    };
    let CallState::Granted { outcome, grant, .. } = &record.state else {
        return Ok(Step::nothing(()));
    };
    let GrantState::Claimed { lease, process } = &grant.state else {
        return Ok(Step::nothing(()));
    };
    if !is_lost(*lease, process.as_deref())? {
        return Ok(Step::nothing(()));
    }
    // The run that does it is in the store, whole: it goes on, and its end is the result.
    if delegated(snapshot, key)? {
        return Ok(Step::nothing(()));
    }
    let mut draft = Draft::new(&record.call.session);
    draft.event(Event::LostTrack {
        call: key.clone(),
        grant: grant.number,
    });
    // What runs again unasked is a read: as proposed, or as a person changed it.
    if verdict(record, outcome).category == Category::Read {
        settle_call(&mut draft, key, record.grants, outcome.clone());
        return Ok(draft.finish(()));
    }
    ask_back(rules, snapshot, now, &mut draft, record, outcome, fresh)?;
    Ok(draft.finish(()))
}

/// Whether a process no longer has its lease.
pub(crate) fn is_gone(snapshot: &Snapshot, now: Timestamp, process: &str) -> Result<bool, Undecided> {
    let lease = snapshot.lease(&LeaseName::process(process))?;
    Ok(lease.as_ref().is_none_or(|lease| lease.holder(now).is_none()))
}

/// What policy said about the arguments that ran.
fn verdict<'a>(record: &'a CallRecord, outcome: &'a Outcome) -> &'a Verdict {
    outcome
        .judgement()
        .map_or(&record.verdict, |judgement| &judgement.verdict)
}

/// Whether a run that has not ended does this call.
fn delegated(snapshot: &Snapshot, key: &CallKey) -> Result<bool, Undecided> {
    let Ok(session) = SessionId::of_task(&key.call) else {
        return Ok(false);
    };
    let parent = open_run(snapshot, &session)?.and_then(|run| run.started.parent.as_ref());
    Ok(parent.is_some_and(|parent| parent.call == *key))
}

/// "It may have happened: run again, treat as done, skip, terminate?"
fn ask_back(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    draft: &mut Draft,
    record: &CallRecord,
    outcome: &Outcome,
    fresh: &Fresh,
) -> Result<(), Undecided> {
    let plain = AskTerms::plain();
    let verdicts = [verdict(record, outcome), &record.verdict];
    let terms = verdicts.into_iter().find_map(|verdict| match &verdict.decision {
        Decision::Ask(terms) => Some(terms),
        Decision::Allow | Decision::Deny => None,
    });
    let terms = terms.unwrap_or(&plain);
    let (edited, judgement) = match outcome {
        Outcome::Approved {
            edited, judgement, ..
        } => (edited.clone().map(Box::new), judgement.clone()),
        _ => (None, None),
    };
    // A second run is judged by the same people as the first, and is never less than serious.
    let question = Question {
        fresh,
        call: &record.call,
        subject: Subject::UnknownOutcome {
            call: record.key(),
            digest: granted_digest(record.digest, outcome),
            edited,
            judgement,
        },
        terms,
        timeout: RunTerms::of(snapshot, &record.call.session)?.within(now, UNKNOWN_OUTCOME_TIMEOUT),
        risk: Risk::High,
        evidence: Vec::new(),
        tool_description: None,
    };
    match put(rules, snapshot, now, question)? {
        Ok((_, asking)) => draft.append(asking),
        Err(nobody) => settle_call(
            draft,
            &record.key(),
            record.grants,
            Outcome::Denied {
                denial: Denial::NobodyToAsk { why: nobody },
            },
        ),
    }
    Ok(())
}
