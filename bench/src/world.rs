//! What is measured on: a policy of many rules, calls of a realistic size, and an engine on a real disk.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use placet_core::call::{Args, Origin, ToolCall};
use placet_core::config::Config;
use placet_core::ids::{AgentId, CallId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::{Answer, CallKey, Shown};
use placet_core::principal::{Principal, Via};
use placet_engine::{Engine, Proposed};
use serde_json::{Value, json};

/// How large the text in a call's arguments is; with names and braces they come to about 2 KiB.
const TEXT_BYTES: usize = 1980;

/// A line of the size that agents write: 223 bytes, six commands, a substitution, two redirections.
pub(crate) const SHELL_LINE: &str = "cd api && git fetch origin main 2>/dev/null && \
    cargo build --release --locked 2>&1 | tee build.log | grep -E '^(warning|error)' | sort | uniq -c | head -20 && \
    cp target/release/api \"dist/api-$(git rev-parse HEAD)\" || exit 1";

/// Programs that many rules are about.
const PROGRAMS: [&str; 10] = [
    "git",
    "kubectl",
    "docker",
    "npm",
    "cargo",
    "terraform",
    "aws",
    "gcloud",
    "helm",
    "psql",
];

/// A configuration with `rules` rules of mixed shapes, about evenly spread over tools and conditions.
pub(crate) fn config(rules: usize) -> anyhow::Result<Config> {
    let mut text = String::from(
        "[approval]\ntimeout = \"24h\"\nagent_open_questions_max = 1000000\nperson_open_questions_max = 1000000\n\
         [tools.read]\ncategory = \"read\"\n",
    );
    for i in 0..rules {
        let effect = ["ask", "deny", "allow"].get(i / 8 % 3).copied().unwrap_or("ask");
        let when = match i % 8 {
            0 => format!("tool = \"bash\"\ncommand = \"deploy{i} --force\""),
            1 => format!("tool = \"bash\"\ncommand = [\"svc{i} restart\", \"/opt/bin/svc{i} stop\"]"),
            2 => format!("tool = [\"write\", \"edit\"]\npath = \"services/team{i}/**\""),
            3 => format!("tool = \"fetch\"\nhost = [\"api{i}.example.com\", \"*.team{i}.example.com\"]"),
            4 => format!("tool = \"sql_query\"\nsql = \"DELETE\"\ntable = \"ledger_{i}\""),
            5 => format!("tool = \"mcp__team{i}__*\"\nagent = \"agent{i}\""),
            6 => format!("tool = \"tool{i}\"\nargs = {{ env = \"prod*\" }}"),
            _ => {
                let program = PROGRAMS.get(i / 8 % PROGRAMS.len()).copied().unwrap_or("git");
                format!("tool = \"bash\"\ncommand = \"{program} delete * --namespace=team{i}\"")
            }
        };
        write!(
            text,
            "\n[[rules]]\nname = \"rule {i}\"\neffect = \"{effect}\"\n{when}\n"
        )?;
    }
    Config::parse(&text, "bench.toml", std::iter::empty(), placet_inspect::builtin())
        .context("the bench's own rules are refused")
}

/// A call by the agent `bench`.
pub(crate) fn call(tool: &str, args: Value, session: usize, id: &str) -> anyhow::Result<ToolCall> {
    Ok(ToolCall {
        id: CallId::new(id)?,
        tool: ToolName::new(tool)?,
        args: Args::from_value(args)?,
        session: SessionId::new(format!("session-{session}"))?,
        origin: Origin {
            agent: AgentId::new("bench")?,
            agent_path: Vec::new(),
            chat: None,
            user: None,
        },
        group: None,
        description: None,
    })
}

/// Arguments of about 2 KiB, different for every `number`.
pub(crate) fn args(number: usize) -> Value {
    let text = "replicas: 3\nimage: registry.example.com/api\nenv: production\n".repeat(TEXT_BYTES / 61 + 1);
    let text = text.get(..TEXT_BYTES).unwrap_or_default();
    json!({ "service": "api", "revision": number, "manifest": text })
}

/// An engine on a file in `folder`, with a policy of fifty rules; every unknown call goes to the inbox.
pub(crate) async fn engine(folder: &Path) -> anyhow::Result<Engine> {
    Ok(Engine::builder(config(50)?)
        .workspace(folder)
        .start(&folder.join("placet.db"))
        .await?)
}

/// Parks one call on a question.
pub(crate) async fn park(
    engine: &Engine,
    session: usize,
    number: usize,
) -> anyhow::Result<(CallKey, InteractionId)> {
    let call = call("deploy", args(number), session, &format!("call-{number}"))?;
    let key = CallKey {
        agent: call.origin.agent.clone(),
        call: call.id.clone(),
    };
    match engine.gate().propose(call).await? {
        Proposed::Parked { on, .. } => Ok((key, on)),
        other => anyhow::bail!("a call that should need approval was {other:?}"),
    }
}

/// A person at the inbox who approves.
pub(crate) fn approval() -> anyhow::Result<Answer> {
    Ok(Answer {
        by: Principal::Person {
            person: PersonId::new("ana")?,
            via: Via::Inbox,
        },
        option: "approve".to_owned(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Program,
    })
}
