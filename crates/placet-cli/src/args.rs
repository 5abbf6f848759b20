//! The command line. Texts become the core's own types here, once; what does not fit is refused with exit status 2.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use placet_core::ids::{AgentId, PersonId, SessionId, ToolName};
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
    /// When to use colours. `auto` also honours `NO_COLOR`.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", display_order = 104)]
    pub(crate) color: Color,
    /// Without one, `placet` says where you are and what to do next.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  placet demo
  placet init
  placet check 'git status && rm -rf /'
  placet policy explain
  placet policy test --config placet.toml
  placet chat
  placet serve
  placet inbox
  placet audit list --since 2h
  placet audit verify

Exit status: 0 done or allowed, 1 audit or policy findings, or a run that could not go on, 2 bad input, 3 ask, already decided, or a changed policy,
4 deny, 5 waits for people, 6 ended by a person.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Meet Placet in a minute: a scripted agent works in a temporary folder, and you decide
    #[command(after_help = "Examples:\n  placet demo\n  placet demo --yes --keep\n  placet demo --chinese")]
    Demo(DemoArgs),
    /// Write a `placet.toml` to start from, with every key explained
    Init(InitArgs),
    /// Explain what the policy says about a call; nothing is asked, run or stored
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Let the built-in agent do a task; what needs a person waits in the inbox
    #[command(after_help = run::EXAMPLES)]
    Run(RunArgs),
    /// Talk to the built-in agent; what needs you is asked in the conversation
    #[command(after_help = chat::EXAMPLES)]
    Chat(ChatArgs),
    /// Test, show and explain the rules in force; propose new ones; try another file on past calls
    #[command(after_help = POLICY_EXAMPLES)]
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Read, verify and export the journal; a running placet is not disturbed
    #[command(after_help = AUDIT_EXAMPLES)]
    Audit {
        #[command(flatten)]
        store: StoreArgs,
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Copy an installation to another store
    Store {
        #[command(subcommand)]
        command: StoreCommand,
    },
    /// List and revoke standing approvals
    Grants(GrantsArgs),
    /// Review pending requests (full screen by default)
    #[command(after_help = INBOX_EXAMPLES)]
    Inbox {
        #[command(flatten)]
        store: StoreArgs,
        /// Answer as this person; else the person with your user name as `terminal` account or as name in `[[people]]`
        #[arg(long = "as", global = true, value_name = "PERSON", value_parser = |text: &str| PersonId::new(text), display_order = 100)]
        person: Option<PersonId>,
        #[command(subcommand)]
        command: Option<InboxCommand>,
    },
    /// Serve the HTTP API and the web inbox
    Serve(ServeArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  placet completions bash > ~/.local/share/bash-completion/completions/placet"
    )]
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the manual page
    #[command(after_help = "Example:\n  placet man | man -l -")]
    Man,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  placet check 'git status && rm -rf /'
  placet check --tool sql_query --args '{\"sql\":\"DELETE FROM users\"}' --json
  placet check --tool write --args-file call.json --mode autoEdit
  agent | placet check --tool bash --args - && echo allowed

Exit status: 0 allow, 3 ask, 4 deny, 2 bad input.
The fields of --json are described in docs/cli.md.";

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Let a script answer instead of you; needs no terminal
    #[arg(long)]
    pub(crate) yes: bool,
    /// Leave the folder behind, to look at it with `placet audit --db`
    #[arg(long)]
    pub(crate) keep: bool,
    /// In Chinese
    #[arg(long)]
    pub(crate) chinese: bool,
    /// Be the second process of the last scene, which is killed while it waits
    #[arg(long, hide = true, value_name = "DIR")]
    pub(crate) doomed: Option<PathBuf>,
}

