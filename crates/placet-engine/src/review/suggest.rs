//! Suggestions: rules for what people always approved.
//!
//! Only questions that nothing but the lack of a rule caused count (step 13): what a rule asks about, HIGH and strict are asked
//! about on purpose. A rule that would cover one call that a person ever refused is not suggested.

use std::collections::{BTreeMap, BTreeSet};

use placet_core::analysis::Places as _;
use placet_core::config::Config;
use placet_core::ids::{PersonId, SessionId};
use placet_core::standing::{ProposedRule, Scope};
use placet_core::time::Timestamp;
use placet_core::tool::Risk;
use placet_core::verdict::{Decision, Step};

use super::{Fate, Inspected, PastCall, judge};
use crate::audit_text;
use crate::places::DiskPlaces;

/// A day, for counting on how many different ones something was approved.
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// A rule that would have spared questions.
#[derive(Debug, Clone)]
pub struct Suggestion {
    /// The rule, with covered calls as its examples.
    pub rule: ProposedRule,
    /// The approvals it would have spared.
    pub spared: Covered,
}

/// What a rule covers of the past.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Covered {
    /// How many calls.
    pub calls: usize,
    /// How many of them people were asked about and approved.
    pub approved: usize,
    /// How many of them people refused.
    pub refused: usize,
    /// In which sessions.
    pub sessions: BTreeSet<SessionId>,
    /// On how many different days (UTC).
    pub days: usize,
    /// Who approved.
    pub people: BTreeSet<PersonId>,
    /// Different calls among them in a few words, secrets masked.
    pub examples: Vec<String>,
}

/// Different calls shown of what a rule covers.
const EXAMPLES_MAX: usize = 5;

impl Covered {
    fn of<'a>(calls: impl Iterator<Item = &'a PastCall>) -> Self {
        let mut covered = Self::default();
        let mut days = BTreeSet::new();
        for past in calls {
            covered.calls += 1;
            match &past.fate {
                Fate::Approved { by } => {
                    covered.approved += 1;
                    covered.people.extend(by.iter().cloned());
                }
                Fate::Refused { .. } => covered.refused += 1,
                Fate::Edited | Fate::NotDecided => {}
            }
            covered.sessions.insert(past.call.session.clone());
            days.insert(day(past.at));
            let what = audit_text::call(&past.call.tool, &past.call.args);
            if covered.examples.len() < EXAMPLES_MAX && !covered.examples.contains(&what) {
                covered.examples.push(what);
            }
        }
        covered.days = days.len();
        covered
    }
}

fn day(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(DAY_MILLIS)
}

/// What one rule would have covered of past calls.
pub fn covered(rule: &ProposedRule, config: &Config, places: &DiskPlaces, calls: &[PastCall]) -> Covered {
    let covers = |past: &&PastCall| {
        past.call.tool == rule.scope().tool && {
            let seen = Inspected::then(config, places, past);
            covers(rule, past, &seen, places)
        }
    };
    Covered::of(calls.iter().filter(covers))
}

fn covers(rule: &ProposedRule, past: &PastCall, seen: &Inspected, places: &DiskPlaces) -> bool {
    rule.covers(
        &past.call,
        &seen.tool,
        &seen.analysis,
        past.digest,
        places.workspace(),
    )
}

/// A candidate and the calls it covers, by index.
struct Candidate {
    rule: ProposedRule,
    /// From the narrowest to the widest offer.
    rank: usize,
    spares: BTreeSet<usize>,
}

/// Rules for what people approved at least `min` times and never refused, those that spare most first.
pub fn suggest(config: &Config, places: &DiskPlaces, calls: &[PastCall], min: usize) -> Vec<Suggestion> {
    let decided: Vec<(&PastCall, Inspected)> = calls
        .iter()
        .filter(|past| past.fate != Fate::NotDecided)
        .map(|past| (past, Inspected::new(config, places, &past.call)))
        .collect();
    let spared: Vec<usize> = (0..decided.len())
        .filter(|index| {
            decided
                .get(*index)
                .is_some_and(|(past, seen)| is_spared(config, places, past, seen))
        })
        .collect();
    let mut candidates = candidates(&decided, &spared, config, places);
    let mut chosen = Vec::new();
    loop {
        candidates.retain(|candidate| candidate.spares.len() >= min.max(1));
        let best = candidates
            .iter()
            .enumerate()
            .min_by_key(|(_, candidate)| (std::cmp::Reverse(candidate.spares.len()), candidate.rank))
            .map(|(index, _)| index);
        let Some(best) = best else { return chosen };
        let Candidate { mut rule, spares, .. } = candidates.swap_remove(best);
        for candidate in &mut candidates {
            candidate.spares.retain(|index| !spares.contains(index));
        }
        let pasts = || {
            spares
                .iter()
                .filter_map(|index| decided.get(*index))
                .map(|(past, _)| *past)
        };
        pasts().for_each(|past| rule.add_example(&past.call.args));
        chosen.push(Suggestion {
            spared: Covered::of(pasts()),
            rule,
        });
    }
}

/// Whether a rule could have spared the question: approved as it was, asked for want of a rule, and still asked today.
fn is_spared(config: &Config, places: &DiskPlaces, past: &PastCall, seen: &Inspected) -> bool {
    if !matches!(past.fate, Fate::Approved { .. }) || past.verdict.step != Step::Ask {
        return false;
    }
    let now = judge(config, places, past, seen);
    now.step == Step::Ask && now.risk < Risk::High && matches!(now.decision, Decision::Ask(_))
}

fn candidates(
    decided: &[(&PastCall, Inspected)],
    eligible: &[usize],
    config: &Config,
    places: &DiskPlaces,
) -> Vec<Candidate> {
    let mut offers: BTreeMap<String, (usize, Scope)> = BTreeMap::new();
    for (past, seen) in eligible.iter().filter_map(|index| decided.get(*index)) {
        let scopes = Scope::suggest(&past.call, &seen.analysis, past.digest, places.workspace());
        for (rank, scope) in scopes.into_iter().enumerate() {
            let scope = Scope {
                session: None,
                ..scope
            };
            let key = serde_json::to_string(&scope).unwrap_or_default();
            offers.entry(key).or_insert((rank, scope));
        }
    }
    let candidate = |(rank, scope): (usize, Scope)| {
        let rule = ProposedRule::new(scope, &config.inspect)?;
        let is_covered = |index: &usize| {
            let (past, seen) = decided.get(*index)?;
            (past.call.tool == rule.scope().tool && covers(&rule, past, seen, places)).then_some(())
        };
        let mut others = (0..decided.len()).filter(|index| {
            let fate = decided.get(*index).map(|(past, _)| &past.fate);
            matches!(fate, Some(Fate::Refused { .. } | Fate::Edited))
        });
        if others.any(|index| is_covered(&index).is_some()) {
            return None;
        }
        let spares = eligible
            .iter()
            .filter(|index| is_covered(index).is_some())
            .copied()
            .collect();
        Some(Candidate { rule, rank, spares })
    };
    offers.into_values().filter_map(candidate).collect()
}
