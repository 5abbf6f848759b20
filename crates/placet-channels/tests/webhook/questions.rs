//! Several questions in one chat: which one is meant, by code or all at once.

use placet_core::messages::chat;
use placet_core::outcome::Outcome;
use serde_json::json;

use crate::house::*;

/// vendo#1268: a bare YES picked the newest of two.
#[tokio::test]
async fn with_several_open_a_bare_yes_asks_which_one_and_a_code_decides() {
    let house = House::new("").await;
    let (a, b) = (
        house.ask(deploy("a", "a")).await,
        house.ask(deploy("b", "b")).await,
    );
    let (code_a, code_b) = (house.code(&a).await, house.code(&b).await);
    assert!(house.hear("zoe", "m1", "yes").await);
    let told = house.platform.messages(1).await;
    assert!(told[0].contains(&code_a) && told[0].contains(&code_b), "{told:?}");
    assert!(house.is_open(&a).await && house.is_open(&b).await);
    assert!(house.hear("zoe", "m2", &format!("yes {code_b}")).await);
    assert!(house.outcome("b").await.permits());
    assert!(house.is_open(&a).await);
    assert!(house.hear("zoe", "m3", &format!("不 {code_a}")).await);
    assert!(matches!(house.outcome("a").await, Outcome::Rejected { .. }));
}

#[tokio::test]
async fn a_code_that_is_no_longer_open_answers_nothing_else_instead() {
    let house = House::new("").await;
    let a = house.ask(deploy("a", "a")).await;
    let old = house.code(&a).await;
    assert!(house.hear("zoe", "m1", &format!("yes {old}")).await);
    let b = house.ask(deploy("b", "b")).await;
    assert!(house.hear("zoe", "m2", &format!("yes #{old}")).await);
    assert!(house.is_open(&b).await);
    let told = house.platform.messages(2).await;
    assert!(told[1].contains(&chat::unknown_code(old).to_string()), "{told:?}");
}

#[tokio::test]
async fn approving_all_leaves_high_risk_to_be_answered_one_by_one() {
    let house = House::new(&format!("[tools.wipe]\nrisk = \"HIGH\"\n{KIM}")).await;
    for id in ["a", "b"] {
        house.ask(call_for_kim(id, "deploy", json!({ "to": id }))).await;
    }
    let high = house.ask(call_for_kim("w", "wipe", json!({}))).await;
    assert!(house.hear_in("kim", "kim", "m1", "全部批准").await);
    assert!(house.outcome("a").await.permits() && house.outcome("b").await.permits());
    assert!(house.is_open(&high).await);
    let told = house.platform.messages(3).await.join("\n");
    let code = house.code(&high).await;
    assert!(told.contains(&chat::one_by_one([&code]).to_string()), "{told}");
    assert!(house.hear_in("kim", "kim", "m2", "yes").await);
    assert!(house.outcome("w").await.permits());
    house.verify().await;
}

#[tokio::test]
async fn calls_of_one_turn_are_decided_independently() {
    let house = House::new("").await;
    let mut ids = Vec::new();
    for id in ["a", "b", "c"] {
        let mut call = deploy(id, id);
        call.group = Some(placet_core::ids::GroupId::new("turn-1").unwrap());
        ids.push(house.ask(call).await);
    }
    assert!(
        house
            .hear("zoe", "m1", &format!("yes {}", house.code(&ids[1]).await))
            .await
    );
    assert!(house.hear("zoe", "m2", "全部拒绝").await);
    assert!(matches!(house.outcome("a").await, Outcome::Rejected { .. }));
    assert!(house.outcome("b").await.permits());
    assert!(matches!(house.outcome("c").await, Outcome::Rejected { .. }));
}

#[tokio::test]
async fn a_second_answer_is_told_who_decided() {
    let config = r#"
[[people]]
name = "lin"
ops = "lin"
[[people]]
name = "wei"
ops = "wei"
[groups]
leads = ["lin", "wei"]
[[rules]]
name = "a lead decides"
tool = "deploy"
effect = "ask"
approvers = ["group:leads"]
"#;
    let house = House::new(config).await;
    let id = house.ask(deploy("c", "staging")).await;
    let code = house.code(&id).await;
    assert!(house.hear("lin", "m1", "yes").await);
    assert!(house.hear("wei", "m2", &format!("no #{code}")).await);
    assert!(house.outcome("c").await.permits(), "the first answer stands");
    let told = house.platform.messages(2).await;
    assert!(
        told[1].contains(&code) && told[1].contains("Nothing was decided"),
        "{told:?}"
    );
}
