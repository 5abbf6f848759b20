//! `workflow.toml`: a job with its model, its prompt, its tools, and what it says about approvals.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_spanned::Spanned;

use super::duration::ConfigDuration;
use super::error::{Checker, ConfigError};
use super::{deserialize, sections, tree};
use crate::ids::ToolName;
use crate::time::Millis;
use crate::variables::Variables;

/// A workflow. A run keeps the one it began with, so it can be stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    /// Its name: that of its file, or the one that `[workflows]` gives it. Absent in rows of versions that did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model, by its configured name; the agent's usual one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the model is told first, instead of what the built-in agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The only tools it may call; all of the agent's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<BTreeSet<ToolName>>,
    /// How long the whole workflow may take, people's answers included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Millis>,
    /// How many steps it may take: how often the model may speak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_max: Option<u32>,
    /// Tools that are not asked about unless something stricter says so.
    pub auto_approved_tools: BTreeSet<ToolName>,
    /// The list is exact: every other tool needs approval in every mode, reads included. A row of an older version has no such list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only: bool,
    /// How long people have to answer.
    pub approval_timeout: Millis,
    /// Ask about everything above LOW, as `[approval] strict` does; tools on an exact list excepted.
    #[serde(default)]
    pub strict: bool,
    /// Its variables with their first values. A run has its own copy, which people change in their answers.
    #[serde(default, skip_serializing_if = "Variables::is_empty")]
    pub variables: Variables,
}

impl Workflow {
    /// How long people have to answer in a workflow that does not say.
    pub const APPROVAL_TIMEOUT: Millis = Millis::from_secs(30);

    /// Reads a workflow's file.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ConfigError> {
        let mut checker = Checker::new(text, &[]);
        let workflow = tree::read(text, &[], &mut checker)
            .and_then(|tree| deserialize::<File>(tree, &mut checker))
            .and_then(|file| check(file, &mut checker))
            .map(|workflow| Self {
                name: stem(file_name),
                ..workflow
            });
        checker.finish(file_name, workflow)
    }

    /// Whether it may call a tool at all.
    pub fn offers(&self, tool: &str) -> bool {
        let listed = |tools: &BTreeSet<ToolName>| tools.iter().any(|name| name.as_str() == tool);
        self.tools.as_ref().is_none_or(listed)
    }
}

/// `flows/triage.toml` is called `triage`.
fn stem(file_name: &str) -> Option<String> {
    let name = file_name.rsplit(['/', '\\']).next()?;
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    (!stem.is_empty()).then(|| stem.to_owned())
}

fn check(file: File, checker: &mut Checker<'_>) -> Option<Workflow> {
    let span = file.workflow.span();
    let workflow = file.workflow.into_inner();
    let Configs(mut configs) = workflow.config;
    if configs.len() > 1 {
        checker.refuse(
            span,
            "a workflow has one `[[workflow.config]]`, not several",
            None,
        );
        return None;
    }
    let config = configs.pop().unwrap_or_default();
    let timeout = config
        .timeout
        .as_ref()
        .and_then(|given| sections::positive(given, checker));
    let steps_max = config.max_steps.and_then(|given| {
        let steps = Some(*given.get_ref()).filter(|steps| *steps > 0);
        if steps.is_none() {
            checker.refuse(given.span(), "this must be at least 1", None);
        }
        steps
    });
    let only = config
        .tool_approval
        .as_ref()
        .is_some_and(|approval| approval.only.unwrap_or(true));
    let approval = config.tool_approval.unwrap_or_default();
    let approval_timeout = approval
        .timeout
        .as_ref()
        .and_then(|given| sections::positive(given, checker));
    let mut variables = Variables::new();
    for (name, value) in workflow.variables {
        let span = value.span();
        match variable(&name, value.get_ref()) {
            Ok(value) => {
                variables.insert(name, value);
            }
            Err(why) => checker.refuse(span, why, None),
        }
    }
    let tools: Option<BTreeSet<ToolName>> = workflow.tools.map(|tools| tools.into_iter().collect());
    let mut auto_approved_tools = BTreeSet::new();
    for name in approval.auto_approved_tools {
        if tools
            .as_ref()
            .is_some_and(|tools| !tools.contains(name.get_ref()))
        {
            let message = format!("`{}` is not one of the workflow's `tools`", name.get_ref());
            checker.refuse(name.span(), message, None);
        }
        auto_approved_tools.insert(name.into_inner());
    }
    Some(Workflow {
        name: None,
        model: workflow.model,
        prompt: workflow.prompt,
        tools,
        timeout,
        steps_max,
        auto_approved_tools,
        only,
        approval_timeout: approval_timeout.unwrap_or(Workflow::APPROVAL_TIMEOUT),
        strict: approval.strict,
        variables,
    })
}

