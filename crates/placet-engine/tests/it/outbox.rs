//! The outbox: what must be shown is shown at least once, every copy is brought up to date, and failures are tried again.

use std::collections::BTreeSet;
use std::sync::Arc;

use placet_core::call::Chat;
use placet_core::ids::{ChannelName, InteractionId};
use placet_core::interaction::{Answer, Cancellation, Interaction, Resolution};
use placet_core::listing::ToSend;
use placet_core::outcome::Outcome;
use placet_core::outgoing::{Change, OutKind, OutState};
use placet_core::principal::{Principal, Via};
use placet_core::shared::{SharedKind, SharedValue};
use placet_core::snapshot::MessageKey;
use placet_core::step::{Decided, Step};
use placet_core::steps::Elsewhere;
use placet_core::time::Millis;
use placet_engine::Engine;
use placet_engine::channel::DeliveryError;

use crate::recorder::{Mood, Recorder, What};
use crate::support::*;

const HOUSE: &str = r#"
[[people]]
name = "lin"
feishu = "ou_lin"
email = "lin@example.com"
[[people]]
name = "wei"
feishu = "ou_wei"

[[rules]]
name = "lin and wei decide about production"
tool = "deploy"
args = { to = "production" }
effect = "ask"
approvers = ["lin"]
timeout = "1h"
escalate = { after = "10m", to = ["wei"] }
"#;

struct Office {
    house: House,
    engine: Engine,
    feishu: Arc<Recorder>,
    email: Arc<Recorder>,
}

async fn office() -> Office {
    let (house, feishu, email) = (House::new(), Recorder::new("feishu"), Recorder::new("email"));
    let engine = house
        .start(
            house
                .builder(HOUSE)
                .channel(feishu.clone())
                .channel(email.clone()),
        )
        .await;
    Office {
        house,
        engine,
        feishu,
        email,
    }
}

fn group() -> Chat {
    chat("feishu", "oc_1")
}

fn zoes(id: &str, to: &str) -> placet_core::call::ToolCall {
    in_chat(deploy(id, to), &group(), Some("feishu:ou_zoe"))
}

/// In how many milliseconds the first copy of a question is tried again, once it has been tried so often.
async fn next_try(engine: &Engine, id: &InteractionId, tries: u32) -> Option<u64> {
    loop {
        let now = engine.store().now();
        let wanted = ToSend {
            at: now,
            busy: BTreeSet::new(),
            limit: 1,
        };
        let look = engine
            .store()
            .look(|stored| Ok((stored.copies(id)?.clone(), stored.sendable(&wanted)?.next)));
        let (copies, next) = look.await.unwrap();
        if copies[0].attempts == tries {
            return next.map(|next| next.remaining_from(now).get());
        }
        tokio::task::yield_now().await;
    }
}

fn later() -> Mood {
    Mood::Fail(DeliveryError::Later("the platform is busy".into()))
}

#[tokio::test]
async fn a_question_is_delivered_whole_with_its_options_and_its_receipt_is_kept() {
    let office = office().await;
    let id = park(&office.engine, zoes("c", "staging")).await;
    let given = office.feishu.given(1).await;
    assert_eq!(given[0].chat, "oc_1");
    let What::Question {
        id: shown,
        text,
        options,
    } = &given[0].what
    else {
        panic!()
    };
    assert_eq!(shown, &id);
    assert!(text.contains("deploy") && text.contains("staging"), "{text}");
    assert!(
        text.contains(&asked(&office.engine, &id).await.code.to_string()),
        "{text}"
    );
    assert_eq!(options, &["approve", "reject", "retry", "skip", "terminate"]);

    let mut events = office.engine.subscribe(0, None);
    let receipt = loop {
        if let placet_core::journal::Event::Delivered { receipt, .. } =
            soon(events.next()).await.unwrap().event
        {
            break receipt.unwrap();
        }
    };
    assert!(receipt.contains(&format!("ref-{}", given[0].key)), "{receipt}");
    let copies = office
        .engine
        .store()
        .look(|stored| stored.copies(&id).cloned())
        .await
        .unwrap();
    assert_eq!(
        (copies[0].state, copies[0].receipt.as_ref()),
        (OutState::Sent, Some(&receipt))
    );
}

