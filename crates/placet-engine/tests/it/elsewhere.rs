//! Channels that another process connects to: one that starts in between leaves their messages queued.

use placet_core::call::{Chat, ToolCall};
use placet_core::ids::InteractionId;
use placet_core::interaction::Subject;
use placet_core::journal::CallResult;
use placet_core::outgoing::{Change, OutKind, OutState};
use placet_core::snapshot::MessageKey;
use placet_core::step::{Decided, Step};
use placet_core::steps::Elsewhere;
use placet_core::time::Timestamp;
use placet_engine::Engine;
use placet_engine::channel::DeliveryError;

use crate::recorder::{Mood, Recorder, What};
use crate::support::*;

const HOUSE: &str = r#"
[[people]]
name = "lin"
ops = "u_lin"

[channels.ops]
type = "webhook"
url = "https://example.com/hook"
secret = "env:OPS_SECRET"

[[rules]]
name = "lin decides about production"
tool = "deploy"
args = { to = "production" }
effect = "ask"
approvers = ["lin"]
timeout = "1h"
"#;

fn room() -> Chat {
    chat("ops", "room")
}

fn zoes(id: &str, to: &str) -> ToolCall {
    in_chat(deploy(id, to), &room(), Some("ops:zoe"))
}

/// The process that delivers.
async fn server(house: &House) -> (Engine, std::sync::Arc<Recorder>) {
    let ops = Recorder::new("ops");
    let engine = house.start(house.builder(HOUSE).channel(ops.clone())).await;
    (engine, ops)
}

/// One that comes in between and is connected to another channel.
async fn visitor(house: &House, elsewhere: Elsewhere) -> (Engine, std::sync::Arc<Recorder>) {
    let desk = Recorder::new("desk");
    let builder = house.builder(HOUSE).channel(desk.clone());
    let builder = builder.channels_elsewhere([(room().channel, elsewhere)]);
    (house.start(builder).await, desk)
}

/// Lets the visitor's outbox go through everything that is due.
async fn deliver_everything(house: &House, engine: &Engine, desk: &Recorder) {
    house.pass(engine, 2);
    let bus = engine.bus();
    for round in 1..=3 {
        bus.publish_outbound(&chat("desk", "me"), &format!("k{round}"), "hello")
            .await
            .unwrap();
        desk.given(round).await;
    }
}

async fn copies(engine: &Engine, id: &InteractionId) -> Vec<(OutKind, OutState)> {
    let id = id.clone();
    let read = engine.store().look(|stored| stored.copies(&id).cloned());
    let copies = read.await.unwrap();
    copies.iter().map(|copy| (copy.kind, copy.state)).collect()
}

#[tokio::test]
async fn a_question_that_waits_for_the_channel_of_another_process_is_delivered_by_that_one() {
    let house = House::new();
    let (engine, ops) = server(&house).await;
    ops.next(Mood::Fail(DeliveryError::Later("the platform is down".into())));
    let id = park(&engine, zoes("c", "staging")).await;
    let first = ops.given(1).await;
    engine.shutdown().await.unwrap();

    let (engine, desk) = visitor(&house, Elsewhere::Delivered).await;
    deliver_everything(&house, &engine, &desk).await;
    assert!(is_open(&engine, &id).await);
    engine.shutdown().await.unwrap();

    let (engine, ops) = server(&house).await;
    house.pass(&engine, 2);
    assert_eq!(ops.given(1).await[0].key, first[0].key);
    verify(&engine).await;
}

#[tokio::test]
async fn a_copy_on_the_channel_of_another_process_is_updated_by_that_one() {
    let house = House::new();
    let (engine, ops) = server(&house).await;
    let id = park(&engine, deploy("c", "production")).await;
    ops.given(1).await;
    engine.shutdown().await.unwrap();

    let (engine, desk) = visitor(&house, Elsewhere::Delivered).await;
    engine
        .broker()
        .answer(&id, choice("lin", "reject"))
        .await
        .unwrap();
    deliver_everything(&house, &engine, &desk).await;
    engine.shutdown().await.unwrap();

    let (engine, ops) = server(&house).await;
    let given = ops.given(1).await;
    assert!(
        matches!(&given[0].what, What::Decided { id: decided, .. } if *decided == id),
        "{given:?}"
    );
    verify(&engine).await;
}

