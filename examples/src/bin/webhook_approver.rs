//! A chat platform of your own, over signed HTTP both ways: Placet posts its questions to the platform, and the platform
//! posts what people write to Placet. Here both live in one program, on loopback; Zoe approves what she is asked.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use axum::routing::post;
use placet_channels::webhook::{SIGNATURE_HEADER, Webhook};
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::ids::ChannelName;
use placet_core::time::Timestamp;
use placet_engine::channel::INBOUND;
use placet_engine::secret::SecretText;
use placet_engine::{Engine, Finished};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    // For Zoe's own client; a webhook brings its TLS along.
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "TLS is chosen already")?;
    let (platform, inbound) = (
        TcpListener::bind("127.0.0.1:0").await?,
        TcpListener::bind("127.0.0.1:0").await?,
    );
    let (platform_url, inbound_url) = (
        format!("http://{}/questions", platform.local_addr()?),
        format!("http://{}/v1/inbound", inbound.local_addr()?),
    );
    // With a `placet.toml` this is `[channels.ops]` and `placet_channels::configured`.
    let secret = SecretText::new("only the two of us know this").ok_or("an empty secret")?;
    let ops = ChannelName::new("ops")?;
    let webhook = Arc::new(Webhook::new(ops.clone(), &platform_url, &secret)?);

    let (posts, received) = mpsc::channel(16);
    tokio::spawn(axum::serve(platform, platform_routes(Arc::clone(&webhook), posts)).into_future());
    let zoe = tokio::spawn(zoe(received, Arc::clone(&webhook), inbound_url));

    let engine = Engine::builder(Config::builtin(placet_inspect::builtin()))
        .channel(webhook)
        .start_in_memory()
        .await?;
    tokio::spawn(axum::serve(inbound, inbound_routes(ops, engine.clone())).into_future());

    let call: ToolCall = serde_json::from_value(json!({
        "id": "1", "tool": "deploy", "args": { "to": "staging" }, "session": "ops:team",
        "origin": { "agent": "my-agent", "chat": { "channel": "ops", "id": "team" }, "user": "ops:zoe" },
    }))?;
    match engine
        .gate()
        .call(call, async |_: ToolCall| Ok("deployed".to_owned()))
        .await?
    {
        Finished::Ran { result, .. } => println!("the agent: {}", result.output),
        Finished::NotRun(outcome) => {
            println!("the agent: {}", outcome.result_for_model().unwrap_or_default());
        }
    }
    zoe.await??;
    engine.shutdown().await?;
    Ok(())
}

fn machine_time() -> Timestamp {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn signature(headers: &HeaderMap) -> &str {
    let value = headers.get(SIGNATURE_HEADER);
    value.and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The platform's side: believe only what Placet signed, and show it.
fn platform_routes(ops: Arc<Webhook>, posts: mpsc::Sender<Value>) -> Router {
    let take = async move |headers: HeaderMap, body: Bytes| {
        let signed = ops.verify(signature(&headers), &body, machine_time()).is_ok();
        let Some(post) = serde_json::from_slice(&body).ok().filter(|_| signed) else {
            return StatusCode::UNAUTHORIZED;
        };
        // The example is over, so the receiver is gone.
        let _ = posts.send(post).await;
        StatusCode::NO_CONTENT
    };
    Router::new().route("/questions", post(take))
}

/// Placet's side: what a server mounts at `/v1/inbound`. The channel checks the signature.
fn inbound_routes(ops: ChannelName, engine: Engine) -> Router {
    let take = async move |request: Request<Body>| {
        let answered = answer(&ops, &engine, request).await;
        answered.map_err(|error| (StatusCode::FORBIDDEN, error.to_string()))
    };
    Router::new().route("/v1/inbound", post(take))
}

async fn answer(
    ops: &ChannelName,
    engine: &Engine,
    request: Request<Body>,
) -> Result<Response<Body>, Failure> {
    let route = engine.route(ops, &Method::POST, INBOUND)?;
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, route.body_bytes_max()).await?;
    let response = engine.answer_route(ops, route, Request::from_parts(parts, body));
    Ok(response.await?.map(Body::from))
}

fn text_at<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A person: reads what the platform shows, and answers the first question.
async fn zoe(mut shown: mpsc::Receiver<Value>, ops: Arc<Webhook>, inbound: String) -> Result<(), Failure> {
    let question = shown.recv().await.ok_or("nothing was shown")?;
    println!("the platform shows: {}", text_at(&question, "/request/title"));
    let code = text_at(&question, "/code");
    let body = json!({
        "channel": "ops", "chatId": text_at(&question, "/chatId"), "senderId": "zoe", "messageId": "m1",
        "content": format!("yes {code}"),
    })
    .to_string();
    let client = reqwest::Client::builder().no_proxy().build()?;
    let reply = client
        .post(inbound)
        .header(SIGNATURE_HEADER, ops.sign(body.as_bytes(), machine_time()))
        .body(body);
    println!("zoe: yes; placet: {}", reply.send().await?.text().await?);
    Ok(())
}
