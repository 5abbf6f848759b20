//! The arguments of `placet init`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  placet init                      # ./placet.toml
  placet init ~/.config/placet     # for everything you run
  placet init && placet policy test && placet policy explain";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    /// The folder to write `placet.toml` into
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Replace the file when it exists
    #[arg(long)]
    pub(crate) force: bool,
}
