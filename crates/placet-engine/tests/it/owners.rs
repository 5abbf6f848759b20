//! A session belongs to the agent that started it. No other agent acts in it, or in the mode people gave it.

use placet_core::call::ToolCall;
use placet_core::ids::AgentId;
use placet_core::interaction::InteractionRequest;
use placet_core::journal::SYSTEM_SESSION;
use placet_core::outcome::Outcome;
use placet_core::policy::Mode;
use placet_core::steps::{AskRefusal, ProposeRefusal};
use placet_engine::{Engine, GateError};
use placet_store::StepError;
use serde_json::json;

use crate::support::*;

fn by(agent: &str, mut call: ToolCall) -> ToolCall {
    call.origin.agent = AgentId::new(agent).unwrap();
    call
}

async fn refused(engine: &Engine, call: ToolCall) {
    let refused = engine.gate().propose(call).await;
    assert!(
        matches!(refused, Err(GateError::Propose(ProposeRefusal::NotYours(_)))),
        "{refused:?}"
    );
}

fn question(session: &str) -> InteractionRequest {
    serde_json::from_value(json!({
        "sessionId": session, "type": "USER_INPUT", "title": "t", "message": "m",
        "options": [{ "optionId": "y", "label": "Y", "action": "PROVIDE_INFO" }],
    }))
    .unwrap()
}

#[tokio::test]
async fn an_agent_neither_calls_nor_asks_in_the_session_of_another_one() {
    let house = House::new();
    let engine = house.open("").await;
    park(&engine, deploy("a", "staging")).await;
    engine
        .broker()
        .set_mode(&session("s"), Mode::Yolo, &person("lin"))
        .await
        .unwrap();
    refused(&engine, by("other", deploy("b", "staging"))).await;
    let origin = by("other", deploy("b", "x")).origin;
    let asked = engine.broker().ask(question("s"), origin).await;
    assert!(
        matches!(asked, Err(StepError::Refused(AskRefusal::NotYours(_)))),
        "{asked:?}"
    );
    // Its own agent has the mode it was given, also after a restart.
    engine.shutdown().await.unwrap();
    let engine = house.open("").await;
    assert_eq!(settle(&engine, deploy("c", "staging")).await, Outcome::Allowed);
    refused(&engine, by("other", deploy("d", "staging"))).await;
    verify(&engine).await;
}

#[tokio::test]
async fn whoever_asks_first_owns_a_session_as_well() {
    let house = House::new();
    let engine = house.open("").await;
    let asked = engine.broker().ask(question("s"), deploy("a", "x").origin).await;
    asked.unwrap();
    refused(&engine, by("other", deploy("b", "staging"))).await;
}

#[tokio::test]
async fn placets_own_session_takes_no_calls_and_no_questions() {
    let house = House::new();
    let engine = house.open("").await;
    refused(&engine, in_session(deploy("a", "staging"), SYSTEM_SESSION)).await;
    let (broker, origin) = (engine.broker(), deploy("a", "x").origin);
    let asked = broker.ask(question(SYSTEM_SESSION), origin).await;
    assert!(
        matches!(asked, Err(StepError::Refused(AskRefusal::NotYours(_)))),
        "{asked:?}"
    );
}
