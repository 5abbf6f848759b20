//! Places a line touches: is a path inside the workspace, a secret, a file that runs by itself?

use std::borrow::Cow;
use std::rc::Rc;

use super::super::path::{self, Placed, shorten};
use super::super::secret::{self, Names};
use super::super::why::Deed;
use super::super::{Places, lowercase};
use super::glob;
use super::word::{Known, Word};

/// Where the shell may stand. `cd` may fail or run in a branch, so every place it could have reached is kept.
#[derive(Debug, Clone)]
pub(super) enum Standing {
    /// In one of these folders, all inside the workspace.
    In(Rc<Vec<String>>),
    /// Nobody knows.
    Lost,
}

/// A few `cd` are ordinary; more only make the question harder than the answer is worth.
const FOLDERS_MAX: usize = 8;

impl Standing {
    /// At the workspace's root.
    pub(super) fn start(places: &dyn Places) -> Self {
        Self::In(Rc::new(vec![places.workspace().to_owned()]))
    }

    /// After `cd word`, which may have failed: what was possible before still is. Says where it leads when it succeeds.
    pub(super) fn go(&mut self, word: Option<&Word<'_>>, places: &dyn Places) -> Self {
        let Self::In(folders) = self else {
            return Self::Lost;
        };
        let word = word.filter(|word| word.known == Known::Fully && word.value != "-");
        let reached = word.and_then(|word| {
            let path = path_of(word);
            let reached = folders.iter().map(|folder| path::inside(folder, &path, places));
            reached.collect::<Option<Vec<String>>>()
        });
        let reached = reached.map_or(Self::Lost, |reached| Self::In(Rc::new(reached)));
        *self = std::mem::replace(self, Self::Lost).or(&reached);
        reached
    }

    /// Either of the two.
    pub(super) fn or(mut self, other: &Self) -> Self {
        let (Self::In(folders), Self::In(others)) = (&mut self, other) else {
            return Self::Lost;
        };
        let folders = Rc::make_mut(folders);
        for other in others.iter() {
            if !folders.contains(other) {
                folders.push(other.clone());
            }
        }
        if folders.len() > FOLDERS_MAX {
            Self::Lost
        } else {
            self
        }
    }

    /// Whether `word` names something inside the workspace from wherever the shell stands.
    pub(super) fn contains(&self, word: &Word<'_>, places: &dyn Places) -> bool {
        !word.is_later() && self.contains_path(&path_of(word), places)
    }

    /// The same for a path that is known.
    pub(super) fn contains_path(&self, path: &str, places: &dyn Places) -> bool {
        match self {
            Self::In(folders) => folders
                .iter()
                .all(|folder| path::inside(folder, path, places).is_some()),
            Self::Lost => path.starts_with(['/', '~']) && path::inside("/", path, places).is_some(),
        }
    }

    /// Whether `path` leads out of the workspace from wherever the shell stands.
    pub(super) fn leaves(&self, path: &str, places: &dyn Places) -> bool {
        match self {
            Self::In(folders) => folders
                .iter()
                .all(|folder| path::inside(folder, path, places).is_none()),
            Self::Lost => path.starts_with(['/', '~']) && path::inside("/", path, places).is_none(),
        }
    }

    /// Whether writing `path` may change what runs later or what is asked, seen from anywhere the shell may stand.
    pub(super) fn guards(&self, path: &str, places: &dyn Places) -> bool {
        let guards = |folder: &str| {
            let absolute = match path {
                path if path.starts_with(['/', '~']) => Cow::Borrowed(path),
                path => Cow::Owned(format!("{folder}/{path}")),
            };
            let sensitive = match path::place(&absolute, places) {
                Placed::Inside { sensitive, .. } => sensitive,
                Placed::Outside { .. } | Placed::Unreadable { .. } => None,
            };
            sensitive.is_some()
        };
        match self {
            Self::In(folders) => folders.iter().any(|folder| guards(folder)),
            Self::Lost => guards(places.workspace()),
        }
    }
}

