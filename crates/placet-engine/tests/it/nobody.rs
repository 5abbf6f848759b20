//! No reachable approver: denied at once, saying why, in each of its forms.

use placet_core::ids::{ChannelName, PersonId};
use placet_core::interaction::InteractionRequest;
use placet_core::outcome::{Denial, Nobody, Outcome};
use placet_core::steps::{AskRefusal, Elsewhere};
use placet_engine::channel::DeliveryError;
use placet_store::StepError;
use serde_json::json;

use crate::recorder::{Mood, Recorder};
use crate::support::*;

fn nobody(why: Nobody) -> Outcome {
    Outcome::Denied {
        denial: Denial::NobodyToAsk { why },
    }
}

#[tokio::test]
async fn a_call_without_a_channel_is_denied_when_nobody_looks_at_the_inbox() {
    let house = House::new();
    let engine = house.start(house.builder("").without_inbox()).await;
    let denied = settle(&engine, deploy("c", "staging")).await;
    assert_eq!(denied, nobody(Nobody::NoInbox));
    assert_eq!(denied.result_for_model().unwrap()["outcome"], "nobody_to_ask");
    let request: InteractionRequest = serde_json::from_value(json!({
        "sessionId": "s", "type": "USER_INPUT", "title": "t", "message": "m",
        "options": [{ "optionId": "y", "label": "Y", "action": "PROVIDE_INFO" }],
    }))
    .unwrap();
    let refused = engine.broker().ask(request, deploy("c", "x").origin).await;
    assert!(
        matches!(refused, Err(StepError::Refused(AskRefusal::NobodyToAsk(_)))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_call_from_a_channel_that_is_not_connected_is_denied() {
    let house = House::new();
    let engine = house.open("").await;
    let call = in_chat(
        deploy("c", "staging"),
        &chat("feishu", "oc_1"),
        Some("feishu:ou_zoe"),
    );
    assert_eq!(
        settle(&engine, call).await,
        nobody(Nobody::NoChannel {
            channel: ChannelName::new("feishu").unwrap()
        })
    );
}

#[tokio::test]
async fn a_chat_whose_user_is_unknown_has_nobody_to_ask() {
    let house = House::new();
    let engine = house
        .start(house.builder("").channel(Recorder::new("feishu")))
        .await;
    let call = in_chat(deploy("c", "staging"), &chat("feishu", "oc_1"), None);
    assert_eq!(settle(&engine, call).await, nobody(Nobody::UnknownUser));
}

#[tokio::test]
async fn a_quorum_that_the_requester_makes_unreachable_is_nobody_to_ask() {
    let house = House::new();
    let rule = r#"
        [[people]]
        name = "lin"
        [[people]]
        name = "wei"
        [[rules]]
        name = "two"
        tool = "deploy"
        effect = "ask"
        approvers = ["lin", "wei"]
        quorum = 2
        not_requester = true
    "#;
    let engine = house.open(rule).await;
    let denied = settle(&engine, for_user(deploy("c", "x"), "lin")).await;
    assert_eq!(denied, nobody(Nobody::TooFew { quorum: 2, able: 1 }));
    park(&engine, for_user(deploy("d", "x"), "ana")).await;
}

#[tokio::test]
async fn a_question_that_can_never_be_delivered_denies_its_call_at_once() {
    let house = House::new();
    let feishu = Recorder::new("feishu");
    feishu.next(Mood::Fail(DeliveryError::Impossible(
        "the bot was removed from the chat".into(),
    )));
    let engine = house.start(house.builder("").channel(feishu)).await;
    let call = in_chat(
        deploy("c", "staging"),
        &chat("feishu", "oc_1"),
        Some("feishu:ou_zoe"),
    );
    park(&engine, call).await;
    assert_eq!(
        outcome(&engine, "c").await,
        nobody(Nobody::Undeliverable {
            error: "the bot was removed from the chat".into()
        })
    );
    verify(&engine).await;
}

#[tokio::test]
async fn the_people_of_a_channel_that_is_connected_elsewhere_find_their_questions_in_the_inbox() {
    let house = House::new();
    let ops = chat("ops", "room");
    let known = [(ops.channel.clone(), Elsewhere::InboxOnly)];
    let builder = house
        .builder("[[people]]\nname = 'zoe'\n")
        .channels_elsewhere(known);
    let engine = house.start(builder).await;
    let id = park(&engine, in_chat(deploy("c", "staging"), &ops, Some("zoe"))).await;
    assert!(is_open(&engine, &id).await);
    // An account that no one linked to a person can sign in nowhere, so no one could ever answer.
    let call = in_chat(deploy("d", "production"), &ops, Some("ops:eve"));
    let user = PersonId::new("ops:eve").unwrap();
    assert_eq!(settle(&engine, call).await, nobody(Nobody::NoAccount { user }));
}
