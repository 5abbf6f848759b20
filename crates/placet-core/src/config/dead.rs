//! Dead rules: conditions that no call can meet, because they name a tool or an SQL verb that does not exist.
//!
//! Such a file loads: a tool may be declared or used tomorrow. But a deny rule for `bahs` protects nothing, and its own
//! examples hold all the same, because a tool of that name is taken as one that nothing describes. So `placet policy
//! test` fails and `placet serve` warns.

use std::collections::BTreeSet;
use std::fmt;

use super::error::did_you_mean;
use super::{Config, McpServer};
use crate::analysis::Inspect;
use crate::ids::ToolName;
use crate::policy::{Rule, Wild};
use crate::tool::Tool;

/// A part of the policy that never applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadRule {
    /// The rule's name, or the key of `[approval]`.
    pub rule: String,
    /// Why it never applies.
    pub why: Dead,
    /// The name that was probably meant.
    pub help: Option<String>,
}

/// Why a rule, or one of its alternatives, never applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dead {
    /// Nothing declares a tool of this name, and no call has used one.
    Tool {
        /// The name or pattern.
        name: String,
        /// Whether the rule's examples hold, which says nothing then.
        examples: bool,
    },
    /// No statement has this verb.
    Verb {
        /// The verb.
        verb: String,
    },
}

impl fmt::Display for DeadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = &self.rule;
        match &self.why {
            Dead::Tool { name, examples } => {
                write!(
                    f,
                    "`{rule}` names the tool `{name}`, which is not declared and was never used"
                )?;
                if *examples {
                    f.write_str("; its examples match only because any tool of that name would")?;
                }
            }
            Dead::Verb { verb } => write!(f, "`{rule}` names the SQL verb `{verb}`, which does not exist")?,
        }
        match (&self.help, &self.why) {
            (Some(help), _) => write!(f, "; {help}"),
            (None, Dead::Tool { name, .. }) => write!(f, "; declare it as `[tools.{name}]` if it is right"),
            (None, Dead::Verb { .. }) => f.write_str("; a verb is one word such as `DELETE` or `DROP`"),
        }
    }
}

impl Config {
    /// What never applies. `used` are the tools that calls in the journal named.
    pub fn dead_rules(&self, used: &BTreeSet<ToolName>) -> Vec<DeadRule> {
        let known = KnownTools::new(self, used);
        let mut dead: Vec<DeadRule> = self
            .policy
            .rules()
            .flat_map(|rule| dead_conditions(rule, &known, &*self.inspect))
            .collect();
        let settings = self.policy.settings();
        let overrides = settings.tool_overrides.keys();
        let overrides = overrides.map(|tool| ("approval.tool_overrides", tool));
        let listed = settings.auto_approved_tools.iter();
        let listed = listed.map(|tool| ("approval.auto_approved_tools", tool));
        for (key, tool) in overrides.chain(listed) {
            if !known.has(tool.as_str()) {
                dead.push(DeadRule {
                    rule: key.to_owned(),
                    why: Dead::Tool {
                        name: tool.to_string(),
                        examples: false,
                    },
                    help: known.nearest(tool.as_str()),
                });
            }
        }
        dead
    }
}

fn dead_conditions(rule: &Rule, known: &KnownTools<'_>, inspect: &dyn Inspect) -> Vec<DeadRule> {
    let source: serde_json::Value = serde_json::from_str(rule.source()).unwrap_or_default();
    let examples = source.get("matches").is_some();
    let tools = texts(source.get("tool")).filter(|name| !known.has(name));
    let tools = tools.map(|name| {
        let (help, name) = (known.nearest(name), name.to_owned());
        (Dead::Tool { name, examples }, help)
    });
    let verbs = texts(source.get("sql")).filter(|verb| !inspect.is_sql_verb(verb));
    let verbs = verbs.map(|verb| {
        let first = verb.split(' ').next().unwrap_or_default();
        let help = if inspect.is_sql_verb(first) {
            Some(format!("write `{}`", first.to_uppercase()))
        } else {
            did_you_mean(verb, COMMON_VERBS.into_iter())
        };
        let verb = verb.to_owned();
        (Dead::Verb { verb }, help)
    });
    let dead = tools.chain(verbs).map(|(why, help)| DeadRule {
        rule: rule.name.clone(),
        why,
        help,
    });
    dead.collect()
}