#[tokio::test]
async fn every_copy_on_every_channel_is_updated_once_it_is_decided() {
    let office = office().await;
    let id = park(
        &office.engine,
        in_chat(deploy("c", "production"), &group(), Some("feishu:ou_zoe")),
    )
    .await;
    office.feishu.given(2).await;
    office.email.given(1).await;
    let mut events = office.engine.subscribe(office.engine.head().await.unwrap(), None);
    office.house.pass(&office.engine, 600);
    while soon(events.next()).await.unwrap().event.name() != "escalated" {}
    let shown = office.feishu.given(3).await;
    let mut chats: Vec<_> = shown.iter().map(|item| item.chat.as_str()).collect();
    chats.sort_unstable();
    assert_eq!(chats, ["oc_1", "ou_lin", "ou_wei"]);

    say(&office.engine, &id, choice("wei", "approve")).await.unwrap();
    let given = [office.feishu.given(6).await, office.email.given(2).await].concat();
    let mut updated: Vec<_> = Vec::new();
    for item in given {
        let What::Decided {
            id: decided,
            resolution,
            copy,
        } = item.what
        else {
            continue;
        };
        assert_eq!(decided, id);
        assert!(matches!(resolution, Resolution::Answered { .. }));
        assert!(
            copy.is_some_and(|copy| copy.ends_with(&format!(":{}", item.chat))),
            "each by its own receipt"
        );
        updated.push(item.chat);
    }
    updated.sort_unstable();
    assert_eq!(updated, ["lin@example.com", "oc_1", "ou_lin", "ou_wei"]);
    verify(&office.engine).await;
}

#[tokio::test]
async fn a_failed_delivery_is_tried_again_with_growing_pauses_and_the_same_key() {
    let office = office().await;
    office.feishu.next(later());
    office.feishu.next(later());
    let id = park(&office.engine, zoes("c", "staging")).await;
    office.feishu.given(1).await;
    assert_eq!(soon(next_try(&office.engine, &id, 1)).await, Some(500));
    office.house.pass(&office.engine, 1);
    office.feishu.given(2).await;
    assert_eq!(soon(next_try(&office.engine, &id, 2)).await, Some(1000));
    assert!(is_open(&office.engine, &id).await);
    office.house.pass(&office.engine, 1);
    let given = office.feishu.given(3).await;
    assert_eq!(
        soon(next_try(&office.engine, &id, 3)).await,
        None,
        "it has arrived"
    );
    assert!(given.iter().all(|item| item.key == given[0].key), "{given:?}");
}

/// The platform showed it, and the answer was lost: at least once means twice, told apart by the key.
#[tokio::test]
async fn what_was_shown_but_not_acknowledged_is_delivered_again_under_the_same_key_also_after_a_restart() {
    let Office {
        house,
        engine,
        feishu,
        ..
    } = office().await;
    feishu.next(later());
    let id = park(&engine, zoes("c", "staging")).await;
    let first = feishu.given(1).await;
    engine.shutdown().await.unwrap();
    house.clock.pass(60);
    let again = Recorder::new("feishu");
    let engine = house.start(house.builder(HOUSE).channel(again.clone())).await;
    house.pass(&engine, 2);
    let second = again.given(1).await;
    assert_eq!(first[0].key, second[0].key);
    say(&engine, &id, by_zoe()).await.unwrap();
    let given = again.given(2).await;
    assert!(matches!(given[1].what, What::Decided { .. }), "{given:?}");
}

/// Zoe's approval from the chat.
fn by_zoe() -> Answer {
    let by = Principal::Person {
        person: person("feishu:ou_zoe"),
        via: Via::Chat(group().channel),
    };
    Answer {
        by,
        ..choice("zoe", "approve")
    }
}