#[tokio::test]
async fn what_may_have_happened_is_asked_back_in_the_chat_whoever_recovers_it() {
    let house = House::new();
    let (engine, ops) = server(&house).await;
    let id = park(&engine, deploy("c", "production")).await;
    ops.given(1).await;
    say(&engine, &id, choice("lin", "approve")).await.unwrap();
    drop(engine.gate().claim(&key("c"), None).await.unwrap());
    ops.given(2).await;
    engine.shutdown().await.unwrap();

    let (engine, desk) = visitor(&house, Elsewhere::Delivered).await;
    deliver_everything(&house, &engine, &desk).await;
    let back = open(&engine).await;
    assert!(matches!(
        asked(&engine, &back[0]).await.subject,
        Subject::UnknownOutcome { .. }
    ));
    assert_eq!(
        copies(&engine, &back[0]).await,
        [(OutKind::Question, OutState::Waiting)]
    );
    engine.shutdown().await.unwrap();

    let (_engine, ops) = server(&house).await;
    let given = ops.given(1).await;
    assert!(
        matches!(&given[0].what, What::Question { id, .. } if *id == back[0]),
        "{given:?}"
    );
}

/// A terminal may never be opened again: nothing piles up for it.
#[tokio::test]
async fn nothing_new_is_queued_where_nobody_may_ever_come_for_it() {
    let house = House::new();
    let (engine, _desk) = visitor(&house, Elsewhere::InboxOnly).await;
    // A person who can sign in to the inbox.
    let call = in_chat(deploy("c", "staging"), &room(), Some("zoe"));
    let id = park(&engine, call).await;
    assert!(is_open(&engine, &id).await);
    assert_eq!(copies(&engine, &id).await, []);
}

#[tokio::test]
async fn a_copy_that_waits_for_another_process_is_nobody_to_ask_when_nobody_looks_at_the_inbox() {
    let house = House::new();
    let builder = house.builder(HOUSE).without_inbox();
    let builder = builder.channels_elsewhere([(room().channel, Elsewhere::Delivered)]);
    let engine = house.start(builder).await;
    let denied = settle(&engine, zoes("c", "staging")).await;
    assert_eq!(denied.result_for_model().unwrap()["outcome"], "nobody_to_ask");
}

#[tokio::test]
async fn what_is_known_of_a_copy_is_kept_for_as_long_as_its_update_waits() {
    let house = House::new();
    let (engine, _ops) = server(&house).await;
    let id = park(&engine, deploy("c", "production")).await;
    soon(async {
        while copies(&engine, &id).await != [(OutKind::Question, OutState::Sent)] {
            tokio::task::yield_now().await;
        }
    })
    .await;
    engine.shutdown().await.unwrap();

    let (engine, _desk) = visitor(&house, Elsewhere::Delivered).await;
    engine
        .broker()
        .answer(&id, choice("lin", "approve"))
        .await
        .unwrap();
    let running = engine.gate().claim(&key("c"), None).await.unwrap();
    let result = CallResult::new(true, "deployed");
    engine.gate().finish(running.key(), result).await.unwrap();
    let heard = |now: Timestamp| Change::SeenInbound {
        channel: room().channel,
        message_id: "m1".into(),
        at: now,
    };
    let hear = engine.transact(|_, now| -> Decided<()> { Ok(Step::new(()).change(heard(now))) });
    hear.await.unwrap();
    house.pass(&engine, 31 * 24 * 3600);
    let remembered = async || {
        let read = engine.store().look(|stored| {
            stored
                .is_seen(&MessageKey {
                    channel: room().channel.clone(),
                    message_id: "m1".into(),
                })
                .copied()
        });
        read.await.unwrap()
    };
    soon(async {
        while remembered().await {
            tokio::task::yield_now().await;
        }
    })
    .await;
    engine.shutdown().await.unwrap();

    let (_engine, ops) = server(&house).await;
    let given = ops.given(1).await;
    assert!(
        matches!(&given[0].what, What::Decided { id: decided, copy: Some(_), .. } if *decided == id),
        "{given:?}"
    );
}
