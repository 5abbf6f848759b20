//! Who may decide over a chat platform: the session's user, or the rule's people, by any of their accounts; no one else.

use placet_core::ids::PersonId;
use placet_core::messages::{chat, refusal};
use placet_core::outcome::Outcome;
use serde_json::json;

use crate::house::*;

const OPS: &str = r#"
[[people]]
name = "lin"
ops = "u-lin"
dev = "dev-lin"
[[people]]
name = "wei"
ops = "u-wei"
[[people]]
name = "zoe"
ops = "u-zoe"

[groups]
leads = ["lin", "wei"]

[[rules]]
name = "two leads agree about production"
tool = "deploy"
args = { to = "production" }
effect = "ask"
approvers = ["group:leads"]
quorum = 2
not_requester = true
timeout = "1h"
escalate = { after = "10m", to = ["zoe"] }
"#;

fn for_user(user: &str, id: &str, to: &str) -> placet_core::call::ToolCall {
    call_on("ops", "c1", user, id, "deploy", json!({ "to": to }))
}

/// zeroclaw#9387, hermes#96045: any member of a shared chat could approve.
#[tokio::test]
async fn a_bystander_is_told_and_changes_nothing() {
    let house = House::new("").await;
    let id = house.ask(deploy("c", "staging")).await;
    for (number, said) in ["yes", "确认", "no", "全部批准", "取消"].into_iter().enumerate() {
        assert!(house.hear("eve", &format!("m{number}"), said).await, "{said}");
    }
    assert_eq!(
        house.platform.messages(5).await,
        std::array::from_fn::<_, 5, _>(|_| chat::not_an_approver().to_string())
    );
    assert!(
        !house.hear("eve", "m9", "nice weather").await,
        "just talking is left alone"
    );
    assert!(house.is_open(&id).await);
    assert!(house.hear("zoe", "m10", "yes").await);
    assert!(house.outcome("c").await.permits());
}

#[tokio::test]
async fn the_rules_people_decide_and_not_the_user_the_agent_works_for() {
    let (house, _dev) = House::with_two_platforms(OPS).await;
    let id = house.ask(for_user("zoe", "c", "production")).await;
    assert!(house.hear("u-zoe", "m1", "yes").await);
    assert_eq!(
        house.platform.messages(1).await,
        [chat::not_an_approver().to_string()]
    );
    assert!(house.hear("u-lin", "m2", "yes").await);
    assert!(house.is_open(&id).await, "one of two");
    assert!(house.hear("u-wei", "m3", "批准").await);
    let Outcome::Approved { by, .. } = house.outcome("c").await else {
        panic!()
    };
    assert_eq!(by, ["lin", "wei"].map(|name| PersonId::new(name).unwrap()));
    house.verify().await;
}

#[tokio::test]
async fn a_quorum_counts_people_and_not_accounts() {
    let (house, dev) = House::with_two_platforms(OPS).await;
    let id = house.park(for_user("zoe", "c", "production")).await;
    // The team's chat, Lin's and Wei's own, and Lin's on the other platform.
    house.shown_in(&id, 4).await;
    assert!(house.hear("u-lin", "m1", "yes").await);
    // The same Lin, on the other platform.
    let body = json!({ "channel": "dev", "chatId": "dev-lin", "senderId": "dev-lin", "messageId": "d1", "content": "yes" });
    assert!(house.receive_from("dev", &body).await.unwrap().consumed);
    assert!(house.is_open(&id).await, "one person is one vote");
    assert!(house.hear("u-wei", "m2", "yes").await);
    assert!(house.outcome("c").await.permits());
    dev.post(|post| post.is("decided")).await;
}

#[tokio::test]
async fn the_requester_does_not_count_where_the_rule_says_so() {
    let (house, _dev) = House::with_two_platforms(OPS).await;
    // Lin asks, so only Wei is left of the two; with Zoe, whom it escalates to, there are enough.
    let id = house.ask(for_user("lin", "c", "production")).await;
    assert!(house.hear("u-lin", "m1", "yes").await);
    assert!(house.hear("u-wei", "m2", "yes").await);
    assert!(house.is_open(&id).await);
    let told = house.platform.messages(2).await;
    assert!(
        told[0].contains(&refusal::own_request("lin").to_string()),
        "{told:?}"
    );
    house.pass(600);
    house
        .platform
        .post(|post| post.is("question") && post.json["chatId"] == "u-zoe")
        .await;
    assert!(house.hear_in("u-zoe", "u-zoe", "m3", "yes").await);
    let Outcome::Approved { by, .. } = house.outcome("c").await else {
        panic!()
    };
    assert_eq!(by, ["wei", "zoe"].map(|name| PersonId::new(name).unwrap()));
}

#[tokio::test]
async fn an_account_of_the_same_name_on_another_channel_is_somebody_else() {
    let (house, _dev) = House::with_two_platforms(OPS).await;
    let id = house.ask(for_user("zoe", "c", "production")).await;
    let body =
        json!({ "channel": "dev", "chatId": "c1", "senderId": "u-lin", "messageId": "d1", "content": "yes" });
    let received = house.receive_from("dev", &body).await.unwrap();
    assert!(!received.consumed, "no question is open there");
    assert!(house.is_open(&id).await);
}

#[tokio::test]
async fn a_chat_whose_user_is_not_known_has_nobody_to_ask() {
    let house = House::new("").await;
    let mut call = deploy("c", "staging");
    call.origin.user = None;
    let outcome = house.settle(call).await;
    assert!(matches!(outcome, Outcome::Denied { .. }), "{outcome:?}");
    assert!(house.platform.so_far().is_empty());
}
