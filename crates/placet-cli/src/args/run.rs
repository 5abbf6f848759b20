//! The arguments of `placet run`.

use clap::Args;
use placet_core::ids::{SessionId, ToolName};

use super::StoreArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  placet run 'tidy up the build folder'
  placet run 'tidy up the build folder' --wait
  placet run 'tidy up the build folder' --json
  placet run --workflow triage.toml 'the newest report'
  placet run --allow write 'tidy up the build folder'
  placet run --resume run_0192f0c1…

Exit status: 0 done, 1 failed or out of time or turns, 2 bad input, 5 approval pending (without --wait), 6 ended by a person.";

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The task
    #[arg(required_unless_present_any = ["resume", "workflow"])]
    pub(crate) task: Option<String>,
    /// Continue the run of this session instead
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["task", "session", "workflow"], value_parser = |text: &str| SessionId::new(text))]
    pub(crate) resume: Option<SessionId>,
    /// The session to work in (default: a new one)
    #[arg(long, value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: Option<SessionId>,
    /// Run a workflow: a file, or the NAME of one in `[workflows]`. The task is its input
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) workflow: Option<String>,
    /// The model, when it is not the configured one: the NAME of a `[models.NAME]`
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Let this tool run unasked in the session; high risk and rules that ask still ask. May be repeated
    #[arg(long, value_name = "TOOL", value_parser = |text: &str| ToolName::new(text))]
    pub(crate) allow: Vec<ToolName>,
    /// Wait for approvals instead of ending with status 5. Ctrl-C leaves the run in the store; `--resume` continues it
    #[arg(long)]
    pub(crate) wait: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
