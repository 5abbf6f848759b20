//! A scope as an allow rule for `placet.toml`, with the calls it was made from as its examples.
//!
//! A proposed rule covers a call only when both the scope and the policy's own matcher cover it, so that the rule a person is
//! shown, the grant that is stored and the text that is exported never differ in what they let run.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{Covers, Scope, StandingGrant};
use crate::analysis::{Analysis, Inspect};
use crate::call::{Args, CallDigest, ToolCall};
use crate::config::Config;
use crate::policy::{Context, Policy};
use crate::render::mask;
use crate::tool::{Risk, Tool};
use crate::verdict::{Decision, Step};

/// An allow rule that a person may approve.
#[derive(Debug, Clone)]
pub struct ProposedRule {
    scope: Scope,
    name: String,
    examples: Vec<Value>,
    /// The rule alone, without examples.
    policy: Policy,
}

#[derive(Serialize)]
struct FileOut<'a> {
    rules: [RuleOut<'a>; 1],
}

/// A rule as it is written in a file.
#[derive(Serialize)]
struct RuleOut<'a> {
    name: &'a str,
    effect: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sql: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<&'a [String]>,
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    matches: &'a [Value],
}

impl ProposedRule {
    /// The rule for a scope. None for one exact call, which no rule can say, and none where a secret would end up in a file.
    pub fn new(scope: Scope, inspect: &Arc<dyn Inspect>) -> Option<Self> {
        let name = scope.covers.rule_name(scope.tool.as_str())?;
        let mut proposed = Self {
            scope,
            name,
            examples: Vec::new(),
            policy: Config::builtin(Arc::clone(inspect)).policy,
        };
        let text = proposed.to_toml();
        if mask::text(&text) != text.as_str() || proposed.scope.covers.holds_secret() {
            return None;
        }
        let config = Config::parse(&text, "rule", std::iter::empty(), Arc::clone(inspect)).ok()?;
        proposed.policy = config.policy;
        Some(proposed)
    }

    /// The rule that a standing grant is, with its examples.
    pub fn of(grant: &StandingGrant, inspect: &Arc<dyn Inspect>) -> Option<Self> {
        let mut rule = Self::new(grant.scope.everywhere(), inspect)?;
        rule.examples.clone_from(&grant.examples);
        Some(rule)
    }

    /// Its examples, as they are written in a file.
    pub fn examples(&self) -> &[Value] {
        &self.examples
    }

    /// The rule's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it covers.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Adds a covered call as an example, unless it holds a secret or is there already. Stops at five.
    pub fn add_example(&mut self, args: &Args) {
        const EXAMPLES_MAX: usize = 5;
        let value = args.as_value();
        let example = match value
            .as_object()
            .map(|fields| (fields.len(), fields.values().next()))
        {
            Some((1, Some(Value::String(text)))) if !text.trim().is_empty() => Value::from(text.as_str()),
            _ => value.clone(),
        };
        let whole = mask::json(value) == *value && !holds_null(value);
        if whole && self.examples.len() < EXAMPLES_MAX && !self.examples.contains(&example) {
            self.examples.push(example);
        }
    }

    /// Whether the rule covers a call: the policy's own matcher and the scope must agree. Never HIGH.
    pub fn covers(
        &self,
        call: &ToolCall,
        tool: &Tool,
        analysis: &Analysis,
        digest: CallDigest,
        workspace: &str,
    ) -> bool {
        if !self.scope.covers(call, analysis, digest, workspace) {
            return false;
        }
        let verdict = self
            .policy
            .decide(call, tool, analysis, &Context::alone(digest, workspace));
        verdict.step == Step::Rule && verdict.decision == Decision::Allow && verdict.risk < Risk::High
    }

    /// The rule as it is written in `placet.toml`.
    pub fn to_toml(&self) -> String {
        let covers = &self.scope.covers;
        let rule = RuleOut {
            name: &self.name,
            effect: "allow",
            tool: self.scope.tool.as_str(),
            command: pick(covers, |covers| match covers {
                Covers::Commands(patterns) => Some(patterns),
                _ => None,
            }),
            path: pick(covers, |covers| match covers {
                Covers::Paths(globs) => Some(globs),
                _ => None,
            }),
            host: pick(covers, |covers| match covers {
                Covers::Hosts(hosts) => Some(hosts),
                _ => None,
            }),
            sql: pick(covers, |covers| match covers {
                Covers::Statements { verbs, .. } => Some(verbs),
                _ => None,
            }),
            table: pick(covers, |covers| match covers {
                Covers::Statements { tables, .. } => Some(tables),
                _ => None,
            }),
            matches: &self.examples,
        };
        toml::to_string(&FileOut { rules: [rule] }).unwrap_or_default()
    }
}

fn pick(covers: &Covers, from: fn(&Covers) -> Option<&Vec<String>>) -> Option<&[String]> {
    from(covers).map(Vec::as_slice)
}

/// TOML has no null.
fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(fields) => fields.values().any(holds_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

impl Covers {
    /// A short name for a rule; none for one exact call.
    fn rule_name(&self, tool: &str) -> Option<String> {
        let list = |texts: &[String]| texts.join(", ");
        let what = match self {
            Self::Exactly(_) => return None,
            Self::Commands(patterns) => list(patterns),
            Self::Paths(globs) => format!("{tool} {}", list(globs)),
            Self::Hosts(hosts) => format!("{tool} {}", list(hosts)),
            Self::Statements { verbs, tables } => format!("{} {}", list(verbs), list(tables)),
        };
        let what: String = what.chars().filter(|c| !c.is_control()).take(120).collect();
        Some(format!("approved before: {what}"))
    }

    fn holds_secret(&self) -> bool {
        match self {
            Self::Commands(patterns) => patterns.iter().any(|line| mask::command(line) != line.as_str()),
            _ => false,
        }
    }
}
