//! The arguments of `placet run`.

use clap::Args;
use placet_core::ids::{SessionId, ToolName};

use super::StoreArgs;

pub(super) const EXAMPLES: &str = "\
placet run 'tidy up the build folder'
placet run 'tidy up the build folder' --wait
placet run 'tidy up the build folder' --json
placet run --workflow triage.toml 'the newest report'
placet run --allow write 'tidy up the build folder'
placet run --resume run_0192f0c1…";

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[arg(required_unless_present_any = ["resume", "workflow"])]
    pub(crate) task: Option<String>,
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["task", "session", "workflow"], value_parser = |text: &str| SessionId::new(text))]
    pub(crate) resume: Option<SessionId>,
    #[arg(long, value_parser = |text: &str| SessionId::new(text))]
    pub(crate) session: Option<SessionId>,
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) workflow: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[arg(long, value_name = "TOOL", value_parser = |text: &str| ToolName::new(text))]
    pub(crate) allow: Vec<ToolName>,
    #[arg(long)]
    pub(crate) wait: bool,
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