/// Which configuration is in force.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration; else ./placet.toml, else the one in your config folder, else built-in defaults
    #[arg(long, value_name = "FILE", env = "PLACET_CONFIG")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// A shell command line, short for `--tool bash --args '{"command": LINE}'`
    #[arg(value_name = "LINE", required_unless_present = "tool", conflicts_with_all = ["tool", "args", "args_file"])]
    pub(crate) line: Option<String>,
    /// The tool's name
    #[arg(long, value_parser = |text: &str| ToolName::new(text))]
    pub(crate) tool: Option<ToolName>,
    /// The arguments as a JSON object; `-` reads them from standard input
    #[arg(
        long,
        value_name = "JSON",
        required_unless_present_any = ["args_file", "line"],
        conflicts_with = "args_file"
    )]
    pub(crate) args: Option<String>,
    /// A file with the arguments as a JSON object
    #[arg(long, value_name = "FILE")]
    pub(crate) args_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// The session's mode, when it differs from the configured one
    #[arg(long, value_parser = mode_parser())]
    pub(crate) mode: Option<Mode>,
    /// The session; `CHANNEL:CHAT` of a configured channel is a session in that chat
    #[arg(long, default_value = "check", value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: SessionId,
    /// Which agent makes the call; `placet` is the built-in one, and only its tools are known by their names
    #[arg(long, default_value = "placet", value_parser = |text: &str| AgentId::new(text))]
    pub(crate) agent: AgentId,
    /// The folder the agent works in, when it is not the configured one
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

const POLICY_EXAMPLES: &str = "\
Examples:
  placet policy test
  placet policy explain \"force pushes need approval\"
  placet policy show --json | jq .rules
  placet policy suggest
  placet policy replay --config new.toml --since 7d";

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Check the file, try the rules' own examples (`matches`, `not_matches`), and find rules that can never apply
    #[command(
        after_help = "Example:\n  placet policy test --config placet.toml\n\nA rule can never apply when it names a tool that is neither built in, nor declared, nor used by any call in the\n\
        journal, or an SQL verb that does not exist.\n\n\
        Exit status: 0 every example holds, 1 a rule can never apply, 2 the file is refused."
    )]
    Test(StoreArgs),
    /// Say in plain words what each rule means: when, who, how many, how long
    #[command(
        after_help = "Examples:\n  placet policy explain\n  placet policy explain 1\n  placet policy explain \"force pushes need approval\" --json"
    )]
    Explain {
        /// Only this rule, by its name or its number; else all of them, and what holds without one
        rule: Option<String>,
        #[command(flatten)]
        config: ConfigArgs,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the rules in force, in order, and the settings around them
    #[command(after_help = "Example:\n  placet policy show --json | jq .rules")]
    Show {
        #[command(flatten)]
        config: ConfigArgs,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Propose rules for what people always approved
    #[command(after_help = policy::SUGGEST_EXAMPLES)]
    Suggest(SuggestArgs),
    /// Show which past verdicts another configuration would change
    #[command(after_help = policy::REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
}

/// `placet store`.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy a store to an empty one, and verify the copy; stop what runs on either first
    #[command(after_help = "\
Examples:
  placet store copy ~/.local/share/placet/placet.db postgres://placet@db.example.com/placet
  placet store copy env:PLACET_STORE_URL backup.db")]
    Copy {
        /// The store to copy: a file, a `postgres://…` URL, or `env:NAME` or `file:PATH` where the URL is kept
        from: String,
        /// Where to copy it to, written the same way
        to: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Which store is read. Shown after a command's own flags.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// The data folder; else `$XDG_DATA_HOME/placet` or `~/.local/share/placet`
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "PLACET_DATA",
        display_order = 101
    )]
    pub(crate) data: Option<PathBuf>,
    /// The database file itself; else `store.path` of the configuration, in the data folder
    #[arg(long, global = true, value_name = "FILE", display_order = 102)]
    pub(crate) db: Option<PathBuf>,
    /// A PostgreSQL database instead: `postgres://user@host/database`, or `env:NAME` or `file:PATH` where that is kept; else `store.url`
    #[arg(
        long,
        global = true,
        value_name = "URL",
        conflicts_with = "db",
        display_order = 102
    )]
    pub(crate) store: Option<String>,
    /// The configuration; else ./placet.toml, else the one in your config folder, else built-in defaults
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
Examples:
  placet inbox
  placet inbox list --json
  placet inbox show K7QP
  placet inbox answer K7QP reject --reason 'the build is still needed'
  placet inbox answer K7QP approve --args '{\"command\":\"ls -l\"}'
  placet inbox answer K7QP approve --remember 1 --for 8h

Exit status: 0 done, 2 bad input or not yours to answer, 3 already decided or expired.";

const INBOX_ANSWER_EXAMPLES: &str = "\
Examples:
  placet inbox answer K7QP approve
  placet inbox answer K7QP reject --reason 'the build is still needed'
  placet inbox answer K7QP approve --remember 1 --for 8h

