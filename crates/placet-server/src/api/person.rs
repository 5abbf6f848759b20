//! Signing in and out, and who is signed in.

use std::io;

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Request, State as Shared};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use placet_core::config::Scheme;
use placet_core::interaction::Locale;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use crate::access::{
    COOKIE, COOKIE_TTL, CodeError, Cookies, Credential, Holder, Named, Peer, PersonOnly, Proof,
    require_same_site,
};
use crate::intake::JsonBody;
use crate::problem::{Code, Problem};
use crate::state::State;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(me))
        .routes(routes!(sign_in))
        .routes(routes!(sign_out))
}

/// Who is signed in.
#[derive(Serialize, ToSchema)]
struct Me {
    /// The person's id.
    person: String,
    /// What they are called.
    name: String,
    /// `approver` or `admin`
    role: &'static str,
    /// `en` or `zh`
    #[schema(value_type = String)]
    locale: Locale,
    /// Always `Placet`.
    product: &'static str,
    /// Of the server.
    version: &'static str,
}

/// Who is signed in.
#[utoipa::path(get, path = "/v1/me", tag = "people",
    responses((status = 200, description = "The person", body = Me), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn me(person: PersonOnly, Shared(state): Shared<State>) -> Json<Me> {
    Json(Me {
        person: person.person.to_string(),
        name: person.person.to_string(),
        role: person.role.as_str(),
        locale: state.config().locale(None),
        product: "Placet",
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// What signs a browser in.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum SignIn {
    /// The code of a one-time link.
    Code(String),
    /// A person's token.
    Token(String),
}

/// Sign a browser in with the code of a one-time link, or with a person's token.
#[utoipa::path(post, path = "/v1/sign-in", tag = "people", request_body = SignIn,
    responses((status = 204, description = "Signed in: the cookie `placet` is set"), Problems),
    security(()), extensions(("x-roles" = json!(["anybody"]))))]
async fn sign_in(Shared(state): Shared<State>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let from_a_page =
        parts.headers.contains_key(header::ORIGIN) || parts.headers.contains_key("sec-fetch-site");
    if from_a_page {
        require_same_site(&parts)?;
    }
    let peer = parts.extensions.get().map(|Peer(peer)| *peer);
    let scheme = parts
        .extensions
        .get()
        .map_or(Scheme::Http, |named: &Named| named.scheme);
    let request = Request::from_parts(parts, body);
    let JsonBody(given) = JsonBody::<SignIn>::from_request(request, &state).await?;
    // Whoever guesses is slowed down. Whoever knows is not: others at the same address must not keep them out.
    let wrong = |code, detail: &str| match peer {
        Some(peer) if !state.guess_allowed(peer) => {
            let problem = Problem::new(Code::TooManyRequests, "too many attempts; wait a minute");
            problem.retry_after_seconds(60)
        }
        _ => Problem::new(code, detail),
    };
    let access = state.access();
    let credential = match given {
        SignIn::Token(token) => access.by_token(token.trim()),
        SignIn::Code(code) => match state.codes().take(&code) {
            Ok(id) => access.by_id(id),
            Err(CodeError::Used) => {
                return Err(wrong(
                    Code::CodeUsed,
                    "this link was used before, or is too old; paste a token instead",
                ));
            }
            Err(CodeError::Unknown) => None,
        },
    };
    match credential {
        Some(credential) if matches!(credential.holder, Holder::Person { .. }) => {
            Ok(signed_in(credential, &state, scheme))
        }
        Some(_) => Err(wrong(Code::Forbidden, "an agent's token signs nobody in")),
        None => Err(wrong(Code::Unauthenticated, "this signs nobody in")),
    }
}

fn signed_in(credential: &Credential, state: &State, scheme: Scheme) -> Response {
    let value = Cookies::make(credential, state.now());
    with_cookie(&value, COOKIE_TTL.get() / 1000, scheme)
}

fn with_cookie(value: &str, seconds: u64, scheme: Scheme) -> Response {
    let secure = match scheme {
        Scheme::Http => "",
        Scheme::Https => "; Secure",
    };
    let cookie = format!("{COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}");
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Sign the browser out. Its cookie is worth nothing from then on.
#[utoipa::path(post, path = "/v1/sign-out", tag = "people",
    responses((status = 204, description = "Signed out"), Problems),
    security(("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn sign_out(Shared(state): Shared<State>, request: Request) -> Result<Response, Problem> {
    let (mut parts, _) = request.into_parts();
    let person = PersonOnly::from_request_parts(&mut parts, &state).await?;
    revoke(&state, person.caller.proof).await?;
    let scheme = parts
        .extensions
        .get()
        .map_or(Scheme::Http, |named: &Named| named.scheme);
    Ok(with_cookie("", 0, scheme))
}

async fn revoke(state: &State, proof: Proof) -> Result<(), Problem> {
    let Proof::Cookie(ticket) = proof else {
        return Ok(());
    };
    let state = state.clone();
    let revoking = tokio::task::spawn_blocking(move || state.sign_out(ticket)).await;
    revoking.map_err(io::Error::other).flatten().map_err(|error| {
        tracing::error!(%error, "a sign-out could not be stored; it would be forgotten at a restart");
        Problem::new(
            Code::Internal,
            "signed out here, but this could not be stored for after a restart",
        )
    })
}
