//! The command line. Texts become the core's own types here, once; invalid ones are refused with exit status 2.
//!
//! What `--help` says about commands and arguments is in `messages/*/help.toml`; [`help`](crate::help) puts it in. Here are only the command
//! lines of the examples, as `after_help`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use placet_core::ids::{AgentId, PersonId, SessionId, ToolName};
use placet_core::messages::Locale;
use placet_core::policy::Mode;
use placet_core::time::{Millis, Timestamp};
use placet_store::Anchor;

use crate::moment;

mod chat;
mod grants;
mod init;
mod policy;
mod run;
mod serve;

pub(crate) use chat::{ChatArgs, Resume};
pub(crate) use grants::{GrantsArgs, GrantsCommand};
pub(crate) use init::{InitArgs, Pack};
pub(crate) use policy::{ReplayArgs, SuggestArgs};
pub(crate) use run::RunArgs;
pub(crate) use serve::{LogFormat, ServeArgs};

/// Decides whether an agent's tool call needs a person, and proves what was decided.
#[derive(Debug, Parser)]
#[command(name = "placet", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", display_order = 104)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "\
placet demo
placet init
placet check 'git status && rm -rf /'
placet policy explain
placet policy test --config placet.toml
placet chat
placet serve
placet inbox
placet audit list --since 2h
placet audit verify";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(after_help = "placet demo\nplacet demo --yes --keep\nplacet demo --locale zh")]
    Demo(DemoArgs),
    Init(InitArgs),
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    #[command(after_help = run::EXAMPLES)]
    Run(RunArgs),
    #[command(after_help = chat::EXAMPLES)]
    Chat(ChatArgs),
    #[command(after_help = POLICY_EXAMPLES)]
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    #[command(after_help = AUDIT_EXAMPLES)]
    Audit {
        #[command(flatten)]
        store: StoreArgs,
        #[command(subcommand)]
        command: AuditCommand,
    },
    Store {
        #[command(subcommand)]
        command: StoreCommand,
    },
    Grants(GrantsArgs),
    #[command(after_help = INBOX_EXAMPLES)]
    Inbox {
        #[command(flatten)]
        store: StoreArgs,
        #[arg(long = "as", global = true, value_name = "PERSON", value_parser = |text: &str| PersonId::new(text), display_order = 100)]
        person: Option<PersonId>,
        #[command(subcommand)]
        command: Option<InboxCommand>,
    },
    Serve(ServeArgs),
    #[command(after_help = "placet completions bash > ~/.local/share/bash-completion/completions/placet")]
    Completions {
        shell: Shell,
    },
    #[command(after_help = "placet man | man -l -")]
    Man,
}

const CHECK_EXAMPLES: &str = "\
placet check 'git status && rm -rf /'
placet check --tool sql_query --args '{\"sql\":\"DELETE FROM users\"}' --json
placet check --tool write --args-file call.json --mode autoEdit
agent | placet check --tool bash --args - && echo allowed";

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    #[arg(long)]
    pub(crate) yes: bool,
    #[arg(long)]
    pub(crate) keep: bool,
    #[arg(long, value_name = "LANG")]
    pub(crate) locale: Option<Locale>,
    #[arg(long, hide = true, value_name = "DIR")]
    pub(crate) doomed: Option<PathBuf>,
}

/// Which configuration is in force.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[arg(long, value_name = "FILE", env = "PLACET_CONFIG")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[arg(value_name = "LINE", required_unless_present = "tool", conflicts_with_all = ["tool", "args", "args_file"])]
    pub(crate) line: Option<String>,
    #[arg(long, value_parser = |text: &str| ToolName::new(text))]
    pub(crate) tool: Option<ToolName>,
    #[arg(
        long,
        value_name = "JSON",
        required_unless_present_any = ["args_file", "line"],
        conflicts_with = "args_file"
    )]
    pub(crate) args: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub(crate) args_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long, value_parser = mode_parser())]
    pub(crate) mode: Option<Mode>,
    #[arg(long, default_value = "check", value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: SessionId,
    #[arg(long, default_value = "placet", value_parser = |text: &str| AgentId::new(text))]
    pub(crate) agent: AgentId,
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

const POLICY_EXAMPLES: &str = "\
placet policy test
placet policy explain \"force pushes need approval\"
placet policy show --json | jq .rules
placet policy suggest
placet policy replay --config new.toml --since 7d";

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    #[command(after_help = "placet policy test --config placet.toml")]
    Test(StoreArgs),
    #[command(
        after_help = "placet policy explain\nplacet policy explain 1\nplacet policy explain \"force pushes need approval\" --json"
    )]
    Explain {
        rule: Option<String>,
        #[command(flatten)]
        config: ConfigArgs,
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = "placet policy show --json | jq .rules")]
    Show {
        #[command(flatten)]
        config: ConfigArgs,
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = policy::SUGGEST_EXAMPLES)]
    Suggest(SuggestArgs),
    #[command(after_help = policy::REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
}

