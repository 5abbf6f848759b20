//! Replay: which past verdicts another policy would change.

use std::collections::BTreeMap;

use placet_core::config::Config;
use placet_core::ids::{PersonId, SessionId};
use placet_core::time::Timestamp;
use placet_core::verdict::{Decision, Step, Verdict};
use serde::Serialize;

use super::{Fate, Inspected, PastCall, judge};
use crate::audit_text;
use crate::places::DiskPlaces;

/// Different calls shown of each change.
const EXAMPLES_MAX: usize = 10;

/// What another policy would have decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// How many calls were judged again.
    pub calls: usize,
    /// How many of them it would decide differently.
    pub changed: usize,
    /// The changes, what a person refused and the policy would allow first.
    pub changes: Vec<Change>,
}

/// Calls that would be decided differently in the same way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What the policy said then.
    pub from: Word,
    /// What the other policy says.
    pub to: Word,
    /// A person said no to these calls, and the other policy would allow them.
    pub refused_then: bool,
    /// How many.
    pub calls: usize,
    /// Different ones among them, most frequent first.
    pub examples: Vec<ChangedCall>,
}

/// One call that would be decided differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedCall {
    /// The call in a few words, secrets masked.
    pub what: String,
    /// How often it was made.
    pub times: usize,
    /// The newest journal row about it.
    pub row: u64,
    /// When that was.
    #[serde(serialize_with = "as_text")]
    pub at: Timestamp,
    /// In which session.
    pub session: SessionId,
    /// Who said no to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_by: Option<PersonId>,
    /// The step that would decide.
    pub step: Step,
    /// The rule that would decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn as_text<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

/// A decision in a word. Ordered: the stricter is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Word {
    /// It may run.
    Allow,
    /// A person must agree.
    Ask,
    /// A person must agree, on other terms than before.
    AskOtherwise,
    /// It must not run.
    Deny,
}

impl Word {
    /// As shown in a table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::AskOtherwise => "ask on other terms",
            Self::Deny => "deny",
        }
    }
}

impl From<&Decision> for Word {
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::Ask(_) => Self::Ask,
            Decision::Deny => Self::Deny,
        }
    }
}

/// How a verdict changed, unless it did not.
fn changed(then: &Verdict, now: &Verdict) -> Option<(Word, Word)> {
    match (Word::from(&then.decision), Word::from(&now.decision)) {
        (from, to) if from != to => Some((from, to)),
        (Word::Ask, _) if then.decision != now.decision => Some((Word::Ask, Word::AskOtherwise)),
        _ => None,
    }
}

/// Judges past calls again, under another configuration.
pub fn replay(config: &Config, places: &DiskPlaces, calls: &[PastCall]) -> Replay {
    let mut groups: BTreeMap<_, BTreeMap<String, ChangedCall>> = BTreeMap::new();
    let mut changed_calls = 0;
    for past in calls {
        let seen = Inspected::new(config, places, &past.call);
        let now = judge(config, places, past, &seen);
        let Some((from, to)) = changed(&past.verdict, &now) else {
            continue;
        };
        changed_calls += 1;
        let refused_by = match &past.fate {
            Fate::Refused { by } if to == Word::Allow => Some(by.clone()),
            _ => None,
        };
        // Alarming first: what people refused, then what becomes looser, the loosest first, then the stricter.
        let looser = to < from;
        let order = (refused_by.is_none(), !looser, to, from);
        let what = audit_text::call(&past.call.tool, &past.call.args);
        let key = format!("{what} {refused_by:?}");
        let example = groups
            .entry(order)
            .or_default()
            .entry(key)
            .or_insert_with(|| ChangedCall {
                what,
                times: 0,
                row: past.row,
                at: past.at,
                session: past.call.session.clone(),
                refused_by,
                step: now.step,
                rule: now.rule.clone(),
                reason: now.reason.to_string(),
            });
        example.times += 1;
        (example.row, example.at) = (past.row, past.at);
        example.session.clone_from(&past.call.session);
    }
    let changes = groups.into_iter().map(|((not_refused, _, to, from), examples)| {
        let mut examples: Vec<ChangedCall> = examples.into_values().collect();
        let calls = examples.iter().map(|example| example.times).sum();
        examples.sort_by_key(|example| std::cmp::Reverse(example.times));
        examples.truncate(EXAMPLES_MAX);
        Change {
            from,
            to,
            refused_then: !not_refused,
            calls,
            examples,
        }
    });
    Replay {
        calls: calls.len(),
        changed: changed_calls,
        changes: changes.collect(),
    }
}
