//! What people write on a chat platform, signed by the platform; see [`placet_channels::webhook`].

use axum::Json;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::HeaderMap;
use placet_channels::webhook::{BODY_BYTES_MAX, InboundError, SIGNATURE_HEADER};
use placet_engine::bus;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use crate::intake::whole;
use crate::problem::{Code, Problem};
use crate::state::State;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(receive))
}

/// What the platform is told.
#[derive(Serialize, ToSchema)]
struct Consumed {
    /// Whether the message is done with: it answered a question, or had come before. If not, it waits for the agent.
    consumed: bool,
}

/// Hand over a message from a chat, signed with the channel's secret: `{channel, chatId, senderId, messageId, content}`, or, for a button,
/// `{channel, chatId, senderId, messageId, requestId, selectedOptionId, feedback?, data?}`.
#[utoipa::path(post, path = "/v1/inbound", tag = "channels", request_body = Object,
    params(("Placet-Signature" = String, Header, description = "t=<unix seconds>,v1=<hex HMAC-SHA256(secret, \"<t>.<raw body>\")>")),
    responses((status = 200, description = "It was taken", body = Consumed), Problems),
    security(()), extensions(("x-roles" = json!(["signature"]))))]
async fn receive(
    Shared(state): Shared<State>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Consumed>, Problem> {
    let signature = headers
        .get(SIGNATURE_HEADER)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let body = whole(body, BODY_BYTES_MAX).await?;
    let bus = state.engine().bus();
    let received = state
        .webhooks()
        .receive(&bus, signature, &body, state.now())
        .await;
    let received = received.map_err(|error| {
        let code = match &error {
            InboundError::TooLarge(_) | InboundError::Bus(bus::InboundError::TooLong(_)) => Code::TooLarge,
            // Whoever cannot sign does not learn which channels there are.
            InboundError::Signature(_)
            | InboundError::OtherChannel { .. }
            | InboundError::UnknownChannel(_) => Code::BadSignature,
            InboundError::Bus(bus::InboundError::Store(_)) => Code::StoreUnavailable,
            InboundError::NotAMessage(_)
            | InboundError::Bus(bus::InboundError::Name(_) | bus::InboundError::MessageId(_)) => {
                Code::BadRequest
            }
        };
        match &error {
            InboundError::UnknownChannel(_) => Problem::new(code, "the signature does not fit"),
            _ => Problem::new(code, error.to_string()),
        }
    })?;
    Ok(Json(Consumed {
        consumed: received.consumed,
    }))
}
