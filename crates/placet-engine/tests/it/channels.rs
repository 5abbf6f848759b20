//! What a channel can rely on: its connection is kept, its requests reach it, and what it hands on decides nothing by itself.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use placet_core::ids::{ChannelName, InteractionId};
use placet_core::journal::Author;
use placet_core::lease::{Fence, LeaseName};
use placet_core::outcome::Outcome;
use placet_core::outgoing::Change;
use placet_core::render::{Markup, Surface};
use placet_core::step::{Decided, Step};
use placet_core::steps::{Choice, InboundOutcome, SaidTo};
use placet_core::time::Millis;
use placet_engine::Engine;
use placet_engine::bus::InboundError;
use placet_engine::channel::{
    Channel, ChannelHealth, ConnectionError, ConnectionFuture, ConnectionState, Content, Delivery,
    DeliveryError, Host, IncomingMessage, NoRoute, Receipt, Route, RouteError,
};
use placet_store::StoreError;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::recorder::{Mood, Recorder};
use crate::support::*;

/// How a connection goes.
pub(crate) enum Connection {
    Up,
    Ends(ConnectionError),
    Panics,
}

/// A channel with a long connection and a route, on a small surface.
pub(crate) struct Line {
    name: ChannelName,
    next: Mutex<VecDeque<Connection>>,
    chars_max: Option<usize>,
    made: watch::Sender<usize>,
    ended: watch::Sender<usize>,
    hosts: mpsc::UnboundedSender<Host>,
}

impl Line {
    pub(crate) fn new(
        name: &str,
        connections: impl IntoIterator<Item = Connection>,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Host>) {
        Self::on_surface(name, connections, None)
    }

    fn on_surface(
        name: &str,
        connections: impl IntoIterator<Item = Connection>,
        chars_max: Option<usize>,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Host>) {
        let (hosts, taken) = mpsc::unbounded_channel();
        let line = Self {
            name: ChannelName::new(name).unwrap(),
            next: Mutex::new(connections.into_iter().collect()),
            chars_max,
            made: watch::Sender::new(0),
            ended: watch::Sender::new(0),
            hosts,
        };
        (Arc::new(line), taken)
    }
}

/// Whether so many things happened; waits for it.
async fn reaches(counter: &watch::Sender<usize>, count: usize) {
    soon(counter.subscribe().wait_for(|seen| *seen >= count))
        .await
        .unwrap();
}

#[async_trait]
impl Channel for Line {
    fn name(&self) -> &ChannelName {
        &self.name
    }

    fn surface(&self) -> Surface {
        Surface {
            width: None,
            chars_max: self.chars_max,
            markup: Markup::Plain,
            elsewhere: None,
        }
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        let echo = async |host: Host, request: Request<Bytes>| -> Result<Response<Bytes>, RouteError> {
            let said = request.uri().query().unwrap_or_default().to_owned();
            let body = format!("{} {said} {}", host.channel(), request.body().len());
            let response = Response::builder()
                .status(StatusCode::ACCEPTED)
                .header("x-line", "yes");
            Ok(response.body(body.into()).unwrap())
        };
        let broken = async |_: Host, _: Request<Bytes>| -> Result<Response<Bytes>, RouteError> {
            panic!("a defect of the channel")
        };
        vec![
            Route::new(Method::GET, "events", 0, echo),
            Route::new(Method::POST, "events", 16, echo),
            Route::new(Method::POST, "broken", 16, broken),
        ]
    }

    fn run(self: Arc<Self>, host: Host, stop: CancellationToken) -> Option<ConnectionFuture> {
        Some(Box::pin(async move {
            let next = self.next.lock().unwrap().pop_front();
            self.made.send_modify(|made| *made += 1);
            match next.unwrap_or(Connection::Up) {
                Connection::Ends(error) => return Err(error),
                Connection::Panics => panic!("a defect of the channel"),
                Connection::Up => {}
            }
            host.connected();
            let _ = self.hosts.send(host);
            stop.cancelled().await;
            self.ended.send_modify(|ended| *ended += 1);
            Ok(())
        }))
    }

    /// Says that everything was shown, which is for the engine to judge.
    async fn deliver(&self, delivery: Delivery<'_>) -> Result<Receipt, DeliveryError> {
        let shown = match delivery.content {
            Content::Question { document, .. } => document.digest(),
            Content::Decided { .. } | Content::Message { .. } => placet_core::journal::genesis(),
        };
        Ok(Receipt {
            reference: Some(format!("shown:{}", delivery.idempotency_key)),
            shown: placet_core::interaction::Shown::Whole(shown),
        })
    }
}

