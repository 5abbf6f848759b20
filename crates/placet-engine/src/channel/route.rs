//! Requests of a platform: what a channel takes over HTTP, and the way to it.
//!
//! A server serves each under `/v1/channels/{channel}/{path}` without a bearer token: the channel checks the platform's signature
//! on the body as it came.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Method, Request, Response};
use placet_core::ids::ChannelName;
use placet_store::StoreError;

use super::Host;
use crate::bus::{InboundError, MESSAGE_BYTES_MAX};
use crate::engine::Engine;

/// The path that `/v1/inbound` stands for, whose body names the channel: signed messages of any platform.
pub const INBOUND: &str = "inbound";
/// The largest body that holds one message, in bytes: the longest one, with every character escaped.
pub const BODY_BYTES_MAX: usize = 6 * MESSAGE_BYTES_MAX + 16 * 1024;

/// One kind of request that a channel takes.
#[derive(Clone)]
pub struct Route {
    method: Method,
    path: String,
    body_bytes_max: usize,
    handler: Arc<dyn RouteHandler>,
}

/// Answers requests of a platform. Every `async fn(Host, Request<Bytes>) -> Result<Response<Bytes>, RouteError>` is one.
///
/// The platform waits for the response, some for three seconds at most: what takes longer goes on in [`Host::spawn`]. What the
/// platform would send again is acknowledged only after [`Host`] has taken it.
#[async_trait]
pub trait RouteHandler: Send + Sync + 'static {
    /// Answers one request. The body is within the route's bounds, and nothing of the request is verified yet.
    async fn handle(&self, host: Host, request: Request<Bytes>) -> Result<Response<Bytes>, RouteError>;
}

#[async_trait]
impl<F, Answering> RouteHandler for F
where
    F: Fn(Host, Request<Bytes>) -> Answering + Send + Sync + 'static,
    Answering: Future<Output = Result<Response<Bytes>, RouteError>> + Send,
{
    async fn handle(&self, host: Host, request: Request<Bytes>) -> Result<Response<Bytes>, RouteError> {
        self(host, request).await
    }
}

/// Why a request is refused. Variants differ in the status of the response.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// Not from the platform, or not from now. Nothing of the request was believed.
    #[error("{0}")]
    Signature(String),
    /// Not a request that the channel understands.
    #[error("{0}")]
    BadRequest(String),
    /// More than a message can be.
    #[error("{0}")]
    TooLarge(String),
    /// The store failed; the platform should send it again.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The channel has a defect.
    #[error("the channel panicked")]
    Panicked,
}

impl From<InboundError> for RouteError {
    fn from(error: InboundError) -> Self {
        match error {
            InboundError::TooLong(_) => Self::TooLarge(error.to_string()),
            InboundError::Name(_) | InboundError::MessageId(_) => Self::BadRequest(error.to_string()),
            InboundError::Store(error) => Self::Store(error),
        }
    }
}

/// Why no channel takes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoute {
    /// No channel of that name is connected, or it has no such path.
    #[error("no connected channel takes requests there")]
    Path,
    /// The path takes requests of other methods.
    #[error("the channel takes requests of other methods there")]
    Method,
}

impl Route {
    /// Requests of a method below `/v1/channels/{channel}/`, with bodies of so many bytes at most.
    pub fn new(
        method: Method,
        path: impl Into<String>,
        body_bytes_max: usize,
        handler: impl RouteHandler,
    ) -> Self {
        Self {
            method,
            path: path.into(),
            body_bytes_max,
            handler: Arc::new(handler),
        }
    }

    /// The longest body it takes.
    pub fn body_bytes_max(&self) -> usize {
        self.body_bytes_max
    }
}

impl Engine {
    /// The route of a connected channel for a request.
    pub fn route(&self, channel: &ChannelName, method: &Method, path: &str) -> Result<Route, NoRoute> {
        let routes = self.inner.routes.get(channel).ok_or(NoRoute::Path)?;
        let mut here = routes.iter().filter(|route| route.path == path).peekable();
        here.peek().ok_or(NoRoute::Path)?;
        let found = here.find(|route| route.method == *method);
        found.cloned().ok_or(NoRoute::Method)
    }

    /// Lets a channel answer a request. It is answered to its end even if the caller loses interest.
    pub async fn answer_route(
        &self,
        channel: &ChannelName,
        route: Route,
        request: Request<Bytes>,
    ) -> Result<Response<Bytes>, RouteError> {
        let (bytes, bytes_max) = (request.body().len(), route.body_bytes_max);
        if bytes > bytes_max {
            let error = format!("the body has {bytes} bytes; at most {bytes_max} are accepted");
            return Err(RouteError::TooLarge(error));
        }
        let host = Host::new(self.clone(), channel.clone());
        let answering = async move { route.handler.handle(host, request).await };
        let answering = self.inner.tasks.spawn(AssertUnwindSafe(answering).catch_unwind());
        match answering.await {
            Ok(Ok(answered)) => answered,
            Ok(Err(_)) | Err(_) => Err(RouteError::Panicked),
        }
    }
}
