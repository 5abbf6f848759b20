//! The arguments of `placet chat`.

use clap::Args;
use placet_core::ids::{IdError, SessionId};

use super::StoreArgs;

pub(super) const EXAMPLES: &str = "\
placet chat
placet chat --resume
placet chat --resume chat_0192f0c1… --model small";

/// `placet chat`.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", value_parser = resume)]
    pub(crate) resume: Option<Resume>,
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Which conversation to continue.
#[derive(Debug, Clone)]
pub(crate) enum Resume {
    /// The newest one.
    Newest,
    /// This one.
    Session(SessionId),
}

fn resume(text: &str) -> Result<Resume, IdError> {
    if text.is_empty() {
        return Ok(Resume::Newest);
    }
    SessionId::new(text).map(Resume::Session)
}
