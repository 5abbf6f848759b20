//! Taking requests in: bodies, queries and names in paths, each refused with a problem of its own.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header;
use axum::http::request::Parts;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use placet_core::call::ARGS_BYTES_MAX;
use serde::de::DeserializeOwned;

use crate::problem::{Code, Problem};
use crate::state::State;

/// The largest body taken: the largest arguments, and what is said about them.
pub(crate) const BODY_BYTES_MAX: usize = ARGS_BYTES_MAX + 256 * 1024;
/// A body that has not arrived by then is not waited for.
const BODY_TIME: Duration = Duration::from_secs(20);

/// A JSON body. Unknown and doubled fields are refused: a misspelt one must not be a missing one.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<State> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &State) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let essence = kind.and_then(|kind| kind.to_str().ok()?.split(';').next());
        if !essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json")) {
            return Err(Problem::new(
                Code::WrongContentType,
                "send the body as `Content-Type: application/json`",
            ));
        }
        let bytes = whole(request.into_body(), BODY_BYTES_MAX).await?;
        parse(&bytes).map(Self)
    }
}

/// Like [`JsonBody`], where no body at all means the default.
pub(crate) struct OptionalBody<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<State> for OptionalBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &State) -> Result<Self, Problem> {
        let bytes = whole(request.into_body(), BODY_BYTES_MAX).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        parse(&bytes).map(Self)
    }
}

/// The bytes of a body, within bounds of size and time.
pub(crate) async fn whole(body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    let collected = tokio::time::timeout(BODY_TIME, Limited::new(body, bytes_max).collect()).await;
    match collected {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Problem::new(
            Code::TooLarge,
            format!("the body has more than {bytes_max} bytes"),
        )),
        Ok(Err(error)) => Err(Problem::new(
            Code::BadRequest,
            format!("the body cannot be read: {error}"),
        )),
        Err(_) => Err(Problem::new(
            Code::TooSlow,
            format!("the body did not arrive within {} seconds", BODY_TIME.as_secs()),
        )),
    }
}

/// Every body is an object. Fields by their order, which the reader would take as well, name nothing.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(Problem::new(Code::BadRequest, "the body is not a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        // How arguments refuse a name that is there twice; see `placet_core::call::Args`.
        let text = match text.strip_prefix("placet:duplicate:") {
            Some(rest) => format!(
                "the arguments name `{}` twice",
                rest.split(" at line ").next().unwrap_or_default()
            ),
            None if text.starts_with("placet:deep") => "the arguments are nested too deeply".to_owned(),
            None => text,
        };
        Problem::new(Code::BadRequest, format!("the body cannot be used: {text}"))
    })
}

/// What the query says.
pub(crate) struct QueryOf<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<State> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query
            .map(|Query(query)| Self(query))
            .map_err(|rejection: QueryRejection| {
                Problem::new(
                    Code::BadRequest,
                    format!("the query cannot be used: {}", rejection.body_text()),
                )
            })
    }
}

/// The name in the path.
pub(crate) struct PathId<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<State> for PathId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(id)| Self(id)).map_err(|rejection: PathRejection| {
            Problem::new(
                Code::BadRequest,
                format!("the path cannot be used: {}", rejection.body_text()),
            )
        })
    }
}
