//! The paths that words may name: what rules about paths compare, from wherever the shell may stand and links followed.
//!
//! Generous on purpose. Who denies `secrets/**` means `cd src && cat ../secrets/key`, `git show HEAD:secrets/key` and
//! `grep -fsecrets/key` too, and no list says which words of which program are files. So every part of a word that could be a
//! path counts as one: a path too many can only ask or deny.

use super::super::path;
use super::guess;
use super::word::Word;
use super::working_folder::{self, WorkingFolder};
use crate::Site;

/// What separates a path from what a program reads before or after it.
const SEPARATORS: [char; 4] = ['=', ':', ',', '@'];
/// A part after so many separators is only looked at by itself, without what follows it.
const TAILS_MAX: usize = 8;
/// A line that sets more values is not understood.
const VALUES_MAX: usize = 16;
/// What is longer the system does not open.
const PATH_BYTES_MAX: usize = 4_096;

/// Values that variables were given on the line.
#[derive(Debug, Default)]
pub(super) struct Values(Vec<(String, String)>);

impl Values {
    /// Remembers `NAME=value`; ignores anything else.
    pub(super) fn assign(&mut self, text: &str) {
        if let Some((name, value)) = text.split_once('=') {
            self.set(name.trim_end_matches('+'), &value.replace(['\'', '"'], ""));
        }
    }

    /// Remembers one value of a variable; earlier ones stay possible.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        // A value holds no variables any more, or filling it in would never end.
        let filled = self.fill(value).last();
        let value = guess::of(filled.as_deref().unwrap_or(value));
        // `--features=a` sets nothing.
        let is_one = !name.is_empty() && !name.starts_with('-') && name.len() + value.len() <= PATH_BYTES_MAX;
        if is_one && !self.are_too_many() {
            self.0.push((name.to_owned(), value));
        }
    }

    pub(super) fn are_too_many(&self) -> bool {
        self.0.len() > VALUES_MAX
    }

    /// What `text` may come to: once per value, all other variables having their last one.
    fn fill<'v>(&'v self, text: &'v str) -> impl Iterator<Item = String> + 'v {
        let put = |text: String, (name, value): &(String, String)| {
            [format!("${{{name}}}"), format!("${name}")]
                .iter()
                .try_fold(text, |text, variable| {
                    let filled = text.replace(variable, value);
                    (filled.len() <= PATH_BYTES_MAX).then_some(filled)
                })
        };
        let used = self.0.iter().filter(move |(name, _)| text.contains(name));
        used.filter_map(move |pair| {
            std::iter::once(pair)
                .chain(self.0.iter().rev())
                .try_fold(text.to_owned(), put)
        })
    }
}

/// Every path that these words and assignments (`NAME=value`) may name; absolute and without `..`.
pub(super) fn of(
    words: &[Word<'_>],
    assignments: &[String],
    values: &Values,
    working_folder: &WorkingFolder,
    places: Site<'_>,
) -> Vec<String> {
    let mut paths = Vec::with_capacity(2 * (words.len() + assignments.len()));
    let mut add = |text: &str| {
        if !(1..=PATH_BYTES_MAX).contains(&text.len()) {
            return;
        }
        for folder in working_folder.folders(places) {
            paths.extend(path::meanings(folder, text, places));
        }
        if matches!(working_folder, WorkingFolder::Lost) {
            // However far up it climbs, it may come out at the workspace.
            let below = text.trim_start_matches("./").trim_start_matches("../");
            paths.extend(path::meanings(places.workspace(), below, places));
        }
    };
    for word in words {
        match word.guess() {
            Some(guess) => {
                let filled = values.fill(&word.value).map(|text| guess::of(&text));
                for text in filled.chain([guess]) {
                    parts(&text, &mut add);
                }
            }
            None if word.value.starts_with('~') => add(&working_folder::path_of(word)),
            None => parts(&word.value, &mut add),
        }
    }
    for text in assignments {
        let plain = guess::of(&text.replace(['\'', '"'], ""));
        let value = plain.split_once('=').map_or("", |(_, value)| value);
        parts(value, &mut add);
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Shows `each` the parts of a word that a program could take for a path.
pub(super) fn parts<'t>(text: &'t str, each: &mut impl FnMut(&'t str)) {
    separated(text, each);
    if let Some(path) = in_pathspec(text) {
        each(path);
    }
    let Some(letters) = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return;
    };
    // The value of a short option begins after its letter, and that is the first of its kind in a cluster.
    for (at, letter) in letters.char_indices() {
        if !letter.is_ascii_alphanumeric() {
            break;
        }
        let (before, rest) = letters.split_at(at);
        if !before.contains(letter) {
            separated(rest.get(1..).unwrap_or_default(), each);
        }
    }
}

/// The path in a pathspec of git: `:/secrets` and `:(top)secrets` start at the workspace.
pub(super) fn in_pathspec(text: &str) -> Option<&str> {
    let magic = text.strip_prefix(':')?;
    let long = || magic.strip_prefix('(')?.split_once(')').map(|(_, path)| path);
    magic.strip_prefix(['/', '!', '^']).or_else(long)
}

fn separated<'t>(text: &'t str, each: &mut impl FnMut(&'t str)) {
    each(text);
    if text.contains("://") {
        return;
    }
    // `secrets: rotate` is said of them; `./secrets:/mnt` is a place.
    let says = text.contains(char::is_whitespace);
    let single = |(at, _): &(usize, &str)| {
        let (before, after) = text.split_at(*at);
        // `secrets::rotate` is a name in many languages.
        let is_double = after.starts_with("::") || (after.starts_with(':') && before.ends_with(':'));
        !is_double
    };
    for (nth, (at, _)) in text.match_indices(SEPARATORS).filter(single).enumerate() {
        let (before, after) = text.split_at(at);
        let after = after.get(1..).unwrap_or_default();
        if nth == 0 && !says {
            each(before);
        }
        if nth < TAILS_MAX {
            each(after);
        }
        each(after.split(SEPARATORS).next().unwrap_or_default());
    }
}

#[cfg(test)]
mod tests;
