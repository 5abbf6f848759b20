//! A verdict: allow, ask or deny, always with the step and the rule that decided it.

mod reason;

use serde::{Deserialize, Serialize};

use crate::confine::Confinement;
use crate::ids::PersonId;
use crate::messages::{Explain, Message, step};
use crate::time::Millis;
use crate::tool::{Category, Risk};

pub use reason::Reason;

/// What policy says about one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Allow, ask or deny.
    pub decision: Decision,
    /// The step of the decision order that answered (design §2).
    pub step: Step,
    /// The rule that decided, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why.
    pub reason: Reason,
    /// The risk after analysis.
    pub risk: Risk,
    /// The category after analysis.
    pub category: Category,
    /// What confines the call while it runs. It runs under this, or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
}

impl Verdict {
    /// Whether an approval is remembered (step 12). Only of what was asked for want of anything better: HIGH, and what a rule
    /// asks about, is asked every time.
    pub fn is_memorable(&self) -> bool {
        self.risk == Risk::Medium && self.step == Step::Ask
    }
}

/// The three answers of policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Allow,
    /// A person must agree, on these terms.
    Ask(AskTerms),
    /// It must not run.
    Deny,
}

/// The step of the decision order that answered. The numbers are those of design §2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// 1: a deny rule, or a banned command.
    Deny = 1,
    /// 2: the tool exists to ask a person.
    AskCategory,
    /// 3: approvals are switched off.
    Disabled,
    /// 4: a rule or a tool override.
    Rule,
    /// 5: high risk.
    HighRisk,
    /// 6: strict mode.
    Strict,
    /// 7: yolo mode.
    Yolo,
    /// 8: reads, and what is low risk.
    LowRisk,
    /// 9: the tool itself says so.
    OwnOpinion,
    /// 10: autoEdit mode.
    AutoEdit,
    /// 11: the session's allow-list, the workflow's list, or a standing grant.
    AllowList,
    /// 12: approved in this chat a moment ago.
    Memory,
    /// 13: a person is asked.
    Ask,
}

/// On what terms a person is asked: who, how many, how long, which answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AskTerms {
    /// Who may answer.
    pub approvers: Approvers,
    /// How many different people must approve.
    pub quorum: u32,
    /// The person the agent works for may not approve.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_requester: bool,
    /// How long they have; the rule's own, else the workflow's, the channel's, the global one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Millis>,
    /// Who else is asked, and after what time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate: Option<Escalation>,
    /// Which answers are offered.
    pub answers: Answers,
}

/// Who may answer a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Approvers {
    /// The person the session works for; without one, any approver of the inbox.
    SessionUser,
    /// These people, groups already resolved. Never empty.
    People(Vec<PersonId>),
}

/// "Without a decision after this long, ask these as well."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Escalation {
    /// After how long.
    pub after: Millis,
    /// Who is asked then, besides those already asked. Never empty.
    pub to: Vec<PersonId>,
}

/// An answer a question may offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// Run exactly this call.
    Approve,
    /// Run it with other arguments.
    Edit,
    /// Do not run it, and say why.
    Reject,
    /// Do not run it; think again with this feedback.
    Retry,
    /// Hand over information.
    Info,
    /// Do not run it, continue with the rest.
    Skip,
    /// End the run.
    Terminate,
}

/// A set of answers. Always holds a way to say no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Answers(Vec<AnswerKind>);

impl Answers {
    /// What a tool approval offers unless a rule says otherwise.
    pub fn for_approval() -> Self {
        use AnswerKind::{Approve, Edit, Reject, Retry, Skip, Terminate};
        Self(vec![Approve, Edit, Reject, Retry, Skip, Terminate])
    }

    /// Just these, in the order of [`AnswerKind`]; `None` when nothing in it says no.
    pub fn only(kinds: impl IntoIterator<Item = AnswerKind>) -> Option<Self> {
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_unstable();
        kinds.dedup();
        let says_no = kinds.iter().any(|kind| {
            matches!(
                kind,
                AnswerKind::Reject | AnswerKind::Skip | AnswerKind::Terminate
            )
        });
        says_no.then_some(Self(kinds))
    }

    /// Whether `kind` is offered.
    pub fn offers(&self, kind: AnswerKind) -> bool {
        self.0.contains(&kind)
    }

    /// Each answer offered.
    pub fn iter(&self) -> impl Iterator<Item = AnswerKind> + '_ {
        self.0.iter().copied()
    }
}

impl AskTerms {
    /// Ask the session's own user, once.
    pub fn plain() -> Self {
        Self {
            approvers: Approvers::SessionUser,
            quorum: 1,
            not_requester: false,
            timeout: None,
            escalate: None,
            answers: Answers::for_approval(),
        }
    }
}

impl Decision {
    /// As shown and as written on the wire.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask(_) => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Step {
    /// Its number in design §2.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

impl Explain for Step {
    fn message(&self) -> Message {
        let name = match self {
            Self::Deny => step::deny(),
            Self::AskCategory => step::ask_category(),
            Self::Disabled => step::disabled(),
            Self::Rule => step::rule(),
            Self::HighRisk => step::high_risk(),
            Self::Strict => step::strict(),
            Self::Yolo => step::yolo(),
            Self::LowRisk => step::low_risk(),
            Self::OwnOpinion => step::own_opinion(),
            Self::AutoEdit => step::auto_edit(),
            Self::AllowList => step::allow_list(),
            Self::Memory => step::memory(),
            Self::Ask => step::ask(),
        };
        step::numbered(name, self.number())
    }
}

crate::display_in_english!(Step);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_answers_always_has_a_way_to_say_no() {
        assert_eq!(Answers::only([AnswerKind::Approve, AnswerKind::Edit]), None);
        assert_eq!(Answers::only([]), None);
        assert!(
            Answers::only([AnswerKind::Reject, AnswerKind::Approve])
                .unwrap()
                .offers(AnswerKind::Approve)
        );
    }

    #[test]
    fn steps_carry_the_numbers_of_the_design() {
        assert_eq!(Step::Deny.number(), 1);
        assert_eq!(Step::HighRisk.number(), 5);
        assert_eq!(Step::Ask.number(), 13);
    }
}
