//! The scene: the rules, the people and the calls of every history, and what each call truly requires.
//!
//! The requirements are written down here by hand, not taken from the policy: the books judge by them.

use placet_core::call::{Args, Origin, ToolCall};
use placet_core::config::Config;
use placet_core::ids::{AgentId, CallId, PersonId, SessionId, ToolName};
use serde_json::json;

use crate::Failure;

/// The configuration of every history. Approvals are not remembered, so each one is good for one call.
pub(crate) const CONFIG: &str = r#"
[approval]
timeout = "1h"
memory = "0s"

[[people]]
name = "ana"
email = "ana@example.com"

[[people]]
name = "bo"
email = "bo@example.com"

[[people]]
name = "cy"
email = "cy@example.com"

[[people]]
name = "mal"
email = "mal@example.com"

[groups]
ops = ["ana", "bo", "cy"]

[tools.look]
category = "read"

[tools.peek]
category = "read"

[[rules]]
name = "notes need nobody"
tool = "note"
effect = "allow"

[[rules]]
name = "peeking is ana's business"
tool = "peek"
effect = "ask"
approvers = ["ana"]

[[rules]]
name = "deploys need two of ops, and not the one who asked"
tool = "deploy"
effect = "ask"
approvers = ["group:ops"]
quorum = 2
not_requester = true

[[rules]]
name = "nobody answers this one in time"
tool = "lapse"
effect = "ask"
approvers = ["cy"]
timeout = "50ms"

[[rules]]
name = "nobody formats anything"
tool = "format"
effect = "deny"
"#;

/// Whom the agents work for.
pub(crate) const REQUESTER: &str = "ana";
/// All who answer. `mal` is never asked and answers all the same.
pub(crate) const PEOPLE: [&str; 4] = ["ana", "bo", "cy", "mal"];
/// The question about this tool is left to expire.
pub(crate) const LAPSES: &str = "lapse";
/// How many agents there are.
pub(crate) const AGENTS: u32 = 4;
/// Calls of one session; small, so that a run that was ended does not end the history.
const SESSION_CALLS: u32 = 12;

/// What a call truly requires before it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing.
    Nothing,
    /// It must never run.
    Never,
    /// Ana's approval.
    Ana,
    /// Bo's and cy's approval: ana is of ops too, but asked for it.
    BoAndCy,
}

/// A kind of call.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The tool.
    tool: &'static str,
    /// What it requires.
    pub(crate) needs: Needs,
    /// Whether running it again does no harm.
    pub(crate) read_only: bool,
}

/// The last one is for the built-in agent.
const KINDS: [Kind; 8] = [
    Kind {
        tool: "deploy",
        needs: Needs::BoAndCy,
        read_only: false,
    },
    Kind {
        tool: "strange",
        needs: Needs::Ana,
        read_only: false,
    },
    Kind {
        tool: "look",
        needs: Needs::Nothing,
        read_only: true,
    },
    Kind {
        tool: "note",
        needs: Needs::Nothing,
        read_only: false,
    },
    Kind {
        tool: "peek",
        needs: Needs::Ana,
        read_only: true,
    },
    Kind {
        tool: LAPSES,
        needs: Needs::Never,
        read_only: false,
    },
    Kind {
        tool: "format",
        needs: Needs::Never,
        read_only: false,
    },
    Kind {
        tool: "bash",
        needs: Needs::Ana,
        read_only: false,
    },
];

impl Needs {
    /// Who may say yes. All of them must.
    pub(crate) const fn yes(self) -> &'static [&'static str] {
        match self {
            Self::Never => &[],
            // A call without approval is asked back only when it may have run; then the person the agent works for decides.
            Self::Nothing | Self::Ana => &["ana"],
            Self::BoAndCy => &["bo", "cy"],
        }
    }

    /// Who may say anything else. One of them is enough.
    pub(crate) const fn no(self) -> &'static [&'static str] {
        match self {
            Self::Never => &[],
            Self::Nothing | Self::Ana => &["ana"],
            Self::BoAndCy => &["ana", "bo", "cy"],
        }
    }
}

/// Reads the configuration.
pub(crate) fn config() -> Result<Config, Failure> {
    Ok(Config::parse(
        CONFIG,
        "crash.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )?)
}

/// What the scene knows about a tool.
pub(crate) fn kind(tool: &ToolName) -> Result<&'static Kind, Failure> {
    let known = KINDS.iter().find(|kind| kind.tool == tool.as_str());
    known.ok_or_else(|| format!("no history calls `{tool}`").into())
}

/// Call number `n` of an agent; the same one whenever it is asked for. Every third pair is one call made twice.
pub(crate) fn call(agent: u32, n: u32) -> Result<ToolCall, Failure> {
    let pair = n / 2;
    let kind = KINDS
        .get(usize::try_from((pair + agent) % 7)?)
        .ok_or("there are no kinds")?;
    let target = if pair.is_multiple_of(3) { pair * 2 } else { n };
    Ok(ToolCall {
        id: CallId::new(n.to_string())?,
        tool: ToolName::new(kind.tool)?,
        args: Args::from_value(json!({ "target": target }))?,
        session: SessionId::new(format!("{agent}/{}", n / SESSION_CALLS))?,
        origin: Origin {
            agent: agent_id(agent)?,
            agent_path: Vec::new(),
            chat: None,
            user: Some(PersonId::new(REQUESTER)?),
        },
        group: None,
        description: None,
    })
}

/// An agent's credential.
pub(crate) fn agent_id(agent: u32) -> Result<AgentId, Failure> {
    Ok(AgentId::new(format!("agent-{agent}"))?)
}
