//! A sentence with its places filled.

use serde_json::{Map, Value};

use super::{Locale, catalogue, format};
use crate::time::Millis;

/// The catalogue of a language.
pub(super) struct Language {
    /// `en`, `zh`.
    pub(super) tag: &'static str,
    /// By id, sorted.
    pub(super) sentences: &'static [(&'static str, &'static [Piece])],
}

/// A part of a sentence.
pub(super) enum Piece {
    Text(&'static str),
    Parameter(&'static str, Kind),
    /// The parameter, and the words for one and for any other number.
    Plural(&'static str, &'static str, &'static str),
    /// The sentence of this table for the code in the parameter of the same name.
    Nested(&'static str),
}

/// How a parameter is written.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    Number,
    Duration,
    List,
    Message,
}

impl Kind {
    /// How a sentence names it, after the parameter.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Text => "",
            Self::Number => ":number",
            Self::Duration => ":duration",
            Self::List => ":list",
            Self::Message => ":message",
        }
    }
}

pub(super) fn language(locale: Locale) -> &'static Language {
    let tag = locale.tag();
    let found = catalogue::LANGUAGES.iter().find(|language| language.tag == tag);
    found.unwrap_or(
        const {
            &Language {
                tag: "",
                sentences: &[],
            }
        },
    )
}

fn sentence(locale: Locale, id: &str) -> Option<&'static [Piece]> {
    let sentences = language(locale).sentences;
    let at = sentences.binary_search_by(|(other, _)| (*other).cmp(id)).ok()?;
    sentences.get(at).map(|(_, pieces)| *pieces)
}

/// The sentence `id`, or `_` of its table; without either, the parameters as they are.
pub(super) fn said(locale: Locale, id: &str, parameters: &Map<String, Value>) -> String {
    let any = || {
        let (table, _) = id.split_once('.')?;
        sentence(locale, &format!("{table}._"))
    };
    match sentence(locale, id).or_else(any) {
        Some(pieces) => pieces
            .iter()
            .map(|piece| filled(locale, piece, parameters))
            .collect(),
        None => format!("{id} {}", Value::Object(parameters.clone())),
    }
}

fn filled(locale: Locale, piece: &Piece, parameters: &Map<String, Value>) -> String {
    match piece {
        Piece::Text(text) => (*text).to_owned(),
        Piece::Parameter(name, kind) => match parameters.get(*name) {
            Some(value) => written(locale, *kind, value),
            None => (*name).to_owned(),
        },
        Piece::Plural(name, one, other) => {
            let is_one = parameters.get(*name).and_then(Value::as_u64) == Some(1);
            (if is_one { *one } else { *other }).to_owned()
        }
        Piece::Nested(table) => {
            let code = parameters.get(*table).and_then(Value::as_str);
            said(
                locale,
                &format!("{table}.{}", code.unwrap_or_default()),
                parameters,
            )
        }
    }
}

fn written(locale: Locale, kind: Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Duration, Value::Number(millis)) => {
            format::duration(locale, Millis::new(millis.as_u64().unwrap_or_default()))
        }
        (Kind::List, Value::Array(items)) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| written(locale, Kind::Text, item))
                .collect();
            format::list(locale, &items)
        }
        (Kind::Message, Value::Object(message)) => match (message.get("id"), message.get("parameters")) {
            (Some(Value::String(id)), Some(Value::Object(parameters))) => said(locale, id, parameters),
            _ => value.to_string(),
        },
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

pub(super) fn text(locale: Locale, id: &str) -> Option<&'static str> {
    match sentence(locale, id)? {
        [Piece::Text(text)] => Some(text),
        _ => None,
    }
}

/// The words of a list in every language. Words are separated by commas.
pub(super) fn words(id: &str) -> impl Iterator<Item = &'static str> {
    let lists = catalogue::LANGUAGES.iter().filter_map(move |language| {
        let at = language.sentences.binary_search_by(|(other, _)| (*other).cmp(id));
        match language.sentences.get(at.ok()?)?.1 {
            [Piece::Text(list)] => Some(*list),
            _ => None,
        }
    });
    lists
        .flat_map(|list| list.split(',').map(str::trim))
        .filter(|word| !word.is_empty())
}

pub(super) fn templates(locale: Locale, prefix: &str) -> impl Iterator<Item = (&'static str, String)> {
    let sentences = language(locale).sentences.iter();
    let own = sentences.filter(move |(id, _)| id.starts_with(prefix));
    own.map(|(id, pieces)| (*id, pieces.iter().map(template).collect()))
}

fn template(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => (*text).to_owned(),
        Piece::Parameter(name, kind) => format!("{{{name}{}}}", kind.suffix()),
        Piece::Plural(name, one, other) => format!("{{{name}|{one}|{other}}}"),
        Piece::Nested(table) => format!("{{{table}.*}}"),
    }
}
