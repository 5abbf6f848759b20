//! The arguments of `placet init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
placet init
placet init ~/.config/placet
placet init --pack coding
placet init && placet policy test && placet policy explain";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    #[arg(long)]
    pub(crate) force: bool,
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) pack: Option<Pack>,
}

/// A set of rules for a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pack {
    Coding,
    Database,
    Ci,
    Strict,
}
