//! What confines the agent's commands: Landlock for files, TCP and signals, seccomp for sockets.
//!
//! Restrictions belong to a thread and are inherited by what it starts. So a command is started from a thread of its own that
//! has restricted itself and ends afterwards; no code runs between fork and exec. A confined command
//!
//! * reads the workspace, the system's folders, its tool chains and `[agent.sandbox] read`; nothing else of the home folder,
//! * writes the workspace (unless the level is read-only), `[agent.sandbox] write` and a folder of its own that is removed with
//!   it and serves as `HOME` and `TMPDIR`,
//! * opens no socket, signals no process outside and traces none,
//! * cannot gain rights by a set-user-id program.
//!
//! | file | part |
//! |---|---|
//! | `linux.rs` | the rules, as the kernel takes them |
//! | `places.rs` | which folders those are |
//! | `guard.rs` | files of the workspace that a confined command must leave as they are |

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use placet_core::call::{Args, ToolCall};
use placet_core::config::Config;
use placet_core::confine::{Confinement, Level, Need, Writes};
use placet_core::ids::AgentId;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Handle;

use crate::tools::Bash;

mod guard;
#[cfg(target_os = "linux")]
mod linux;
mod places;

pub(crate) use guard::Guard;
use places::Places;

#[cfg(not(target_os = "linux"))]
mod linux {
    //! Elsewhere nothing can be confined.

    use placet_core::confine::Confinement;

    use super::places::Places;

    pub(super) fn restrict(_: &Confinement, _: &Places) -> Result<(), String> {
        Err("only Linux has Landlock".into())
    }
}

/// Whether this system can confine a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// It can.
    Full,
    /// It cannot, and why.
    Missing(String),
}

impl Support {
    /// Tries it out, once per process.
    pub fn probe() -> Self {
        static FOUND: OnceLock<Support> = OnceLock::new();
        let find = || {
            let cell = Cell::new(Confinement::whole(Level::ReadOnly), Path::new("/"), &[], &[]);
            match cell.and_then(|cell| cell.spawn(|| Ok(()))) {
                Ok(()) => Self::Full,
                Err(why) => Self::Missing(why),
            }
        };
        FOUND.get_or_init(find).clone()
    }
}

/// Whether a call runs confined where the system can: a command of the built-in agent.
pub fn confines(call: &ToolCall) -> bool {
    call.origin.agent == AgentId::built_in() && call.tool.as_str() == Bash::NAME
}

fn needs(args: &Args, level: Level) -> Vec<Need> {
    let given = args.get("needs").and_then(Value::as_array).into_iter().flatten();
    let known = |need: &Value| Need::ALL.into_iter().find(|known| need == known.as_str());
    let mut needs: Vec<Need> = given.filter_map(known).collect();
    // Asking for what it may do anyway is asking for nothing.
    needs.retain(|need| *need != Need::WriteInside || level == Level::ReadOnly);
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// The sandbox of an agent. Cheap to clone; clones share their settings.
#[derive(Debug, Clone)]
pub struct Sandbox {
    workspace: PathBuf,
    support: Support,
    settings: Arc<RwLock<placet_core::config::Sandbox>>,
}

impl Sandbox {
    /// For commands in this folder, with the settings that hold when nothing is configured.
    pub fn new(workspace: &Path, support: Support) -> Self {
        Self {
            workspace: workspace.to_owned(),
            support,
            settings: Arc::new(RwLock::new(
                Config::builtin(placet_inspect::builtin()).agent.sandbox,
            )),
        }
    }

    /// Another configuration is in force from now on.
    pub fn reload(&self, config: &Config) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = config.agent.sandbox.clone();
    }

    fn settings(&self) -> placet_core::config::Sandbox {
        self.settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What confines a command with these arguments, and what it asks for beyond that; `None` when nothing confines it.
    pub fn confinement(&self, args: &Args) -> Option<Confinement> {
        let level = self.settings().level.filter(|_| self.support == Support::Full)?;
        let mut confinement = Confinement {
            level,
            needs: needs(args, level),
            purpose: args.text("purpose").map(str::to_owned),
        };
        let writes_inside = confinement.writes() == Writes::Workspace;
        if writes_inside && !guard::is_possible(&self.workspace, &confinement) {
            confinement.needs.push(Need::Unguarded);
        }
        Some(confinement)
    }

    /// Whether programs can be confined at all, whatever the settings for commands are.
    pub(crate) fn is_supported(&self) -> bool {
        self.support == Support::Full
    }

    /// What to tell the operator at the start: that nothing confines the agent's commands, and why.
    pub fn warning(&self) -> Option<String> {
        match (self.settings().level, &self.support) {
            (None, _) => {
                Some("the agent's commands are not confined: `[agent.sandbox] mode` is \"off\"".into())
            }
            (Some(_), Support::Missing(why)) => Some(format!(
                "the agent's commands are not confined, and none is treated as confined: {why}"
            )),
            (Some(_), Support::Full) => None,
        }
    }

    /// A place to run one program in; `None` when nothing confines it. The error says why nothing ran.
    pub(crate) fn cell(&self, confinement: &Confinement) -> Result<Option<Cell>, String> {
        if confinement.has_network() && confinement.writes() == Writes::Anywhere {
            return Ok(None);
        }
        let settings = self.settings();
        let failed = |why: String| format!("nothing ran: the sandbox cannot be set up: {why}");
        if let Support::Missing(why) = &self.support {
            return Err(failed(why.clone()));
        }
        let cell = Cell::new(
            confinement.clone(),
            &self.workspace,
            &settings.read,
            &settings.write,
        );
        cell.map(Some).map_err(failed)
    }
}

/// Where one program runs confined. Its own folder is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Cell {
    confinement: Confinement,
    places: Places,
    _own: TempDir,
}

impl Cell {
    fn new(
        confinement: Confinement,
        workspace: &Path,
        read: &[String],
        write: &[String],
    ) -> Result<Self, String> {
        let own = tempfile::Builder::new().prefix("placet-").tempdir();
        let own = own.map_err(|error| format!("it has no folder of its own: {error}"))?;
        let places = Places::new(&confinement, workspace, own.path(), read, write)
            .map_err(|error| format!("its folders cannot be made: {error}"))?;
        Ok(Self {
            confinement,
            places,
            _own: own,
        })
    }

    /// Variables that a program in here is to have, and those it is not to have.
    pub(crate) fn environment(&self) -> impl Iterator<Item = (&str, Option<&Path>)> {
        self.places
            .environment
            .iter()
            .map(|(name, value)| (*name, value.as_deref()))
    }

    /// Calls `spawn` on a thread that has restricted itself. What it starts is confined for good, with all its children.
    pub(crate) fn spawn<T: Send>(&self, spawn: impl FnOnce() -> io::Result<T> + Send) -> Result<T, String> {
        // The runtime of the caller waits for the child.
        let runtime = Handle::try_current().ok();
        let restricted = || {
            linux::restrict(&self.confinement, &self.places)?;
            let _entered = runtime.as_ref().map(Handle::enter);
            spawn().map_err(|error| format!("it cannot be started: {error}"))
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, restricted);
            let thread = thread.map_err(|error| format!("it has no thread: {error}"))?;
            thread.join().unwrap_or_else(|_| Err("its thread failed".into()))
        })
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod harmless;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
