//! A sentence of the catalogue, taken apart: text, and the places that parameters fill.

use std::collections::BTreeMap;

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Shown as it stands.
    Text(String),
    /// `{name}`, or `{name:kind}`: a parameter.
    Parameter(String, Kind),
    /// `{count|row|rows}`: one of two texts, by a number.
    Plural(String, String, String),
    /// `{table.*}`: the sentence of a table that the parameter of that name is the code of.
    Nested(String),
}

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text, shown as it is.
    Text,
    /// A count.
    Number,
    /// A length of time, in the units of the language.
    Duration,
    /// Names or other texts, joined as the language joins them.
    List,
    /// Another sentence.
    Message,
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        match name {
            "number" => Some(Self::Number),
            "duration" => Some(Self::Duration),
            "list" => Some(Self::List),
            "message" => Some(Self::Message),
            _ => None,
        }
    }
}

/// Takes a sentence apart. Braces of any other form (`${…}`) are text.
pub(crate) fn pieces(sentence: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = sentence;
    while let Some((before, found)) = rest.split_once('{') {
        text += before;
        let closed = found.split_once('}');
        if let Some((piece, after)) = closed.and_then(|(inner, after)| Some((piece(inner)?, after))) {
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(piece);
            rest = after;
        } else {
            text.push('{');
            rest = found;
        }
    }
    text += rest;
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

fn piece(inner: &str) -> Option<Piece> {
    let end = inner.find([':', '|', '.']).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let name = is_name.then(|| name.to_owned())?;
    match rest.split_at_checked(1) {
        None => Some(Piece::Parameter(name, Kind::Text)),
        Some((":", kind)) => Some(Piece::Parameter(name, Kind::named(kind)?)),
        Some(("|", forms)) => {
            let (one, other) = forms.split_once('|')?;
            Some(Piece::Plural(name, one.to_owned(), other.to_owned()))
        }
        Some((_, "*")) => Some(Piece::Nested(name)),
        Some(_) => None,
    }
}

/// The parameters of a sentence by name. A plural says that its parameter is a number.
pub(crate) fn parameters(pieces: &[Piece]) -> BTreeMap<&str, Kind> {
    let mut kinds = BTreeMap::new();
    for piece in pieces {
        match piece {
            Piece::Text(_) | Piece::Nested(_) => {}
            Piece::Parameter(name, kind) => {
                let known = kinds.entry(name.as_str()).or_insert(*kind);
                if *kind != Kind::Text {
                    *known = *kind;
                }
            }
            Piece::Plural(name, ..) => {
                kinds.insert(name.as_str(), Kind::Number);
            }
        }
    }
    kinds
}
