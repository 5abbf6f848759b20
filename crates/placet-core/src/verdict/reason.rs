//! Why policy decided as it did, in the reader's language.
//!
//! The journal keeps the English sentence. Another language is not made from it: the reason is found again from what is
//! stored beside it (step, rule, risk) and from the call's analysis. Only what the operator wrote is shown as written.

use std::fmt;

use super::{Decision, Step, Verdict};
use crate::analysis::{Analysis, Ban, Why};
use crate::ids::ToolName;
use crate::interaction::Locale;
use crate::standing::StandingGrant;
use crate::tool::{Category, Risk};

/// Why policy decided as it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason<'a> {
    /// The operator's own words.
    Written(&'a str),
    /// A rule without words of its own.
    Ruled {
        /// Its name.
        rule: &'a str,
        /// What it says.
        ruling: Ruling,
    },
    /// Nobody may allow it; what was found, while that is known.
    Banned(Option<&'a Ban>),
    /// The tool exists to ask.
    AsksByNature,
    /// Nothing is asked.
    Disabled,
    /// `tool_overrides` says: always.
    AlwaysAsked(&'a ToolName),
    /// `tool_overrides` says: never.
    NeverAsked(&'a ToolName),
    /// The risk is HIGH.
    HighRisk(High<'a>),
    /// Strict mode, and this risk.
    Strict(Risk),
    /// Mode yolo.
    Yolo,
    /// It changes nothing.
    OnlyReads,
    /// The risk is LOW.
    LowRisk,
    /// The tool says so itself.
    OwnOpinion,
    /// Mode autoEdit.
    AutoEdit,
    /// The session's list.
    SessionList(&'a ToolName),
    /// The workflow's list.
    WorkflowList(&'a ToolName),
    /// The configured list.
    AutoApproved(&'a ToolName),
    /// "Don't ask again"; which one, while that is known.
    Standing(Option<&'a StandingGrant>),
    /// Approved a moment ago.
    Remembered,
    /// Nothing above allows it.
    NothingAllows {
        /// What it is.
        category: Category,
        /// How bad it could be.
        risk: Risk,
    },
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// It may run.
    Allows,
    /// A person must agree.
    Asks,
    /// It must not run.
    Denies,
}

/// Why the risk is HIGH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum High<'a> {
    /// This was found in the arguments.
    Found(&'a Why),
    /// The tool is said to be.
    Declared,
    /// Something was found then that is not found now.
    Then,
}

impl<'a> Reason<'a> {
    /// The reason of a stored verdict about a call of `tool`, as far as it can still be told.
    pub fn again(verdict: &'a Verdict, tool: &'a ToolName, analysis: Option<&'a Analysis>) -> Self {
        let stored = |reason: &Self| reason.to_string() == verdict.reason;
        let ruling = match verdict.decision {
            Decision::Allow => Ruling::Allows,
            Decision::Ask(_) => Ruling::Asks,
            Decision::Deny => Ruling::Denies,
        };
        match (verdict.step, &verdict.rule) {
            (Step::Deny | Step::Rule, Some(rule)) => Some(Self::Ruled { rule, ruling })
                .filter(stored)
                .unwrap_or(Self::Written(&verdict.reason)),
            (Step::Deny, None) => Self::Banned(analysis.and_then(|found| found.banned.as_ref())),
            (Step::Rule, None) if ruling == Ruling::Asks => Self::AlwaysAsked(tool),
            (Step::Rule, None) => Self::NeverAsked(tool),
            (Step::AskCategory, _) => Self::AsksByNature,
            (Step::Disabled, _) => Self::Disabled,
            (Step::HighRisk, _) => high(analysis).find(stored).unwrap_or(Self::HighRisk(High::Then)),
            (Step::Strict, _) => Self::Strict(verdict.risk),
            (Step::Yolo, _) => Self::Yolo,
            (Step::LowRisk, _) if verdict.category == Category::Read => Self::OnlyReads,
            (Step::LowRisk, _) => Self::LowRisk,
            (Step::OwnOpinion, _) => Self::OwnOpinion,
            (Step::AutoEdit, _) => Self::AutoEdit,
            (Step::AllowList, _) => [
                Self::SessionList(tool),
                Self::WorkflowList(tool),
                Self::AutoApproved(tool),
            ]
            .into_iter()
            .find(stored)
            .unwrap_or(Self::Standing(None)),
            (Step::Memory, _) => Self::Remembered,
            (Step::Ask, _) => Self::NothingAllows {
                category: verdict.category,
                risk: verdict.risk,
            },
        }
    }

    /// In words, without a full stop.
    pub fn words(&self, locale: Locale) -> String {
        match locale {
            Locale::English => self.english(),
            Locale::Chinese => self.chinese(),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::Written(text) => (*text).to_owned(),
            Self::Ruled { rule, ruling } => {
                let what = match ruling {
                    Ruling::Allows => "allows this call",
                    Ruling::Asks => "asks for a person",
                    Ruling::Denies => "denies this call",
                };
                format!("the rule `{rule}` {what}")
            }
            Self::Banned(Some(ban)) => format!("this is never allowed: {ban}"),
            Self::Banned(None) => "this is never allowed".to_owned(),
            Self::AsksByNature => "this tool exists to ask a person".to_owned(),
            Self::Disabled => "approvals are switched off".to_owned(),
            Self::AlwaysAsked(tool) => format!("`tool_overrides` says that `{tool}` is always asked about"),
            Self::NeverAsked(tool) => format!("`tool_overrides` says that `{tool}` is never asked about"),
            Self::HighRisk(High::Found(why)) => format!("the risk is HIGH: {why}"),
            Self::HighRisk(High::Declared) => "the risk is HIGH: the tool is declared HIGH".to_owned(),
            Self::HighRisk(High::Then) => "the risk is HIGH".to_owned(),
            Self::Strict(risk) => {
                format!("strict mode asks about everything above LOW, and the risk is {risk}")
            }
            Self::Yolo => "mode yolo allows all but HIGH".to_owned(),
            Self::OnlyReads => "it only reads".to_owned(),
            Self::LowRisk => "the risk is LOW".to_owned(),
            Self::OwnOpinion => "the tool itself says that no approval is needed".to_owned(),
            Self::AutoEdit => "mode autoEdit allows writes".to_owned(),
            Self::SessionList(tool) => format!("`{tool}` is on this session's allow-list"),
            Self::WorkflowList(tool) => format!("`{tool}` is one of the workflow's auto-approved tools"),
            Self::AutoApproved(tool) => format!("`{tool}` is one of the auto-approved tools"),
            Self::Standing(Some(grant)) => {
                let scope = grant.scope.describe();
                format!("{} gave the standing grant {}: {scope}", grant.by, grant.id)
            }
            Self::Standing(None) => "a standing grant covers it".to_owned(),
            Self::Remembered => "exactly this call was approved in this chat a moment ago".to_owned(),
            Self::NothingAllows { category, risk } => {
                format!("nothing allows this {category} of {risk} risk")
            }
        }
    }

    fn chinese(&self) -> String {
        match self {
            Self::Written(text) => (*text).to_owned(),
            Self::Ruled { rule, ruling } => {
                let what = match ruling {
                    Ruling::Allows => "允许这次调用",
                    Ruling::Asks => "要求由人决定",
                    Ruling::Denies => "禁止这次调用",
                };
                format!("规则 `{rule}` {what}")
            }
            Self::Banned(Some(ban)) => format!("这永远不被允许：{}", ban.words(Locale::Chinese)),
            Self::Banned(None) => "这永远不被允许".to_owned(),
            Self::AsksByNature => "这个工具就是用来问人的".to_owned(),
            Self::Disabled => "审批已关闭".to_owned(),
            Self::AlwaysAsked(tool) => format!("`tool_overrides` 规定 `{tool}` 每次都要询问"),
            Self::NeverAsked(tool) => format!("`tool_overrides` 规定 `{tool}` 从不询问"),
            Self::HighRisk(High::Found(why)) => format!("风险为高：{}", why.words(Locale::Chinese)),
            Self::HighRisk(High::Declared) => "风险为高：该工具被声明为高风险".to_owned(),
            Self::HighRisk(High::Then) => "风险为高".to_owned(),
            Self::Strict(risk) => {
                format!(
                    "严格模式会询问一切高于低风险的操作，而这里的风险为{}",
                    risk.label(Locale::Chinese)
                )
            }
            Self::Yolo => "yolo 模式允许高风险以外的一切".to_owned(),
            Self::OnlyReads => "它只读取".to_owned(),
            Self::LowRisk => "风险为低".to_owned(),
            Self::OwnOpinion => "工具自己表示无需批准".to_owned(),
            Self::AutoEdit => "autoEdit 模式允许写入".to_owned(),
            Self::SessionList(tool) => format!("`{tool}` 在本会话的允许列表中"),
            Self::WorkflowList(tool) => format!("`{tool}` 是工作流自动批准的工具之一"),
            Self::AutoApproved(tool) => format!("`{tool}` 是自动批准的工具之一"),
            Self::Standing(Some(grant)) => {
                let scope = grant.scope.describe_in(Locale::Chinese);
                format!("{} 给出了长期授权 {}：{scope}", grant.by, grant.id)
            }
            Self::Standing(None) => "有一项长期授权涵盖它".to_owned(),
            Self::Remembered => "同样的调用刚刚在此聊天中获得批准".to_owned(),
            Self::NothingAllows { category, risk } => {
                let (category, risk) = (category.label(Locale::Chinese), risk.label(Locale::Chinese));
                format!("没有任何设置允许这一{risk}风险的{category}操作")
            }
        }
    }
}

/// The reasons for HIGH there are now, in the order policy looks at them.
pub(crate) fn high(analysis: Option<&Analysis>) -> impl Iterator<Item = Reason<'_>> {
    let facts = analysis.into_iter().flat_map(|found| &found.facts);
    let found = facts
        .filter(|fact| fact.risk == Risk::High)
        .filter_map(|fact| fact.why.as_ref());
    found
        .map(High::Found)
        .chain([High::Declared])
        .map(Reason::HighRisk)
}

/// In English, as stored.
impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.english())
    }
}

impl Category {
    /// The word for it.
    const fn label(self, locale: Locale) -> &'static str {
        match self {
            Self::Read => locale.pick("read", "读取"),
            Self::Write => locale.pick("write", "写入"),
            Self::Command => locale.pick("command", "命令"),
            Self::Network => locale.pick("network", "网络"),
            Self::Ask => locale.pick("ask", "提问"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Doubt;
    use crate::ids::{PersonId, StandingGrantId};
    use crate::render::tests::chinese::assert_chinese;
    use crate::standing::{Covers, Scope};
    use crate::time::Timestamp;

    #[test]
    fn every_reason_is_said_in_both_languages() {
        let tool = &ToolName::new("bash").unwrap();
        let (why, ban) = (Why::Doubtful(Doubt::TooLong), Ban::AnswersForPeople);
        let grant = StandingGrant {
            id: StandingGrantId::new("sg_1").unwrap(),
            scope: Scope {
                tool: tool.clone(),
                session: None,
                workspace: None,
                covers: Covers::Hosts(vec!["a.com".into(), "b.com".into()]),
            },
            by: PersonId::new("lin").unwrap(),
            given_at: Timestamp::from_millis(0),
            ends_at: Timestamp::from_millis(1),
            uses_max: None,
            examples: Vec::new(),
        };
        let ruled = |ruling| Reason::Ruled { rule: "r", ruling };
        let (category, risk) = (Category::Command, Risk::Medium);
        let all = [
            Reason::Written("照原样"),
            ruled(Ruling::Allows),
            Reason::Banned(Some(&ban)),
            Reason::AsksByNature,
            Reason::Disabled,
            Reason::AlwaysAsked(tool),
            Reason::NeverAsked(tool),
            Reason::HighRisk(High::Found(&why)),
            Reason::Strict(Risk::High),
            Reason::Yolo,
            Reason::OnlyReads,
            Reason::LowRisk,
            Reason::OwnOpinion,
            Reason::AutoEdit,
            Reason::SessionList(tool),
            Reason::WorkflowList(tool),
            Reason::AutoApproved(tool),
            Reason::Standing(Some(&grant)),
            Reason::Remembered,
            Reason::NothingAllows { category, risk },
        ];
        for (index, reason) in all.iter().enumerate() {
            assert_eq!(number(reason), index, "a reason is missing, or out of order");
            assert_chinese(&reason.words(Locale::Chinese));
        }
        let others = [
            ruled(Ruling::Asks),
            ruled(Ruling::Denies),
            Reason::Banned(None),
            Reason::HighRisk(High::Declared),
            Reason::HighRisk(High::Then),
            Reason::Standing(None),
        ];
        for reason in others {
            assert_chinese(&reason.words(Locale::Chinese));
        }
    }

    /// Counts the reasons; one that is new does not compile until it is above as well.
    fn number(reason: &Reason<'_>) -> usize {
        match reason {
            Reason::Written(_) => 0,
            Reason::Ruled { .. } => 1,
            Reason::Banned(_) => 2,
            Reason::AsksByNature => 3,
            Reason::Disabled => 4,
            Reason::AlwaysAsked(_) => 5,
            Reason::NeverAsked(_) => 6,
            Reason::HighRisk(_) => 7,
            Reason::Strict(_) => 8,
            Reason::Yolo => 9,
            Reason::OnlyReads => 10,
            Reason::LowRisk => 11,
            Reason::OwnOpinion => 12,
            Reason::AutoEdit => 13,
            Reason::SessionList(_) => 14,
            Reason::WorkflowList(_) => 15,
            Reason::AutoApproved(_) => 16,
            Reason::Standing(_) => 17,
            Reason::Remembered => 18,
            Reason::NothingAllows { .. } => 19,
        }
    }
}
