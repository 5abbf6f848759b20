//! What is counted, for Prometheus. A registry of its own, so that two servers in one process do not mix.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use placet_core::ids::ChannelName;
use placet_core::listing::{Counts, RawRow};
use placet_core::time::Millis;
use placet_engine::channel::{ChannelHealth, ConnectionState};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// The counters. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    requests: Family<Request, Counter>,
    request_seconds: Family<Route, Histogram, fn() -> Histogram>,
    decision_seconds: Histogram,
    answer_seconds: Histogram,
    events: Family<Kind, Counter>,
    resolved: Family<Kind, Counter>,
    connections: Gauge,
    streams: Gauge,
    waiting: Gauge,
    stored: Family<Kind, Gauge<u64, AtomicU64>>,
    channel_connected: Family<ChannelLabel, Gauge>,
    channel_connections_lost: Family<ChannelLabel, Gauge<u64, AtomicU64>>,
    channel_degraded: Family<ChannelLabel, Gauge>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Request {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ChannelLabel {
    channel: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Kind {
    kind: String,
}

/// From a tenth of a millisecond to ten seconds.
fn request_histogram() -> Histogram {
    Histogram::new([0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0])
}

impl Default for Metrics {
    fn default() -> Self {
        let mut inner = Inner {
            registry: Registry::with_prefix("placet"),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(request_histogram),
            decision_seconds: request_histogram(),
            // People: from a second to a day.
            answer_seconds: Histogram::new([1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0]),
            events: Family::default(),
            resolved: Family::default(),
            connections: Gauge::default(),
            streams: Gauge::default(),
            waiting: Gauge::default(),
            stored: Family::default(),
            channel_connected: Family::default(),
            channel_connections_lost: Family::default(),
            channel_degraded: Family::default(),
        };
        inner.register();
        Self(Arc::new(inner))
    }
}

impl Inner {
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("http_requests", "Requests answered", self.requests.clone());
        registry.register(
            "http_request_seconds",
            "Time until a request was answered",
            self.request_seconds.clone(),
        );
        registry.register(
            "decision_seconds",
            "Time until a proposed call was judged and stored",
            self.decision_seconds.clone(),
        );
        registry.register(
            "question_open_seconds",
            "Time between a question and what became of it",
            self.answer_seconds.clone(),
        );
        registry.register("journal_events", "Journal rows by kind", self.events.clone());
        registry.register(
            "questions_resolved",
            "Questions by what became of them",
            self.resolved.clone(),
        );
        registry.register("http_connections", "Open connections", self.connections.clone());
        registry.register("http_streams", "Open event streams", self.streams.clone());
        registry.register(
            "http_long_polls",
            "Requests that wait for people",
            self.waiting.clone(),
        );
        registry.register(
            "stored",
            "What is in the store: open questions, claimed grants, waiting and dead deliveries, queued messages",
            self.stored.clone(),
        );
        registry.register(
            "channel_connected",
            "Whether this server keeps the long connection of a channel, and it is up",
            self.channel_connected.clone(),
        );
        registry.register(
            "channel_connections_lost",
            "How often the long connection of a channel was lost since the server started",
            self.channel_connections_lost.clone(),
        );
        registry.register(
            "channel_degraded",
            "Whether people may be unreachable on a channel",
            self.channel_degraded.clone(),
        );
    }
}

/// Counts one thing that goes on, for as long as it is kept.
pub(crate) struct Ongoing(Gauge);

impl Ongoing {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub(crate) fn answered(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let request = Request {
            method: known(method).to_owned(),
            route: route.to_owned(),
            status: status.as_u16(),
        };
        self.0.requests.get_or_create(&request).inc();
        let route = Route {
            route: route.to_owned(),
        };
        self.0
            .request_seconds
            .get_or_create(&route)
            .observe(took.as_secs_f64());
    }

    pub(crate) fn decided(&self, took: Duration) {
        self.0.decision_seconds.observe(took.as_secs_f64());
    }

    /// Counts rows of the journal, and how long the questions that they settle had waited.
    pub(crate) fn happened(&self, rows: &[RawRow], waited: &[Millis]) {
        for row in rows {
            let kind = row.kind().to_owned();
            if kind == "resolved" {
                self.0
                    .resolved
                    .get_or_create(&Kind {
                        kind: resolution(row),
                    })
                    .inc();
            }
            self.0.events.get_or_create(&Kind { kind }).inc();
        }
        for waited in waited {
            let waited = Duration::from_millis(waited.get());
            self.0.answer_seconds.observe(waited.as_secs_f64());
        }
    }

    pub(crate) fn connection(&self) -> Ongoing {
        Ongoing::new(&self.0.connections)
    }

    pub(crate) fn stream(&self) -> Ongoing {
        Ongoing::new(&self.0.streams)
    }

    pub(crate) fn long_poll(&self) -> Ongoing {
        Ongoing::new(&self.0.waiting)
    }

    /// Everything in Prometheus' text format, with what is stored right now.
    pub(crate) fn text(
        &self,
        counts: &Counts,
        channels: &BTreeMap<ChannelName, ChannelHealth>,
    ) -> Result<String, std::fmt::Error> {
        for (name, health) in channels {
            let label = ChannelLabel {
                channel: name.to_string(),
            };
            let degraded = self.0.channel_degraded.get_or_create(&label);
            degraded.set(i64::from(health.is_degraded()));
            let Some(connection) = health.connection else {
                continue;
            };
            let is_up = matches!(connection, ConnectionState::Connected { .. });
            let connected = self.0.channel_connected.get_or_create(&label);
            connected.set(i64::from(is_up));
            let lost = self.0.channel_connections_lost.get_or_create(&label);
            lost.set(health.connections_lost);
        }
        for (kind, count) in [
            ("questionsPending", counts.pending),
            ("grantsClaimed", counts.claimed),
            ("deliveriesWaiting", counts.outbox_waiting),
            ("deliveriesDead", counts.outbox_dead),
            ("messagesQueued", counts.queued),
            ("sessions", counts.sessions),
            ("journalRows", counts.rows),
        ] {
            let kind = kind.to_owned();
            self.0.stored.get_or_create(&Kind { kind }).set(count);
        }
        let mut out = String::new();
        text::encode(&mut out, &self.0.registry)?;
        Ok(out)
    }
}

/// Methods are the caller's to invent; their number must not be.
fn known(method: &Method) -> &str {
    match method.as_str() {
        known @ ("GET" | "POST" | "DELETE" | "HEAD" | "OPTIONS" | "PUT" | "PATCH") => known,
        _ => "other",
    }
}

fn resolution(row: &RawRow) -> String {
    #[derive(serde::Deserialize)]
    struct Outer {
        resolution: Inner,
    }
    #[derive(serde::Deserialize)]
    struct Inner {
        resolution: String,
    }
    row.fields::<Outer>()
        .map_or_else(|_| "unknown".to_owned(), |outer| outer.resolution.resolution)
}
