//! What every request passes: its name is checked, it gets an id, it is counted and logged, and its answer gets the headers
//! that keep browsers strict.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tracing::Instrument as _;

use crate::access::{HostError, LocalPeer};
use crate::problem::{CODE_HEADER, Code, Problem, language};
use crate::state::State;

const REQUEST_ID: HeaderName = HeaderName::from_static("placet-request-id");
/// Nothing from elsewhere, nothing inline, no frames.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                   font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                   require-trusted-types-for 'script'";

pub(crate) async fn pass(Shared(state): Shared<State>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = uuid::Uuid::now_v7().simple().to_string();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("other", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let span = tracing::info_span!("request", id, %method, route, session = tracing::field::Empty);
    let headers = request.headers().clone();
    let answer = async {
        match checked(&state, &mut request) {
            Ok(()) => next.run(request).instrument(span.clone()).await,
            Err(problem) => problem.into_response(),
        }
    };
    let response = language::answering(&headers, answer).await;
    let response = finish(response, &id);
    let (status, took) = (response.status(), began.elapsed());
    state.metrics().answered(&method, &route, status, took);
    let problem = response.extensions().get::<Told>().map(|Told(code)| *code);
    let millis = took.as_secs_f64() * 1000.0;
    let status = status.as_u16();
    // Success is logged only at debug level: thousands of lines a second are of no use.
    span.in_scope(|| match status {
        500.. => tracing::warn!(status, millis, problem, "answered"),
        400.. => tracing::info!(status, millis, problem, "answered"),
        _ => tracing::debug!(status, millis, "answered"),
    });
    response
}

/// The problem an answer told of.
#[derive(Clone, Copy)]
struct Told(&'static str);

/// Liveness is asked for by address, and reveals nothing.
fn checked(state: &State, request: &mut Request) -> Result<(), Problem> {
    if matches!(request.uri().path(), "/healthz" | "/readyz") {
        return Ok(());
    }
    // No browser reaches the socket, so its requests need no name to be told from those of other sites.
    if request.extensions().get::<LocalPeer>().is_some() {
        return Ok(());
    }
    match state.hosts().named(request.headers()) {
        Ok(named) => {
            request.extensions_mut().insert(named);
            Ok(())
        }
        Err(HostError::Missing) => Err(Problem::new(Code::WrongHost, "there must be one `Host` header")),
        Err(HostError::Other(host)) => Err(Problem::new(
            Code::WrongHost,
            format!("this server is not called `{host}`; `[server] hosts` names what else it is called"),
        )),
    }
}

fn finish(mut response: Response, id: &str) -> Response {
    let headers = response.headers_mut();
    let told = headers.remove(CODE_HEADER);
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CSP),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What a person may see is not for caches; pages and pictures say otherwise themselves.
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    let told = told.and_then(|told| {
        let told = told.to_str().ok()?;
        Code::ALL.iter().find(|code| code.slug() == told).copied()
    });
    if let Some(code) = told {
        response.extensions_mut().insert(Told(code.slug()));
    }
    response
}

/// The path exists, with other methods.
pub(crate) async fn no_such_method(method: Method) -> Problem {
    Problem::new(Code::MethodNotAllowed, format!("`{method}` is not offered here"))
}
