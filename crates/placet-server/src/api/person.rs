//! Signing in and out, and who is signed in.

use axum::Json;
use axum::extract::{FromRequest as _, Request, State as Shared};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use placet_core::interaction::Locale;
use placet_core::steps::CodeRefusal;
use placet_store::StepError;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use crate::access::{
    CHALLENGE_HEADER, Holder, Peer, PersonOnly, Presented, PublicKey, Tickets, code, require_same_site,
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
    /// A language of `messages/`, such as `en`
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

/// What signs a browser in: a code or a token, and the browser's key.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SignIn {
    /// The code of a one-time link.
    #[serde(default)]
    code: Option<String>,
    /// A person's token, instead of a code.
    #[serde(default)]
    token: Option<String>,
    /// The public half of the browser's key: an uncompressed P-256 point (65 bytes) in hex.
    #[schema(pattern = "^04[0-9a-f]{128}$")]
    key: String,
}

/// The browser is signed in.
#[derive(Serialize, ToSchema)]
struct SignedIn {
    /// Names the person, an end (12 hours) and the key. It counts only with a proof made with that key.
    ticket: String,
}

/// Sign a browser in with the code of a one-time link, or with a person's token.
#[utoipa::path(post, path = "/v1/sign-in", tag = "people", request_body = SignIn,
    responses((status = 200, description = "Signed in. `Placet-Challenge` has the first challenge to sign", body = SignedIn), Problems),
    security(()), extensions(("x-roles" = json!(["anybody"]))))]
async fn sign_in(Shared(state): Shared<State>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let from_a_page =
        parts.headers.contains_key(header::ORIGIN) || parts.headers.contains_key("sec-fetch-site");
    if from_a_page {
        require_same_site(&parts)?;
    }
    let peer = parts.extensions.get().map(|Peer(peer)| *peer);
    let request = Request::from_parts(parts, body);
    let JsonBody(SignIn { code, token, key }) = JsonBody::from_request(request, &state).await?;
    let malformed = |detail| Problem::new(Code::BadRequest, detail);
    // Read first: a code must not be spent on a key that can sign nothing.
    let key = PublicKey::parse(&key)
        .ok_or_else(|| malformed("`key` is not an uncompressed P-256 public key in hex"))?;
    // Wrong codes are rate-limited, right ones are not: other clients at the same address must not keep a person out.
    let wrong = |code, detail: &str| match peer {
        Some(peer) if !state.guess_allowed(peer) => {
            let problem = Problem::new(Code::TooManyRequests, "too many attempts; wait a minute");
            problem.retry_after_seconds(60)
        }
        _ => Problem::new(code, detail),
    };
    let access = state.access();
    let credential = match (code, token) {
        (Some(_), Some(_)) | (None, None) => return Err(malformed("send either `code` or `token`")),
        (None, Some(token)) => access.by_token(token.trim()),
        (Some(code), None) => match code::take(state.engine(), &access, &code).await {
            Ok(credential) => credential,
            Err(StepError::Refused(refusal @ CodeRefusal::Used)) => {
                return Err(wrong(Code::CodeUsed, &refusal.to_string()));
            }
            Err(StepError::Refused(CodeRefusal::Unknown)) => None,
            Err(StepError::Store(error)) => return Err(error.into()),
        },
    };
    match credential {
        Some(credential) if matches!(credential.holder, Holder::Person { .. }) => {
            let ticket = Tickets::make(credential, &key, state.now());
            let challenge = [(CHALLENGE_HEADER, state.challenge().await?)];
            Ok((challenge, Json(SignedIn { ticket })).into_response())
        }
        Some(_) => Err(wrong(Code::Forbidden, "agent tokens cannot sign in")),
        None => Err(wrong(Code::Unauthenticated, "not a valid sign-in token")),
    }
}

/// Sign the browser out. Its ticket is worth nothing from then on.
#[utoipa::path(post, path = "/v1/sign-out", tag = "people",
    responses((status = 204, description = "Signed out"), Problems),
    security(("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn sign_out(person: PersonOnly, Shared(state): Shared<State>) -> Result<StatusCode, Problem> {
    let Presented::Browser(ticket) = person.caller.presented else {
        return Ok(StatusCode::NO_CONTENT);
    };
    state.sign_out(&ticket).await.map_err(|error| {
        tracing::error!(%error, "a sign-out could not be stored; it would be forgotten at a restart");
        Problem::new(
            Code::Internal,
            "signed out here, but this could not be stored for other servers and for after a restart",
        )
    })?;
    Ok(StatusCode::NO_CONTENT)
}
