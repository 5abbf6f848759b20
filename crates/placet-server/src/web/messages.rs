//! The sentences of the inbox, in one language: the page fetches them once and fills in parameters itself (`web/app/i18n.js`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use placet_core::messages::{self, Locale};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::unless_known;
use crate::problem::{Code, Problem};

/// The page's own sentences, which it names without this prefix.
const OWN: &str = "web.";

/// Sentences of other tables that the page says, too; a test of the page holds this list to what it uses.
const SHARED: [&str; 9] = [
    "category.",
    "closed.request",
    "format.",
    "key.reject_reason",
    "option.approve",
    "prompt.back",
    "prompt.send",
    "request.arguments",
    "request.details",
];

/// Made once: they are part of the program.
static BODIES: LazyLock<Vec<(Locale, Body)>> =
    LazyLock::new(|| Locale::ALL.map(|locale| (locale, Body::new(locale))).into());

/// A language as it is sent.
struct Body {
    json: Vec<u8>,
    etag: String,
}

#[derive(Serialize)]
struct Language {
    locale: Locale,
    name: &'static str,
}

#[derive(Serialize)]
struct Catalogue {
    locale: Locale,
    tag: &'static str,
    languages: Vec<Language>,
    sentences: BTreeMap<&'static str, String>,
}

impl Body {
    fn new(locale: Locale) -> Self {
        let own = messages::templates(locale, OWN)
            .map(|(id, sentence)| (id.strip_prefix(OWN).unwrap_or(id), sentence));
        let shared = SHARED
            .iter()
            .flat_map(|prefix| messages::templates(locale, prefix));
        let language = |locale: Locale| Language {
            locale,
            name: locale.name(),
        };
        let catalogue = Catalogue {
            locale,
            tag: locale.language_tag(),
            languages: Locale::ALL.map(language).into(),
            // The page's own ids win.
            sentences: shared.chain(own).collect(),
        };
        // Only texts: this cannot fail, and a page without sentences would say so at once.
        let json = serde_json::to_vec(&catalogue).unwrap_or_default();
        let etag = format!("\"{}\"", hex::encode(Sha256::digest(&json)));
        Self { json, etag }
    }
}

/// The sentences of one language.
pub(super) async fn named(Path(file): Path<String>, headers: HeaderMap) -> Response {
    if let Some(locale) = file.strip_suffix(".json").and_then(|tag| tag.parse().ok()) {
        return sent(locale, &headers);
    }
    let detail = format!("there are no sentences at `/app/messages/{file}`");
    Problem::new(Code::NotFound, detail).into_response()
}

/// The sentences of the language that the browser prefers.
pub(super) async fn preferred(headers: HeaderMap) -> Response {
    let accepted = headers
        .get(header::ACCEPT_LANGUAGE)
        .and_then(|accepted| accepted.to_str().ok());
    let locale = accepted.and_then(Locale::preferred).unwrap_or(Locale::English);
    let mut response = sent(locale, &headers);
    let vary = HeaderValue::from_static("accept-language");
    response.headers_mut().append(header::VARY, vary);
    response
}

fn sent(locale: Locale, headers: &HeaderMap) -> Response {
    match BODIES.iter().find(|(own, _)| *own == locale) {
        Some((_, body)) => unless_known(headers, &body.etag, "application/json", || body.json.clone()),
        None => Problem::new(Code::NotFound, format!("there are no sentences in `{locale}`")).into_response(),
    }
}
