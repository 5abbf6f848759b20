//! How requests and calls end.

use std::collections::BTreeSet;

use placet_core::ids::{InteractionId, PersonId};
use placet_core::interaction::{Action, Cancellation, Resolution};
use placet_core::messages::{Message, audit, audit_verb, denial, fate};
use placet_core::outcome::{Denial, Outcome};

use super::{Teller, gist, note};

impl Teller<'_> {
    pub(super) fn resolved(&self, id: &InteractionId, resolution: &Resolution) -> Message {
        let what = self.question(id);
        match resolution {
            Resolution::Answered { ballot, action, by } => {
                let all: BTreeSet<PersonId> = by.iter().chain([&ballot.by]).cloned().collect();
                let who = if *action == Action::ApproveAndExecute {
                    self.names(&all)
                } else {
                    ballot.by.to_string()
                };
                match note(ballot) {
                    Some(note) => audit::answered_because(note, verb(*action), what, who),
                    None => audit::answered(verb(*action), what, who),
                }
            }
            Resolution::Expired { .. } => audit::expired(what),
            Resolution::Cancelled { why } => match why {
                Cancellation::Withdrawn { by } => audit::withdrawn(by, what),
                Cancellation::Terminated => audit::ended_with_run(what),
                Cancellation::Undeliverable { error } => audit::undeliverable(error, what),
                Cancellation::ResultArrived => audit::result_arrived(what),
            },
            Resolution::Superseded { by } => audit::superseded(by, what),
        }
    }

    pub(super) fn fate(&self, outcome: &Outcome) -> Message {
        match outcome {
            Outcome::Approved { by, edited: None, .. } => fate::approved(by),
            Outcome::Approved {
                by,
                edited: Some(args),
                ..
            } => match outcome.judgement() {
                Some(judgement) => {
                    let risk = judgement.verdict.risk.label(self.locale);
                    fate::approved_as_risk(gist::args(args), by, risk)
                }
                None => fate::approved_as(gist::args(args), by),
            },
            Outcome::MayHaveRun { then } => fate::may_have_run(self.fate(then)),
            Outcome::Rejected { by, .. } => fate::rejected(by),
            Outcome::Terminated { by, .. } => fate::terminated(by),
            Outcome::Denied { denial } => fate::denied(why(denial)),
            Outcome::Allowed => fate::allowed(),
            Outcome::Retry { .. } => fate::retry(),
            Outcome::Info { .. } => fate::info(),
            Outcome::Skipped { .. } => fate::skipped(),
            Outcome::Expired { .. } => fate::expired(),
            Outcome::Cancelled { .. } => fate::cancelled(),
        }
    }
}

fn verb(action: Action) -> Message {
    match action {
        Action::ApproveAndExecute => audit_verb::approved(),
        Action::RetryWithFeedback => audit_verb::sent_back(),
        Action::RejectWithReason => audit_verb::rejected(),
        Action::Terminate => audit_verb::terminated(),
        Action::ProvideInfo => audit_verb::info(),
        Action::Skip => audit_verb::skipped(),
        Action::Custom => audit_verb::answered(),
    }
}

fn why(denial: &Denial) -> Message {
    match denial {
        Denial::Policy { .. } => denial::policy(),
        Denial::NobodyToAsk { .. } => denial::nobody_to_ask(),
        Denial::TooManyOpen { .. } => denial::too_many_open(),
        Denial::RejectedBefore { .. } => denial::rejected_before(),
        Denial::SessionOver => denial::session_over(),
    }
}
