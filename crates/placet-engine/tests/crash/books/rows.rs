//! One row of the journal after another: may this have happened, after everything before it?

use std::collections::BTreeSet;

use placet_core::call::{Args, CallDigest, ToolCall};
use placet_core::ids::{InteractionId, PersonId, SessionId};
use placet_core::interaction::{Action, Asked, Ballot, CallKey, Resolution, Subject};
use placet_core::journal::Event;
use placet_core::outcome::Outcome;

use super::{Books, Call, Grant, GrantState, Question};
use crate::Failure;
use crate::scene::{self, Needs};

impl Books {
    /// Enters one event.
    pub(super) fn enter(&mut self, session: SessionId, event: Event) -> Result<(), Failure> {
        match event {
            Event::SessionEnded { .. } => {
                self.ended.insert(session);
            }
            Event::CallReceived {
                call,
                digest,
                outcome,
                ..
            } => self.received(*call, digest, outcome.as_deref())?,
            Event::Asked(asked) => self.asked(*asked)?,
            Event::Joined { call, same_as, .. } => self.joined(&call, same_as),
            Event::Voted { interaction, ballot } => self.voted(&interaction, &ballot)?,
            Event::Resolved {
                interaction,
                resolution,
            } => self.resolved(&interaction, resolution)?,
            Event::Settled { call, outcome, grant } => self.settled(&call, &outcome, grant)?,
            Event::Claimed { call, grant, .. } => {
                self.grant_becomes(&call, grant, &[GrantState::Issued], GrantState::Claimed);
            }
            Event::Finished { call, grant, .. } => {
                // A result that comes late counts as well.
                let running = [GrantState::Claimed, GrantState::Lost];
                self.grant_becomes(&call, grant, &running, GrantState::Done);
            }
            Event::LostTrack { call, grant } => {
                self.tally.lost += 1;
                self.grant_becomes(&call, grant, &[GrantState::Claimed], GrantState::Lost);
            }
            _ => {}
        }
        Ok(())
    }

    fn received(
        &mut self,
        call: ToolCall,
        digest: CallDigest,
        outcome: Option<&Outcome>,
    ) -> Result<(), Failure> {
        let key = CallKey {
            agent: call.origin.agent.clone(),
            call: call.id.clone(),
        };
        if digest != call.digest() {
            self.find(format!("{key:?} was received with another call's digest"));
        }
        let mut grants = Vec::new();
        if outcome.is_some_and(Outcome::permits) {
            if scene::kind(&call.tool)?.needs != Needs::Nothing {
                self.find(format!("{key:?} needs a person, and was allowed without one"));
            }
            grants.push(Grant {
                digest,
                state: GrantState::Issued,
            });
        }
        let refused = outcome.filter(|outcome| !outcome.permits()).map(Outcome::status);
        let entry = Call {
            made: call,
            question: None,
            same_as: None,
            grants,
            refused,
        };
        if self.calls.insert(key.clone(), entry).is_some() {
            self.find(format!("{key:?} was received twice"));
        }
        Ok(())
    }

    fn asked(&mut self, asked: Asked) -> Result<(), Failure> {
        let id = asked.id.clone();
        let Some(call) = asked.call().and_then(|key| self.calls.get_mut(key)) else {
            self.find(format!("{id} asks about a call nobody made"));
            return Ok(());
        };
        call.question = Some(id.clone());
        let lost = call
            .grants
            .last()
            .is_some_and(|grant| grant.state == GrantState::Lost);
        let asked_back = matches!(asked.subject, Subject::UnknownOutcome { .. });
        if asked_back && (!lost || scene::kind(&call.made.tool)?.read_only) {
            self.find(format!(
                "{id} asks what became of a call that is not lost, or that may simply run again"
            ));
        }
        let question = Question {
            asked,
            votes: BTreeSet::new(),
            resolution: None,
            used: false,
        };
        if self.questions.insert(id.clone(), question).is_some() {
            self.find(format!("{id} was asked twice"));
        }
        Ok(())
    }

    fn joined(&mut self, call: &CallKey, same_as: CallKey) {
        self.tally.joined += 1;
        let digest = |key| self.calls.get(key).map(|call| call.made.digest());
        if digest(call) != digest(&same_as) {
            self.find(format!("{call:?} is not the same as {same_as:?}"));
        }
        if let Some(call) = self.calls.get_mut(call) {
            call.same_as = Some(same_as);
        }
    }

    fn voted(&mut self, id: &InteractionId, ballot: &Ballot) -> Result<(), Failure> {
        let needs = self.needs(id)?;
        if !needs.yes().contains(&ballot.by.as_str()) {
            self.find(format!("{} may not approve {id}", ballot.by));
        }
        let open = self
            .questions
            .get_mut(id)
            .filter(|question| question.resolution.is_none());
        if !open.is_some_and(|question| question.votes.insert(ballot.by.clone())) {
            self.find(format!(
                "{} voted twice on {id}, or after it was decided",
                ballot.by
            ));
        }
        Ok(())
    }

