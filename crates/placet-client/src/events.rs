//! Server-sent events.

use std::pin::Pin;

use eventsource_stream::{Event, Eventsource as _};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Response};
use serde::Serialize;

use crate::client::{Client, lost};
use crate::error::Error;

/// A stream of events. It ends when the server ends it; [`Events::last_id`] says where to go on.
pub struct Events {
    events: Pin<Box<dyn Stream<Item = Result<Event, Error>> + Send>>,
    last_id: Option<String>,
}

impl Events {
    pub(crate) fn of(response: Response<Incoming>) -> Self {
        let events = response.into_body().into_data_stream().eventsource();
        Self {
            events: Box::pin(events.map_err(lost)),
            last_id: None,
        }
    }

    /// The next event with its name and its data; none when the stream has ended.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        let event = self.events.next().await?;
        if let Ok(event) = &event
            && !event.id.is_empty()
        {
            self.last_id = Some(event.id.clone());
        }
        Some(event)
    }

    /// The id of the last event that had one.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }
}

impl Client {
    /// The journal as it is written, from now on or after the event `after`.
    pub async fn journal(&self, after: Option<&str>) -> Result<Events, Error> {
        self.events(Method::GET, "/v1/events", None::<&()>, after).await
    }

    pub(crate) async fn events(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
        after: Option<&str>,
    ) -> Result<Events, Error> {
        let after = after.and_then(|after| HeaderValue::from_str(after).ok());
        let more: Vec<_> = after
            .map(|after| (HeaderName::from_static("last-event-id"), after))
            .into_iter()
            .collect();
        Ok(Events::of(self.exchange(method, path, body, &more).await?))
    }
}
