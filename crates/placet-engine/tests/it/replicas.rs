//! Several engines on one database: what one of them does, the others leave alone.

use std::collections::BTreeSet;

use placet_core::journal::{CallResult, Event};
use placet_core::listing::JournalPage;
use placet_core::record::{CallState, GrantState};
use placet_engine::channel::ConnectionState;
use placet_engine::{SealError, StartError};

use crate::channels::Line;
use crate::recorder::{Recorder, What};
use crate::support::*;

const HOUSE: &str = "[[people]]\nname = 'lin'\nfeishu = 'ou_lin'\n";

#[tokio::test]
async fn an_engine_that_starts_leaves_the_claims_of_a_living_one_alone() {
    let house = House::new();
    let first = house.open(HOUSE).await;
    decide(&first, deploy("c", "production"), choice("lin", "approve")).await;
    let _running = first.gate().claim(&key("c"), None).await.unwrap();

    let second = house.open(HOUSE).await;
    let record = second.gate().record(&key("c")).await.unwrap().unwrap();
    assert!(
        matches!(&record.state, CallState::Granted { grant, .. } if matches!(grant.state, GrantState::Claimed { .. })),
        "{:?}",
        record.state
    );
    assert!(open(&second).await.is_empty());
    let done = CallResult::new(true, "deployed");
    first.gate().finish(&key("c"), done).await.unwrap();
    verify(&second).await;
}

