//! Starting cargo and other programs.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use anyhow::Context;

/// The cargo that started us, so that a `+toolchain` on the command line holds for what we start too.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.args(args);
    command
}

/// Runs `command` with its output shown, and says whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> anyhow::Result<bool> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {command:?}"))?;
    Ok(status.success())
}

/// Runs `command` silently; a program that does not exist answers no, like one that fails.
pub(crate) fn answers(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
