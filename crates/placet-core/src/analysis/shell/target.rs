//! Places a line touches: is a path inside the workspace, a secret, a file that runs by itself?

use super::super::Places;
use super::super::path::{Placed, place_from, shorten};
use super::word::{Known, Word};

/// Where the shell may stand. `cd` may fail or run in a branch, so every place it could have reached is kept.
#[derive(Debug, Clone)]
pub(super) enum Standing {
    /// In one of these folders, all inside the workspace.
    In(Vec<String>),
    /// Nobody knows.
    Lost,
}

/// A few `cd` are ordinary; more only make the question harder than the answer is worth.
const FOLDERS_MAX: usize = 8;

impl Standing {
    /// At the workspace's root.
    pub(super) fn start(places: &dyn Places) -> Self {
        Self::In(vec![places.workspace().to_owned()])
    }

    /// After `cd word`.
    pub(super) fn go(&mut self, word: Option<&Word<'_>>, places: &dyn Places) {
        let Self::In(folders) = self else { return };
        let Some(word) = word.filter(|word| word.known == Known::Fully && word.value != "-") else {
            *self = Self::Lost;
            return;
        };
        for folder in folders.clone() {
            match inside(word, &folder, places) {
                Some(path) if folders.contains(&path) => {}
                Some(path) if folders.len() < FOLDERS_MAX => folders.push(path),
                _ => {
                    *self = Self::Lost;
                    return;
                }
            }
        }
    }

    /// Whether `word` names something inside the workspace from wherever the shell stands.
    pub(super) fn contains(&self, word: &Word<'_>, places: &dyn Places) -> bool {
        match self {
            _ if word.is_later() => false,
            Self::In(folders) => folders
                .iter()
                .all(|folder| inside(word, folder, places).is_some()),
            Self::Lost => is_absolute(word) && inside(word, "/", places).is_some(),
        }
    }
}

fn is_absolute(word: &Word<'_>) -> bool {
    word.value.starts_with('/') || word.raw.starts_with('~')
}

/// The real place of `word` seen from `folder`, if that is inside the workspace.
fn inside(word: &Word<'_>, folder: &str, places: &dyn Places) -> Option<String> {
    // A tilde means the home folder only where the shell expands it, which quotes prevent.
    let literal_tilde = word.value.starts_with('~') && !word.raw.starts_with('~');
    let path = if literal_tilde {
        format!("./{}", word.value)
    } else {
        word.value.clone()
    };
    match place_from(folder, &path, places) {
        Placed::Inside { resolved, .. } => Some(resolved),
        Placed::Outside { .. } | Placed::Unreadable { .. } => None,
    }
}

/// Devices that swallow or show what is written to them.
pub(super) fn is_harmless_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|fd| !fd.is_empty() && fd.bytes().all(|b| b.is_ascii_digit()))
}

/// Disks as files.
pub(super) fn is_block_device(path: &str) -> bool {
    let flat = shorten(path);
    let Some(name) = flat.strip_prefix("/dev/") else {
        return false;
    };
    let starts = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "mapper/", "loop", "md", "zd",
        "nbd",
    ];
    path.starts_with('/') && starts.iter().any(|start| name.starts_with(start))
}

/// Files and folders that hold credentials or history.
#[rustfmt::skip]
const SECRETS: &[&str] = &[
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf",
    ".git-credentials", ".docker", ".password-store", ".vault-token", ".env", "id_rsa", "id_dsa",
    "id_ecdsa", "id_ed25519", "shadow", "gshadow", "sudoers", "sudoers.d", "environ", ".bash_history",
    ".zsh_history", ".python_history", ".psql_history", ".mysql_history", "credentials.json",
    "application_default_credentials.json", "Keychains",
];

/// Files that run by themselves, now or later.
#[rustfmt::skip]
const STARTUP: &[&str] = &[
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc",
    ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", "config.fish",
    ".gitconfig", ".envrc", ".vimrc", ".exrc", ".inputrc", ".xinitrc", ".xprofile", ".xsession",
    "authorized_keys", "hooks", "config", "autostart", "LaunchAgents", "LaunchDaemons", "crontab", "cron.d",
    "cron.daily", "cron.hourly", "profile.d", "ld.so.preload",
];

/// Names that only count below `/etc`, `/proc` or `.git`: elsewhere they are ordinary words.
fn needs_parent(name: &str) -> Option<&'static [&'static str]> {
    match name {
        "shadow" | "gshadow" | "sudoers" | "sudoers.d" | "crontab" | "cron.d" | "cron.daily"
        | "cron.hourly" => Some(&["etc", "cron", "spool"]),
        "environ" => Some(&["proc"]),
        "hooks" | "config" => Some(&[".git"]),
        _ => None,
    }
}

/// Why touching `value` is worth a question, if it is.
pub(super) fn sensitive(value: &str) -> Option<&'static str> {
    let parts: Vec<&str> = value.split(['/', '=', ':', '@', ',']).collect();
    let names = |list: &[&str]| {
        parts.iter().enumerate().any(|(at, part)| {
            let above = parts.get(..at).unwrap_or_default();
            let placed = |name: &str| {
                needs_parent(name).is_none_or(|parents| above.iter().any(|part| parents.contains(part)))
            };
            match part.split_once(['*', '?', '[', '{']) {
                Some((stem, _)) => list.iter().any(|name| could_become(stem, name) && placed(name)),
                None => list.contains(&plain_name(part)) && placed(part),
            }
        })
    };
    if names(SECRETS) {
        return Some("touches credentials or history");
    }
    if value.contains("/dev/tcp/") || value.contains("/dev/udp/") {
        return Some("opens a network connection");
    }
    names(STARTUP).then_some("touches files that run by themselves")
}

/// Whether globbing could make `name` of a pattern that begins with `stem`.
fn could_become(stem: &str, name: &str) -> bool {
    (stem.starts_with('.') || stem.len() > 2) && name.starts_with(stem)
}

/// `.env.local` is as secret as `.env`; `.env.example` is made to be shown.
fn plain_name(part: &str) -> &str {
    let is_example = || {
        [".example", ".sample", ".template", ".dist"]
            .iter()
            .any(|end| part.ends_with(end))
    };
    if part.starts_with(".env.") && !is_example() {
        ".env"
    } else {
        part
    }
}