const CONFIG: &str = "[channels.line]\ntype = \"webhook\"\nurl = \"https://line.example.com\"\nsecret = \"env:LINE\"\n\
                      [[people]]\nname = \"kim\"\nline = \"u_kim\"\n[tools.wipe]\nrisk = \"HIGH\"\n\
                      [tools.deploy]\nschema = { type = \"object\", properties = { to = { type = \"string\" } } }\n";

/// A house with a line that is up, and what its connection was given.
struct Room {
    _house: House,
    engine: Engine,
    line: Arc<Line>,
    host: Host,
}

impl Room {
    async fn new() -> Self {
        Self::with(Line::new("line", [])).await
    }

    async fn with((line, mut hosts): (Arc<Line>, mpsc::UnboundedReceiver<Host>)) -> Self {
        let house = House::new();
        let engine = house.start(house.builder(CONFIG).channel(line.clone())).await;
        let host = soon(hosts.recv()).await.unwrap();
        Self {
            _house: house,
            engine,
            line,
            host,
        }
    }

    fn health(&self) -> ChannelHealth {
        self.engine.channel_health()[self.host.channel()].clone()
    }

    /// A question in Kim's chat, once it is shown there.
    async fn ask(&self, id: &str, tool: &str, args: Value) -> (InteractionId, String) {
        let call = in_chat(call(id, tool, args), &chat("line", "u_kim"), Some("kim"));
        let question = park(&self.engine, call).await;
        let chat = chat("line", "u_kim");
        let shown = soon(async {
            loop {
                let receipt = self.host.receipt(&chat.id, &question).await.unwrap();
                if let Some(reference) = receipt.and_then(|receipt| receipt.reference) {
                    return reference;
                }
                tokio::task::yield_now().await;
            }
        });
        let reference = shown.await;
        (question, reference)
    }

    async fn press(&self, sender: &str, id: &str, choice: Choice) -> (InboundOutcome, Vec<String>) {
        let pressed = self
            .host
            .publish_choice(says(sender, id, ""), choice, SaidTo::Channel);
        let reaction = pressed.await.unwrap();
        (reaction.outcome, reaction.said)
    }
}

fn says(sender: &str, id: &str, text: &str) -> IncomingMessage {
    IncomingMessage {
        id: id.to_owned(),
        chat: chat("line", "u_kim").id,
        sender: sender.to_owned(),
        author: Author::Human,
        text: text.to_owned(),
        reply_to: None,
    }
}

fn approve(question: &InteractionId) -> Choice {
    Choice {
        request: question.clone(),
        option: "approve".into(),
        feedback: None,
        data: None,
        edited_args: None,
    }
}

#[tokio::test]
async fn a_connection_that_is_lost_or_panics_is_made_again_and_says_why() {
    let lost = ConnectionError::Lost("the platform hung up".into());
    let line = Line::new(
        "line",
        [Connection::Ends(lost), Connection::Panics, Connection::Up],
    );
    let room = Room::with(line).await;
    let health = room.health();
    assert!(
        matches!(health.connection, Some(ConnectionState::Connected { since }) if since == room.engine.store().now())
    );
    assert_eq!(health.connections_lost, 2);
    assert_eq!(health.last_fault.as_ref().unwrap().error, "the channel panicked");
    assert!(!health.is_degraded());
    assert_eq!(*room.line.made.borrow(), 3);
    room.engine.shutdown().await.unwrap();
    assert_eq!(*room.line.ended.borrow(), 1, "it was told to end, and waited for");
}

