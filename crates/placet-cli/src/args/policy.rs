//! The arguments of `placet policy suggest` and `placet policy replay`.

use clap::Args;
use placet_core::time::Timestamp;

use super::StoreArgs;
use crate::moment;

pub(super) const SUGGEST_EXAMPLES: &str = "\
placet policy suggest
placet policy suggest --since 30d --min 5 >> placet.toml
placet policy suggest --json | jq -r '.suggestions[].toml'";

pub(super) const REPLAY_EXAMPLES: &str = "\
placet policy replay --config new.toml --since 7d
placet policy replay --config new.toml --json | jq '.changes[] | select(.refusedThen)'";

#[derive(Debug, Args)]
pub(crate) struct SuggestArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = moment::parse)]
    pub(crate) since: Timestamp,
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) min: u32,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = moment::parse)]
    pub(crate) since: Timestamp,
    #[arg(long)]
    pub(crate) json: bool,
}
