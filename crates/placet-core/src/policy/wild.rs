//! Wildcards: `*` is any run of characters, `?` is one, everything else is itself. A pattern matches a whole text.

use std::str::Chars;

/// A text pattern with `*` and `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wild {
    /// No wildcard: equal or not.
    Literal(Box<str>),
    /// At least one wildcard.
    Glob(Box<[Piece]>),
}

/// One element of a [`Wild::Glob`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// This character.
    Char(char),
    /// Any one character (`?`).
    One,
    /// Any run of characters, also none (`*`).
    Any,
}

impl Piece {
    fn takes(self, c: char) -> bool {
        match self {
            Self::Char(own) => own == c,
            Self::One | Self::Any => true,
        }
    }
}

impl From<&str> for Wild {
    fn from(text: &str) -> Self {
        Self::parse(text)
    }
}

impl Wild {
    /// Reads a pattern; every text is one.
    pub fn parse(text: &str) -> Self {
        let piece = |c| match c {
            '*' => Piece::Any,
            '?' => Piece::One,
            c => Piece::Char(c),
        };
        Self::from_pieces(text.chars().map(piece).collect())
    }

    /// For names that mean the same in any case, such as hosts.
    pub fn parse_lowercase(text: &str) -> Self {
        Self::parse(&text.to_lowercase())
    }

    /// From pieces parsed by the caller, quotes already removed.
    pub fn from_pieces(pieces: Vec<Piece>) -> Self {
        let literal: Option<String> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Char(c) => Some(*c),
                Piece::One | Piece::Any => None,
            })
            .collect();
        match literal {
            Some(text) => Self::Literal(text.into_boxed_str()),
            None => Self::Glob(pieces.into_boxed_slice()),
        }
    }

    /// The text, when there is no wildcard in it.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Glob(_) => None,
        }
    }

    /// The pattern from each dot on that it spells out.
    pub fn ends(&self) -> Vec<Self> {
        let pieces: Vec<Piece> = match self {
            Self::Literal(text) => text.chars().map(Piece::Char).collect(),
            Self::Glob(pieces) => pieces.to_vec(),
        };
        let is_dot = |piece: &Piece| *piece == Piece::Char('.');
        let dots = pieces.iter().enumerate().filter(|(_, piece)| is_dot(piece));
        dots.filter_map(|(at, _)| Some(Self::from_pieces(pieces.get(at + 1..)?.to_vec())))
            .collect()
    }

    /// How many dots it spells out.
    pub fn dots(&self) -> usize {
        match self {
            Self::Literal(text) => text.matches('.').count(),
            Self::Glob(pieces) => pieces.iter().filter(|piece| **piece == Piece::Char('.')).count(),
        }
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Self::Literal(own) => **own == *text,
            Self::Glob(pieces) => glob(pieces, text),
        }
    }

    /// Whether the whole of `text` matches, read as what a careful person meant by it: a wildcard does not climb out of a
    /// folder through `..`, and a word that starts with a wildcard is not a flag. For everything that allows.
    pub fn matches_within(&self, text: &str) -> bool {
        let Self::Glob(pieces) = self else {
            return self.matches(text);
        };
        let climbs = text.split('/').any(|part| part == "..");
        let is_flag = text.starts_with('-') && !matches!(pieces.first(), Some(Piece::Char(_)));
        !climbs && !is_flag && glob(pieces, text)
    }
}

/// Greedy with one point of return: the last `*` takes one character more each time the rest does not fit.
fn glob<'a>(pieces: &'a [Piece], text: &'a str) -> bool {
    let (mut pieces, mut rest) = (pieces, text.chars());
    let mut retry: Option<(&[Piece], Chars<'a>)> = None;
    loop {
        match pieces.split_first() {
            Some((Piece::Any, after)) => {
                retry = Some((after, rest.clone()));
                pieces = after;
                continue;
            }
            Some((piece, after)) => {
                let mut next = rest.clone();
                if next.next().is_some_and(|c| piece.takes(c)) {
                    (pieces, rest) = (after, next);
                    continue;
                }
            }
            None if rest.as_str().is_empty() => return true,
            None => {}
        }
        let Some((after, from)) = &mut retry else {
            return false;
        };
        if from.next().is_none() {
            return false;
        }
        (pieces, rest) = (after, from.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_text() {
        for (pattern, text, expected) in [
            ("git", "git", true),
            ("git", "gitx", false),
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abcd", false),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "evil-example.com", false),
            ("a?c", "aéc", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*aab", "aaaab", true),
        ] {
            assert_eq!(
                Wild::parse(pattern).matches(text),
                expected,
                "{pattern} on {text}"
            );
        }
    }

    #[test]
    fn a_wildcard_that_allows_does_not_climb_and_is_not_a_flag() {
        assert!(Wild::parse("src/*").matches_within("src/a/b.rs"));
        assert!(!Wild::parse("src/*").matches_within("src/../../etc/passwd"));
        assert!(!Wild::parse("*.rs").matches_within("--output=x.rs"));
        assert!(Wild::parse("--out=*").matches_within("--out=x"));
        assert!(Wild::parse("../x").matches_within("../x"));
    }
}
