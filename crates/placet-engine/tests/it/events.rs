//! Subscriptions: every row once and in order, and the three interaction events of the seed document.

use placet_core::interaction::Answer;
use placet_engine::Submission;
use placet_engine::events::InteractionEventKind;
use placet_store::StoreError;
use serde_json::json;

use crate::support::*;

const CHINESE: &str = "[approval]\nlocale = \"zh\"\n";

#[tokio::test]
async fn every_row_comes_once_and_in_order_also_across_a_restart() {
    let house = House::new();
    let engine = house.open("").await;
    let mut events = engine.subscribe(0, None);
    decide(&engine, deploy("a", "a"), choice("lin", "approve")).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(soon(events.next()).await.unwrap().id);
    }
    engine.shutdown().await.unwrap();
    let engine = house.open("").await;
    let mut events = engine.subscribe(*ids.last().unwrap(), None);
    decide(
        &engine,
        in_session(deploy("b", "b"), "another"),
        choice("lin", "skip"),
    )
    .await;
    let head = engine.head().await.unwrap();
    while *ids.last().unwrap() < head {
        ids.push(soon(events.next()).await.unwrap().id);
    }
    assert_eq!(ids, (1..=head).collect::<Vec<_>>());
    let mut of_one = engine.subscribe(0, Some(session("another")));
    let row = soon(of_one.next()).await.unwrap();
    assert_eq!(
        (row.session, row.seq, row.event.name()),
        (session("another"), 1, "callReceived")
    );
}

#[tokio::test]
async fn a_subscription_waits_for_what_comes_and_ends_with_the_engine() {
    let house = House::new();
    let engine = house.open("").await;
    let mut events = engine.subscribe(engine.head().await.unwrap(), None);
    let waiting = tokio::spawn(async move {
        let first = events.next().await.map(|row| row.event.name());
        while events.next().await.is_ok() {}
        (first, events.next().await.map(|row| row.id))
    });
    park(&engine, deploy("a", "a")).await;
    engine.shutdown().await.unwrap();
    let (first, end) = soon(waiting).await.unwrap();
    assert_eq!((first, end), (Ok("callReceived"), Err(StoreError::Closed)));
}

#[tokio::test]
async fn a_tool_approval_is_requested_responded_and_processed_in_the_seeds_shapes() {
    let house = House::new();
    let engine = house.open(CHINESE).await;
    let mut events = engine.subscribe(0, None);
    let described = Submission {
        tool_description: Some("发布到预发环境".into()),
        ..Submission::from(deploy("c", "staging"))
    };
    let proposed = engine.gate().propose(described).await.unwrap();
    let (id, _) = proposed.parked_on().unwrap();
    let requested = soon(events.next_interaction()).await.unwrap();
    assert_eq!(requested.kind, InteractionEventKind::UserInteractionRequested);
    let mut shape = serde_json::to_value(&requested).unwrap();
    let options = shape.as_object_mut().unwrap().remove("options").unwrap();
    assert_eq!(options[0]["action"], "APPROVE_AND_EXECUTE");
    let tool = json!({
        "toolName": "deploy", "toolDescription": "发布到预发环境", "toolParameters": { "to": "staging" }, "approved": false
    });
    assert_eq!(
        shape,
        json!({
            "type": "USER_INTERACTION_REQUESTED",
            "timestamp": BEGINNING,
            "sessionId": "s",
            "workflowId": "",
            "threadId": "s",
            "nodeId": "coder",
            "interactionId": id,
            "operationType": "TOOL_APPROVAL",
            "prompt": "是否批准调用工具 \"deploy\"?",
            "timeout": 60_000,
            "metadata": { "toolApproval": tool },
        })
    );

    let edited = edit("lin", json!({ "to": "canary" }));
    say(
        &engine,
        &id,
        Answer {
            instruction: Some("小心".into()),
            ..edited
        },
    )
    .await
    .unwrap();
    let decided = json!({
        "toolName": "deploy", "toolDescription": "发布到预发环境", "toolParameters": { "to": "staging" },
        "approved": true, "editedParameters": { "to": "canary" }, "userInstruction": "小心",
        "selectedOptionId": "approve", "resolution": "answered",
    });
    let responded = serde_json::to_value(soon(events.next_interaction()).await.unwrap()).unwrap();
    assert_eq!(
        (&responded["type"], &responded["operationType"]),
        (&json!("USER_INTERACTION_RESPONDED"), &json!("TOOL_APPROVAL"))
    );
    assert_eq!(responded["inputData"], decided);

    let _running = engine.gate().claim(&key("c"), None).await.unwrap();
    let processed = serde_json::to_value(soon(events.next_interaction()).await.unwrap()).unwrap();
    assert_eq!(processed["type"], "USER_INTERACTION_PROCESSED");
    assert_eq!(
        (&processed["interactionId"], &processed["results"]),
        (&json!(id), &decided)
    );
}

#[tokio::test]
async fn silence_is_an_event_too_and_not_a_refusal() {
    let house = House::new();
    let engine = house.open("").await;
    let mut events = engine.subscribe(0, None);
    park(&engine, deploy("c", "staging")).await;
    soon(events.next_interaction()).await.unwrap();
    house.pass(&engine, 60);
    let responded = serde_json::to_value(soon(events.next_interaction()).await.unwrap()).unwrap();
    let said = &responded["inputData"];
    assert_eq!(
        (&said["approved"], &said["resolution"]),
        (&json!(false), &json!("expired"))
    );
    assert_eq!(said.get("selectedOptionId"), None);
}

#[tokio::test]
async fn an_agents_own_question_is_an_event_with_its_message_as_the_prompt() {
    let house = House::new();
    let engine = house.open("").await;
    let mut events = engine.subscribe(0, None);
    let request = serde_json::from_value(json!({
        "sessionId": "s", "type": "USER_INPUT", "title": "Colour", "message": "Which colour?",
        "options": [{ "optionId": "say", "label": "Say", "action": "PROVIDE_INFO", "requiresInput": true }],
    }))
    .unwrap();
    let asked = engine
        .broker()
        .ask(request, deploy("c", "x").origin)
        .await
        .unwrap();
    let requested = serde_json::to_value(soon(events.next_interaction()).await.unwrap()).unwrap();
    assert_eq!(
        (&requested["prompt"], &requested["operationType"]),
        (&json!("Which colour?"), &json!("ADD_MESSAGE"))
    );
    assert_eq!(requested.get("metadata"), None);
    say(&engine, &asked.id, because("lin", "say", "blue"))
        .await
        .unwrap();
    let responded = serde_json::to_value(soon(events.next_interaction()).await.unwrap()).unwrap();
    let expected = json!({ "selectedOptionId": "say", "feedback": "blue", "resolution": "answered" });
    assert_eq!(responded["inputData"], expected);
}
