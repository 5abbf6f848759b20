//! A row that cannot be read: it is never run or approved, and it stops nobody else.

use std::path::Path;

use placet_core::ids::InteractionId;
use placet_core::outcome::Outcome;
use placet_engine::channel::DeliveryError;
use placet_engine::steps::AnswerRefusal;
use placet_store::StoreError;

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
        Err(AnswerRefusal::Store(StoreError::Corrupt { .. }))
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
        let read = engine.store().read(move |view, _| view.outbox_items(&id));
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
