//! The pages: the inbox, the reference, and a page for each error code. All of it is in the program.

use std::path::Path as FilePath;

use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::problem::{Code, Problem};
use crate::state::State;

mod markdown;
mod messages;
mod reference;

pub(crate) use reference::Reference;

/// The inbox: plain ES modules. Read from disk in debug builds.
#[derive(RustEmbed)]
#[folder = "../../web/"]
#[include = "index.html"]
#[include = "app/**"]
struct Inbox;

/// A page for each error code.
#[derive(RustEmbed)]
#[folder = "../../docs/errors/"]
struct Errors;

/// Where the inbox finds its own way: all of these are the same page.
const PAGES: [&str; 15] = [
    "/",
    "/sign-in",
    "/q/{id}",
    "/history",
    "/insights",
    "/sessions",
    "/sessions/{id}",
    "/chat",
    "/chat/{id}",
    "/runs",
    "/audit",
    "/policy",
    "/policy/suggestions",
    "/policy/replay",
    "/grants",
];

pub(crate) fn routes() -> Router<State> {
    let pages = PAGES
        .into_iter()
        .fold(Router::new(), |router, page| router.route(page, get(index)));
    pages
        .route("/app/messages.json", get(messages::preferred))
        .route("/app/messages/{file}", get(messages::named))
        .route("/app/{*path}", get(asset))
        .route("/sw.js", get(worker))
        .route("/favicon.ico", get(icon))
        .route("/errors/{code}", get(error))
}

async fn index(Shared(state): Shared<State>, headers: HeaderMap) -> Response {
    page(&state, &headers, "index.html")
}

/// An address that leads nowhere: a browser gets the page that says so, a program a problem.
pub(crate) async fn nowhere(
    Shared(state): Shared<State>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let path = uri.path();
    let for_programs = ["/v1/", "/api/", "/app/"]
        .iter()
        .any(|folder| path.starts_with(folder));
    let accepted = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok());
    let browses = accepted.is_some_and(|accept| accept.contains("text/html"));
    if method == Method::GET && browses && !for_programs {
        // Without the caller's headers: what it has already is no page for this address.
        let mut response = page(&state, &HeaderMap::new(), "index.html");
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    Problem::new(Code::NotFound, format!("there is nothing at `{path}`")).into_response()
}

async fn icon(Shared(state): Shared<State>, headers: HeaderMap) -> Response {
    page(&state, &headers, "app/icon.svg")
}

/// A worker controls the pages below its own address, so it is served from the top.
async fn worker(Shared(state): Shared<State>, headers: HeaderMap) -> Response {
    page(&state, &headers, "app/sw.js")
}

async fn asset(Shared(state): Shared<State>, Path(path): Path<String>, headers: HeaderMap) -> Response {
    page(&state, &headers, &format!("app/{path}"))
}

fn page(state: &State, headers: &HeaderMap, path: &str) -> Response {
    let nothing = || Problem::new(Code::NotFound, format!("there is nothing at `/{path}`")).into_response();
    if !is_plain(path) {
        return nothing();
    }
    let replaced = state
        .places()
        .web
        .as_deref()
        .and_then(|folder| from_disk(folder, path));
    if let Some(bytes) = replaced {
        return (
            [
                (header::CONTENT_TYPE, kind(path)),
                (header::CACHE_CONTROL, "no-store"),
            ],
            bytes,
        )
            .into_response();
    }
    match Inbox::get(path) {
        Some(file) => fresh(headers, &file, kind(path)),
        None => nothing(),
    }
}

/// Whether a path only goes down, and shows nothing that is hidden.
fn is_plain(path: &str) -> bool {
    path.split('/')
        .all(|part| !part.is_empty() && !part.starts_with('.') && !part.contains('\\'))
}

/// A file of the folder that is being worked on.
fn from_disk(folder: &FilePath, path: &str) -> Option<Vec<u8>> {
    std::fs::read(folder.join(path)).ok()
}

/// The file, unless the browser has it already.
fn fresh(headers: &HeaderMap, file: &EmbeddedFile, kind: &'static str) -> Response {
    let tag = format!("\"{}\"", hex::encode(file.metadata.sha256_hash()));
    unless_known(headers, &tag, kind, || file.data.clone().into_owned())
}

/// What `tag` stands for, unless the browser has it already.
fn unless_known(
    headers: &HeaderMap,
    tag: &str,
    kind: &'static str,
    body: impl FnOnce() -> Vec<u8>,
) -> Response {
    let known = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, kind)], body()).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Said here and not guessed: a browser told `nosniff` believes nothing else.
fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "woff2" => "font/woff2",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

async fn error(Path(code): Path<String>) -> Response {
    match Errors::get(&format!("{code}.md")) {
        Some(file) => {
            let text = String::from_utf8_lossy(&file.data);
            html(&markdown::page(&code, &text))
        }
        None => Problem::new(Code::NotFound, format!("there is no error code `{code}`")).into_response(),
    }
}

fn html(text: &str) -> Response {
    (
        [(header::CONTENT_TYPE, "text/html; charset=utf-8")],
        text.to_owned(),
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let codes: BTreeSet<String> = Code::ALL
            .iter()
            .map(|code| format!("{}.md", code.slug()))
            .collect();
        let pages: BTreeSet<String> = Errors::iter().map(|name| name.to_string()).collect();
        assert_eq!(codes, pages);
        for code in Code::ALL {
            let page = Errors::get(&format!("{}.md", code.slug())).unwrap();
            let text = String::from_utf8(page.data.into_owned()).unwrap();
            let heading = format!("# {} ({})\n", code.slug(), code.status().as_u16());
            assert!(
                text.starts_with(&heading),
                "{} begins with {heading}",
                code.slug()
            );
        }
    }

    #[test]
    fn a_path_never_leaves_the_folder() {
        for path in [
            "../index.html",
            "app/../../index.html",
            "/etc/passwd",
            "app//x",
            ".git/config",
            "app/..\\x",
        ] {
            assert!(!is_plain(path), "{path}");
        }
        assert!(is_plain("index.html") && is_plain("app/views/inbox.js"));
    }
}
