//! The arguments of `placet policy suggest` and `placet policy replay`.

use clap::Args;
use placet_core::time::Timestamp;

use super::StoreArgs;
use crate::moment;

pub(super) const SUGGEST_EXAMPLES: &str = "\
Finds questions that people always approved, and proposes allow rules for them, ready to paste into placet.toml. Never for
HIGH risk, never for what a rule asks about, never where a person once said no.

Examples:
  placet policy suggest
  placet policy suggest --since 30d --min 5 >> placet.toml
  placet policy suggest --json | jq -r '.suggestions[].toml'

Exit status: 0 done, 2 bad input.";

pub(super) const REPLAY_EXAMPLES: &str = "\
Judges the calls in the journal again under another configuration. Nobody is asked and nothing is stored. The calls are
inspected by this version of placet, with the workspace as it is now.

Examples:
  placet policy replay --config new.toml --since 7d
  placet policy replay --config new.toml --json | jq '.changes[] | select(.refusedThen)'

Exit status: 0 nothing changes, 3 some calls would be decided differently, 1 a call that a person refused would be allowed,
2 bad input.";

#[derive(Debug, Args)]
pub(crate) struct SuggestArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Only calls from this moment on: `2026-11-03T10:00:00Z`, `2026-11-03`, or `30d` for thirty days ago
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = moment::parse)]
    pub(crate) since: Timestamp,
    /// Only what was approved at least so often
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) min: u32,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Only calls from this moment on: `2026-11-03T10:00:00Z`, `2026-11-03`, or `7d` for seven days ago
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = moment::parse)]
    pub(crate) since: Timestamp,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