#[tokio::test]
async fn a_platform_that_refuses_the_credentials_is_not_asked_again_at_once() {
    let house = House::new();
    let refused = ConnectionError::Refused("invalid app secret".into());
    let (line, _hosts) = Line::new("line", [Connection::Ends(refused)]);
    let engine = house.start(house.builder(CONFIG).channel(line.clone())).await;
    let health = soon(async {
        loop {
            let health = engine.channel_health()[&line.name].clone();
            if health.last_fault.is_some() {
                return health;
            }
            tokio::task::yield_now().await;
        }
    });
    let health = health.await;
    assert!(health.is_degraded());
    assert_eq!(health.last_fault.unwrap().error, "invalid app secret");
    let Some(ConnectionState::Retrying { at }) = health.connection else {
        panic!("{:?}", health.connection)
    };
    assert!(at.remaining_from(engine.store().now()) >= Millis::from_secs(300));
    // It is not waited for either.
    engine.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_connection_whose_lease_another_process_took_ends() {
    let room = Room::new().await;
    let lease = LeaseName::connection(&room.line.name);
    let held = room.engine.hold(&lease).await.unwrap().unwrap();
    let taken = Change::TakeLease {
        fence: Fence {
            lease,
            number: held.fence().number + 1,
        },
        owner: "another".into(),
        until: room.engine.store().now() + Millis::from_secs(3600),
    };
    let change =
        |change: Change| move |_: &_, _| -> Decided<()> { Ok(Step::nothing(()).change(change.clone())) };
    room.engine.transact(change(taken)).await.unwrap();
    // The next commit under it finds out.
    let stale = room.engine.transact_under(
        Some(&held),
        change(Change::ForgetOutbox {
            before: room.host.now(),
        }),
    );
    stale.await.unwrap_err();
    reaches(&room.line.ended, 1).await;
    soon(async {
        while room.health().connection != Some(ConnectionState::Elsewhere) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(!room.health().is_degraded());
    // What the old connection hears after that, its platform repeats to the new one.
    let before = room.engine.head().await.unwrap();
    let heard = room.host.publish_inbound(says("u_kim", "late", "yes")).await;
    assert!(
        matches!(heard, Err(InboundError::Store(StoreError::Fenced { .. }))),
        "{heard:?}"
    );
    let said = room.host.say(&chat("line", "u_kim").id, "late", "hello").await;
    assert!(matches!(said, Err(StoreError::Fenced { .. })), "{said:?}");
    assert_eq!(room.engine.head().await.unwrap(), before);
}

#[tokio::test]
async fn a_request_reaches_the_route_of_its_channel_and_no_other() {
    let room = Room::new().await;
    let (engine, line) = (&room.engine, &room.line.name);
    let found = |channel: &str, method, path| {
        let route = engine.route(&ChannelName::new(channel).unwrap(), &method, path);
        route.map(|route| route.body_bytes_max())
    };
    assert_eq!(found("line", Method::POST, "events"), Ok(16));
    assert_eq!(found("line", Method::PUT, "events"), Err(NoRoute::Method));
    assert_eq!(found("line", Method::POST, "event"), Err(NoRoute::Path));
    assert_eq!(found("lines", Method::POST, "events"), Err(NoRoute::Path));

    let post = async |path: &str, body: &'static [u8]| {
        let route = engine.route(line, &Method::POST, path).unwrap();
        let request = Request::post("/any?challenge=7")
            .body(Bytes::from_static(body))
            .unwrap();
        engine.answer_route(line, route, request).await
    };
    let answered = post("events", b"0123456789").await.unwrap();
    assert_eq!(answered.status(), StatusCode::ACCEPTED);
    assert_eq!(answered.headers()["x-line"], "yes");
    assert_eq!(&answered.body()[..], b"line challenge=7 10");
    let large = post("events", b"01234567890123456").await;
    assert!(matches!(large, Err(RouteError::TooLarge(_))), "{large:?}");
    let broken = post("broken", b"").await;
    assert!(matches!(broken, Err(RouteError::Panicked)), "{broken:?}");
    assert!(post("events", b"").await.is_ok(), "and the next one is answered");
}

#[tokio::test]
async fn what_is_said_about_a_press_is_shown_where_it_was_made() {
    let room = Room::new().await;
    let (question, _) = room.ask("c", "deploy", json!({ "to": "staging" })).await;
    let (outcome, said) = room.press("u_eve", "p1", approve(&question)).await;
    assert_eq!(outcome, InboundOutcome::Consumed(Vec::new()));
    assert_eq!(said.len(), 1, "a bystander is told politely: {said:?}");
    assert!(is_open(&room.engine, &question).await);
    assert!(!room.host.is_duplicate("p2").await.unwrap());
    let (outcome, said) = room.press("u_kim", "p2", approve(&question)).await;
    assert_eq!(outcome, InboundOutcome::Consumed(vec![question.clone()]));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(outcome_of(&room, "c").await.permits());
    assert!(room.host.is_duplicate("p2").await.unwrap());
    let (outcome, said) = room.press("u_kim", "p2", approve(&question)).await;
    assert_eq!((outcome, said.len()), (InboundOutcome::Duplicate, 0));
    verify(&room.engine).await;
}

async fn outcome_of(room: &Room, id: &str) -> Outcome {
    outcome(&room.engine, id).await
}

#[tokio::test]
async fn a_form_changes_the_arguments_and_the_new_call_is_judged() {
    let room = Room::new().await;
    let (question, _) = room.ask("c", "deploy", json!({ "to": "production" })).await;
    let edited = |args: Value| Choice {
        edited_args: Some(crate::support::args(args)),
        ..approve(&question)
    };
    let (_, said) = room.press("u_eve", "p0", edited(json!({ "to": "mars" }))).await;
    assert_eq!(said.len(), 1);
    let (_, said) = room.press("u_kim", "p1", edited(json!({ "to": 7 }))).await;
    assert!(said[0].contains("schema"), "{said:?}");
    assert!(is_open(&room.engine, &question).await);
    room.press("u_kim", "p2", edited(json!({ "to": "staging" })))
        .await;
    let outcome = outcome_of(&room, "c").await;
    assert!(
        matches!(&outcome, Outcome::Approved { edited: Some(_), .. }),
        "{outcome:?}"
    );
    verify(&room.engine).await;
}

#[tokio::test]
async fn a_text_that_replies_to_a_copy_is_about_that_question() {
    let room = Room::new().await;
    let (first, shown) = room.ask("a", "deploy", json!({ "to": "a" })).await;
    let (second, _) = room.ask("b", "deploy", json!({ "to": "b" })).await;
    let chat = chat("line", "u_kim").id;
    let found = room.host.question_shown_as(&chat, &shown).await.unwrap();
    assert_eq!(found.as_ref(), Some(&first));
    let replies = |id: &str, to: &str| IncomingMessage {
        reply_to: Some(to.to_owned()),
        ..says("u_kim", id, "yes")
    };
    let heard = room.host.publish_inbound(replies("m1", &shown)).await.unwrap();
    assert_eq!(heard, InboundOutcome::Consumed(vec![first]));
    assert!(outcome_of(&room, "a").await.permits());
    assert!(is_open(&room.engine, &second).await);
    // The first one is closed, so a "yes" to it cannot be meant for the other one.
    let heard = room.host.publish_inbound(replies("m2", &shown)).await.unwrap();
    assert_eq!(heard, InboundOutcome::Consumed(Vec::new()));
    assert!(is_open(&room.engine, &second).await);
    verify(&room.engine).await;
}

#[tokio::test]
async fn a_surface_too_small_for_a_question_cannot_approve_high_whatever_its_receipts_say() {
    for (chars_max, approves) in [(Some(100), false), (None, true)] {
        let room = Room::with(Line::on_surface("line", [], chars_max)).await;
        let (question, _) = room.ask("c", "wipe", json!({ "what": "everything" })).await;
        let (_, said) = room.press("u_kim", "p", approve(&question)).await;
        assert_eq!(is_open(&room.engine, &question).await, !approves, "{said:?}");
        assert_eq!(
            said[0].contains("not everything was shown"),
            !approves,
            "{said:?}"
        );
    }
}

#[tokio::test]
async fn nothing_is_sent_to_a_platform_that_throttles_until_its_pause_is_over() {
    let house = House::new();
    let (ops, other) = (Recorder::new("ops"), Recorder::new("other"));
    let builder = house.builder("").channel(ops.clone()).channel(other.clone());
    let engine = house.start(builder).await;
    ops.next(Mood::Fail(DeliveryError::Throttled {
        error: "429".into(),
        pause: Millis::from_secs(60),
    }));
    let say = async |channel: &str, key: &str| {
        let bus = engine.bus();
        bus.publish_outbound(&chat(channel, key), key, key).await.unwrap();
    };
    say("ops", "first").await;
    ops.given(1).await;
    let ops_name = chat("ops", "first").channel;
    let is_failed = || engine.channel_health()[&ops_name].is_degraded();
    soon(async {
        while !is_failed() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    say("ops", "second").await;
    house.pass(&engine, 59);
    // Each comes in a later round than what was due before it.
    for round in 1..=2 {
        say("other", &format!("round {round}")).await;
        other.given(round).await;
    }
    assert_eq!(ops.given(1).await.len(), 1);
    house.pass(&engine, 2);
    let given = ops.given(3).await;
    assert_eq!(given.len(), 3);
    soon(async {
        while is_failed() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    verify(&engine).await;
}
