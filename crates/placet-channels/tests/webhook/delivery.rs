//! Bringing questions to a platform that is slow, down, busy or gone.

use std::collections::BTreeSet;

use placet_core::ids::InteractionId;
use placet_core::interaction::{Cancellation, Interaction, Resolution};
use placet_core::listing::ToSend;
use placet_core::outcome::Nobody;
use placet_core::outcome::{Denial, Outcome};
use placet_core::outgoing::OutState;
use serde_json::json;

use crate::house::*;
use crate::platform::{Mood, soon};

/// In how many milliseconds a question is tried again, once it has been tried so often.
async fn next_try(house: &House, id: &InteractionId, tries: u32) -> Option<u64> {
    house.tried(id, tries).await;
    let now = house.engine.store().now();
    let wanted = ToSend {
        at: now,
        busy: BTreeSet::new(),
        limit: 1,
    };
    let look = house
        .engine
        .store()
        .look(|stored| Ok(stored.sendable(&wanted)?.next));
    let next = look.await.unwrap();
    next.map(|next| next.remaining_from(now).get())
}

#[tokio::test]
async fn a_platform_that_is_down_gets_the_question_when_it_is_back() {
    let mut house = House::new("").await;
    house.platform.goes_down().await;
    let id = house.park(deploy("c", "staging")).await;
    assert_eq!(next_try(&house, &id, 1).await, Some(500));
    house.pass(1);
    assert_eq!(next_try(&house, &id, 2).await, Some(1000), "each pause is longer");
    assert!(house.is_open(&id).await);
    house.platform.comes_back().await;
    house.pass(1);
    house.shown(&id).await;
    assert!(house.hear("zoe", "m1", "yes").await);
    assert!(house.outcome("c").await.permits());
    house.verify().await;
}

#[tokio::test]
async fn what_could_not_be_posted_is_posted_after_a_restart() {
    let mut house = House::new("").await;
    house.platform.goes_down().await;
    let id = house.park(deploy("c", "staging")).await;
    next_try(&house, &id, 1).await;
    let mut house = house.restart().await;
    house.platform.comes_back().await;
    house.pass(2);
    house.shown(&id).await;
    let [post] = house.platform.posts(1).await.try_into().unwrap();
    assert_eq!(post.json["requestId"], id.as_str());
}

/// The platform showed it and the answer was lost: at least once means twice, told apart by the key.
#[tokio::test]
async fn every_attempt_carries_the_same_key_and_two_questions_never_do() {
    let house = House::new("").await;
    house.platform.next(Mood::status(503));
    let id = house.park(deploy("c", "staging")).await;
    next_try(&house, &id, 1).await;
    house.pass(1);
    house.shown(&id).await;
    house.ask(deploy("d", "production")).await;
    let keys: Vec<_> = house
        .platform
        .posts(3)
        .await
        .into_iter()
        .map(|post| post.key)
        .collect();
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[1], keys[2]);
}

#[tokio::test]
async fn a_busy_platform_is_left_alone_for_as_long_as_it_asks() {
    let house = House::new("").await;
    house
        .platform
        .next(Mood::Answer(429, &[("retry-after", "20")], String::new()));
    let id = house.park(deploy("c", "staging")).await;
    assert_eq!(next_try(&house, &id, 1).await, Some(20_000));
    house.pass(19);
    house
        .engine
        .bus()
        .publish_outbound(deploy("x", "x").origin.chat.as_ref().unwrap(), "k", "meanwhile")
        .await
        .unwrap();
    house.platform.post(|post| post.is("message")).await;
    assert!(
        !house
            .platform
            .so_far()
            .iter()
            .skip(1)
            .any(|post| post.is("question"))
    );
    house.pass(1);
    house.shown(&id).await;
}

/// MiqroForge#1049: without an approver, the call is refused at once, and not by a silent timeout.
#[tokio::test]
async fn a_platform_that_says_never_leaves_nobody_to_ask() {
    let house = House::new("").await;
    house.platform.next(Mood::status(404));
    let id = house.park(deploy("c", "staging")).await;
    let outcome = house.outcome("c").await;
    let Outcome::Denied {
        denial: Denial::NobodyToAsk { why },
    } = outcome
    else {
        panic!("{outcome:?}")
    };
    let error = "the platform answered 404 Not Found".into();
    assert_eq!(why, Nobody::Undeliverable { error });
    let question = house.engine.broker().question(&id).await.unwrap().unwrap();
    let Interaction::Resolved(resolved) = question.interaction else {
        panic!()
    };
    assert!(matches!(
        resolved.resolution,
        Resolution::Cancelled {
            why: Cancellation::Undeliverable { .. }
        }
    ));
    let copies = house
        .engine
        .store()
        .look(|stored| stored.copies(&id).cloned())
        .await
        .unwrap();
    assert_eq!(copies[0].state, OutState::Dead);
    assert_eq!(house.platform.so_far().len(), 1, "never means never");
    house.verify().await;
}

#[tokio::test]
async fn a_platform_that_hangs_holds_up_no_other_platform() {
    let (house, dev) = House::with_two_platforms("").await;
    house.platform.next(Mood::Hang);
    house.park(deploy("slow", "staging")).await;
    house.platform.posts(1).await;
    // One after the other, while the first platform still has not answered.
    for number in 1..=3 {
        let id = format!("quick-{number}");
        let call = call_on(
            "dev",
            "d1",
            "dev:zoe",
            &id,
            "deploy",
            json!({ "to": id.as_str() }),
        );
        let question = house.park(call).await;
        house.shown(&question).await;
        assert_eq!(dev.so_far().len(), number);
    }
    assert_eq!(house.platform.so_far().len(), 1);
}

#[tokio::test]
async fn a_hanging_platform_holds_up_neither_answers_nor_the_end() {
    let house = House::new("").await;
    house.platform.next(Mood::Hang);
    let id = house.park(deploy("c", "staging")).await;
    house.platform.posts(1).await;
    assert!(
        house.hear("zoe", "m1", "no").await,
        "they have seen it, whatever we know"
    );
    assert!(!house.is_open(&id).await);
    soon(house.engine.shutdown()).await.unwrap();
}
