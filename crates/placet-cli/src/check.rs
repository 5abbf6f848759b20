//! `placet check`: what the policy says about one call, and why. Nothing is asked, run or stored.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context as _;
use placet_agent::{configured, sandbox};
use placet_core::analysis::{Analysis, Places as _};
use placet_core::call::{ARGS_BYTES_MAX, Args, CallDigest, Chat, Origin, ToolCall};
use placet_core::config::Config;
use placet_core::ids::{CallId, ChannelName, ChatId, SessionId, ToolName};
use placet_core::messages::{cannot, refused};
use placet_core::policy::Context;
use placet_core::time::Millis;
use placet_core::verdict::{Decision, Verdict};
use placet_engine::places::DiskPlaces;

use crate::args::CheckArgs;
use crate::config_file::{self, Source};
use crate::exit::Exit;
use crate::{locale, output};

mod human;
mod json;

/// Arguments as they should look.
const EXAMPLE: &str = r#"'{"command":"git status"}'"#;

/// Everything there is to say about a checked call.
struct Checked {
    call: ToolCall,
    digest: CallDigest,
    analysis: Analysis,
    verdict: Verdict,
    /// How long people would have.
    timeout: Millis,
    policy: placet_core::digest::Digest,
    source: Source,
    workspace: String,
    /// Why nothing confines a command of the built-in agent.
    unconfined: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    let checked = check(args)?;
    let exit = Exit::from(&checked.verdict.decision);
    let text = if args.json {
        json::text(&checked)?
    } else {
        human::text(&checked)
    };
    output::print(&text)?;
    Ok(exit)
}

fn check(args: &CheckArgs) -> anyhow::Result<Checked> {
    let loaded = config_file::load(args.config.config.as_deref())?;
    let config = &loaded.config;
    let root = args
        .workspace
        .as_deref()
        .unwrap_or(Path::new(&config.workspace.root));
    let places = DiskPlaces::new(root, std::env::home_dir().as_deref())
        .with_context(|| locale::say(&refused::no_workspace()))?;
    let call = call(args, config)?;
    let tool = config.tool_of(&call);
    let analysis = config.inspect.inspect(&tool, &call.args, &places).analysis;
    let digest = call.digest();
    let confinement = configured::confinement(config, &call);
    let unconfined = sandbox::confines(&call).then(|| configured::sandbox(config).warning());
    let verdict = config.policy.decide(
        &call,
        &tool,
        &analysis,
        &Context {
            mode: args.mode,
            confinement: confinement.as_ref(),
            ..Context::alone(digest, places.workspace())
        },
    );
    let wanted = match &verdict.decision {
        Decision::Ask(terms) => terms.timeout,
        Decision::Allow | Decision::Deny => None,
    };
    let channel = call.origin.chat.as_ref().map(|chat| &chat.channel);
    Ok(Checked {
        timeout: config.timeout(wanted, None, channel),
        policy: config.policy.version(),
        workspace: places.workspace().to_owned(),
        source: loaded.source,
        call,
        digest,
        analysis,
        verdict,
        unconfined: unconfined.flatten(),
    })
}

fn call(args: &CheckArgs, config: &Config) -> anyhow::Result<ToolCall> {
    Ok(ToolCall {
        id: CallId::new("check")?,
        // Without a tool there is a command line.
        tool: args.tool.clone().map_or_else(|| ToolName::new("bash"), Ok)?,
        args: read_args(args)?,
        session: args.session.clone(),
        origin: Origin {
            agent: args.agent.clone(),
            agent_path: Vec::new(),
            chat: chat_of(&args.session, config),
            user: None,
        },
        group: None,
        description: None,
    })
}

/// The chat a session is held in: its name is `channel:chatId`, and the channel is one we know.
fn chat_of(session: &SessionId, config: &Config) -> Option<Chat> {
    let (channel, id) = session.as_str().split_once(':')?;
    let channel = ChannelName::new(channel)
        .ok()
        .filter(|channel| config.channels.contains_key(channel))?;
    Some(Chat {
        channel,
        id: ChatId::new(id).ok()?,
    })
}

fn read_args(args: &CheckArgs) -> anyhow::Result<Args> {
    if let Some(line) = &args.line {
        let json = serde_json::json!({ "command": line }).to_string();
        return Ok(Args::parse(json.as_bytes())?);
    }
    let json = match (&args.args_file, args.args.as_deref()) {
        (Some(path), _) => {
            let shown = path.display();
            let cannot = || locale::say(&cannot::read_arguments(&shown));
            at_most(File::open(path).with_context(cannot)?).with_context(cannot)?
        }
        (None, Some("-")) => {
            at_most(std::io::stdin().lock()).with_context(|| locale::say(&cannot::read_input()))?
        }
        (None, given) => given.unwrap_or_default().as_bytes().to_vec(),
    };
    Args::parse(&json).map_err(|error| locale::error(&refused::arguments(EXAMPLE, error)))
}

/// One byte more than is accepted, so that what is too long is seen to be, and an endless file ends.
fn at_most(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(ARGS_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
