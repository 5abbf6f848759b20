//! Globs: what a pattern could become once the shell has looked at the disk.

use placet_core::policy::{Piece, Wild};

/// A pattern for one name, without folders. A class is any character, and what follows an opening bracket of another kind is anything.
pub(in super::super) struct Glob {
    wild: Wild,
    is_dotted: bool,
    /// How many characters are themselves.
    pub(in super::super) literal_chars: usize,
}

impl Glob {
    /// Reads a pattern; every text is one.
    pub(in super::super) fn parse(pattern: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            let after = rest.as_str();
            let is_list = matches!(c, '@' | '!' | '+' | '?' | '*') && after.starts_with('(');
            if is_list || matches!(c, '{' | '(') {
                pieces.push(Piece::Any);
                break;
            }
            // A class holds at least one character, which may be its own end.
            let class_end = || after.char_indices().skip(1).find(|(_, c)| *c == ']');
            pieces.push(match (c, class_end()) {
                ('*', _) => Piece::Any,
                ('?', _) => Piece::One,
                ('[', Some((end, _))) => {
                    rest = after.get(end + 1..).unwrap_or_default().chars();
                    Piece::One
                }
                _ => Piece::Char(c),
            });
        }
        let literal = pieces.iter().filter(|piece| matches!(piece, Piece::Char(_)));
        Self {
            is_dotted: pattern.starts_with('.'),
            literal_chars: literal.count(),
            wild: Wild::from_pieces(pieces),
        }
    }

    /// Whether it could become `name`. A leading dot must be written out.
    pub(in super::super) fn could_be(&self, name: &str) -> bool {
        (self.is_dotted || !name.starts_with('.')) && self.wild.matches(name)
    }
}

#[cfg(test)]
mod tests;
