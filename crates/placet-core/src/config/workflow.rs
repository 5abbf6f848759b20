//! `workflow.toml`: what a workflow says about approvals.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_spanned::Spanned;

use super::error::{Checker, ConfigError};
use super::lasting::Lasting;
use super::{deserialize, sections, tree};
use crate::ids::ToolName;
use crate::time::Millis;

/// A workflow's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// How long the whole workflow may take.
    pub timeout: Option<Millis>,
    /// How many steps it may take.
    pub steps_max: Option<u32>,
    /// Tools that are not asked about unless something stricter says so.
    pub auto_approved_tools: BTreeSet<ToolName>,
    /// How long people have to answer.
    pub approval_timeout: Millis,
}

impl Workflow {
    /// How long people have to answer in a workflow that does not say.
    pub const APPROVAL_TIMEOUT: Millis = Millis::from_secs(30);

    /// Reads a workflow's file.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ConfigError> {
        let mut checker = Checker::new(text, &[]);
        let workflow = tree::read(text, &[], &mut checker)
            .and_then(|tree| deserialize::<File>(tree, &mut checker))
            .and_then(|file| check(file, &mut checker));
        checker.finish(file_name, workflow)
    }
}

fn check(file: File, checker: &mut Checker<'_>) -> Option<Workflow> {
    let span = file.workflow.span();
    let Configs(mut configs) = file.workflow.into_inner().config;
    let (Some(config), true) = (configs.pop(), configs.is_empty()) else {
        checker.refuse(span, "a workflow has exactly one `[[workflow.config]]`", None);
        return None;
    };
    let timeout = config
        .timeout
        .as_ref()
        .and_then(|given| sections::positive(given, checker));
    let approval = config.tool_approval;
    let approval_timeout = approval
        .timeout
        .as_ref()
        .and_then(|given| sections::positive(given, checker));
    Some(Workflow {
        timeout,
        steps_max: config.max_steps,
        auto_approved_tools: approval.auto_approved_tools.into_iter().collect(),
        approval_timeout: approval_timeout.unwrap_or(Workflow::APPROVAL_TIMEOUT),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    workflow: Spanned<WorkflowFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkflowFile {
    config: Configs,
}

/// One table, or a list of them: both are written in the wild.
struct Configs(Vec<WorkflowConfigFile>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkflowConfigFile {
    timeout: Option<Spanned<Lasting>>,
    max_steps: Option<u32>,
    #[serde(default)]
    tool_approval: ToolApprovalFile,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolApprovalFile {
    #[serde(default)]
    auto_approved_tools: Vec<ToolName>,
    timeout: Option<Spanned<Lasting>>,
}

impl<'de> Deserialize<'de> for Configs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Configs;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table or a list of tables")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Configs, A::Error> {
                let mut configs = Vec::new();
                while let Some(config) = items.next_element()? {
                    configs.push(config);
                }
                Ok(Configs(configs))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, fields: A) -> Result<Configs, A::Error> {
                let table = serde::de::value::MapAccessDeserializer::new(fields);
                WorkflowConfigFile::deserialize(table).map(|config| Configs(vec![config]))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As printed in the design of the workflow seed, section 4.1.
    const SEED: &str = r#"# workflow.toml
[[workflow.config]]
timeout = 60000
maxSteps = 100

[workflow.config.toolApproval]
autoApprovedTools = ["get_weather", "search_web"]
approvalTimeout = 60000
"#;

    #[test]
    fn the_seeds_example_loads_as_printed() {
        let workflow = Workflow::parse(SEED, "workflow.toml").unwrap();
        let tools = ["get_weather", "search_web"].map(|name| ToolName::new(name).unwrap());
        assert_eq!(
            workflow,
            Workflow {
                timeout: Some(Millis::from_secs(60)),
                steps_max: Some(100),
                auto_approved_tools: tools.into(),
                approval_timeout: Millis::from_secs(60),
            }
        );
    }

    #[test]
    fn a_workflow_that_does_not_say_gives_people_thirty_seconds() {
        let workflow = Workflow::parse("[workflow.config]\nmax_steps = 3\n", "w.toml").unwrap();
        assert_eq!(workflow.approval_timeout, Millis::from_secs(30));
        assert!(workflow.auto_approved_tools.is_empty());
    }

    #[test]
    fn a_workflow_that_says_something_else_is_refused() {
        for (text, expected) in [
            (
                "[[workflow.config]]\n[workflow.config.toolApproval]\nautoAprovedTools = []\n",
                "w.toml:3:1: unknown key `autoAprovedTools`",
            ),
            (
                "[[workflow.config]]\n[[workflow.config]]\n",
                "w.toml:1:3: a workflow has exactly one",
            ),
            (
                "[[workflow.config]]\ntoolApproval.approvalTimeout = 0\n",
                "w.toml:2:32: a time of zero",
            ),
            (
                "[[workflow.config]]\nmaxSteps = 1\nmax_steps = 2\n",
                "w.toml:2:1: both `max_steps` and `maxSteps` are given",
            ),
        ] {
            let error = Workflow::parse(text, "w.toml").unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
