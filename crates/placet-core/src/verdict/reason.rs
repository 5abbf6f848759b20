//! Why policy decided as it did: a code with parameters, stored with the verdict.
//!
//! The sentences are in the catalogue ([`crate::messages`]), so that a row is shown in every language. What the operator wrote in a rule
//! is text and shown as written; so is the sentence in a row of an older version.

#![expect(missing_docs, reason = "`messages/en/codes.toml` says each variant in words")]

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::analysis::{Ban, Why};
use crate::ids::{PersonId, StandingGrantId, ToolName};
use crate::interaction::Locale;
use crate::messages::{Explain, Message, text};
use crate::tool::Category;

/// Why policy decided as it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    RuleAllows {
        rule: String,
    },
    RuleAsks {
        rule: String,
    },
    RuleDenies {
        rule: String,
    },
    Banned(Ban),
    AskTool, // The tool exists to ask a person.
    Disabled,
    AlwaysAsked {
        tool: ToolName,
    },
    NeverAsked {
        tool: ToolName,
    },
    NotInWorkflow {
        tool: ToolName,
    },
    DataConfirmed, // `safety.require_confirmation`.
    Found(Why),    // HIGH, for this finding.
    DeclaredHigh,
    Strict,
    Yolo,
    OnlyReads,
    LowRisk,
    OwnOpinion,
    OwnNeed,
    AutoEdit,
    SessionList {
        tool: ToolName,
    },
    WorkflowList {
        tool: ToolName,
    },
    AutoApproved {
        tool: ToolName,
    },
    Standing {
        grant: StandingGrantId,
        by: PersonId,
    },
    Remembered,
    NothingAllows {
        category: Category,
    },
    /// Text of the operator, or of a version that stored sentences.
    #[serde(untagged)]
    Written(String),
}

impl Reason {
    /// In words, without a full stop.
    pub fn words(&self, locale: Locale) -> String {
        self.message().say(locale)
    }

    /// Its code and its parameters, for programs. Text has the code `written`.
    pub fn parts(&self) -> (String, Map<String, Value>) {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut parameters)) => {
                let code = parameters.remove("reason");
                let code = code.as_ref().and_then(Value::as_str).unwrap_or_default();
                (code.to_owned(), parameters)
            }
            _ => ("written".to_owned(), Map::new()),
        }
    }
}

impl Explain for Reason {
    fn message(&self) -> Message {
        match self {
            Self::Written(text) => text::as_written(text),
            coded => Message::of("reason", coded),
        }
    }
}

