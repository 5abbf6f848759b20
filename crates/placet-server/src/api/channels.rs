//! Channels: requests of their platforms, and how they are doing.
//!
//! A platform's request carries its own signature and no token; the channel checks it on the body as it came.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Request, State as Shared};
use axum::response::Response;
use bytes::Bytes;
use placet_core::ids::ChannelName;
use placet_core::time::Timestamp;
use placet_engine::channel::{BODY_BYTES_MAX, ChannelHealth, ConnectionState, INBOUND, NoRoute, Route};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use crate::access::Admin;
use crate::intake::whole;
use crate::problem::{Code, Problem};
use crate::state::State;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(inbound))
        .routes(routes!(list))
        .routes(routes!(platform))
}

/// What the platform is told.
#[derive(Serialize, ToSchema)]
struct Consumed {
    /// Whether the message is done with: it answered a question, or had come before. If not, it waits for the agent.
    consumed: bool,
}

/// Which channel a message is for. Only to find its secret; nothing is believed yet.
#[derive(Deserialize)]
struct Addressed {
    channel: ChannelName,
}

/// Hand over a message from a chat, signed with the channel's secret: `{channel, chatId, senderId, messageId, content, replyTo?}`, or, for a
/// button, `{channel, chatId, senderId, messageId, requestId, selectedOptionId, feedback?, data?, editedArgs?}`.
#[utoipa::path(post, path = "/v1/inbound", tag = "channels", request_body = Object,
    params(("Placet-Signature" = String, Header, description = "t=<unix seconds>,v1=<hex HMAC-SHA256(secret, \"<t>.<raw body>\")>")),
    responses((status = 200, description = "It was taken", body = Consumed), Problems),
    security(()), extensions(("x-roles" = json!(["signature"]))))]
async fn inbound(Shared(state): Shared<State>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let body = whole(body, BODY_BYTES_MAX).await?;
    let Addressed { channel } = serde_json::from_slice(&body)
        .map_err(|error| Problem::new(Code::BadRequest, format!("the body is not a message: {error}")))?;
    let route = state.engine().route(&channel, &parts.method, INBOUND);
    // Callers that cannot sign do not learn which channels there are.
    let route = route.map_err(|_| Problem::new(Code::BadSignature, "the signature does not fit"))?;
    answer(&state, &channel, route, Request::from_parts(parts, body)).await
}

/// A request of a channel's platform: a webhook, or the callback of a card. What it holds is between the two of them.
#[utoipa::path(method(get, post), path = "/v1/channels/{channel}/{path}", tag = "channels",
    params(("channel" = String, Path, description = "The channel's name"), ("path" = String, Path, description = "One of the channel's paths")),
    responses((status = 200, description = "What the platform expects"), Problems),
    security(()), extensions(("x-roles" = json!(["signature"]))))]
async fn platform(
    Shared(state): Shared<State>,
    Path((channel, path)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let unknown = || Problem::new(Code::NotFound, NoRoute::Path.to_string());
    let channel = ChannelName::new(channel).map_err(|_| unknown())?;
    let route = match state.engine().route(&channel, request.method(), &path) {
        Ok(route) => route,
        Err(NoRoute::Path) => return Err(unknown()),
        Err(error @ NoRoute::Method) => return Err(Problem::new(Code::MethodNotAllowed, error.to_string())),
    };
    let (parts, body) = request.into_parts();
    let body = whole(body, route.body_bytes_max()).await?;
    answer(&state, &channel, route, Request::from_parts(parts, body)).await
}

async fn answer(
    state: &State,
    channel: &ChannelName,
    route: Route,
    request: axum::http::Request<Bytes>,
) -> Result<Response, Problem> {
    let response = state.engine().answer_route(channel, route, request).await?;
    Ok(response.map(Body::from))
}

/// A channel and how it is doing.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ChannelBody {
    /// Its name.
    #[schema(value_type = String)]
    channel: ChannelName,
    /// Whether people may be unreachable there.
    degraded: bool,
    /// Its long connection: `connected`, `connecting`, `retrying`, `elsewhere` (another server keeps it), or `none` (it has none).
    connection: &'static str,
    /// Since when it is connected.
    #[schema(value_type = Option<String>)]
    connected_since: Option<Timestamp>,
    /// When the connection is tried again.
    #[schema(value_type = Option<String>)]
    retry_at: Option<Timestamp>,
    /// How often the connection was lost since the server started.
    connections_lost: u64,
    /// When something was last delivered.
    #[schema(value_type = Option<String>)]
    delivered_at: Option<Timestamp>,
    /// What failed last, in the connection or a delivery.
    last_error: Option<String>,
    /// When that was.
    #[schema(value_type = Option<String>)]
    last_error_at: Option<Timestamp>,
}

impl ChannelBody {
    fn of((channel, health): (ChannelName, ChannelHealth)) -> Self {
        let degraded = health.is_degraded();
        let (connection, connected_since, retry_at) = match health.connection {
            None => ("none", None, None),
            Some(ConnectionState::Elsewhere) => ("elsewhere", None, None),
            Some(ConnectionState::Connecting) => ("connecting", None, None),
            Some(ConnectionState::Connected { since }) => ("connected", Some(since), None),
            Some(ConnectionState::Retrying { at }) => ("retrying", None, Some(at)),
        };
        let (last_error, last_error_at) = health.last_fault.map(|fault| (fault.error, fault.at)).unzip();
        Self {
            channel,
            degraded,
            connection,
            connected_since,
            retry_at,
            connections_lost: health.connections_lost,
            delivered_at: health.delivered_at,
            last_error,
            last_error_at,
        }
    }
}

/// The channels that this server connects, and how they are doing.
#[derive(Serialize, ToSchema)]
struct Channels {
    /// Each of them.
    items: Vec<ChannelBody>,
}

/// How the channels of this server are doing.
#[utoipa::path(get, path = "/v1/channels", tag = "channels", responses((status = 200, description = "Each of them", body = Channels), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn list(_: Admin, Shared(state): Shared<State>) -> Json<Channels> {
    let health = state.engine().channel_health();
    Json(Channels {
        items: health.into_iter().map(ChannelBody::of).collect(),
    })
}
