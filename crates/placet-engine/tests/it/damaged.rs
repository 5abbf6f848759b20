//! A row that cannot be read: it is never run or approved, and it blocks no others.

use std::path::Path;
use std::sync::Arc;

use placet_core::ids::InteractionId;
use placet_core::journal::InboundMessage;
use placet_core::outcome::Outcome;
use placet_core::steps::InboundOutcome;
use placet_engine::Engine;
use placet_engine::bus::Author;
use placet_engine::channel::DeliveryError;
use placet_store::{StepError, StoreError};

use crate::recorder::{Mood, Recorder, What};
use crate::support::*;

const HOUSE: &str = r#"
[[people]]
name = "lin"
[[people]]
name = "wei"

[[rules]]
name = "lin decides about production"
tool = "deploy"
args = { to = "production" }
effect = "ask"
approvers = ["lin"]
timeout = "1h"
escalate = { after = "10m", to = ["wei"] }
"#;

/// What a bad sector does to the row that asked a question.
fn damage_question(file: &Path, id: &InteractionId) {
    damage(file, "SELECT row FROM interactions WHERE id = ?1", id.as_str());
}

/// What it does to the row that received a call.
fn damage_call(file: &Path, id: &str) {
    damage(file, "SELECT id FROM calls WHERE call = ?1", id);
}

fn damage(file: &Path, which: &str, id: &str) {
    let file = rusqlite::Connection::open(file).unwrap();
    let sql = format!("UPDATE journal SET body = '{{' WHERE id = ({which})");
    assert_eq!(file.execute(&sql, [id]).unwrap(), 1);
}

#[tokio::test]
async fn a_damaged_question_keeps_no_other_from_expiring_escalating_and_being_listed() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let damaged = park(&engine, deploy("damaged", "staging")).await;
    let brief = park(&engine, deploy("brief", "testing")).await;
    let lasting = park(&engine, deploy("lasting", "production")).await;
    damage_question(&house.file(), &damaged);
    assert_eq!(open(&engine).await, [brief, lasting.clone()]);
    let page = engine.broker().pending_page(None, 9).await.unwrap();
    assert_eq!(page.damaged[0].id, damaged);

    let mut events = engine.subscribe(engine.head().await.unwrap(), None);
    house.pass(&engine, 600);
    assert!(matches!(outcome(&engine, "brief").await, Outcome::Expired { .. }));
    while soon(events.next()).await.unwrap().event.name() != "escalated" {}
    house.pass(&engine, 3600);
    assert!(matches!(
        outcome(&engine, "lasting").await,
        Outcome::Expired { .. }
    ));
    assert!(matches!(
        say(&engine, &damaged, choice("lin", "approve")).await,
        Err(StepError::Store(StoreError::Corrupt { .. }))
    ));
    engine.gate().claim(&key("damaged"), None).await.unwrap_err();
}

#[tokio::test]
async fn a_damaged_call_that_was_running_keeps_no_other_from_being_asked_back() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    for id in ["damaged", "sound"] {
        decide(&engine, deploy(id, id), choice("lin", "approve")).await;
        drop(engine.gate().claim(&key(id), None).await.unwrap());
    }
    engine.shutdown().await.unwrap();
    damage_call(&house.file(), "damaged");
    let engine = house.open(HOUSE).await;
    assert_eq!(open(&engine).await.len(), 1, "the other one is asked back");
    engine.gate().claim(&key("damaged"), None).await.unwrap_err();
}

#[tokio::test]
async fn a_damaged_question_holds_up_nothing_that_is_to_be_sent_after_it() {
    let house = House::new();
    let feishu = Recorder::new("feishu");
    let engine = house.start(house.builder("").channel(feishu.clone())).await;
    let group = chat("feishu", "oc_1");
    feishu.next(Mood::Fail(DeliveryError::Later("busy".into())));
    let id = park(
        &engine,
        in_chat(deploy("c", "staging"), &group, Some("feishu:ou_zoe")),
    )
    .await;
    let tries = async || {
        let id = id.clone();
        let read = engine.store().look(|stored| stored.copies(&id).cloned());
        read.await.unwrap()[0].attempts
    };
    soon(async {
        while tries().await == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    damage_question(&house.file(), &id);
    house.clock.pass(1);
    let bus = engine.bus();
    bus.publish_outbound(&group, "k", "a message behind it")
        .await
        .unwrap();
    let given = feishu.given(2).await;
    assert_eq!(given[1].what, What::Message("a message behind it".into()));
}

/// Zoe's chat with two open questions, the first of which is damaged.
async fn one_damaged_in_a_chat(house: &House) -> (Engine, Arc<Recorder>, InteractionId) {
    let feishu = Recorder::new("feishu");
    let engine = house.start(house.builder("").channel(feishu.clone())).await;
    let group = chat("feishu", "oc_1");
    let zoes = |id: &str| in_chat(deploy(id, id), &group, Some("feishu:ou_zoe"));
    let damaged = park(&engine, zoes("damaged")).await;
    feishu.given(1).await;
    damage_question(&house.file(), &damaged);
    // Another question of the same chat can still be asked.
    let sound = park(&engine, zoes("sound")).await;
    feishu.given(2).await;
    (engine, feishu, sound)
}

async fn hear(engine: &Engine, id: &str, content: &str) {
    let message = InboundMessage {
        channel: chat("feishu", "oc_1").channel,
        chat_id: chat("feishu", "oc_1").id,
        sender_id: "ou_zoe".into(),
        message_id: id.into(),
        content: content.into(),
        author: Author::Human,
    };
    let heard = engine.bus().publish_inbound(message, Author::Human).await;
    assert!(matches!(heard, Ok(InboundOutcome::Consumed(_))), "{heard:?}");
}

#[tokio::test]
async fn a_damaged_question_in_a_chat_stops_nobody_and_no_reply_that_may_be_meant_for_it_decides_another() {
    let house = House::new();
    let (engine, feishu, sound) = one_damaged_in_a_chat(&house).await;
    let code = asked(&engine, &sound).await.code;
    for (number, ambiguous) in ["yes", "no", "1", "certainly not"].into_iter().enumerate() {
        hear(&engine, &format!("m{number}"), ambiguous).await;
        let said = feishu.messages(number + 3).await;
        assert!(
            said[number].contains(&format!("Say which one, for example: yes {code}")),
            "{said:?}"
        );
        assert!(is_open(&engine, &sound).await, "`{ambiguous}` decides nothing");
    }
    hear(&engine, "named", &format!("yes {code}")).await;
    assert!(outcome(&engine, "sound").await.permits());
    engine.gate().claim(&key("damaged"), None).await.unwrap_err();
}

#[tokio::test]
async fn a_session_with_a_damaged_question_can_be_ended() {
    let house = House::new();
    let (engine, _feishu, sound) = one_damaged_in_a_chat(&house).await;
    let session = asked(&engine, &sound).await.session;
    engine.broker().end_session(&session, "lin").await.unwrap();
    assert!(matches!(
        outcome(&engine, "sound").await,
        Outcome::Cancelled { .. }
    ));
    engine.gate().claim(&key("damaged"), None).await.unwrap_err();
}
