//! The arguments of `placet grants`.

use clap::{Args, Subcommand};
use placet_core::ids::{PersonId, StandingGrantId};

use super::StoreArgs;

const EXAMPLES: &str = "\
A standing approval is an approver's \"don't ask again\": what it covers, until when, and how often it was used.

Examples:
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
    /// List the standing approvals in force; works beside a running placet
    #[command(after_help = "Example:\n  placet grants list --data ./data")]
    List {
        /// Print one JSON array
        #[arg(long)]
        json: bool,
    },
    /// Print standing approvals that are rules as TOML, to keep them in placet.toml
    #[command(after_help = "Example:\n  placet grants export >> placet.toml && placet policy test")]
    Export,
    /// Revoke a standing approval: from now on approvers are asked again
    #[command(after_help = "Example:\n  placet grants revoke sg_0192f0c1… --as lin")]
    Revoke {
        /// Its id, as `placet grants list` shows it
        #[arg(value_parser = |text: &str| StandingGrantId::new(text))]
        id: StandingGrantId,
        /// Who revokes it; else the person with your user name as `terminal` account or as name in `[[people]]`
        #[arg(long = "as", value_name = "PERSON", value_parser = |text: &str| PersonId::new(text))]
        by: Option<PersonId>,
    },
}
