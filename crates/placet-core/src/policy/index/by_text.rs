//! A map whose keys say how a text is, starts or ends; a text finds the values of every key that it fits.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

use super::super::pattern::CommandPattern;
use super::super::wild::{Piece, Wild};

/// What a text must be like for a pattern to match it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// Exactly this.
    Whole(Box<str>),
    /// It starts like this.
    Start(Box<str>),
    /// It ends like this.
    End(Box<str>),
}

impl Key {
    /// Any text fits.
    pub(super) fn anything() -> Self {
        Self::Start("".into())
    }
}

impl Wild {
    /// What every text that the pattern matches has in common: the longer of its fixed start and end.
    pub(super) fn key(&self) -> Key {
        let pieces = match self {
            Self::Literal(text) => return Key::Whole(text.clone()),
            Self::Glob(pieces) => pieces,
        };
        let fixed = |piece: &Piece| match piece {
            Piece::Char(c) => Some(*c),
            Piece::One | Piece::Any => None,
        };
        let start: String = pieces.iter().map_while(fixed).collect();
        let end: Vec<char> = pieces.iter().rev().map_while(fixed).collect();
        if start.chars().count() >= end.len() {
            Key::Start(start.into())
        } else {
            Key::End(end.into_iter().rev().collect())
        }
    }
}

impl CommandPattern {
    /// What the programs it matches have in common.
    pub(super) fn key(&self) -> Key {
        self.program().map_or_else(Key::anything, Wild::key)
    }
}

/// Values under keys.
#[derive(Debug, Clone)]
pub(super) struct ByText<T> {
    whole: BTreeMap<Box<str>, T>,
    start: BTreeMap<Box<str>, T>,
    /// Under the end written backwards, so that it is a start.
    end: BTreeMap<Box<str>, T>,
}

impl<T> Default for ByText<T> {
    fn default() -> Self {
        Self {
            whole: BTreeMap::new(),
            start: BTreeMap::new(),
            end: BTreeMap::new(),
        }
    }
}

impl<T: Default> ByText<T> {
    /// The value under `key`, created when missing.
    pub(super) fn under(&mut self, key: Key) -> &mut T {
        match key {
            Key::Whole(text) => self.whole.entry(text).or_default(),
            Key::Start(text) => self.start.entry(text).or_default(),
            Key::End(text) => self.end.entry(backwards(&text).into()).or_default(),
        }
    }
}

impl<T> ByText<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.start.is_empty() && self.end.is_empty()
    }

    /// Shows `visit` the value of every key that `text` fits.
    pub(super) fn find(&self, text: &str, visit: &mut impl FnMut(&T)) {
        self.whole.get(text).into_iter().for_each(&mut *visit);
        starts_of(&self.start, text, visit);
        if !self.end.is_empty() {
            starts_of(&self.end, &backwards(text), visit);
        }
    }
}

impl<T> ByText<T> {
    /// Shows `visit` the value of every key that `text` fits, or may fit with more behind it.
    pub(super) fn find_near(&self, text: &str, visit: &mut impl FnMut(&T)) {
        starts_of(&self.start, text, visit);
        for (map, from) in [(&self.start, Excluded(text)), (&self.whole, Included(text))] {
            let longer = map.range::<str, _>((from, Unbounded));
            longer
                .take_while(|(key, _)| key.starts_with(text))
                .for_each(|(_, value)| visit(value));
        }
        self.end.values().for_each(visit);
    }
}

fn backwards(text: &str) -> String {
    text.chars().rev().collect()
}

/// Visits every key that `text` starts with, longest first.
///
/// Of all keys up to `text` in the alphabet the last one, if it is not such a start itself, has in common with `text` what all
/// shorter starts of `text` start too. So each look into the map either finds one or rules out everything in between.
fn starts_of<T>(map: &BTreeMap<Box<str>, T>, text: &str, visit: &mut impl FnMut(&T)) {
    let mut up_to = Included(text);
    while let Some((key, value)) = map.range::<str, _>((Unbounded, up_to)).next_back() {
        if text.starts_with(&**key) {
            visit(value);
            up_to = Excluded(key);
        } else {
            up_to = Included(in_common(text, key));
        }
    }
}

/// How far two texts are the same.
fn in_common<'a>(text: &'a str, other: &str) -> &'a str {
    let same = text
        .bytes()
        .zip(other.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    text.get(..text.floor_char_boundary(same)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(keys: &[Key], text: &str) -> Vec<usize> {
        let mut map: ByText<Vec<usize>> = ByText::default();
        for (place, key) in keys.iter().enumerate() {
            map.under(key.clone()).push(place);
        }
        let mut places = Vec::new();
        map.find(text, &mut |found| places.extend(found));
        places.sort_unstable();
        places
    }

    fn any_key() -> impl Strategy<Value = Key> {
        (0..3, "[abé]{0,4}").prop_map(|(kind, text)| match kind {
            0 => Key::Whole(text.into()),
            1 => Key::Start(text.into()),
            _ => Key::End(text.into()),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_text_finds_every_key_it_fits_and_no_other(keys in prop::collection::vec(any_key(), 0..12), text in "[abé]{0,6}") {
            let fits = |key: &Key| match key {
                Key::Whole(whole) => **whole == *text,
                Key::Start(start) => text.starts_with(&**start),
                Key::End(end) => text.ends_with(&**end),
            };
            let expected: Vec<usize> = (0..keys.len()).filter(|&place| fits(&keys[place])).collect();
            prop_assert_eq!(found(&keys, &text), expected);
        }

        #[test]
        fn what_a_pattern_matches_fits_its_key(pattern in "[ab*?é]{0,6}", text in "[abé]{0,6}") {
            let wild = Wild::parse(&pattern);
            if wild.matches(&text) {
                prop_assert_eq!(found(&[wild.key()], &text), [0]);
            }
        }
    }
}