crate::display_in_english!(Reason);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::analysis::Deed;
    use crate::messages::tests::{check, table};

    /// One of each, in order. A new variant does not compile until [`number`] has it, and fails until this has it.
    fn all() -> Vec<Reason> {
        use Reason::*;
        let tool = ToolName::new("bash").unwrap();
        let rule = || "no pushes".to_owned();
        let found = Why::Does {
            what: "git push".into(),
            deed: Deed::OverwritesRemote,
        };
        vec![
            Written("ask in the ops room".into()),
            RuleAllows { rule: rule() },
            RuleAsks { rule: rule() },
            RuleDenies { rule: rule() },
            Banned(Ban::DeletesAll { path: "/".into() }),
            AskTool,
            Disabled,
            AlwaysAsked { tool: tool.clone() },
            NeverAsked { tool: tool.clone() },
            NotInWorkflow { tool: tool.clone() },
            DataConfirmed,
            Found(found),
            DeclaredHigh,
            Strict,
            Yolo,
            OnlyReads,
            LowRisk,
            OwnOpinion,
            OwnNeed,
            AutoEdit,
            SessionList { tool: tool.clone() },
            WorkflowList { tool: tool.clone() },
            AutoApproved { tool },
            Standing {
                grant: StandingGrantId::new("sg_1").unwrap(),
                by: PersonId::new("lin").unwrap(),
            },
            Remembered,
            NothingAllows {
                category: Category::Write,
            },
        ]
    }

    fn number(reason: &Reason) -> usize {
        match reason {
            Reason::Written(_) => 0,
            Reason::RuleAllows { .. } => 1,
            Reason::RuleAsks { .. } => 2,
            Reason::RuleDenies { .. } => 3,
            Reason::Banned(_) => 4,
            Reason::AskTool => 5,
            Reason::Disabled => 6,
            Reason::AlwaysAsked { .. } => 7,
            Reason::NeverAsked { .. } => 8,
            Reason::NotInWorkflow { .. } => 9,
            Reason::DataConfirmed => 10,
            Reason::Found(_) => 11,
            Reason::DeclaredHigh => 12,
            Reason::Strict => 13,
            Reason::Yolo => 14,
            Reason::OnlyReads => 15,
            Reason::LowRisk => 16,
            Reason::OwnOpinion => 17,
            Reason::OwnNeed => 18,
            Reason::AutoEdit => 19,
            Reason::SessionList { .. } => 20,
            Reason::WorkflowList { .. } => 21,
            Reason::AutoApproved { .. } => 22,
            Reason::Standing { .. } => 23,
            Reason::Remembered => 24,
            Reason::NothingAllows { .. } => 25,
        }
    }

    #[test]
    fn every_reason_has_a_sentence_in_every_language_and_comes_back_from_json() {
        check::<Reason>("reason");
        let (all, mut codes) = (all(), BTreeSet::new());
        for (index, reason) in all.iter().enumerate() {
            assert_eq!(number(reason), index, "a reason is missing, or out of order");
            let json = serde_json::to_string(reason).unwrap();
            assert_eq!(serde_json::from_str::<Reason>(&json).unwrap(), *reason);
            codes.insert(reason.parts().0);
        }
        codes.remove("written");
        assert_eq!(table("reason"), codes);
    }

    #[test]
    fn a_reason_is_stored_as_a_code_with_parameters() {
        let lines: Vec<String> = all()
            .iter()
            .map(|reason| serde_json::to_string(reason).unwrap())
            .collect();
        expect![[r#"
            "ask in the ops room"
            {"reason":"rule_allows","rule":"no pushes"}
            {"reason":"rule_asks","rule":"no pushes"}
            {"reason":"rule_denies","rule":"no pushes"}
            {"reason":"banned","ban":"deletes_all","path":"/"}
            {"reason":"ask_tool"}
            {"reason":"disabled"}
            {"reason":"always_asked","tool":"bash"}
            {"reason":"never_asked","tool":"bash"}
            {"reason":"not_in_workflow","tool":"bash"}
            {"reason":"data_confirmed"}
            {"reason":"found","why":"does","what":"git push","deed":"overwrites_remote"}
            {"reason":"declared_high"}
            {"reason":"strict"}
            {"reason":"yolo"}
            {"reason":"only_reads"}
            {"reason":"low_risk"}
            {"reason":"own_opinion"}
            {"reason":"own_need"}
            {"reason":"auto_edit"}
            {"reason":"session_list","tool":"bash"}
            {"reason":"workflow_list","tool":"bash"}
            {"reason":"auto_approved","tool":"bash"}
            {"reason":"standing","grant":"sg_1","by":"lin"}
            {"reason":"remembered"}
            {"reason":"nothing_allows","category":"write"}"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn an_approver_reads_what_the_reason_means() {
        let lines: Vec<String> = all().iter().map(ToString::to_string).collect();
        expect![[r#"
            ask in the ops room
            Rule “no pushes” allows this call
            Rule “no pushes” requires approval
            Rule “no pushes” denies this call
            Never allowed: `rm` would delete everything below `/`
            This tool asks a person
            Approvals are turned off
            `tool_overrides` always requires approval for `bash`
            `tool_overrides` never requires approval for `bash`
            `bash` is not in the workflow's `autoApprovedTools`
            `safety.require_confirmation` requires approval for changes to rows or schema
            High risk: `git push` overwrites or deletes history on the remote
            High risk: the tool is declared HIGH
            Strict mode requires approval above LOW risk
            Mode yolo allows everything below HIGH risk
            Only reads
            Low risk
            The tool says that this call needs no approval
            The tool says that this call needs approval
            Mode autoEdit allows writes
            `bash` is on this session's allow list
            `bash` is auto-approved by the workflow
            `bash` is in `auto_approved_tools`
            Standing approval sg_1 by lin covers this call
            The same call was approved in this chat a moment ago
            No rule allows this write, so someone has to approve it"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn the_sentence_of_an_older_row_is_shown_as_written() {
        let stored = "nothing allows this command of MEDIUM risk";
        let reason: Reason = serde_json::from_value(json!(stored)).unwrap();
        assert_eq!(reason, Reason::Written(stored.into()));
        assert_eq!(reason.words(Locale::Chinese), stored);
    }

    #[test]
    fn an_unknown_code_is_refused_and_never_guessed() {
        for unknown in [
            json!({"reason": "newer"}),
            json!({}),
            json!(7),
            json!({"reason": "found", "why": "x"}),
        ] {
            assert!(
                serde_json::from_value::<Reason>(unknown.clone()).is_err(),
                "{unknown}"
            );
        }
    }
}
