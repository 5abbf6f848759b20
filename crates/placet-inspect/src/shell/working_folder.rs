//! Where the words of a line lead: is a path inside the workspace, a secret, a file that decides what runs?

use std::borrow::Cow;
use std::rc::Rc;

use placet_core::analysis::PathConcern;

use super::super::path::{self, Placed};
use super::word::{Known, Word};
use crate::Site;

/// Where the shell may stand. `cd` may fail or run in a branch, so every place it could have reached is kept.
#[derive(Debug, Clone)]
pub(super) enum WorkingFolder {
    /// In one of these folders, all inside the workspace.
    In(Rc<Vec<String>>),
    /// Anywhere.
    Lost,
}

/// Where a path leads, seen from everywhere the shell may stand.
pub(super) struct Lead {
    /// The real place, seen from where the shell stands if no `cd` failed.
    pub(super) resolved: String,
    /// It is inside the workspace, wherever the shell stands.
    pub(super) inside: bool,
    /// It is outside the workspace, wherever the shell stands.
    pub(super) outside: bool,
    /// Why it is not an ordinary file, somewhere the shell may stand.
    pub(super) sensitive: Option<PathConcern>,
}

/// A few `cd` are ordinary; more only make the question harder than the answer is worth.
const FOLDERS_MAX: usize = 8;

impl WorkingFolder {
    /// At the workspace's root.
    pub(super) fn start(places: Site<'_>) -> Self {
        Self::In(Rc::new(vec![places.workspace().to_owned()]))
    }

    /// After `cd word`, which may have failed: what was possible before still is. Says where it leads when it succeeds.
    pub(super) fn go(&mut self, word: Option<&Word<'_>>, places: Site<'_>) -> Self {
        let Self::In(folders) = self else {
            return Self::Lost;
        };
        let word = word.filter(|word| word.known == Known::Fully && word.value != "-");
        let reached = word.and_then(|word| {
            let path = path_of(word);
            let reached = folders
                .iter()
                .map(|folder| match path::place_from(folder, &path, places) {
                    Placed::Inside { resolved, .. } => Some(resolved),
                    Placed::Outside { .. } | Placed::Unreadable { .. } => None,
                });
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
        for other in others.iter() {
            if !folders.contains(other) {
                Rc::make_mut(folders).push(other.clone());
            }
        }
        if folders.len() > FOLDERS_MAX {
            Self::Lost
        } else {
            self
        }
    }

    /// Where `path` leads.
    pub(super) fn lead(&self, path: &str, places: Site<'_>) -> Lead {
        let is_sure = matches!(self, Self::In(_)) || path.starts_with(['/', '~']);
        let mut lead = Lead {
            resolved: String::new(),
            inside: is_sure,
            outside: is_sure,
            sensitive: None,
        };
        for folder in self.folders(places) {
            let resolved = match path::place_from(folder, path, places) {
                Placed::Inside { resolved, sensitive } => {
                    lead.outside = false;
                    lead.sensitive = lead.sensitive.into_iter().chain(sensitive).min();
                    resolved
                }
                Placed::Outside { resolved } => {
                    lead.inside = false;
                    resolved
                }
                Placed::Unreadable { .. } => {
                    lead.inside = false;
                    path::meanings(folder, path, places).next().unwrap_or_default()
                }
            };
            if lead.resolved.is_empty() {
                lead.resolved = resolved;
            }
        }
        lead
    }

    /// The folders it may stand in; the workspace when they are unknown.
    pub(super) fn folders<'p>(&'p self, places: Site<'p>) -> impl Iterator<Item = &'p str> {
        let (known, lost) = match self {
            Self::In(folders) => (folders.as_slice(), None),
            Self::Lost => (&[][..], Some(places.workspace())),
        };
        known.iter().map(String::as_str).chain(lost)
    }
}

impl Lead {
    /// Whether it can be read without asking: it is inside the workspace and holds no secret.
    pub(super) fn is_plain(&self) -> bool {
        self.inside && self.sensitive != Some(PathConcern::Secrets)
    }
}

/// The path a word stands for. A tilde means the home folder only where the shell expands it, which quotes prevent.
pub(super) fn path_of<'w>(word: &'w Word<'_>) -> Cow<'w, str> {
    if word.value.starts_with('~') && !word.raw.starts_with('~') {
        Cow::Owned(format!("./{}", word.value))
    } else {
        Cow::Borrowed(&*word.value)
    }
}

/// Whether a path starts elsewhere or climbs: only such a one leaves the workspace without a link.
pub(super) fn points_away(path: &str) -> bool {
    path.starts_with(['/', '~']) || (path.contains("..") && path.split('/').any(|part| part == ".."))
}

/// A name for what a process has open or runs: which program `/proc/self/exe` or `/dev/fd/3` is, the line does not say.
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