/// `placet store`.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    #[command(after_help = "\
placet store copy ~/.local/share/placet/placet.db postgres://placet@db.example.com/placet
placet store copy env:PLACET_STORE_URL backup.db")]
    Copy {
        from: String,
        to: String,
        #[arg(long)]
        json: bool,
    },
}

/// Which store is read. Shown after a command's own flags.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "PLACET_DATA",
        display_order = 101
    )]
    pub(crate) data: Option<PathBuf>,
    #[arg(long, global = true, value_name = "FILE", display_order = 102)]
    pub(crate) db: Option<PathBuf>,
    #[arg(
        long,
        global = true,
        value_name = "URL",
        conflicts_with = "db",
        display_order = 102
    )]
    pub(crate) store: Option<String>,
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "PLACET_CONFIG",
        display_order = 103
    )]
    pub(crate) config: Option<PathBuf>,
}

const INBOX_EXAMPLES: &str = "\
placet inbox
placet inbox list --json
placet inbox show K7QP
placet inbox answer K7QP reject --reason 'the build is still needed'
placet inbox answer K7QP approve --args '{\"command\":\"ls -l\"}'
placet inbox answer K7QP approve --remember 1 --for 8h";

const INBOX_ANSWER_EXAMPLES: &str = "\
placet inbox answer K7QP approve
placet inbox answer K7QP reject --reason 'the build is still needed'
placet inbox answer K7QP approve --remember 1 --for 8h";

#[derive(Debug, Subcommand)]
pub(crate) enum InboxCommand {
    #[command(after_help = "placet inbox list\nplacet inbox list --json --session job-1")]
    List(InboxListArgs),
    #[command(after_help = "placet inbox show K7QP\nplacet inbox show int_0192f0c1… --json")]
    Show {
        question: String,
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = INBOX_ANSWER_EXAMPLES)]
    Answer(InboxAnswerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InboxListArgs {
    #[arg(long, value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: Option<SessionId>,
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InboxAnswerArgs {
    pub(crate) question: String,
    pub(crate) option: String,
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[arg(long, value_name = "JSON")]
    pub(crate) info: Option<String>,
    #[arg(long, value_name = "JSON", conflicts_with = "args_file")]
    pub(crate) args: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub(crate) args_file: Option<PathBuf>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    #[arg(long, value_name = "SCOPE")]
    pub(crate) remember: Option<usize>,
    #[arg(long = "for", value_name = "TIME", requires = "remember", value_parser = moment::length)]
    pub(crate) lasts: Option<Millis>,
    #[arg(long)]
    pub(crate) json: bool,
}

const AUDIT_EXAMPLES: &str = "\
placet audit list --since 2h --type asked,resolved
placet audit show int_0192f0c1…
placet audit verify --anchor 1234:9f86d081…
placet audit export --format csv --output november.csv --since 2026-11-01";

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    #[command(after_help = "placet audit list --since 2h --type asked,resolved")]
    List(ListArgs),
    #[command(after_help = "placet audit show int_0192f0c1…")]
    Show {
        id: String,
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = "placet audit verify --anchor 1234:9f86d081…")]
    Verify {
        #[arg(long, value_name = "ROWS:HASH")]
        anchor: Option<Anchor>,
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = "placet audit export --format csv --output november.csv --since 2026-11-01")]
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(long, value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: Option<SessionId>,
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) since: Option<Timestamp>,
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = PossibleValuesParser::new(EVENT_TYPES))]
    pub(crate) types: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(crate) format: Format,
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[arg(long, value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: Option<SessionId>,
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) since: Option<Timestamp>,
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    Jsonl,
    Csv,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Holds for everything printed from now on.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(["default", "autoEdit", "yolo"])
        .try_map(|name| serde_json::from_value::<Mode>(serde_json::Value::String(name)))
}

/// The names of events, as [`Event::name`](placet_core::journal::Event::name) gives them.
const EVENT_TYPES: [&str; 26] = [
    "callReceived",
    "asked",
    "joined",
    "escalated",
    "voted",
    "resolved",
    "processed",
    "settled",
    "claimed",
    "finished",
    "lostTrack",
    "standingGiven",
    "standingUsed",
    "standingRevoked",
    "toolAllowed",
    "modeSet",
    "sessionEnded",
    "messageQueued",
    "runStarted",
    "userSaid",
    "modelTurn",
    "runInterrupted",
    "runEnded",
    "delivered",
    "outage",
    "started",
];

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn event_types_are_the_names_events_have() {
        for name in EVENT_TYPES {
            let error =
                serde_json::from_value::<placet_core::journal::Event>(serde_json::json!({ "type": name }));
            let refused = error.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!refused.contains("unknown variant"), "{name}: {refused}");
        }
    }
}
