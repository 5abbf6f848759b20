//! What time does: questions expire, are escalated, and claims outlive their leases.

use crate::ids::InteractionId;
use crate::interaction::{Audience, CallKey, Resolution, Subject};
use crate::journal::Event;
use crate::outcome::Outcome;
use crate::snapshot::Snapshot;
use crate::step::{Decided, Step};
use crate::time::Timestamp;

use super::ask::{Fresh, enqueue_question};
use super::recover::{is_gone, lost};
use super::settle::{chosen, settle_waiting};
use super::{Draft, Rules, pending, resolve};

/// Expires a question, if its time has come.
pub fn expire(snapshot: &Snapshot, now: Timestamp, id: &InteractionId) -> Decided<()> {
    let Some(question) = pending(snapshot, id)? else {
        return Ok(Step::nothing(()));
    };
    let Some(resolution) = question.expire(now) else {
        return Ok(Step::nothing(()));
    };
    let mut draft = Draft::new(&question.asked.session);
    let default = match (&question.asked.subject, &resolution) {
        (Subject::Request { request, .. }, Resolution::Expired { option: Some(option) }) => {
            Some(chosen(request, option))
        }
        _ => None,
    };
    resolve(&mut draft, snapshot, &question.asked, resolution)?;
    let outcome = Outcome::Expired {
        after: question.asked.allowance(),
        default,
    };
    settle_waiting(snapshot, &mut draft, &question.asked, &outcome)?;
    Ok(draft.finish(()))
}

/// Puts a question to more people, if its time has come.
pub fn escalate(rules: &Rules<'_>, snapshot: &Snapshot, now: Timestamp, id: &InteractionId) -> Decided<()> {
    let Some(question) = pending(snapshot, id)? else {
        return Ok(Step::nothing(()));
    };
    let Some(to) = question.escalate(now) else {
        return Ok(Step::nothing(()));
    };
    let mut draft = Draft::new(&question.asked.session);
    draft.event(Event::Escalated {
        interaction: id.clone(),
        to: to.clone(),
    });
    let asked_already = match &question.asked.audience {
        Audience::People(people) => people.clone(),
        Audience::Inbox => std::collections::BTreeSet::new(),
    };
    for person in to.difference(&asked_already) {
        for chat in rules.reach.chats_of.get(person).into_iter().flatten() {
            if rules.reach.delivers(&chat.channel) {
                enqueue_question(&mut draft, id, chat);
            }
        }
    }
    Ok(draft.finish(()))
}

/// A claimant promised a result by now, or its process is gone, and there is no result: the call may have run.
pub fn lose_lease(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    key: &CallKey,
    fresh: &Fresh,
) -> Decided<()> {
    lost(rules, snapshot, now, key, fresh, |lease, process| {
        match (lease, process) {
            (Some(until), _) => Ok(until <= now),
            (None, Some(process)) => is_gone(snapshot, now, process),
            (None, None) => Ok(false),
        }
    })
}
