//! The arguments of `placet grants`.

use clap::{Args, Subcommand};
use placet_core::ids::{PersonId, StandingGrantId};

use super::StoreArgs;

const EXAMPLES: &str = "\
placet grants list
placet grants list --json | jq -r '.[] | select(.by == \"lin\") | .id'
placet grants revoke sg_0192f0c1… --as lin
placet grants export >> placet.toml";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GrantsArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(subcommand)]
    pub(crate) command: GrantsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    #[command(after_help = "placet grants list --data ./data")]
    List {
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = "placet grants export >> placet.toml && placet policy test")]
    Export,
    #[command(after_help = "placet grants revoke sg_0192f0c1… --as lin")]
    Revoke {
        #[arg(value_parser = |text: &str| StandingGrantId::new(text))]
        id: StandingGrantId,
        #[arg(long = "as", value_name = "PERSON", value_parser = |text: &str| PersonId::new(text))]
        by: Option<PersonId>,
    },
}
