//! The killer: starts a worker as a process of its own, and kills it with SIGKILL.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::Failure;
use crate::worker::{DIR, GOAL, Goal, MARK, SEED};

/// Runs a worker until it has made `marks` marks of progress, and kills it there: the mark was made just before or just
/// after something interesting, and the worker has gone on for as long as the kill took to arrive.
pub(crate) fn kill_after(dir: &Path, seed: u64, marks: usize) -> Result<(), Failure> {
    let mut worker = start(dir, seed, Goal::Work)?;
    let reached = marks_seen(&mut worker, marks)?;
    worker.kill()?;
    let status = worker.wait()?;
    if reached < marks || !killed(status) {
        return Err(format!("the worker ended by itself after {reached} marks: {status}").into());
    }
    Ok(())
}

/// Runs a worker until all that is left is done.
pub(crate) fn let_finish(dir: &Path, seed: u64) -> Result<(), Failure> {
    let mut worker = start(dir, seed, Goal::Finish)?;
    marks_seen(&mut worker, usize::MAX)?;
    let status = worker.wait()?;
    if !status.success() {
        return Err(format!("the worker could not finish: {status}").into());
    }
    Ok(())
}

fn start(dir: &Path, seed: u64, goal: Goal) -> Result<Child, Failure> {
    Ok(Command::new(std::env::current_exe()?)
        .args(["--exact", "worker_entry", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .env(SEED, seed.to_string())
        .env(GOAL, goal.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?)
}

/// Waits for `wanted` marks, or for the end of the worker.
fn marks_seen(worker: &mut Child, wanted: usize) -> Result<usize, Failure> {
    let mut progress = worker.stdout.take().ok_or("the worker has no output")?;
    let (mut seen, mut byte) = (0, [0]);
    while seen < wanted && progress.read(&mut byte)? > 0 {
        // The test harness of the worker writes here too.
        seen += usize::from(byte == [MARK]);
    }
    // Kept open until the kill: a worker without a listener ends by itself.
    worker.stdout = Some(progress);
    Ok(seen)
}

#[cfg(unix)]
fn killed(status: ExitStatus) -> bool {
    /// SIGKILL has this number on every Unix.
    const KILL: i32 = 9;
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(KILL)
}

#[cfg(not(unix))]
fn killed(status: ExitStatus) -> bool {
    !status.success()
}
