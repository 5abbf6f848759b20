//! Places a line touches: is a path inside the workspace, a secret, a file that runs by itself?

use std::borrow::Cow;
use std::rc::Rc;

use super::super::path::{self, shorten};
use super::super::secret::{self, Names};
use super::super::why::Deed;
use super::super::{Places, lowercase};
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

    /// After `cd word`.
    pub(super) fn go(&mut self, word: Option<&Word<'_>>, places: &dyn Places) {
        let Self::In(folders) = self else { return };
        let folders = Rc::make_mut(folders);
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
        Cow::Owned(format!("./{}", word.value))
    } else {
        Cow::Borrowed(word.value.as_str())
    };
    path::inside(folder, &path, places)
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
        let is_below = |folder: &str| above.split(SEPARATORS).any(|part| part == folder);
        start += part.len() + 1;
        // `.key` alone, or after a dot, is a field in many little languages; with a name before it, it is a file.
        let names_a_key = !part.starts_with('.') && secret::is_key_file(part);
        let is_secret = if let Some((stem, _)) = part.split_once(['*', '?', '[', '{']) {
            runs |= STARTUP.could_hold(stem, is_below);
            secret::could_be(stem, is_below)
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