/// A variable as JSON. Its name is one that a prompt can spell out as `{{name}}`.
fn variable(name: &str, value: &toml::Value) -> Result<Value, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(format!("`{name}` is not a name: use letters, digits and `_`"));
    }
    match serde_json::to_value(value) {
        Ok(value) if !has_date(&value) => Ok(value),
        _ => Err(format!(
            "`{name}` is a date or a number that JSON does not have; write it as a text"
        )),
    }
}

/// TOML writes a date into JSON as an object with a private name.
fn has_date(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.starts_with("$__toml_private") || has_date(value)),
        Value::Array(items) => items.iter().any(has_date),
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    workflow: Spanned<WorkflowFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkflowFile {
    model: Option<String>,
    prompt: Option<String>,
    tools: Option<Vec<ToolName>>,
    #[serde(default)]
    variables: BTreeMap<String, Spanned<toml::Value>>,
    #[serde(default)]
    config: Configs,
}

/// One table, or a list of them: both are written in the wild.
#[derive(Default)]
struct Configs(Vec<WorkflowConfigFile>);

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkflowConfigFile {
    timeout: Option<Spanned<ConfigDuration>>,
    max_steps: Option<Spanned<u32>>,
    tool_approval: Option<ToolApprovalFile>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolApprovalFile {
    #[serde(default)]
    auto_approved_tools: Vec<Spanned<ToolName>>,
    only: Option<bool>,
    timeout: Option<Spanned<ConfigDuration>>,
    #[serde(default)]
    strict: bool,
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
                name: Some("workflow".into()),
                model: None,
                prompt: None,
                tools: None,
                timeout: Some(Millis::from_secs(60)),
                steps_max: Some(100),
                auto_approved_tools: tools.into(),
                only: true,
                approval_timeout: Millis::from_secs(60),
                strict: false,
                variables: Variables::new(),
            }
        );
    }

    #[test]
    fn a_workflow_may_name_its_model_its_prompt_and_its_tools() {
        let text = "[workflow]\nmodel = 'small'\nprompt = 'Be brief.'\ntools = ['read']\n\
                    [workflow.config.toolApproval]\nstrict = true\n";
        let workflow = Workflow::parse(text, "w.toml").unwrap();
        assert_eq!(workflow.model.as_deref(), Some("small"));
        assert_eq!(workflow.prompt.as_deref(), Some("Be brief."));
        assert!(workflow.offers("read") && !workflow.offers("bash") && workflow.strict);
        let stored = serde_json::to_string(&workflow).unwrap();
        assert_eq!(serde_json::from_str::<Workflow>(&stored).unwrap(), workflow);
    }

    #[test]
    fn a_workflow_that_does_not_say_gives_people_thirty_seconds() {
        let workflow = Workflow::parse("[workflow.config]\nmax_steps = 3\n", "w.toml").unwrap();
        assert_eq!(workflow.approval_timeout, Millis::from_secs(30));
        assert!(workflow.auto_approved_tools.is_empty() && !workflow.only);
    }

    #[test]
    fn a_workflow_with_tool_approval_has_an_exact_list_unless_it_says_otherwise() {
        let only = |section: &str| {
            Workflow::parse(&format!("[workflow.config]\n{section}"), "w.toml")
                .unwrap()
                .only
        };
        assert!(only("[workflow.config.toolApproval]\n"));
        assert!(only("[workflow.config.toolApproval]\nstrict = true\n"));
        assert!(!only("[workflow.config.toolApproval]\nonly = false\n"));
        assert!(!only("maxSteps = 3\n"));
    }

    #[test]
    fn a_workflow_has_variables_of_every_kind_that_json_has() {
        let text = "[workflow.variables]\nregion = 'eu'\nlimit = 10\ndry = true\nhosts = ['a', 'b']\nby = { name = 'x' }\n";
        let workflow = Workflow::parse(text, "w.toml").unwrap();
        assert_eq!(
            Value::Object(workflow.variables.clone()),
            serde_json::json!({"region": "eu", "limit": 10, "dry": true, "hosts": ["a", "b"], "by": {"name": "x"}})
        );
        let stored = serde_json::to_string(&workflow).unwrap();
        assert_eq!(serde_json::from_str::<Workflow>(&stored).unwrap(), workflow);
        for (text, expected) in [
            (
                "[workflow.variables]\n'a b' = 1\n",
                "w.toml:2:9: `a b` is not a name",
            ),
            (
                "[workflow.variables]\nday = 2025-01-01\n",
                "w.toml:2:7: `day` is a date",
            ),
        ] {
            let error = Workflow::parse(text, "w.toml").unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
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
                "w.toml:1:3: a workflow has one `[[workflow.config]]`, not several",
            ),
            (
                "[workflow]\ntools = ['read']\n[workflow.config.toolApproval]\nautoApprovedTools = ['bash']\n",
                "w.toml:4:22: `bash` is not one of the workflow's `tools`",
            ),
            (
                "[[workflow.config]]\nmaxSteps = 0\n",
                "w.toml:2:12: this must be at least 1",
            ),
            (
                "[[workflow.config]]\ntoolApproval.approvalTimeout = 0\n",
                "w.toml:2:32: a timeout of zero",
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