/// What people probably meant; only for the advice.
const COMMON_VERBS: [&str; 12] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "CREATE", "ALTER", "DROP", "TRUNCATE",
    "GRANT", "REVOKE",
];

/// One text or a list of them, as conditions are written.
fn texts(value: Option<&serde_json::Value>) -> impl Iterator<Item = &str> {
    let list = value.and_then(serde_json::Value::as_array).into_iter().flatten();
    value
        .into_iter()
        .chain(list)
        .filter_map(serde_json::Value::as_str)
}

/// The tools a rule can be about.
struct KnownTools<'a> {
    names: BTreeSet<&'a str>,
    /// What the names of MCP tools begin with; the tools themselves are known only to their server.
    prefixes: Vec<String>,
}

impl<'a> KnownTools<'a> {
    fn new(config: &'a Config, used: &'a BTreeSet<ToolName>) -> Self {
        let declared = config.tools.keys().chain(used).map(ToolName::as_str);
        Self {
            names: declared.chain(Tool::BUILTIN).collect(),
            prefixes: config
                .mcp_servers
                .keys()
                .map(|server| McpServer::tool_prefix(server))
                .collect(),
        }
    }

    /// Whether a name or pattern matches a known tool.
    fn has(&self, text: &str) -> bool {
        let wild = Wild::parse(text);
        let start = text.split(['*', '?']).next().unwrap_or_default();
        let of_server = |prefix: &String| {
            start.starts_with(prefix.as_str()) || (wild.literal().is_none() && prefix.starts_with(start))
        };
        self.names.iter().any(|name| wild.matches(name)) || self.prefixes.iter().any(of_server)
    }

    /// The known name that was probably meant.
    fn nearest(&self, text: &str) -> Option<String> {
        did_you_mean(text, self.names.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::uninspected;

    fn dead(toml: &str, used: &[&str]) -> Vec<String> {
        let config = Config::parse(toml, "placet.toml", std::iter::empty(), uninspected()).unwrap();
        let used = used.iter().map(|name| ToolName::new(*name).unwrap()).collect();
        let dead = config.dead_rules(&used);
        dead.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_alternative_of_a_rule_is_looked_at() {
        let toml = "[[rules]]\nname = \"n\"\neffect = \"deny\"\ntool = [\"bash\", \"bsah\"]\n";
        assert_eq!(dead(toml, &[]).len(), 1);
    }

    #[test]
    fn a_pattern_is_dead_when_no_known_tool_matches_it() {
        let rule = |tool: &str| format!("[[rules]]\nname = \"n\"\neffect = \"deny\"\ntool = \"{tool}\"\n");
        for alive in ["*", "sql_*", "?ash"] {
            assert!(dead(&rule(alive), &[]).is_empty(), "{alive}");
        }
        assert_eq!(dead(&rule("deploy_*"), &[]).len(), 1);
        assert!(dead(&rule("deploy_*"), &["deploy_web"]).is_empty());
    }

    #[test]
    fn a_tool_of_a_configured_mcp_server_is_alive() {
        let server = "\n[mcp.servers.files]\ncommand = [\"server\"]\n";
        for tool in ["mcp__files__read", "mcp__*", "mcp__files__*"] {
            let rule = format!("[[rules]]\nname = \"n\"\neffect = \"deny\"\ntool = \"{tool}\"\n");
            assert_eq!(dead(&rule, &[]).len(), 1, "{tool}");
            assert!(dead(&format!("{rule}{server}"), &[]).is_empty(), "{tool}");
        }
    }

    #[test]
    fn an_override_for_a_misspelt_tool_is_dead() {
        let toml = "[approval]\nauto_approved_tools = [\"raed\"]\n[approval.tool_overrides]\nbahs = true\n";
        let dead = dead(toml, &[]);
        assert_eq!(dead.len(), 2);
        assert!(dead.iter().all(|line| line.contains("did you mean")), "{dead:?}");
    }
}
