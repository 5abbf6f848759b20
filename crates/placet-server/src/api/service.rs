//! Whether the server is well, and what it counts.

use axum::Json;
use axum::extract::State as Shared;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use crate::access::Admin;
use crate::problem::{Code, Problem};
use crate::state::State;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(healthz))
        .routes(routes!(readyz))
        .routes(routes!(metrics))
}

/// How the server is.
#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok`
    status: &'static str,
}

/// Whether the process lives.
#[utoipa::path(get, path = "/healthz", tag = "service", responses((status = 200, description = "It does", body = Health), Problems),
    security(()), extensions(("x-roles" = json!(["anybody"]))))]
async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Whether requests can be served: the store takes writes, and the server is not stopping.
#[utoipa::path(get, path = "/readyz", tag = "service", responses((status = 200, description = "They can", body = Health), Problems),
    security(()), extensions(("x-roles" = json!(["anybody"]))))]
async fn readyz(Shared(state): Shared<State>) -> Result<Json<Health>, Problem> {
    if state.stop().is_cancelled() {
        return Err(Problem::new(Code::Stopping, "the server is stopping"));
    }
    state.engine().store().prove_room().await?;
    Ok(Json(Health { status: "ok" }))
}

/// What is counted, in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", tag = "service",
    responses((status = 200, description = "Counters, gauges and histograms", content_type = "application/openmetrics-text", body = String), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn metrics(_: Admin, Shared(state): Shared<State>) -> Result<Response, Problem> {
    let counts = state
        .engine()
        .store()
        .look(|stored| stored.counts(&()).copied())
        .await?;
    let text = state.metrics().text(&counts);
    let text = text.map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
