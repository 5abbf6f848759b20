//! "Don't ask again": an approval that leaves a standing grant behind.

use crate::config::{Config, WideGrants};
use crate::ids::{PersonId, StandingGrantId};
use crate::interaction::{Asked, Ballot};
use crate::journal::Event;
use crate::principal::Principal;
use crate::record::CallRecord;
use crate::snapshot::Snapshot;
use crate::standing::{Covers, GrantReach, ProposedRule, Scope, StandingGrant};
use crate::step::Stop;
use crate::time::Timestamp;
use crate::tool::Risk;
use crate::verdict::Step;

use super::answer::{AnswerRefusal, Reply};
use super::{Draft, Rules, findings};

/// What the person who answers may do besides, as the transport says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// Answer the requests assigned to them.
    Approver,
    /// Operate this placet.
    Admin,
}

impl Authority {
    /// The authority of a person at the machine that holds the store.
    pub fn at_the_store(config: &Config, by: &Principal) -> Self {
        let admins = &config.server.admins;
        match by.person() {
            Some(person) if admins.is_empty() || admins.contains(person) => Self::Admin,
            _ => Self::Approver,
        }
    }

    /// Whether the operator lets this person say "don't ask again" beyond a conversation.
    pub fn may_widen(self, config: &Config, person: &PersonId) -> bool {
        self == Self::Admin
            || config.approval.wide_grants == WideGrants::Approvers
            || config.server.admins.contains(person)
    }
}

/// Keeps what the answer says to remember. Only if it covers the very call it is said about.
pub(super) fn remember(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    draft: &mut Draft,
    reply: &Reply,
    asked: &Asked,
    ballot: &Ballot,
) -> Result<(), Stop<AnswerRefusal>> {
    let Some(remember) = &reply.answer.remember else {
        return Ok(());
    };
    // A scope is shown for the call as the agent proposed it, and for what was found in it.
    let (Some(key), None) = (asked.call(), asked.edited_args()) else {
        return Err(AnswerRefusal::ScopeMismatch.into());
    };
    let record = snapshot.call(key)?.as_ref();
    let record = record.ok_or_else(|| AnswerRefusal::NotFound(asked.id.clone()))?;
    let Some(found) = findings(record)? else {
        return Err(AnswerRefusal::ScopeMismatch.into());
    };
    let scope = &remember.scope;
    if !scope.covers(&record.call, &found.analysis, record.digest, rules.workspace) {
        return Err(AnswerRefusal::ScopeMismatch.into());
    }
    let reach = scope.reach();
    if reach.is_wide() {
        may_widen(rules, reply, asked, ballot, record, scope)?;
    }
    let examples = match ProposedRule::new(scope.everywhere(), &rules.config.inspect) {
        Some(mut rule) if reach == GrantReach::Rule => {
            rule.add_example(&record.call.args);
            rule.examples().to_vec()
        }
        _ => Vec::new(),
    };
    let id = format!("sg_{}", asked.id.as_str().trim_start_matches("int_"));
    let id = StandingGrantId::new(id).map_err(|_| AnswerRefusal::ScopeMismatch)?;
    draft.event(Event::StandingGiven(Box::new(StandingGrant {
        id,
        scope: scope.clone(),
        by: ballot.by.clone(),
        given_at: now,
        ends_at: now + remember.lasts,
        uses_max: remember.uses_max,
        examples,
    })));
    Ok(())
}

/// A grant beyond the conversation needs the operator's consent, and a question that nothing but the lack of a rule caused:
/// what a rule, HIGH risk or strict asks about, and what several people must agree to, no single person waives for all.
fn may_widen(
    rules: &Rules<'_>,
    reply: &Reply,
    asked: &Asked,
    ballot: &Ballot,
    record: &CallRecord,
    scope: &Scope,
) -> Result<(), AnswerRefusal> {
    if !reply.authority.may_widen(rules.config, &ballot.by) {
        return Err(AnswerRefusal::WideNotAllowed);
    }
    if record.verdict.step != Step::Ask || record.verdict.risk >= Risk::High || asked.quorum > 1 {
        return Err(AnswerRefusal::ScopeMismatch);
    }
    // What no rule can say, people could not be shown as one, and its past is not known.
    if !matches!(scope.covers, Covers::Exactly(_))
        && ProposedRule::new(scope.everywhere(), &rules.config.inspect).is_none()
    {
        return Err(AnswerRefusal::ScopeMismatch);
    }
    if reply.refused_before {
        return Err(AnswerRefusal::RefusedBefore);
    }
    Ok(())
}
