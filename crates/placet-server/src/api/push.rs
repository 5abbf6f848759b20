//! Devices that are told of new requests: a browser adds itself, and takes itself off.

use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use placet_core::digest::Digest;
use placet_core::ids::ChatId;
use placet_core::interaction::Locale;
use placet_core::outgoing::Change;
use placet_core::push::{DEVICES_MAX, Device};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::interactions::locale;
use crate::access::PersonOnly;
use crate::intake::{JsonBody, PathId};
use crate::problem::{Code, Problem};
use crate::push;
use crate::state::State;

/// An uncompressed P-256 point, and the secret beside it.
const KEY_BYTES: usize = 65;
const AUTH_BYTES: usize = 16;
const ENDPOINT_BYTES_MAX: usize = 2048;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(devices))
        .routes(routes!(add))
        .routes(routes!(remove))
}

/// What a browser needs to be told of new requests.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PushBody {
    /// The `applicationServerKey`: a P-256 point in base64url.
    public_key: String,
    /// The caller's devices.
    devices: Vec<DeviceBody>,
}

/// A device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeviceBody {
    /// Its name.
    #[schema(value_type = String)]
    id: ChatId,
    /// Since when it is told.
    added_at: String,
}

/// What a browser's `PushSubscription` says.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Subscription {
    /// Where its push service takes messages.
    endpoint: String,
    keys: SubscriptionKeys,
    /// When the browser ends it; not used.
    #[serde(default, rename = "expirationTime")]
    #[expect(dead_code, reason = "browsers send it")]
    #[schema(value_type = Option<u64>)]
    expiration_time: Option<f64>,
    /// `en` or `zh`: the language of the notifications.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    locale: Option<Locale>,
}

/// The keys of a subscription, in base64url.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SubscriptionKeys {
    p256dh: String,
    auth: String,
}

/// The caller's devices, and the key to subscribe with.
#[utoipa::path(get, path = "/v1/push", tag = "people",
    responses((status = 200, description = "The key and the devices", body = PushBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn devices(person: PersonOnly, Shared(state): Shared<State>) -> Result<Json<PushBody>, Problem> {
    let all = state
        .engine()
        .store()
        .look(|stored| stored.devices(&()).cloned())
        .await?;
    let own = all.into_iter().filter(|device| device.person == person.person);
    let public_key = state.push_key().ok_or_else(unavailable)?.to_owned();
    Ok(Json(PushBody {
        public_key,
        devices: own
            .map(|device| DeviceBody {
                id: device.id,
                added_at: device.added_at.to_string(),
            })
            .collect(),
    }))
}

/// Tell this device of new requests. The same device again takes the place of itself, and of the caller's oldest past ten.
#[utoipa::path(post, path = "/v1/push/devices", tag = "people", request_body = Subscription,
    responses((status = 201, description = "It is told from now on", body = DeviceBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn add(
    person: PersonOnly,
    Shared(state): Shared<State>,
    JsonBody(given): JsonBody<Subscription>,
) -> Result<(StatusCode, Json<DeviceBody>), Problem> {
    state.push_key().ok_or_else(unavailable)?;
    check_endpoint(&state, &given.endpoint)?;
    let device = Device {
        id: device_id(&given.endpoint)?,
        person: person.person.clone(),
        credential: person.caller.credential.to_string(),
        key: key_bytes("p256dh", &given.keys.p256dh, KEY_BYTES)?,
        auth: key_bytes("auth", &given.keys.auth, AUTH_BYTES)?,
        endpoint: given.endpoint,
        locale: locale(&state, given.locale),
        added_at: state.now(),
    };
    let all = state
        .engine()
        .store()
        .look(|stored| stored.devices(&()).cloned())
        .await?;
    let others = all
        .into_iter()
        .filter(|other| other.person == device.person && other.id != device.id);
    let mut others: Vec<_> = others.map(|other| other.id).collect();
    let kept = others.split_off(others.len().saturating_sub(DEVICES_MAX - 1));
    drop(kept);
    let body = DeviceBody {
        id: device.id.clone(),
        added_at: device.added_at.to_string(),
    };
    let mut changes: Vec<_> = others.into_iter().map(Change::RemoveDevice).collect();
    changes.push(Change::AddDevice(device));
    push::store(state.engine(), changes).await?;
    Ok((StatusCode::CREATED, Json(body)))
}

/// Tell this device nothing any more.
#[utoipa::path(delete, path = "/v1/push/devices/{deviceId}", tag = "people",
    params(("deviceId" = String, Path, description = "The device's name")),
    responses((status = 204, description = "It is told nothing any more"), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn remove(
    person: PersonOnly,
    Shared(state): Shared<State>,
    PathId(id): PathId<ChatId>,
) -> Result<StatusCode, Problem> {
    let all = state
        .engine()
        .store()
        .look(|stored| stored.devices(&()).cloned())
        .await?;
    // Another person's device is not known to exist.
    if all
        .iter()
        .any(|device| device.id == id && device.person == person.person)
    {
        push::store(state.engine(), vec![Change::RemoveDevice(id)]).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

fn unavailable() -> Problem {
    Problem::new(
        Code::NotFound,
        "this server sends no notifications; `placet serve` does",
    )
}

/// This machine calls only the services that the operator allows: an address that a browser names may be any.
fn check_endpoint(state: &State, endpoint: &str) -> Result<(), Problem> {
    let refused = |detail: String| Err(Problem::new(Code::BadRequest, detail));
    if endpoint.len() > ENDPOINT_BYTES_MAX {
        return refused(format!("`endpoint` has more than {ENDPOINT_BYTES_MAX} bytes"));
    }
    let parsed: Option<axum::http::Uri> = endpoint.parse().ok();
    let Some((scheme, host)) = parsed
        .as_ref()
        .and_then(|uri| Some((uri.scheme_str()?, uri.host()?)))
    else {
        return refused("`endpoint` is not a URL".to_owned());
    };
    let is_own = host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if scheme != "https" && !(scheme == "http" && is_own) {
        return refused("`endpoint` is not an https URL".to_owned());
    }
    if !state.config().push.allows(&host.to_ascii_lowercase()) {
        return refused(format!("`{host}` is not in `[push] services`"));
    }
    Ok(())
}

fn device_id(endpoint: &str) -> Result<ChatId, Problem> {
    let digest = Digest::of("placet/device/1", &[endpoint.as_bytes()]).to_string();
    let short: String = digest.chars().take(16).collect();
    ChatId::new(format!("dev_{short}")).map_err(|error| Problem::new(Code::Internal, error.to_string()))
}

fn key_bytes(name: &str, text: &str, bytes: usize) -> Result<Vec<u8>, Problem> {
    let decoded = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    decoded.filter(|decoded| decoded.len() == bytes).ok_or_else(|| {
        Problem::new(
            Code::BadRequest,
            format!("`keys.{name}` is not {bytes} bytes in base64url"),
        )
    })
}
