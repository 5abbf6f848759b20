//! `on_tool_approve` and the `toolApproval` handler: a program decides in place of the session's user.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use placet_core::interaction::{Interaction, Resolution};
use placet_core::outcome::Outcome;
use placet_core::record::{CallState, GrantState};
use placet_engine::bus::RequestError;
use placet_engine::{Finished, ToolApproval, ToolUse};
use serde_json::{Value, json};

use crate::recorder::Recorder;
use crate::support::*;

const HOUSE: &str = r#"
[approval]
rejections_max = 2

[[people]]
name = "lin"

[[rules]]
name = "lin decides about production"
tool = "deploy"
args = { to = "production" }
effect = "ask"
approvers = ["lin"]

[[rules]]
name = "nobody deploys to the moon"
tool = "deploy"
args = { to = "moon" }
effect = "deny"
"#;

async fn run(engine: &placet_engine::Engine, call: placet_core::call::ToolCall) -> Finished {
    soon(engine.gate().call(call, async |call| Ok(call.args.canonical())))
        .await
        .unwrap()
}

#[tokio::test]
async fn a_callback_that_returns_a_bool_decides() {
    let house = House::new();
    let callback = |tool_use: ToolUse| async move {
        assert_eq!(
            (tool_use.name.as_str(), tool_use.session_id.as_str()),
            ("deploy", "s")
        );
        tool_use.params.text("to") == Some("staging")
    };
    let engine = house
        .start(house.builder(HOUSE).on_tool_approve(callback).without_inbox())
        .await;
    assert!(matches!(
        run(&engine, deploy("a", "staging")).await,
        Finished::Ran { .. }
    ));
    let denied = run(&engine, deploy("b", "canary")).await;
    let by = person("callback");
    assert_eq!(
        denied,
        Finished::NotRun(Outcome::Rejected {
            by,
            reason: None,
            instruction: None
        })
    );
    verify(&engine).await;
}

