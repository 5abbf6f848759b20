//! The arguments of `placet init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  placet init                      # ./placet.toml
  placet init ~/.config/placet     # for everything you run
  placet init --pack coding        # rules for a coding agent
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
    /// Write a set of rules for a purpose instead of the file that explains every key
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) pack: Option<Pack>,
}

/// A set of rules for a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pack {
    /// A coding agent: edits, builds and tests run; pushes need approval; publishing is denied
    Coding,
    /// Databases: reading runs; every change of rows needs approval; changes of structure are denied
    Database,
    /// A pipeline: builds and tests run; nothing is pushed, published or deployed
    Ci,
    /// Everything not known to be harmless needs approval, every time
    Strict,
}