Exit status: 0 done, 2 bad input or not yours to answer, 3 already decided or expired.";

#[derive(Debug, Subcommand)]
pub(crate) enum InboxCommand {
    /// List pending requests, most urgent first
    #[command(after_help = "Examples:\n  placet inbox list\n  placet inbox list --json --session job-1")]
    List(InboxListArgs),
    /// Everything about one question: what would happen, why it is asked, how to answer
    #[command(after_help = "Examples:\n  placet inbox show K7QP\n  placet inbox show int_0192f0c1… --json")]
    Show {
        /// The question's id (`int_…`) or code (`K7QP`)
        question: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Answer one question; it is printed to standard error in full first
    #[command(after_help = INBOX_ANSWER_EXAMPLES)]
    Answer(InboxAnswerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InboxListArgs {
    /// Only this session
    #[arg(long, value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: Option<SessionId>,
    /// At most so many, the most urgent
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InboxAnswerArgs {
    /// The question's id (`int_…`) or code (`K7QP`)
    pub(crate) question: String,
    /// One of the options `show` lists: `approve`, `reject`, `retry`, `info`, `skip`, `terminate`, …
    pub(crate) option: String,
    /// A reason, feedback, or the text the option asks for
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Information asked for, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) info: Option<String>,
    /// Approve with these arguments instead, as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "args_file")]
    pub(crate) args: Option<String>,
    /// The same, from a file
    #[arg(long, value_name = "FILE")]
    pub(crate) args_file: Option<PathBuf>,
    /// A message for the agent, sent along
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    /// Don't ask again: the number of a scope that `show` lists
    #[arg(long, value_name = "SCOPE")]
    pub(crate) remember: Option<usize>,
    /// For how long: `15m`, `8h`, `7d`; else an hour in this conversation, 30 days in this project, a year as a rule
    #[arg(long = "for", value_name = "TIME", requires = "remember", value_parser = moment::length)]
    pub(crate) lasts: Option<Millis>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const AUDIT_EXAMPLES: &str = "\
Examples:
  placet audit list --since 2h --type asked,resolved
  placet audit show int_0192f0c1…
  placet audit verify --anchor 1234:9f86d081…
  placet audit export --format csv --output november.csv --since 2026-11-01";

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// What happened, one line each, newest last
    #[command(after_help = "Example:\n  placet audit list --since 2h --type asked,resolved")]
    List(ListArgs),
    /// Everything about one question, call or journal row
    #[command(after_help = "Example:\n  placet audit show int_0192f0c1…")]
    Show {
        /// A question (`int_…`), a call's id, or a row's number
        id: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check every row from the first one on, and the tables made from them
    #[command(after_help = "Example:\n  placet audit verify --anchor 1234:9f86d081…\n\n\
        Exit status: 0 sound, 1 something is wrong, 2 it could not be checked.\n\
        Keep the printed anchor somewhere else: with --anchor a later check also finds a file that was\n\
        replaced by an older copy of itself, or forged as a whole.")]
    Verify {
        /// An anchor printed by an earlier check: `ROWS:HASH`
        #[arg(long, value_name = "ROWS:HASH")]
        anchor: Option<Anchor>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write the journal as JSON lines or CSV, in bounded memory
    #[command(
        after_help = "Example:\n  placet audit export --format csv --output november.csv --since 2026-11-01\n\n\
        Rows are exported as they are stored: secrets in arguments are not masked."
    )]
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only this session
    #[arg(long, value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: Option<SessionId>,
    /// Only from this moment on: `2026-11-03T10:00:00Z`, `2026-11-03`, or `2h` for two hours ago
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) since: Option<Timestamp>,
    /// Only these kinds of events
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = PossibleValuesParser::new(EVENT_TYPES))]
    pub(crate) types: Vec<String>,
    /// At most so many rows, the newest
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(crate) format: Format,
    /// The file to write; else standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file when it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Only this session
    #[arg(long, value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: Option<SessionId>,
    /// Only from this moment on
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) since: Option<Timestamp>,
    /// Only before this moment
    #[arg(long, value_name = "TIME", value_parser = moment::parse)]
    pub(crate) until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Also into a pipe
    Always,
    /// Nowhere
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
