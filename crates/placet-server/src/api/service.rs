//! Whether the server is well, and what it counts.

use axum::Json;
use axum::extract::State as Shared;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use placet_agent::Agent;
use placet_engine::channel::ChannelHealth;
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
    /// `ok`, or `degraded`: a channel has lost its platform, so people may be unreachable there
    status: &'static str,
}

/// Whether the process lives.
#[utoipa::path(get, path = "/healthz", tag = "service", responses((status = 200, description = "It does", body = Health), Problems),
    security(()), extensions(("x-roles" = json!(["anybody"]))))]
async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Whether requests can be served: the store takes writes, the built-in agent works if there is one, and the server is not stopping.
#[utoipa::path(get, path = "/readyz", tag = "service", responses((status = 200, description = "They can", body = Health), Problems),
    security(()), extensions(("x-roles" = json!(["anybody"]))))]
async fn readyz(Shared(state): Shared<State>) -> Result<Json<Health>, Problem> {
    if state.stop().is_cancelled() {
        return Err(Problem::new(Code::Stopping, "the server is stopping"));
    }
    state.engine().store().prove_room().await?;
    if let Some(trouble) = state.agent().and_then(Agent::trouble) {
        let detail = format!("the built-in agent does nothing: {trouble}");
        return Err(Problem::new(Code::AgentStopped, detail));
    }
    let health = state.engine().channel_health();
    let is_degraded = health.values().any(ChannelHealth::is_degraded);
    // Still ready: requests are served, and another server would not reach the platform either.
    let status = if is_degraded { "degraded" } else { "ok" };
    Ok(Json(Health { status }))
}

/// What is counted, in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", tag = "service",
    responses((status = 200, description = "Counters, gauges and histograms", content_type = "application/openmetrics-text", body = String), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn metrics(_: Admin, Shared(state): Shared<State>) -> Result<Response, Problem> {
    let now = state.now();
    let look = state.engine().store().look(|stored| {
        let standing = stored.all_standing(&now)?;
        let in_force = standing.iter().filter(|row| row.state() == "inForce").count();
        Ok((*stored.counts(&())?, in_force))
    });
    let (counts, in_force) = look.await?;
    let in_force = u64::try_from(in_force).unwrap_or(u64::MAX);
    let health = state.engine().channel_health();
    let text = state.metrics().text(&counts, in_force, &health);
    let text = text.map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