/// The path a word stands for. A tilde means the home folder only where the shell expands it, which quotes prevent.
pub(super) fn path_of<'w>(word: &'w Word<'_>) -> Cow<'w, str> {
    if word.value.starts_with('~') && !word.raw.starts_with('~') {
        Cow::Owned(format!("./{}", word.value))
    } else {
        Cow::Borrowed(word.value.as_str())
    }
}

/// Whether a path starts elsewhere or climbs: only such a one leaves the workspace without a link.
pub(super) fn points_away(path: &str) -> bool {
    path.starts_with(['/', '~']) || (path.contains("..") && path.split('/').any(|part| part == ".."))
}

/// Devices that swallow or show what is written to them.
pub(super) fn is_harmless_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/tty"
            | "/dev/zero"
            | "/dev/urandom"
            | "/dev/random"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|fd| !fd.is_empty() && fd.bytes().all(|b| b.is_ascii_digit()))
}

/// A name for what a process has open or runs: which program `/proc/self/exe` or `/dev/fd/3` is, nobody can see.
pub(super) fn is_open_file(path: &str) -> bool {
    let names_process = |part: &str| part.contains("self") || part.bytes().all(|b| b.is_ascii_digit());
    let of_process = |(above, part): (&str, &str)| match above {
        "proc" => names_process(part),
        "dev" => matches!(part, "fd" | "stdin"),
        _ => false,
    };
    let parts = || path.split('/').filter(|part| !matches!(*part, "" | "."));
    points_away(path) && parts().zip(parts().skip(1)).any(of_process)
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

/// Files that run by themselves, now or later.
#[rustfmt::skip]
const STARTUP: Names = Names {
    anywhere: &[
        ".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".cshrc", ".envrc", ".exrc", ".gitconfig",
        ".inputrc", ".kshrc", ".profile", ".tcshrc", ".vimrc", ".xinitrc", ".xprofile", ".xsession", ".zlogin", ".zlogout",
        ".zprofile", ".zshenv", ".zshrc", "authorized_keys", "autostart", "config.fish", "launchagents", "launchdaemons",
        "ld.so.preload", "profile.d",
    ],
    below: &[
        ("crontab", CRON), ("cron.d", CRON), ("cron.daily", CRON), ("cron.hourly", CRON), ("hooks", &[".git"]),
        ("config", &[".git"]),
    ],
};
const CRON: &[&str] = &["etc", "cron", "spool"];

/// What separates names in a word: also the name of an option or a host from a path.
const SEPARATORS: [char; 5] = ['/', '=', ':', '@', ','];

/// Why touching `value` is worth a question, if it is.
pub(super) fn sensitive(value: &str) -> Option<Deed> {
    let value = lowercase(value);
    let mut runs = false;
    let mut connects = false;
    let mut before = "";
    let mut start = 0;
    for part in value.split(SEPARATORS) {
        let above = value.get(..start).unwrap_or_default();
        let is_below = |folder: &str| {
            let may_be = |part: &str| part == folder || (glob::is_glob(part) && glob::could_be(part, folder));
            above.split(SEPARATORS).any(may_be)
        };
        start += part.len() + 1;
        // `.key` alone, or after a dot, is a field in many little languages; with a name before it, it is a file.
        let names_a_key = !part.starts_with('.') && secret::is_key_file(part);
        let is_secret = if part.contains(['*', '?', '[', '{']) {
            runs |= STARTUP.could_hold(part, is_below);
            secret::could_be(part, is_below)
        } else {
            runs |= STARTUP.hold(part, is_below);
            secret::is_name(part, is_below)
        };
        if names_a_key || is_secret {
            return Some(Deed::TouchesCredentials);
        }
        connects |= before == "dev" && matches!(part, "tcp" | "udp");
        before = part;
    }
    if connects {
        return Some(Deed::OpensConnection);
    }
    runs.then_some(Deed::TouchesStartup)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(STARTUP.anywhere.is_sorted());
    }
}
