//! The journal against the disk: what ran, and what was acknowledged.

use std::collections::BTreeSet;
use std::path::Path;

use placet_core::ids::AgentId;
use placet_core::interaction::Resolution;
use placet_core::outcome::CallStatus;
use placet_store::Verified;

use super::{Books, GrantState};
use crate::Failure;
use crate::logs::{Ack, DATABASE};
use crate::scene::{self, Needs};

impl Books {
    /// Every effect was permitted, claimed before, and happened once; nothing has a result without having run.
    pub(super) fn audit_effects(&mut self) -> Result<(), Failure> {
        let (mut ran, mut findings) = (BTreeSet::new(), Vec::new());
        for effect in &self.effects {
            let which = format!("grant {} of {:?}", effect.grant, effect.call);
            if !ran.insert((self.same_as(&effect.call).clone(), effect.grant)) {
                findings.push(format!("{which} ran twice"));
            }
            if scene::kind(&effect.tool)?.needs == Needs::Never {
                findings.push(format!("{which} ran, and must never run"));
            }
            match self.grant(self.same_as(&effect.call), effect.grant) {
                None => findings.push(format!("{which} ran, and was never given")),
                Some(grant) if grant.state == GrantState::Issued => {
                    findings.push(format!("{which} ran unclaimed"));
                }
                Some(grant) if grant.digest != effect.digest => {
                    findings.push(format!("{which} ran as another call"));
                }
                Some(_) => {}
            }
        }
        self.tally.lost_after_effect = 0;
        for (key, call) in &self.calls {
            // What the built-in agent runs is looked at where it runs.
            if call.made.origin.agent == AgentId::built_in() {
                continue;
            }
            for (number, grant) in (1_u32..).zip(&call.grants) {
                let has_run = ran.contains(&(key.clone(), number));
                match grant.state {
                    GrantState::Done if !has_run => {
                        findings.push(format!("grant {number} of {key:?} has a result and never ran"));
                    }
                    GrantState::Lost | GrantState::Settled if has_run => self.tally.lost_after_effect += 1,
                    _ => {}
                }
            }
        }
        self.findings.extend(findings);
        Ok(())
    }

    /// Whatever was acknowledged is in the journal, and no two people were told that they had decided.
    pub(super) fn audit_acks(&mut self) {
        let mut once = BTreeSet::new();
        let mut findings = Vec::new();
        for ack in &self.acks {
            if !self.knows(ack) {
                findings.push(format!("acknowledged and lost: {ack:?}"));
            }
            let unique = match ack {
                Ack::Decided { question, .. } | Ack::AskedAnew { question, .. } => format!("{question}"),
                Ack::Claimed { call, grant } => format!("{:?} {grant}", self.same_as(call)),
                _ => continue,
            };
            if !once.insert(unique) {
                findings.push(format!("acknowledged twice: {ack:?}"));
            }
        }
        self.findings.extend(findings);
    }

    fn knows(&self, ack: &Ack) -> bool {
        let question = |id| self.questions.get(id);
        match ack {
            Ack::Parked { call, question: id } => self.calls.contains_key(call) && question(id).is_some(),
            Ack::Settled { call, status } => self.calls.get(call).is_some_and(|call| {
                let allowed = !call.grants.is_empty() && *status == CallStatus::Allowed;
                allowed || call.refused == Some(*status)
            }),
            Ack::Voted { question: id, by } => {
                question(id).is_some_and(|question| question.votes.iter().any(|person| person.as_str() == by))
            }
            Ack::Decided {
                question: id,
                by,
                option,
            } => question(id).is_some_and(|question| {
                matches!(&question.resolution, Some(Resolution::Answered { ballot, .. })
                    if ballot.by.as_str() == by && ballot.option == *option)
            }),
            Ack::AskedAnew { question: id, next } => {
                let superseded = Some(Resolution::Superseded { by: next.clone() });
                question(next).is_some()
                    && question(id).is_some_and(|question| question.resolution == superseded)
            }
            Ack::Claimed { call, grant } => self
                .grant(self.same_as(call), *grant)
                .is_some_and(|grant| grant.state != GrantState::Issued),
            Ack::Finished { call, grant } => self
                .grant(self.same_as(call), *grant)
                .is_some_and(|grant| grant.state == GrantState::Done),
            Ack::Told { call, status } => self.real(call).is_some_and(|call| call.refused == Some(*status)),
        }
    }

    /// Does the journal verify?
    pub(crate) fn verify(&mut self, dir: &Path) -> Result<(), Failure> {
        self.take_verified(&placet_store::verify_file(&dir.join(DATABASE), None)?);
        Ok(())
    }

    /// Takes what verifying the journal found.
    pub(crate) fn take_verified(&mut self, verified: &Verified) {
        self.findings.extend(
            verified
                .findings
                .iter()
                .map(|finding| format!("verify: {}", finding.sentence)),
        );
    }

    /// At the end nothing is open: every question is settled, and every call has its one result.
    pub(crate) fn close(&mut self) {
        let mut findings = Vec::new();
        for (id, question) in &self.questions {
            if question.resolution.is_none() {
                findings.push(format!("{id} was never settled"));
            }
        }
        for (key, call) in &self.calls {
            let Some(real) = self.real(key) else {
                findings.push(format!("{key:?} shares the fate of a call nobody made"));
                continue;
            };
            let ended = match real.grants.last().map(|grant| grant.state) {
                Some(GrantState::Done) => true,
                // Granted, and then the run was ended before it was claimed.
                Some(GrantState::Issued) => self.ended.contains(&call.made.session),
                Some(GrantState::Settled) | None => real.refused.is_some(),
                Some(GrantState::Claimed | GrantState::Lost) => false,
            };
            if !ended {
                findings.push(format!("{key:?} is stuck"));
            }
        }
        self.findings.extend(findings);
    }
}
