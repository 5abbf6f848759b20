//! Which folders a confined command reads and writes, and the variables that lead it there.

use std::path::{Path, PathBuf};

use placet_core::confine::{Confinement, Writes};

/// Folders of the system: programs, libraries, settings, and what the kernel tells of processes and processors. Landlock keeps the
/// memory and environment of processes outside closed, also in `/proc`.
const SYSTEM: [&str; 15] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/run/current-system",
    "/run/systemd/resolve",
    "/proc",
    "/sys/devices/system",
    "/sys/fs/cgroup",
];

/// Devices without anything behind them.
pub(super) const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Tool chains below the home folder: the variable that names one, its usual folder, and what is read of it.
const TOOL_CHAINS: [(&str, &str, &[&str]); 6] = [
    (
        "CARGO_HOME",
        ".cargo",
        &["bin", "env", "config.toml", "registry", "git"],
    ),
    ("RUSTUP_HOME", ".rustup", &["."]),
    ("GOPATH", "go", &["."]),
    ("NVM_DIR", ".nvm", &["."]),
    ("PYENV_ROOT", ".pyenv", &["."]),
    ("RBENV_ROOT", ".rbenv", &["."]),
];

/// Variables that name places or sockets which a confined command does not reach.
const UNREACHABLE: [&str; 7] = [
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// The folders of one confined command.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) read: Vec<PathBuf>,
    /// Also read.
    pub(super) write: Vec<PathBuf>,
    /// Variables to set, or to leave out.
    pub(super) environment: Vec<(&'static str, Option<PathBuf>)>,
}

impl Places {
    /// `own` is the command's own folder; `read` and `write` are configured.
    pub(super) fn new(
        confinement: &Confinement,
        workspace: &Path,
        own: &Path,
        read: &[String],
        write: &[String],
    ) -> std::io::Result<Self> {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let configured = |folder: &String| match (folder.strip_prefix("~/"), &home) {
            (Some(below), Some(home)) => home.join(below),
            _ => PathBuf::from(folder),
        };
        let mut places = Self {
            read: SYSTEM.map(PathBuf::from).to_vec(),
            write: vec![own.to_owned()],
            environment: Vec::new(),
        };
        places.read.push(workspace.to_owned());
        places.read.extend(read.iter().map(configured));
        if confinement.reads_anywhere() {
            places.read.push(PathBuf::from("/"));
        }
        if confinement.writes() == Writes::Anywhere {
            return Ok(places);
        }
        let tmp = own.join("tmp");
        std::fs::create_dir(&tmp)?;
        places.environment.push(("TMPDIR", Some(tmp)));
        if confinement.writes() == Writes::Workspace {
            places.write.push(workspace.to_owned());
            places.write.extend(write.iter().map(configured));
        }
        if !confinement.reads_anywhere() {
            let new_home = own.join("home");
            std::fs::create_dir(&new_home)?;
            places.environment.push(("HOME", Some(new_home)));
            places.environment.extend(UNREACHABLE.map(|name| (name, None)));
        }
        places.add_programs(home.as_deref());
        Ok(places)
    }

    /// Folders of programs, unless the whole home folder is in one.
    fn add_programs(&mut self, home: Option<&Path>) {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let holds_home = |folder: &Path| home.is_some_and(|home| home.starts_with(folder));
        let programs = std::env::split_paths(&paths).filter(|folder| folder.is_absolute());
        self.read.extend(programs.filter(|folder| !holds_home(folder)));
        for (variable, usual, parts) in TOOL_CHAINS {
            let folder = match (std::env::var_os(variable), home) {
                (Some(named), _) => PathBuf::from(named),
                (None, Some(home)) => home.join(usual),
                (None, None) => continue,
            };
            if folder.is_absolute() && folder.is_dir() && !holds_home(&folder) {
                self.read.extend(parts.iter().map(|part| folder.join(part)));
                self.environment.push((variable, Some(folder)));
            }
        }
    }
}
