//! How requests and calls end.

use std::collections::BTreeSet;

use placet_core::ids::{InteractionId, PersonId, ToolName};
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
                let verb = match (action, self.changed(id)) {
                    (Action::ApproveAndExecute, true) => audit_verb::approved_changed(),
                    (action, _) => verb(*action),
                };
                match note(ballot) {
                    Some(note) => audit::answered_because(note, verb, what, who),
                    None => audit::answered(verb, what, who),
                }
            }
            Resolution::Expired { option: None } => audit::expired(what),
            Resolution::Expired { option: Some(option) } => {
                audit::expired_default(self.label(id, option), what)
            }
            Resolution::Cancelled { why } => match why {
                Cancellation::Withdrawn { by } => audit::withdrawn(by, what),
                Cancellation::Terminated => audit::ended_with_run(what),
                Cancellation::Undeliverable { error } => audit::undeliverable(error, what),
                Cancellation::ResultArrived => audit::result_arrived(what),
            },
            Resolution::Superseded { by } => audit::superseded(by, what),
        }
    }

    /// The option's label, or its id.
    fn label(&self, id: &InteractionId, option: &str) -> String {
        let asked = match self.stored.interaction(id) {
            Ok(Some(interaction)) => interaction.asked(),
            Ok(None) | Err(_) => return option.to_owned(),
        };
        let mut options = asked.options(self.locale).into_iter();
        let found = options.find(|own| own.option_id == option);
        found.map_or_else(|| option.to_owned(), |option| option.label)
    }

    /// Whether what was approved is not what was proposed.
    fn changed(&self, id: &InteractionId) -> bool {
        let Ok(Some(interaction)) = self.stored.interaction(id) else {
            return false;
        };
        let asked = interaction.asked();
        let record = || self.stored.call(asked.call()?).ok()?.as_ref();
        asked.edited_args().is_some() || record().is_some_and(|record| self.granted_args(record).is_some())
    }

    /// What became of a call of this tool: with what it was changed to.
    pub(super) fn fate(&self, tool: &ToolName, outcome: &Outcome) -> Message {
        match outcome {
            Outcome::Approved {
                by,
                edited: Some(args),
                ..
            } => {
                let judgement = outcome.judgement();
                let findings = judgement.map(|judgement| &judgement.findings);
                let gist = gist::call(tool, args, findings, self.locale);
                match judgement {
                    Some(judgement) => {
                        fate::approved_as_risk(gist, by, judgement.verdict.risk.label(self.locale))
                    }
                    None => fate::approved_as(gist, by),
                }
            }
            Outcome::MayHaveRun { then } => fate::may_have_run(self.fate(tool, then)),
            other => self::outcome(other),
        }
    }
}

/// What became of a call, without what it was changed to.
pub(super) fn outcome(of: &Outcome) -> Message {
    match of {
        Outcome::Approved { by, .. } => fate::approved(by),
        Outcome::MayHaveRun { then } => fate::may_have_run(outcome(then)),
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
