//! A call, inspected and decided.

use placet_core::analysis::{Analysis, FixedPlaces};
use placet_core::call::{Args, Origin, ToolCall};
use placet_core::config::{Config, ConfigError};
use placet_core::findings::Findings;
use placet_core::ids::{AgentId, CallId, SessionId, ToolName};
use placet_core::policy::{Context, Policy};
use placet_core::tool::Tool;
use placet_core::verdict::Verdict;
use serde_json::Value;

pub(crate) fn name(tool: &str) -> ToolName {
    ToolName::new(tool).unwrap()
}

pub(crate) fn load(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, "placet.toml", std::iter::empty(), placet_inspect::builtin())
}

pub(crate) fn policy(toml: &str) -> Policy {
    load(toml).unwrap_or_else(|error| panic!("{error}")).policy
}

/// A call of `tool` by the agent `tester` in the session `s`.
pub(crate) fn call(tool: &str, args: Value) -> ToolCall {
    ToolCall {
        id: CallId::new("c1").unwrap(),
        tool: name(tool),
        args: Args::from_value(args).unwrap(),
        session: SessionId::new("s").unwrap(),
        origin: Origin {
            agent: AgentId::new("tester").unwrap(),
            agent_path: Vec::new(),
            chat: None,
            user: None,
        },
        group: None,
        description: None,
    }
}

/// A tool of the built-in agent.
pub(crate) fn builtin(tool: &str) -> Tool {
    Tool::builtin(&name(tool)).unwrap_or_else(|| Tool::unknown(name(tool)))
}

pub(crate) fn inspect(tool: &Tool, args: &Args) -> Findings {
    placet_inspect::builtin().inspect(tool, args, &FixedPlaces::of_examples())
}

/// What policy says of a call of this tool.
pub(crate) fn decide_for(tool: &Tool, policy: &Policy, args: Value) -> Verdict {
    let call = call(tool.name.as_str(), args);
    let analysis = inspect(tool, &call.args).analysis;
    decide_on(tool, policy, &call, &analysis)
}

pub(crate) fn decide_on(tool: &Tool, policy: &Policy, call: &ToolCall, analysis: &Analysis) -> Verdict {
    let context = Context::alone(call.digest(), "/workspace");
    policy.decide(call, tool, analysis, &context)
}

/// What policy says of a call of a built-in tool.
pub(crate) fn decide(policy: &Policy, tool: &str, args: Value) -> Verdict {
    decide_for(&builtin(tool), policy, args)
}

/// What policy says of a line of the built-in shell.
pub(crate) fn line(policy: &Policy, line: &str) -> Verdict {
    decide(policy, "bash", serde_json::json!({ "command": line }))
}
