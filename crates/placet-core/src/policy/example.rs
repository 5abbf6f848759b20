//! A rule's own examples: `matches` and `not_matches`, tried when the file is loaded.
//!
//! An example goes through the real analysis and the real matcher. Where the call comes from (agent, channel, session) is
//! taken as given; examples are about what a call does.

use serde_json::Value;

use crate::analysis::{FixedPlaces, Inspect};
use crate::call::{Args, ArgsError, Origin, ToolCall};
use crate::ids::{AgentId, CallId, IdError, SessionId, ToolName};
use crate::tool::{Lens, Tool};

use super::index::Rules;
use super::rule::{Rule, RuleEffect, Subject};
use super::wild::Wild;

/// One example of a rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Example {
    /// The one argument the rule is about: a command, a statement, a path or a URL.
    Text(String),
    /// All arguments.
    Args(Value),
}

/// Why an example cannot be tried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExampleError {
    /// A text, but nothing says which argument it is.
    #[error(
        "write the example as a table of arguments, such as {{ command = \"make\" }}: for `{0}` a text alone is ambiguous"
    )]
    WhichArgument(String),
    /// Arguments no call could have.
    #[error(transparent)]
    Args(#[from] ArgsError),
    /// The rule names a tool no call could have.
    #[error(transparent)]
    Name(#[from] IdError),
}

/// Whether `rule`, alone, would apply to the call of the example. `tool_of` describes tools as the configuration does.
pub(crate) fn applies(
    rule: &Rule,
    example: &Example,
    tool_of: impl Fn(ToolName) -> Tool,
    inspect: &dyn Inspect,
) -> Result<bool, ExampleError> {
    let mut rule = rule.clone();
    let tool = tool_of(ToolName::new(tool_name(&rule))?);
    // The example's tool stands for all that the rule names.
    rule.when.tools.clear();
    rule.when.agents.clear();
    rule.when.channels.clear();
    rule.when.sessions.clear();
    let args = match example {
        Example::Args(value) => value.clone(),
        Example::Text(text) => {
            let name =
                argument(&rule, &tool).ok_or_else(|| ExampleError::WhichArgument(tool.name.to_string()))?;
            Value::Object(
                [(name.to_owned(), Value::from(text.as_str()))]
                    .into_iter()
                    .collect(),
            )
        }
    };
    let call = example_call(tool.name.clone(), Args::from_value(args)?)?;
    let places = FixedPlaces::of_examples();
    let found = inspect.inspect(&tool, &call.args, &places).analysis;
    let subject = Subject::new(&call, &tool, &found, &places.workspace);
    Ok(match rule.effect {
        RuleEffect::Allow => Rules::new(vec![rule])
            .candidates(&subject)
            .allowing(&subject)
            .is_some(),
        RuleEffect::Ask(_) | RuleEffect::Deny => rule.concerns(&subject),
    })
}

/// The first tool the rule spells out, else the built-in one that does what the rule is about.
fn tool_name(rule: &Rule) -> &str {
    let when = &rule.when;
    when.tools.iter().find_map(Wild::literal).unwrap_or({
        if !when.commands.is_empty() {
            "bash"
        } else if when.names_sql() {
            "data_modify"
        } else if !when.paths.is_empty() {
            "write"
        } else if !when.hosts.is_empty() {
            "fetch"
        } else {
            "example"
        }
    })
}

/// The argument a text stands for: the first that is looked into in the way the rule is about, else the only one.
fn argument<'t>(rule: &Rule, tool: &'t Tool) -> Option<&'t str> {
    let when = &rule.when;
    let fits = |lens: &&Lens| match lens {
        Lens::Shell { .. } => !when.commands.is_empty(),
        Lens::Sql { .. } | Lens::SqlOf { .. } => when.names_sql(),
        Lens::PathRead { .. } | Lens::PathWrite { .. } => !when.paths.is_empty(),
        Lens::Url { .. } => !when.hosts.is_empty(),
    };
    let only = || tool.lenses.first().filter(|_| tool.lenses.len() == 1);
    let (Lens::Shell { arg }
    | Lens::Sql { arg, .. }
    | Lens::SqlOf { arg, .. }
    | Lens::PathRead { arg }
    | Lens::PathWrite { arg }
    | Lens::Url { arg }) = tool.lenses.iter().find(fits).or_else(only)?;
    Some(arg)
}

fn example_call(tool: ToolName, args: Args) -> Result<ToolCall, IdError> {
    Ok(ToolCall {
        id: CallId::new("example")?,
        tool,
        args,
        session: SessionId::new("example")?,
        origin: Origin {
            agent: AgentId::new("example")?,
            agent_path: Vec::new(),
            chat: None,
            user: None,
        },
        group: None,
        description: None,
    })
}