#[tokio::test]
async fn a_callback_may_change_the_arguments_and_its_edit_is_judged_again() {
    let house = House::new();
    let callback = |tool_use: ToolUse| async move {
        match tool_use.params.text("to") {
            Some("staging") => ToolApproval::approve_with(args(json!({ "to": "canary" }))),
            Some("edge") => ToolApproval::approve_with(args(json!({ "to": "moon" }))),
            _ => ToolApproval::deny("not in this house"),
        }
    };
    let engine = house.start(house.builder(HOUSE).on_tool_approve(callback)).await;
    let Finished::Ran {
        result,
        args: ran_with,
        outcome,
    } = run(&engine, deploy("a", "staging")).await
    else {
        panic!()
    };
    assert_eq!(
        (result.output.as_str(), ran_with.text("to")),
        (r#"{"to":"canary"}"#, Some("canary"))
    );
    assert!(matches!(outcome, Outcome::Approved { edited: Some(_), .. }));
    let Finished::NotRun(Outcome::Cancelled { why }) = run(&engine, deploy("b", "edge")).await else {
        panic!()
    };
    assert!(why.contains("policy denies the edited call"), "{why}");
    let Finished::NotRun(Outcome::Rejected { reason, .. }) = run(&engine, deploy("c", "x")).await else {
        panic!()
    };
    assert_eq!(reason.as_deref(), Some("not in this house"));
}

#[tokio::test]
async fn a_callback_that_panics_approves_nothing() {
    let house = House::new();
    let callback = |_: ToolUse| async {
        if true {
            panic!("a defect of the program")
        } else {
            true
        }
    };
    let engine = house.start(house.builder(HOUSE).on_tool_approve(callback)).await;
    let Finished::NotRun(Outcome::Cancelled { why }) = run(&engine, deploy("a", "staging")).await else {
        panic!()
    };
    assert!(why.contains("the approval callback failed"), "{why}");
    assert!(open(&engine).await.is_empty());
}

#[tokio::test]
async fn a_rule_that_names_people_is_not_decided_by_the_callback() {
    let house = House::new();
    let engine = house
        .start(house.builder(HOUSE).on_tool_approve(async |_: ToolUse| true))
        .await;
    let id = park(&engine, deploy("a", "production")).await;
    run(&engine, deploy("b", "staging")).await;
    assert!(is_open(&engine, &id).await);
    say(&engine, &id, because("lin", "reject", "frozen"))
        .await
        .unwrap();
    assert!(matches!(outcome(&engine, "a").await, Outcome::Rejected { .. }));
}

#[tokio::test]
async fn a_question_for_a_program_is_not_shown_to_people_and_its_noes_trip_no_breaker() {
    let house = House::new();
    let feishu = Recorder::new("feishu");
    let builder = house
        .builder(HOUSE)
        .channel(feishu.clone())
        .on_tool_approve(async |_: ToolUse| false);
    let engine = house.start(builder).await;
    for id in ["a", "b", "c", "d"] {
        let denied = run(
            &engine,
            in_chat(deploy(id, id), &chat("feishu", "oc_1"), Some("feishu:ou_zoe")),
        )
        .await;
        assert!(
            matches!(denied, Finished::NotRun(Outcome::Rejected { .. })),
            "{denied:?}"
        );
    }
    engine
        .bus()
        .publish_outbound(&chat("feishu", "oc_1"), "k", "all done")
        .await
        .unwrap();
    assert_eq!(feishu.messages(1).await, ["all done"]);
    assert_eq!(feishu.given(1).await.len(), 1, "nothing else was shown");
}

#[tokio::test]
async fn the_same_call_twice_asks_the_callback_once() {
    let house = House::new();
    let asked = Arc::new(AtomicU32::new(0));
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let callback = {
        let (asked, gate) = (Arc::clone(&asked), Arc::clone(&gate));
        move |_: ToolUse| {
            let (asked, gate) = (Arc::clone(&asked), Arc::clone(&gate));
            async move {
                asked.fetch_add(1, Ordering::SeqCst);
                gate.acquire().await.is_ok()
            }
        }
    };
    let engine = house.start(house.builder(HOUSE).on_tool_approve(callback)).await;
    let first = park(&engine, deploy("a", "staging")).await;
    assert_eq!(park(&engine, deploy("b", "staging")).await, first);
    gate.add_permits(2);
    assert!(outcome(&engine, "b").await.permits());
    engine.shutdown().await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_agents_own_question_is_for_people_even_with_a_callback() {
    let house = House::new();
    let engine = house
        .start(house.builder(HOUSE).on_tool_approve(async |_: ToolUse| true))
        .await;
    let request = serde_json::from_value(json!({
        "sessionId": "s", "type": "USER_INPUT", "title": "t", "message": "m",
        "options": [{ "optionId": "y", "label": "Y", "action": "PROVIDE_INFO" }],
    }))
    .unwrap();
    let asked = engine
        .broker()
        .ask(request, deploy("c", "x").origin)
        .await
        .unwrap();
    say(&engine, &asked.id, because("lin", "y", "blue"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_callback_that_never_answers_stops_neither_expiry_nor_shutdown() {
    let house = House::new();
    let engine = house
        .start(
            house
                .builder(HOUSE)
                .on_tool_approve(async |_: ToolUse| std::future::pending::<bool>().await),
        )
        .await;
    let id = park(&engine, deploy("a", "staging")).await;
    house.pass(&engine, 60);
    assert!(matches!(outcome(&engine, "a").await, Outcome::Expired { .. }));
    let Interaction::Resolved(resolved) = interaction(&engine, &id).await else {
        panic!()
    };
    assert_eq!(resolved.resolution, Resolution::Expired { option: None });
    let waiting = tokio::spawn({
        let gate = engine.gate();
        async move {
            gate.call(deploy("b", "canary"), async |_| Ok(String::new()))
                .await
        }
    });
    let mut events = engine.subscribe(engine.head().await.unwrap(), None);
    if open(&engine).await.is_empty() {
        while soon(events.next()).await.unwrap().event.name() != "asked" {}
    }
    soon(engine.shutdown()).await.unwrap();
    assert!(
        soon(waiting).await.unwrap().is_err(),
        "whoever waits is told, not left hanging"
    );
}

#[tokio::test]
async fn a_handler_on_the_bus_decides_tool_approvals_with_their_session() {
    let house = House::new();
    let engine = house.start(house.builder(HOUSE).without_inbox()).await;
    let bus = engine.bus();
    bus.register_handler("toolApproval", async |request: Value| {
        assert_eq!(
            (&request["sessionId"], &request["category"]),
            (&json!("chat-7"), &json!("command"))
        );
        match request["toolUse"]["params"]["to"].as_str() {
            Some("staging") => json!(true),
            Some("edge") => json!({ "approved": true, "params": { "to": "canary" } }),
            Some("garbage") => json!({ "approved": "yes" }),
            _ => json!({ "approved": false, "denyReason": "not today" }),
        }
    });
    let request = |id: &str, to: &str| json!({ "toolUse": { "name": "deploy", "params": { "to": to }, "callId": id }, "sessionId": "chat-7" });
    let ask = |id: &'static str, to: &'static str| {
        let bus = bus.clone();
        async move { soon(bus.request("toolApproval", request(id, to))).await.unwrap() }
    };
    assert_eq!(
        ask("a", "staging").await,
        json!({ "approved": true, "params": { "to": "staging" } })
    );
    assert_eq!(
        ask("b", "edge").await,
        json!({ "approved": true, "params": { "to": "canary" } })
    );
    let denied = ask("c", "x").await;
    assert_eq!(
        (&denied["approved"], &denied["denyReason"]),
        (&json!(false), &json!("not today"))
    );
    assert_eq!(ask("d", "garbage").await["approved"], false);
    assert_eq!(ask("e", "moon").await["approved"], false, "a deny stays a deny");

    let again = ask("a", "staging").await;
    assert_eq!(
        again["approved"], false,
        "one approval is good for one run: {again}"
    );
    let key = placet_core::interaction::CallKey {
        agent: placet_core::ids::AgentId::new("bus").unwrap(),
        call: placet_core::ids::CallId::new("a").unwrap(),
    };
    let record = engine.gate().record(&key).await.unwrap().unwrap();
    assert!(
        matches!(record.state, CallState::Granted { grant, .. } if matches!(grant.state, GrantState::Done(_)))
    );
    verify(&engine).await;
}

#[tokio::test]
async fn a_request_nobody_handles_or_that_is_malformed_is_an_error() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let head = engine.head().await.unwrap();
    let bus = engine.bus();
    let nobody = bus.request("weather", json!({})).await;
    assert!(matches!(nobody, Err(RequestError::NoHandler(kind)) if kind == "weather"));
    bus.register_handler(
        "weather",
        async |request: Value| json!({ "in": request["city"], "sunny": true }),
    );
    let answer = bus
        .request("weather", json!({ "city": "Kunming" }))
        .await
        .unwrap();
    assert_eq!(answer, json!({ "in": "Kunming", "sunny": true }));
    for bad in [
        json!(null),
        json!({ "toolUse": { "name": "bash" } }),
        json!({ "toolUse": { "name": "", "params": {}, "callId": "a" } }),
        json!({ "toolUse": { "name": "bash", "params": [], "callId": "a" } }),
        json!({ "toolUse": { "name": "bash", "params": {}, "callId": "a" }, "approved": true }),
    ] {
        let refused = bus.request("toolApproval", bad.clone()).await;
        assert!(
            matches!(refused, Err(RequestError::Malformed(_))),
            "{bad}: {refused:?}"
        );
    }
    assert_eq!(engine.head().await.unwrap(), head, "nothing was stored");
}

#[tokio::test]
async fn a_callback_of_one_session_decides_there_until_it_is_dropped_and_nowhere_else() {
    let house = House::new();
    let engine = house.start(house.builder(HOUSE).without_inbox()).await;
    let other = in_session(deploy("other", "staging"), "another");
    let registered = engine.on_tool_approve_in(&session("s"), async |_: ToolUse| true);
    assert!(matches!(
        run(&engine, deploy("a", "staging")).await,
        Finished::Ran { .. }
    ));
    let Finished::NotRun(outcome) = run(&engine, other).await else {
        panic!("another session's call was decided");
    };
    assert_eq!(outcome.result_for_model().unwrap()["outcome"], "nobody_to_ask");
    drop(registered);
    let Finished::NotRun(outcome) = run(&engine, deploy("b", "canary")).await else {
        panic!("a callback that is gone decided");
    };
    assert_eq!(outcome.result_for_model().unwrap()["outcome"], "nobody_to_ask");
}

#[tokio::test]
async fn a_question_that_outlived_its_callback_is_put_to_the_next_one_of_the_session() {
    let house = House::new();
    let engine = house.start(house.builder(HOUSE).without_inbox()).await;
    let session = session("s");
    let deaf = engine.on_tool_approve_in(&session, async |_: ToolUse| std::future::pending::<bool>().await);
    engine.gate().propose(deploy("a", "staging")).await.unwrap();
    drop(deaf);
    engine.shutdown().await.unwrap();
    let engine = house.start(house.builder(HOUSE).without_inbox()).await;
    let _registered = engine.on_tool_approve_in(&session, async |_: ToolUse| true);
    assert!(matches!(
        run(&engine, deploy("a", "staging")).await,
        Finished::Ran { .. }
    ));
}