#[tokio::test]
async fn a_question_is_delivered_by_one_of_two_engines_on_the_same_channel() {
    let house = House::new();
    let (left, right) = (Recorder::new("feishu"), Recorder::new("feishu"));
    let first = house.start(house.builder(HOUSE).channel(left.clone())).await;
    let second = house.start(house.builder(HOUSE).channel(right.clone())).await;
    for number in 0..20 {
        let engine = if number % 2 == 0 { &first } else { &second };
        let call = deploy(&format!("c{number}"), &format!("host-{number}"));
        park(engine, in_chat(call, &chat("feishu", "oc_1"), Some("lin"))).await;
    }
    let keys = || async {
        let given = left.given(0).await.into_iter().chain(right.given(0).await);
        given.map(|item| item.key).collect::<Vec<_>>()
    };
    soon(async {
        while keys().await.len() < 20 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // Nothing is under way once both have stopped.
    first.shutdown().await.unwrap();
    second.shutdown().await.unwrap();
    let delivered = keys().await;
    let different: BTreeSet<&String> = delivered.iter().collect();
    assert_eq!(delivered.len(), different.len(), "{delivered:?}");
}

#[tokio::test]
async fn a_question_expires_once_and_is_withdrawn_once_however_many_engines_keep_the_time() {
    let house = House::new();
    let (left, right) = (Recorder::new("feishu"), Recorder::new("feishu"));
    let first = house.start(house.builder(HOUSE).channel(left.clone())).await;
    let second = house.start(house.builder(HOUSE).channel(right.clone())).await;
    for number in 0..20 {
        let engine = if number % 2 == 0 { &first } else { &second };
        let call = deploy(&format!("c{number}"), &format!("host-{number}"));
        park(engine, in_chat(call, &chat("feishu", "oc_1"), Some("lin"))).await;
    }
    let mut events = first.subscribe(0, None);
    house.clock.pass(300);
    first.look_at_the_clock();
    second.look_at_the_clock();
    let mut expired = Vec::new();
    while expired.len() < 20 {
        if let Event::Resolved { interaction, .. } = soon(events.next()).await.unwrap().event {
            expired.push(interaction);
        }
    }
    let withdrawn = || async {
        let given = left.given(0).await.into_iter().chain(right.given(0).await);
        let decided = given.filter(|item| matches!(item.what, What::Decided { .. }));
        decided.map(|item| item.key).collect::<Vec<_>>()
    };
    soon(async {
        while withdrawn().await.len() < 20 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    first.shutdown().await.unwrap();
    let rows = second
        .store()
        .look(|stored| stored.journal(&JournalPage::of_all(0, 10_000)).cloned())
        .await
        .unwrap();
    let resolved = rows
        .iter()
        .filter(|row| matches!(row.event, Event::Resolved { .. }));
    assert_eq!(resolved.count(), 20);
    verify(&second).await;
    second.shutdown().await.unwrap();
    let keys = withdrawn().await;
    let different: BTreeSet<&String> = keys.iter().collect();
    assert_eq!(keys.len(), different.len(), "{keys:?}");
}

#[tokio::test]
async fn one_of_two_engines_covers_the_rows_of_both_by_checkpoints() {
    let house = House::new();
    let first = house.open(HOUSE).await;
    let second = house.open(HOUSE).await;
    let covered = async || {
        let now = second
            .store()
            .look(|stored| stored.checkpoints(&()).copied())
            .await;
        now.unwrap()
    };
    park(&second, deploy("c", "production")).await;
    let before = covered().await;
    // It does not keep the time, so it leaves them to the other one also when it stops.
    let third = house.open(HOUSE).await;
    third.shutdown().await.unwrap();
    assert_eq!(covered().await, before);
    first.shutdown().await.unwrap();
    assert_ne!(covered().await, before);
    verify(&second).await;
}

#[tokio::test]
async fn one_of_two_engines_keeps_the_connection_of_a_channel_and_the_other_takes_over() {
    let house = House::new();
    let (left, mut left_hosts) = Line::new("line", []);
    let first = house.start(house.builder("").channel(left)).await;
    soon(left_hosts.recv()).await.unwrap();
    let (right, mut right_hosts) = Line::new("line", []);
    let second = house.start(house.builder("").channel(right)).await;
    soon(async {
        while !second
            .channel_health()
            .values()
            .all(|health| health.connection == Some(ConnectionState::Elsewhere))
        {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(right_hosts.try_recv().is_err());
    first.shutdown().await.unwrap();
    soon(right_hosts.recv()).await.unwrap();
}

#[tokio::test]
async fn an_engine_with_another_sealing_key_does_not_start_and_says_what_to_do() {
    let house = House::new();
    let folders = [0; 3].map(|_| tempfile::tempdir().unwrap());
    let [first, second, third] = folders.each_ref().map(tempfile::TempDir::path);
    let engine = house.start(house.builder("").data(first)).await;
    let rows = async || {
        engine
            .store()
            .look(|stored| stored.head(&()).copied())
            .await
            .unwrap()
    };
    let before = rows().await;
    let start = async |config: &str, data| house.builder(config).data(data).start_at(&house.store).await;

    let Err(StartError::Seal(missing @ SealError::Missing { .. })) = start("", second).await else {
        panic!("it has no key");
    };
    assert!(missing.to_string().contains("[store] seal_key"), "{missing}");
    assert!(
        !second.join("seal.key").exists(),
        "none is made beside the other one"
    );
    std::fs::write(third.join("seal.key"), "ab".repeat(32)).unwrap();
    let Err(StartError::Seal(other @ SealError::Other)) = start("", third).await else {
        panic!("it has another key");
    };
    assert!(other.to_string().contains("[store] seal_key"), "{other}");
    assert_eq!(rows().await, before, "neither stored anything");

    let key = first.join("seal.key");
    let configured = format!("[store]\nseal_key = 'file:{}'\n", key.display());
    start(&configured, third).await.unwrap().shutdown().await.unwrap();
    std::fs::copy(&key, second.join("seal.key")).unwrap();
    let replica = start("", second).await.unwrap();
    let sealed = engine.seal_for("a purpose", "k-123").unwrap();
    assert_eq!(replica.open_for("a purpose", &sealed).as_deref(), Some("k-123"));
    assert_eq!(replica.open_for("another", &sealed), None);
    assert_eq!(
        replica.open_sealed(&sealed),
        sealed,
        "only answers are opened for agents"
    );
    replica.shutdown().await.unwrap();
    engine.shutdown().await.unwrap();
}
