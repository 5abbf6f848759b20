//! Shell completions and the manual page, made from the same definitions as the commands themselves.

use std::io::Write as _;

use clap_complete::Shell;

use crate::exit::Exit;
use crate::{help, locale};

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut help::command(locale::current()),
        "placet",
        &mut script,
    );
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Success)
}

/// Prints the manual page: `placet man | man -l -`.
pub(crate) fn man() -> anyhow::Result<Exit> {
    let mut page = Vec::new();
    clap_mangen::Man::new(help::command(locale::current())).render(&mut page)?;
    std::io::stdout().lock().write_all(&page)?;
    Ok(Exit::Success)
}
