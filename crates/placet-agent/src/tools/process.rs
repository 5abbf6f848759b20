//! A shell with everything it starts: one process group, ended as a whole, also when Placet itself is killed.

use std::collections::BTreeSet;
use std::fmt;
use std::io::PipeWriter;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::sandbox::{Cell, Guard};

/// Runs the line given as `$1`, beside a watcher of the same group. Nothing is ever written to the pipe that is its input, so
/// the watcher reads on until Placet has gone, however it went, and then ends the group. It is no child of the line: programs
/// that wait for all their children would wait for it.
const WATCHED: &str = r#"exec 3<&0 </dev/null
({ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &)
exec 3<&-
exec bash -c "$1""#;

/// What a command that failed under confinement may have lacked.
const CONFINED: &str = "[this command ran confined: outside the workspace and the system's folders, and on the network, it was \
                        denied (\"Permission denied\"). If that is why it failed, call again with `needs` and a `purpose`]";

/// How long the output is read when the group has ended.
const REST_MAX: Duration = Duration::from_secs(1);

/// A shell and everything it started. All of it ends when this is dropped.
pub(super) struct Group {
    shell: Child,
    output: Receiver,
    leash: Leash,
    _lifeline: PipeWriter,
    /// Files to be put back when it has ended, before the folder it ran in goes.
    guard: Option<Guard>,
    cell: Option<Cell>,
}

/// How a group ended.
pub(super) enum End {
    /// When its shell did.
    Itself(std::io::Result<ExitStatus>),
    /// Because its time was over.
    OutOfTime,
}

/// What is known of a group that has ended.
pub(super) struct Ended {
    pub(super) end: End,
    confined: bool,
    /// Guarded files that it changed, and that were put back.
    put_back: Vec<String>,
}

impl Ended {
    /// What the model is told of the sandbox: what was put back, and, when the command failed, what may have been in its way.
    pub(super) fn note(&self) -> Option<String> {
        if !self.put_back.is_empty() {
            let files = self.put_back.join("`, `");
            return Some(format!(
                "[a confined command may not change `{files}`; that was put back. If it must, call again with `needs`: \
                 [\"write outside\"] and a `purpose`]"
            ));
        }
        (self.confined && !self.end.is_success()).then(|| CONFINED.to_owned())
    }
}

impl End {
    pub(super) fn is_success(&self) -> bool {
        matches!(self, Self::Itself(Ok(status)) if status.success())
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Itself(Ok(status)) => status.fmt(f),
            Self::Itself(Err(error)) => write!(f, "how it ended is not known: {error}"),
            Self::OutOfTime => f.write_str("stopped, because its time was over"),
        }
    }
}

/// Ends a group, from anywhere.
#[derive(Clone)]
pub(super) struct Leash(Arc<Mutex<Option<Pid>>>);

impl Leash {
    /// Once: afterwards the number may belong to another process.
    pub(super) fn pull(&self) {
        if let Some(leader) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Gone already is what we want.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Group {
    /// Starts a line in a folder, without these variables of the environment, and confined if there is a cell for it. The error
    /// says why nothing ran.
    pub(super) fn start(
        line: &str,
        folder: &Path,
        hidden: &BTreeSet<String>,
        cell: Option<Cell>,
        guard: Option<Guard>,
    ) -> Result<Self, String> {
        let not_started = |error: std::io::Error| format!("the shell cannot be started: {error}");
        let mut command = Command::new("sh");
        command.args(["-c", WATCHED, "placet", line]).current_dir(folder);
        for name in hidden {
            command.env_remove(name);
        }
        for (name, value) in cell.iter().flat_map(Cell::environment) {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let (watched, lifeline) = std::io::pipe().map_err(not_started)?;
        // One pipe for both, so that errors stand where they happened.
        let (output, input) = std::io::pipe().map_err(not_started)?;
        let copy = input.try_clone().map_err(not_started)?;
        command.stdin(watched).stdout(copy).stderr(input);
        command.process_group(0).kill_on_drop(true);
        let shell = match &cell {
            Some(cell) => cell
                .spawn(|| command.spawn())
                .map_err(|why| format!("nothing ran: the command cannot be confined: {why}"))?,
            None => command.spawn().map_err(not_started)?,
        };
        // Our own copies of the pipe's end would keep it open forever.
        drop(command);
        let leader = shell
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        Ok(Self {
            shell,
            output: Receiver::from_owned_fd(OwnedFd::from(output)).map_err(not_started)?,
            leash: Leash(Arc::new(Mutex::new(leader))),
            _lifeline: lifeline,
            guard,
            cell,
        })
    }

    pub(super) fn leash(&self) -> Leash {
        self.leash.clone()
    }

    /// Hands over what is printed until everything has ended, which it does at the latest when its time is over. What the shell
    /// left behind ends with it.
    pub(super) async fn follow(mut self, time: Option<Duration>, mut printed: impl FnMut(&[u8])) -> Ended {
        let mut buffer = vec![0; 16 * 1024];
        let mut end = None;
        let alarm = tokio::time::sleep(time.unwrap_or(Duration::MAX));
        tokio::pin!(alarm);
        loop {
            tokio::select! {
                read = self.output.read(&mut buffer) => match read {
                    Ok(0) | Err(_) => break,
                    Ok(bytes) => printed(buffer.get(..bytes).unwrap_or_default()),
                },
                status = self.shell.wait(), if end.is_none() => {
                    self.leash.pull();
                    end = Some(End::Itself(status));
                    alarm.as_mut().reset(Instant::now() + REST_MAX);
                }
                () = &mut alarm => match end {
                    None => {
                        self.leash.pull();
                        end = Some(End::OutOfTime);
                        alarm.as_mut().reset(Instant::now() + REST_MAX);
                    }
                    // Only what has left the group can still hold the pipe.
                    Some(_) => break,
                },
            }
        }
        let end = match end {
            Some(end) => end,
            None => End::Itself(self.shell.wait().await),
        };
        let put_back = self.guard.take().map_or_else(Vec::new, Guard::restore);
        Ended {
            end,
            confined: self.cell.is_some(),
            put_back,
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.leash.pull();
    }
}
