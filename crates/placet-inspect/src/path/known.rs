//! Places that are not ordinary: they hold secrets, decide what runs next, or belong to the machine. One table, `[places]` of
//! `programs.toml`, for paths and for the words of a shell line alike.
//!
//! Names are compared in lowercase, because some disks ignore case.

use std::collections::BTreeMap;

use placet_core::analysis::{Deed, PathConcern, lowercase};
use placet_core::paths::shorten;
use placet_core::policy::Wild;
use serde::Deserialize;

use super::super::shell::List;
use super::super::shell::glob::Glob;

/// What is known about places.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct KnownPlaces {
    special: Special,
    /// Names that look special and are made to be shown: `.env.example`.
    samples: List<Box<str>>,
    /// Files outside the workspace that describe the machine and hold no secret.
    pub(in super::super) public: List<Box<str>>,
    /// Devices that swallow or show what is written to them.
    pub(in super::super) devices: List<Box<str>>,
    /// Disks as files.
    disks: List<Wild>,
    /// Folders whose loss is the loss of the machine or the person's work.
    pub(in super::super) roots: List<Box<str>>,
    /// Folders of the system from which programs run under their own name.
    pub(in super::super) programs: List<Box<str>>,
}

/// Special names, by what is special about them: `name`, `*.ending`, `start*`, or `folder/name` for a name somewhere below
/// a folder.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "BTreeMap<PathConcern, String>")]
struct Special {
    names: BTreeMap<Box<str>, Vec<Rule>>,
    /// Names with a star: what is before it, and what is behind it.
    patterns: Vec<(Box<str>, Box<str>, Rule)>,
}

#[derive(Debug, Clone)]
struct Rule {
    below: Option<Box<str>>,
    concern: PathConcern,
}

impl From<BTreeMap<PathConcern, String>> for Special {
    fn from(lists: BTreeMap<PathConcern, String>) -> Self {
        let mut special = Self::default();
        for (concern, list) in &lists {
            for text in list.split_whitespace() {
                let (below, name) = text
                    .rsplit_once('/')
                    .map_or((None, text), |(above, name)| (Some(above), name));
                let rule = Rule {
                    below: below.map(Into::into),
                    concern: *concern,
                };
                match name.split_once('*') {
                    Some((start, end)) => special.patterns.push((start.into(), end.into(), rule)),
                    None => special.names.entry(name.into()).or_default().push(rule),
                }
            }
        }
        special
    }
}

/// What a text is looked at as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    /// A path below the workspace.
    Path,
    /// A path with a pattern, which may become any file that is guarded.
    Pattern,
    /// A word of a shell line: names are also separated by what programs read before or after a path.
    Word,
}

impl As {
    const fn separators(self) -> &'static [char] {
        match self {
            Self::Path | Self::Pattern => &['/'],
            Self::Word => &['/', '=', ':', '@', ','],
        }
    }

    /// Whether a name is a pattern; a path is opened as it is.
    fn has_globs(self, name: &str) -> bool {
        self != Self::Path && name.contains(['*', '?', '[', '{'])
    }

    /// A word counts only when every program that names it needs approval.
    fn counts(self, concern: PathConcern) -> bool {
        self == Self::Path
            || (self == Self::Pattern && concern != PathConcern::Secrets)
            || (self == Self::Word && matches!(concern, PathConcern::Secrets | PathConcern::RunsAtStart))
    }
}

impl KnownPlaces {
    /// What is special about a path below the workspace, if anything: secrets first.
    pub(super) fn of_path(&self, path: &str) -> Option<PathConcern> {
        self.scan(&lowercase(path), As::Path)
    }

    /// Whether a pattern could become a file that is guarded.
    pub(in super::super) fn could_be_guarded(&self, pattern: &str) -> bool {
        self.scan(&lowercase(pattern), As::Pattern).is_some()
    }

    /// Why naming `word` is worth a question, if it is.
    pub(in super::super) fn in_word(&self, word: &str) -> Option<Deed> {
        let word = lowercase(word);
        let names = || word.split(As::Word.separators());
        let connects = || {
            names()
                .zip(names().skip(1))
                .any(|pair| matches!(pair, ("dev", "tcp" | "udp")))
        };
        match self.scan(&word, As::Word) {
            Some(PathConcern::Secrets) => Some(Deed::TouchesCredentials),
            _ if connects() => Some(Deed::OpensConnection),
            startup => startup.map(|_| Deed::TouchesStartup),
        }
    }

    fn scan(&self, text: &str, looked_at: As) -> Option<PathConcern> {
        if self.special.names.is_empty() {
            // Without the table any place may be one of them.
            return Some(PathConcern::Secrets);
        }
        let separators = looked_at.separators();
        let mut start = 0;
        let of_name = |name: &str| {
            let above = text.get(..start).unwrap_or_default();
            start += name.len() + 1;
            self.of_name(name, looked_at, |folder| {
                let is_folder = |own: &str| {
                    own == folder || (looked_at.has_globs(own) && Glob::parse(own).could_be(folder))
                };
                above.split(separators).any(is_folder)
            })
        };
        text.split(separators).filter_map(of_name).min()
    }

    fn of_name(&self, name: &str, looked_at: As, is_below: impl Fn(&str) -> bool) -> Option<PathConcern> {
        let concern = |rule: &Rule| {
            let is_there = |folders: &str| folders.split('/').all(&is_below);
            let applies = looked_at.counts(rule.concern) && rule.below.as_deref().is_none_or(is_there);
            applies.then_some(rule.concern)
        };
        let concerns = |rules: &Vec<Rule>| rules.iter().filter_map(concern).min();
        let by_pattern = |(start, end, rule): &(Box<str>, Box<str>, Rule)| {
            // `.key` alone, or after a dot, is a field in many little languages; with a name before it, it is a file.
            let is_field = start.is_empty() && (end.is_empty() || name.starts_with('.'));
            let fits =
                name.len() >= start.len() + end.len() && name.starts_with(&**start) && name.ends_with(&**end);
            (fits && !(is_field && looked_at == As::Word))
                .then(|| concern(rule))
                .flatten()
        };
        if name.is_empty() || self.samples.has(name) {
            return None;
        }
        let by_name = if looked_at.has_globs(name) {
            let glob = Glob::parse(name);
            let says = |own: &str| looked_at == As::Pattern || says_enough(name, &glob, own);
            let names = self.special.names.iter();
            let names = names.filter(|(own, _)| glob.could_be(own) && says(own));
            names.filter_map(|(_, rules)| concerns(rules)).min()
        } else {
            self.special.names.get(name).and_then(concerns)
        };
        let patterns = self.special.patterns.iter().filter_map(by_pattern);
        by_name.into_iter().chain(patterns).min()
    }

    /// Whether it is a disk.
    pub(in super::super) fn is_disk(&self, path: &str) -> bool {
        path.starts_with('/') && self.disks.matches(&shorten(path))
    }
}

/// Whether a pattern begins like the name, or spells out half of it and more than an ending. `*.json` says too little to count.
fn says_enough(pattern: &str, glob: &Glob, name: &str) -> bool {
    let stem = pattern.find(['*', '?', '[', '{', '(']).unwrap_or(pattern.len());
    let only_ending = pattern.starts_with("*.");
    pattern.starts_with('.') || stem > 2 || (!only_ending && glob.literal_chars * 2 >= name.len())
}

#[cfg(test)]
mod tests;