    fn resolved(&mut self, id: &InteractionId, resolution: Resolution) -> Result<(), Failure> {
        let needs = self.needs(id)?;
        let votes = self
            .questions
            .get(id)
            .map(|question| question.votes.clone())
            .unwrap_or_default();
        match &resolution {
            Resolution::Answered {
                action: Action::ApproveAndExecute,
                ballot,
                by,
            } => {
                let agreed = |person: &PersonId| *person == ballot.by || votes.contains(person);
                let people: Vec<_> = by.iter().map(PersonId::as_str).collect();
                if people != needs.yes() || !by.iter().all(agreed) {
                    self.find(format!(
                        "{id} was approved by {people:?}; it took {:?}",
                        needs.yes()
                    ));
                }
            }
            Resolution::Answered { ballot, .. } if !needs.no().contains(&ballot.by.as_str()) => {
                self.find(format!("{} may not answer {id}", ballot.by));
            }
            Resolution::Expired { .. } => self.tally.expired += 1,
            _ => {}
        }
        match self.questions.get_mut(id) {
            Some(question) if question.resolution.is_none() => question.resolution = Some(resolution),
            _ => self.find(format!("{id} was settled twice")),
        }
        Ok(())
    }

    fn settled(&mut self, key: &CallKey, outcome: &Outcome, grant: Option<u32>) -> Result<(), Failure> {
        let Some(call) = self.calls.get(key) else {
            self.find(format!("{key:?} was settled, and nobody made it"));
            return Ok(());
        };
        let before = call.grants.last().map(|grant| (grant.state, grant.digest));
        let digest = match outcome {
            Outcome::Approved { digest, edited, .. } => {
                let edited: Option<&Args> = edited.as_ref();
                self.tally.edited += usize::from(edited.is_some());
                let exact = edited.map_or(call.made.digest(), |args| {
                    call.made.with_args(args.clone()).digest()
                });
                (exact == *digest).then_some(exact)
            }
            _ => Some(call.made.digest()),
        };
        if outcome.permits() {
            let next = u32::try_from(call.grants.len())? + 1;
            let rerun = before.is_some_and(|(state, _)| state == GrantState::Lost)
                && scene::kind(&call.made.tool)?.read_only;
            if rerun {
                self.tally.rerun += 1;
            }
            let same = before.is_none_or(|(state, old)| state == GrantState::Lost && Some(old) == digest);
            if grant != Some(next) || !same || !(rerun || self.approved(key, outcome, digest)) {
                self.find(format!(
                    "{key:?} got grant {grant:?} without anybody's approval of exactly that call"
                ));
            }
        }
        let Some(call) = self.calls.get_mut(key) else {
            return Ok(());
        };
        if let Some(old) = call.grants.last_mut().filter(|old| old.state == GrantState::Lost) {
            old.state = GrantState::Settled;
        }
        match digest.filter(|_| outcome.permits()) {
            Some(digest) => call.grants.push(Grant {
                digest,
                state: GrantState::Issued,
            }),
            None => call.refused = Some(outcome.status()),
        }
        Ok(())
    }

    /// Whether the call's own question was answered with yes, for exactly this digest, and has not been used up.
    fn approved(&mut self, key: &CallKey, outcome: &Outcome, digest: Option<CallDigest>) -> bool {
        let Some(id) = self.calls.get(key).and_then(|call| call.question.as_ref()) else {
            return false;
        };
        let Some(question) = self.questions.get_mut(id) else {
            return false;
        };
        let Outcome::Approved {
            by: approvers,
            edited,
            ..
        } = outcome
        else {
            return false;
        };
        let Some(Resolution::Answered {
            action: Action::ApproveAndExecute,
            ballot,
            by,
        }) = &question.resolution
        else {
            return false;
        };
        let option = match &question.asked.subject {
            Subject::Call { .. } => "approve",
            Subject::UnknownOutcome { .. } => "run_again",
            Subject::Breaker { .. } | Subject::Request { .. } => return false,
        };
        // An approval with changed arguments is for these arguments; a second run cannot be changed.
        let exact = question.asked.digest() == digest || (edited.is_some() && option == "approve");
        self.tally.run_again += usize::from(option == "run_again");
        let fresh = !std::mem::replace(&mut question.used, true);
        fresh && exact && approvers == by && ballot.option == option
    }

    fn grant_becomes(&mut self, key: &CallKey, number: u32, from: &[GrantState], to: GrantState) {
        let latest = self
            .calls
            .get_mut(key)
            .filter(|call| call.grants.len() == number as usize);
        match latest.and_then(|call| call.grants.last_mut()) {
            Some(grant) if from.contains(&grant.state) => grant.state = to,
            _ => self.find(format!("grant {number} of {key:?} cannot have become {to:?}")),
        }
    }

    fn needs(&self, id: &InteractionId) -> Result<Needs, Failure> {
        let asked = &self
            .questions
            .get(id)
            .ok_or_else(|| format!("{id} was never asked"))?
            .asked;
        let call = asked
            .call()
            .and_then(|key| self.calls.get(key))
            .ok_or_else(|| format!("{id} is about no call"))?;
        Ok(scene::kind(&call.made.tool)?.needs)
    }
}
