//! Comments on a request: what people say to each other about it. They decide nothing, and no agent sees them.

use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use placet_core::ids::InteractionId;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::interactions::{offered, shown, visible};
use super::{LocaleQuery, Problems};
use crate::access::{AgentOrPerson, PersonOnly};
use crate::intake::{JsonBody, PathId, QueryOf};
use crate::problem::Problem;
use crate::state::State;
use crate::wire::question::QuestionBody;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(comment))
}

/// A comment.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewComment {
    /// What to say; at most 4000 bytes.
    text: String,
}

/// Comment on a request, open or closed. A request has at most 100 comments.
#[utoipa::path(post, path = "/v1/interactions/{requestId}/comments", tag = "questions",
    params(("requestId" = String, Path, description = "The question's id"), LocaleQuery), request_body = NewComment,
    responses((status = 201, description = "The question, with the comment", body = QuestionBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn comment(
    person: PersonOnly,
    Shared(state): Shared<State>,
    PathId(id): PathId<InteractionId>,
    QueryOf(query): QueryOf<LocaleQuery>,
    JsonBody(new): JsonBody<NewComment>,
) -> Result<(StatusCode, Json<QuestionBody>), Problem> {
    let broker = state.engine().broker();
    broker.comment(&id, &person.principal, &new.text).await?;
    let reader = AgentOrPerson::Person(person);
    let question = visible(&state, &reader, &id).await?;
    let AgentOrPerson::Person(person) = reader else {
        return Err(super::interactions::none(&id));
    };
    let scopes = offered(&state, &question, &person);
    let locale = super::interactions::locale(&state, query.locale);
    let body = shown(&state, &question, &person.principal, scopes, locale).await?;
    Ok((StatusCode::CREATED, Json(body.masked())))
}
