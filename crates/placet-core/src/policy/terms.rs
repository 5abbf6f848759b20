//! Several ask rules apply to one call: on which terms are people asked?
//!
//! Once, on terms at least as strict as the strictest rule. People who satisfy every rule at once are asked if there are
//! enough of them for the highest quorum. Otherwise the rule with the highest quorum decides who is asked; among equals
//! the one with named people, then with the fewest, then the first in the file. The rest is the strictest of all: the
//! requester is out if any rule says so, the shortest timeout counts, and only answers that every rule offers are offered.

use std::cmp::Reverse;

use crate::ids::PersonId;
use crate::verdict::{Answers, Approvers, AskTerms};

/// The terms of all rules that apply as one. `None` when there are none.
pub(crate) fn strictest<'a>(terms: impl Iterator<Item = &'a AskTerms>) -> Option<AskTerms> {
    let mut terms: Vec<&AskTerms> = terms.collect();
    // Stable, so that the order of the file decides last.
    terms.sort_by_key(|terms| (Reverse(terms.quorum), size(&terms.approvers)));
    let (first, others) = terms.split_first()?;
    let mut merged = (*first).clone();
    for other in others {
        if let Some(both) = in_both(&merged.approvers, &other.approvers, merged.quorum) {
            merged.approvers = Approvers::People(both);
        }
        merged.not_requester |= other.not_requester;
        merged.timeout = [merged.timeout, other.timeout].into_iter().flatten().min();
        let shared = merged.answers.iter().filter(|kind| other.answers.offers(*kind));
        merged.answers = Answers::only(shared).unwrap_or(merged.answers);
    }
    // Who is asked later must not be an approver whom an equally strict rule leaves out.
    let escalations: Vec<_> = terms.iter().map(|terms| &terms.escalate).collect();
    if escalations
        .iter()
        .any(|escalation| **escalation != merged.escalate)
    {
        merged.escalate = None;
    }
    Some(merged)
}

fn size(approvers: &Approvers) -> usize {
    match approvers {
        Approvers::People(people) => people.len(),
        Approvers::SessionUser => usize::MAX,
    }
}

/// Those in both sets, when they are enough.
fn in_both(some: &Approvers, others: &Approvers, quorum: u32) -> Option<Vec<PersonId>> {
    let (Approvers::People(some), Approvers::People(others)) = (some, others) else {
        return None;
    };
    let both: Vec<PersonId> = some
        .iter()
        .filter(|person| others.contains(person))
        .cloned()
        .collect();
    (!both.is_empty() && both.len() >= usize::try_from(quorum).unwrap_or(usize::MAX)).then_some(both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;
    use crate::verdict::AnswerKind::{Approve, Edit, Reject, Skip, Terminate};
    use crate::verdict::Escalation;

    fn people(names: &[&str]) -> Vec<PersonId> {
        names.iter().map(|name| PersonId::new(*name).unwrap()).collect()
    }

    fn terms(names: &[&str], quorum: u32) -> AskTerms {
        AskTerms {
            approvers: Approvers::People(people(names)),
            quorum,
            ..AskTerms::plain()
        }
    }

    fn merged(terms: &[AskTerms]) -> AskTerms {
        strictest(terms.iter()).unwrap()
    }

    #[test]
    fn no_rule_has_no_terms() {
        assert_eq!(strictest([].into_iter()), None);
    }

    #[test]
    fn people_who_satisfy_every_rule_are_asked() {
        let both = merged(&[terms(&["ana", "bo", "cy"], 2), terms(&["bo", "cy", "di"], 1)]);
        assert_eq!(
            (both.approvers, both.quorum),
            (Approvers::People(people(&["bo", "cy"])), 2)
        );
    }

    #[test]
    fn without_enough_of_them_the_highest_quorum_decides() {
        let strict = merged(&[terms(&["eve"], 1), terms(&["ana", "bo"], 2)]);
        assert_eq!(
            (strict.approvers, strict.quorum),
            (Approvers::People(people(&["ana", "bo"])), 2)
        );
        let named = merged(&[AskTerms::plain(), terms(&["ana", "bo"], 1)]);
        assert_eq!(named.approvers, Approvers::People(people(&["ana", "bo"])));
    }

    #[test]
    fn everything_else_is_the_strictest_of_all() {
        let mut one = terms(&["ana"], 1);
        one.timeout = Some(Millis::from_secs(60));
        one.answers = Answers::only([Approve, Reject, Terminate]).unwrap();
        let mut two = terms(&["ana"], 1);
        two.not_requester = true;
        two.timeout = Some(Millis::from_secs(30));
        two.answers = Answers::only([Approve, Edit, Reject]).unwrap();
        let both = merged(&[one, two]);
        assert!(both.not_requester);
        assert_eq!(both.timeout, Some(Millis::from_secs(30)));
        assert_eq!(both.answers, Answers::only([Approve, Reject]).unwrap());
    }

    #[test]
    fn answers_that_leave_no_way_to_say_no_are_not_merged() {
        let mut one = terms(&["ana"], 1);
        one.answers = Answers::only([Approve, Reject]).unwrap();
        let mut two = terms(&["ana"], 1);
        two.answers = Answers::only([Approve, Skip]).unwrap();
        assert_eq!(merged(&[one.clone(), two]).answers, one.answers);
    }

    #[test]
    fn an_escalation_counts_only_when_every_rule_has_it() {
        let mut one = terms(&["ana"], 1);
        one.escalate = Some(Escalation {
            after: Millis::from_secs(1),
            to: people(&["lin"]),
        });
        assert_eq!(merged(&[one.clone(), terms(&["ana"], 1)]).escalate, None);
        assert_eq!(merged(&[one.clone(), one.clone()]).escalate, one.escalate);
    }
}
