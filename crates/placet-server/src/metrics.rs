//! What is counted, for Prometheus. A registry of its own, so that two servers in one process do not mix.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use placet_core::config::Config;
use placet_core::history::{Ending, Labels, TOOK_MAX};
use placet_core::ids::{ChannelName, PersonId};
use placet_core::listing::{Counts, RawRow};
use placet_core::time::Millis;
use placet_engine::channel::{ChannelHealth, ConnectionState};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

mod names;

use names::AllNames;

/// The counters. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    requests: Family<Request, Counter>,
    request_seconds: Family<Route, Histogram, fn() -> Histogram>,
    decision_seconds: Histogram,
    events: Family<Kind, Counter>,
    resolved: Family<Closed, Counter>,
    open_seconds: Family<Open, Histogram, fn() -> Histogram>,
    decisions: Family<Decision, Counter>,
    names: AllNames,
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

/// How a question ended, the tool of its call and the rule that asked.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Closed {
    outcome: &'static str,
    tool: String,
    rule: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Open {
    outcome: &'static str,
    tool: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Decision {
    person: String,
    outcome: &'static str,
}

/// A question that closed.
pub(crate) struct ClosedQuestion {
    pub(crate) ending: Ending,
    pub(crate) labels: Labels,
    /// All whose decision it took.
    pub(crate) by: Vec<PersonId>,
    /// How long it was open.
    pub(crate) open: Millis,
}

/// The classes that insights count times to decision in: the first is the share that was hardly read.
fn open_histogram() -> Histogram {
    Histogram::new(TOOK_MAX.map(|bound| Duration::from_millis(bound.get()).as_secs_f64()))
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
            events: Family::default(),
            resolved: Family::default(),
            open_seconds: Family::new_with_constructor(open_histogram),
            decisions: Family::default(),
            names: AllNames::default(),
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
            "Time between a question and its end, by outcome and tool",
            self.open_seconds.clone(),
        );
        registry.register("journal_events", "Journal rows by kind", self.events.clone());
        registry.register(
            "questions_resolved",
            "Questions by outcome, tool and rule",
            self.resolved.clone(),
        );
        registry.register(
            "decisions",
            "Decisions by person and outcome",
            self.decisions.clone(),
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
            "What is in the store: open questions, claimed grants, waiting and dead deliveries, queued messages, standing approvals",
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

    /// Names that always have labels of their own: those of the configuration.
    pub(crate) fn configure(&self, config: &Config) {
        self.0.names.configure(config);
    }

    /// Counts rows of the journal, and the questions that they close.
    pub(crate) fn happened(&self, rows: &[RawRow], closed: &[ClosedQuestion]) {
        for row in rows {
            let kind = row.kind().to_owned();
            self.0.events.get_or_create(&Kind { kind }).inc();
        }
        for question in closed {
            self.closed(question);
        }
    }

    fn closed(&self, question: &ClosedQuestion) {
        let Inner {
            names,
            resolved,
            open_seconds,
            decisions,
            ..
        } = &*self.0;
        let outcome = question.ending.as_str();
        let tool = names.tools.label(question.labels.tool.as_deref());
        let rule = names.rules.label(question.labels.rule.as_deref());
        let open = Duration::from_millis(question.open.get()).as_secs_f64();
        let label = Open {
            outcome,
            tool: tool.clone(),
        };
        open_seconds.get_or_create(&label).observe(open);
        let label = Closed { outcome, tool, rule };
        resolved.get_or_create(&label).inc();
        for person in &question.by {
            let person = names.people.label(Some(person.as_str()));
            decisions.get_or_create(&Decision { person, outcome }).inc();
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
        standing_in_force: u64,
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
            ("standingInForce", standing_in_force),
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
