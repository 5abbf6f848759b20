//! Commands that only start another program of the workspace.

use std::process::ExitCode;

use crate::cargo::{cargo, succeeds};

/// Runs `package` in release mode, with every argument passed on and the caller's folder kept.
pub(crate) fn run(package: &str, args: &[String]) -> anyhow::Result<ExitCode> {
    let mut command = cargo(&["run", "--release", "--quiet", "--package", package, "--"]);
    Ok(if succeeds(command.args(args))? {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
