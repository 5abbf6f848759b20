//! Globs: what a pattern could become once the shell has looked at the disk.

/// Whether `text` holds what a shell takes for a pattern.
pub(in super::super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether `pattern` could become `name`: one name, without folders. A class is any character, and what follows an opening
/// bracket of another kind is anything. A leading dot must be written out.
pub(in super::super) fn could_be(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (mut pattern, mut name) = (pattern, name);
    let mut retry: Option<(&str, &str)> = None;
    loop {
        let piece = Piece::first(pattern);
        let next = name.chars().next();
        match (piece, next) {
            (Some((Piece::Rest, _)), _) | (None, None) => return true,
            (Some((Piece::Any, after)), _) => {
                retry = Some((after, name));
                pattern = after;
                continue;
            }
            (Some((piece, after)), Some(c)) if piece.takes(c) => {
                pattern = after;
                name = name.get(c.len_utf8()..).unwrap_or_default();
                continue;
            }
            _ => {}
        }
        let Some((after, from)) = retry else { return false };
        let Some(c) = from.chars().next() else {
            return false;
        };
        name = from.get(c.len_utf8()..).unwrap_or_default();
        pattern = after;
        retry = Some((after, name));
    }
}

/// How many characters of `pattern` are themselves.
pub(in super::super) fn literal_chars(pattern: &str) -> usize {
    let mut rest = pattern;
    let mut count = 0;
    while let Some((piece, after)) = Piece::first(rest) {
        match piece {
            Piece::Char(_) => count += 1,
            Piece::Rest => return count,
            Piece::One | Piece::Any => {}
        }
        rest = after;
    }
    count
}

#[derive(Clone, Copy)]
enum Piece {
    Char(char),
    One,
    Any,
    /// Whatever follows is not read.
    Rest,
}

impl Piece {
    fn first(pattern: &str) -> Option<(Self, &str)> {
        let mut chars = pattern.chars();
        let c = chars.next()?;
        let after = chars.as_str();
        Some(match c {
            '@' | '!' | '+' | '?' | '*' if after.starts_with('(') => (Self::Rest, after),
            '*' => (Self::Any, after),
            '?' => (Self::One, after),
            // A class holds at least one character, which may be its own end.
            '[' => match after.char_indices().skip(1).find(|(_, c)| *c == ']') {
                Some((end, _)) => (Self::One, after.get(end + 1..).unwrap_or_default()),
                None => (Self::Char('['), after),
            },
            '{' | '(' => (Self::Rest, after),
            c => (Self::Char(c), after),
        })
    }

    fn takes(self, c: char) -> bool {
        match self {
            Self::Char(own) => own == c,
            Self::One | Self::Any | Self::Rest => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_could_be_what_a_shell_makes_of_it() {
        for (pattern, name) in [
            ("et*", "etc"),
            ("[s]hadow", "shadow"),
            ("?hadow", "shadow"),
            ("s*d*w", "shadow"),
            (".e*", ".env"),
            ("id_@(rsa|dsa)", "id_rsa"),
            ("*", "etc"),
        ] {
            assert!(could_be(pattern, name), "{pattern}");
        }
        for (pattern, name) in [
            ("*", ".env"),
            ("?env", ".env"),
            ("*.rs", "shadow"),
            ("s", "shadow"),
            ("a*w", "shadow"),
        ] {
            assert!(!could_be(pattern, name), "{pattern}");
        }
        assert_eq!(literal_chars("?ok[e]ns.t*"), 6);
    }
}