/// The platform took the question and its answer came too late: the person who saw it and decided must see what became of it.
#[tokio::test]
async fn a_copy_whose_acknowledgement_was_lost_is_updated_once_it_is_decided() {
    let office = office().await;
    office.feishu.next(later());
    let id = park(&office.engine, zoes("c", "staging")).await;
    soon(next_try(&office.engine, &id, 1)).await;
    say(&office.engine, &id, by_zoe()).await.unwrap();
    let given = office.feishu.given(2).await;
    assert!(
        matches!(&given[1].what, What::Decided { id: decided, copy: None, .. } if *decided == id),
        "{given:?}"
    );
    verify(&office.engine).await;
}

#[tokio::test]
async fn a_copy_that_was_on_its_way_when_the_process_ended_is_updated_once_it_is_decided() {
    let Office {
        house,
        engine,
        feishu,
        ..
    } = office().await;
    feishu.next(Mood::Hang);
    let id = park(&engine, zoes("c", "staging")).await;
    feishu.given(1).await;
    engine.shutdown().await.unwrap();
    let builder = house.builder(HOUSE);
    let elsewhere = [(ChannelName::new("feishu").unwrap(), Elsewhere::Delivered)];
    let engine = house.start(builder.channels_elsewhere(elsewhere)).await;
    engine.broker().answer(&id, by_zoe()).await.unwrap();
    engine.shutdown().await.unwrap();
    let again = Recorder::new("feishu");
    let engine = house.start(house.builder(HOUSE).channel(again.clone())).await;
    let given = again.given(1).await;
    assert!(matches!(given[0].what, What::Decided { .. }), "{given:?}");
    verify(&engine).await;
}

#[tokio::test]
async fn what_is_decided_before_it_left_is_never_shown() {
    let Office {
        house,
        engine,
        feishu,
        ..
    } = office().await;
    feishu.next(Mood::Hang);
    let bus = engine.bus();
    bus.publish_outbound(&group(), "k", "a message before it")
        .await
        .unwrap();
    feishu.given(1).await;
    let id = park(&engine, zoes("c", "staging")).await;
    engine.broker().withdraw(&id, "the agent").await.unwrap();
    engine.shutdown().await.unwrap();

    let again = Recorder::new("feishu");
    let engine = house.start(house.builder(HOUSE).channel(again.clone())).await;
    let bus = engine.bus();
    bus.publish_outbound(&group(), "l", "a message behind it")
        .await
        .unwrap();
    let given = again.given(2).await;
    let shown: Vec<_> = given.iter().map(|item| &item.what).collect();
    assert_eq!(
        shown,
        [
            &What::Message("a message before it".into()),
            &What::Message("a message behind it".into())
        ]
    );
    let copies = engine.store().look(|stored| stored.copies(&id).cloned());
    let kinds: Vec<_> = copies
        .await
        .unwrap()
        .iter()
        .map(|copy| (copy.kind, copy.state))
        .collect();
    assert_eq!(
        kinds,
        [
            (OutKind::Question, OutState::Dead),
            (OutKind::Decided, OutState::Dead)
        ]
    );
}

#[tokio::test]
async fn one_surface_that_can_never_show_it_is_no_harm_while_another_can() {
    let office = office().await;
    office
        .email
        .next(Mood::Fail(DeliveryError::Impossible("no such mailbox".into())));
    let id = park(&office.engine, deploy("c", "production")).await;
    office.email.given(1).await;
    office.feishu.given(1).await;
    say(&office.engine, &id, choice("lin", "approve")).await.unwrap();
    assert!(outcome(&office.engine, "c").await.permits());
    let bus = office.engine.bus();
    bus.publish_outbound(&chat("email", "lin@example.com"), "k", "a message behind it")
        .await
        .unwrap();
    let given = office.email.given(2).await;
    assert_eq!(
        given[1].what,
        What::Message("a message behind it".into()),
        "it refused the question, so there is nothing to update"
    );
}

