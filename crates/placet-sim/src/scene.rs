//! The scene: people, rules and calls every history is made of, and what each call truly requires.
//!
//! The requirements are written down here by hand, not taken from the policy: the oracle judges by them.

use placet_core::config::Config;
use serde_json::{Value, json};

/// The configuration of every history.
pub const CONFIG: &str = r#"
[approval]
timeout = "60s"
memory = "100s"
open_questions_max = 6
rejections_max = 3

[channels.ops]
type = "webhook"
url = "https://ops.example/hook"
secret = "env:OPS_SECRET"
timeout = "60s"

[[people]]
name = "ana"
ops = "u-ana"

[[people]]
name = "bo"
ops = "u-bo"

[[people]]
name = "cy"
ops = "u-cy"

[groups]
ops = ["ana", "bo", "cy"]

[tools.look]
category = "read"

[tools.launch]
category = "command"
risk = "HIGH"

[[rules]]
name = "deploys need two of ops, and not the one who asked"
tool = "deploy"
effect = "ask"
approvers = ["group:ops"]
quorum = 2
not_requester = true
timeout = "40s"

[[rules]]
name = "pages go to ana, then to bo"
tool = "page"
effect = "ask"
approvers = ["ana"]
timeout = "40s"
escalate = { after = "20s", to = ["bo"] }

[[rules]]
name = "formatting is denied"
tool = "format"
effect = "deny"
"#;

/// Reads [`CONFIG`].
pub fn config() -> Result<Config, String> {
    Config::parse(CONFIG, "sim.toml", std::iter::empty(), placet_inspect::builtin())
        .map_err(|error| error.to_string())
}

/// What a call truly requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// It must never run.
    Never,
    /// Any approver of the inbox, or the chat's user.
    OwnUser,
    /// Two of ops, not the requester.
    TwoOfOps,
    /// Ana; from the escalation on bo too.
    AnaThenBo,
}

/// A kind of call.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The tool.
    pub tool: &'static str,
    /// What it requires.
    pub needs: Needs,
    /// Whether running it twice does no harm.
    pub read_only: bool,
    /// How long people have, in milliseconds in which a process runs.
    pub timeout: i64,
    /// Whether an approval is remembered for a while.
    pub remembered: bool,
}

/// Every kind of call.
pub const KINDS: [Kind; 7] = [
    Kind {
        tool: "look",
        needs: Needs::Nothing,
        read_only: true,
        timeout: 0,
        remembered: false,
    },
    Kind {
        tool: "write",
        needs: Needs::OwnUser,
        read_only: false,
        timeout: 60_000,
        remembered: true,
    },
    Kind {
        tool: "strange",
        needs: Needs::OwnUser,
        read_only: false,
        timeout: 60_000,
        remembered: true,
    },
    Kind {
        tool: "launch",
        needs: Needs::OwnUser,
        read_only: false,
        timeout: 60_000,
        remembered: false,
    },
    Kind {
        tool: "deploy",
        needs: Needs::TwoOfOps,
        read_only: false,
        timeout: 40_000,
        remembered: false,
    },
    Kind {
        tool: "page",
        needs: Needs::AnaThenBo,
        read_only: false,
        timeout: 40_000,
        remembered: false,
    },
    Kind {
        tool: "format",
        needs: Needs::Never,
        read_only: false,
        timeout: 0,
        remembered: false,
    },
];

/// When the page rule escalates, in milliseconds in which a process runs.
pub const PAGE_ESCALATES_AFTER: i64 = 20_000;
/// How long approvals are remembered, in milliseconds of wall time.
pub const MEMORY: i64 = 100_000;

/// Arguments number `n` of a call; few, so that the same call comes again.
pub fn args(n: u8) -> Value {
    json!({ "target": format!("t{}", n % 3) })
}
