//! An admin answers in the inbox what no rule puts to named people.

use placet_core::principal::{Principal, Via};
use placet_core::steps::AnswerRefusal;
use placet_store::StepError;

use crate::recorder::Recorder;
use crate::support::*;

const PEOPLE: &str = r#"
    [[people]]
    name = "lin"
    [[people]]
    name = "wei"
    [[rules]]
    name = "only lin pays"
    tool = "pay"
    effect = "ask"
    approvers = ["lin"]
"#;

fn admin(name: &str) -> Principal {
    Principal::Person {
        person: person(name),
        via: Via::Admin,
    }
}

#[tokio::test]
async fn an_admin_can_always_answer_in_the_inbox_what_policy_lets_them() {
    let house = House::new();
    let builder = house.builder(PEOPLE).channel(Recorder::new("feishu"));
    let engine = house.start(builder).await;
    let by_wei = |option: &str| placet_core::interaction::Answer {
        by: admin("wei"),
        ..choice("wei", option)
    };
    let of_lin = park(&engine, for_user(deploy("a", "x"), "lin")).await;
    let in_a_chat = in_chat(deploy("b", "y"), &chat("feishu", "oc_1"), Some("feishu:ou_zoe"));
    let of_zoe = park(&engine, in_a_chat).await;
    for id in [of_lin, of_zoe] {
        // As an approver they are told nothing.
        let refused = say(&engine, &id, choice("wei", "approve")).await;
        assert!(
            matches!(refused, Err(StepError::Refused(AnswerRefusal::NotFound(_)))),
            "{refused:?}"
        );
        say(&engine, &id, by_wei("approve")).await.unwrap();
    }
    // A rule names who decides, and an admin is no one it names.
    let pay = park(&engine, call("c", "pay", serde_json::json!({}))).await;
    let refused = say(&engine, &pay, by_wei("approve")).await;
    assert!(
        matches!(refused, Err(StepError::Refused(AnswerRefusal::NotFound(_)))),
        "{refused:?}"
    );
    assert!(is_open(&engine, &pay).await);
    verify(&engine).await;
}