#[tokio::test]
async fn how_things_were_delivered_is_forgotten_after_a_month() {
    let office = office().await;
    let engine = &office.engine;
    let id = park(engine, zoes("c", "staging")).await;
    office.feishu.given(1).await;
    say(engine, &id, by_zoe()).await.unwrap();
    let _running = engine.gate().claim(&key("c"), None).await.unwrap();
    let seen = |now: placet_core::time::Timestamp| placet_core::outgoing::Change::SeenInbound {
        channel: group().channel,
        message_id: "m1".into(),
        at: now,
    };
    let see = engine.transact(|_, now| -> Decided<()> { Ok(Step::new(()).change(seen(now))) });
    see.await.unwrap();
    let looked = async || {
        let message = MessageKey {
            channel: group().channel,
            message_id: "m1".into(),
        };
        let read = engine
            .store()
            .look(|stored| Ok((stored.copies(&id)?.clone(), *stored.is_seen(&message)?)));
        read.await.unwrap()
    };
    soon(async {
        while looked()
            .await
            .0
            .iter()
            .any(|copy| copy.state == OutState::Waiting)
        {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let (copies, seen) = looked().await;
    assert!(copies.len() == 2 && seen);
    office.house.pass(engine, 31 * 24 * 3600);
    soon(async {
        while looked().await != (Vec::new(), false) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    verify(engine).await;
}

#[tokio::test]
async fn a_question_whose_channel_is_gone_after_a_restart_is_withdrawn() {
    let Office {
        house,
        engine,
        feishu,
        ..
    } = office().await;
    feishu.next(later());
    let id = park(&engine, zoes("c", "staging")).await;
    feishu.given(1).await;
    engine.shutdown().await.unwrap();
    let engine = house.open(HOUSE).await;
    house.pass(&engine, 2);
    assert!(matches!(outcome(&engine, "c").await, Outcome::Denied { .. }));
    let Interaction::Resolved(resolved) = interaction(&engine, &id).await else {
        panic!()
    };
    assert!(matches!(
        resolved.resolution,
        Resolution::Cancelled {
            why: Cancellation::Undeliverable { .. }
        }
    ));
}

#[tokio::test]
async fn a_channel_that_hangs_holds_up_neither_the_others_nor_the_end() {
    let office = office().await;
    office.email.next(Mood::Hang);
    park(&office.engine, deploy("c", "production")).await;
    office.email.given(1).await;
    office.feishu.given(1).await;
    soon(office.engine.shutdown()).await.unwrap();
}

#[tokio::test]
async fn a_channel_that_panics_is_tried_again() {
    let office = office().await;
    office.feishu.next(Mood::Panic);
    let id = park(&office.engine, zoes("c", "staging")).await;
    soon(next_try(&office.engine, &id, 1)).await;
    office.house.pass(&office.engine, 1);
    office.feishu.given(2).await;
    assert_eq!(soon(next_try(&office.engine, &id, 2)).await, None);
    assert!(is_open(&office.engine, &id).await);
}

#[tokio::test]
async fn shared_values_are_removed_soon_after_their_end() {
    let house = House::new();
    let engine = house.open("").await;
    let names = ["over", "stays"];
    for (name, until) in names.into_iter().zip([Some(60), None]) {
        let share = engine.transact(|_, now| -> Decided<()> {
            Ok(Step::new(()).change(Change::Share {
                key: SharedKind::SignedOut.named(name),
                was: None,
                value: SharedValue {
                    text: String::new(),
                    until: until.map(|seconds| now + Millis::from_secs(seconds)),
                },
            }))
        });
        share.await.unwrap();
    }
    let there = async || {
        let look = engine.store().look(|stored| {
            Ok(stored
                .shared_of(&SharedKind::SignedOut)?
                .keys()
                .cloned()
                .collect::<Vec<_>>())
        });
        look.await.unwrap()
    };
    assert_eq!(there().await, names);
    house.pass(&engine, 200);
    soon(async {
        while there().await != ["stays"] {
            tokio::task::yield_now().await;
        }
    })
    .await;
    verify(&engine).await;
}
