//! Calls over HTTP: proposed, waited for, claimed once, finished once.

use serde_json::json;

use crate::house::{House, LIN, OTHER, WEI};

#[tokio::test]
async fn an_allowed_call_is_claimed_once_and_finished_once() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let call = house
        .propose(&agent, "c1", "read", json!({"path": "README.md"}))
        .await;
    assert_eq!(
        (&call["status"], &call["verdict"]["decision"]),
        (&json!("allowed"), &json!("allow"))
    );

    let result = json!({"ok": true, "output": "# Placet"});
    let early = house.post(&agent, "/v1/calls/c1/result", result.clone()).await;
    assert_eq!(early.problem(), (409, "not-claimed".into()));

    let claimed = house.send(&agent, "POST", "/v1/calls/c1/claim", None).await.ok();
    assert_eq!(
        (&claimed["grant"], &claimed["args"]),
        (&json!(1), &json!({"path": "README.md"}))
    );
    for _ in 0..2 {
        let again = house.send(&agent, "POST", "/v1/calls/c1/claim", None).await;
        assert_eq!(again.problem(), (409, "already-claimed".into()));
    }

    assert_eq!(
        house
            .post(&agent, "/v1/calls/c1/result", result.clone())
            .await
            .status,
        204
    );
    assert_eq!(
        house.post(&agent, "/v1/calls/c1/result", result).await.status,
        204,
        "the same again"
    );
    let other = json!({"ok": false, "output": "x"});
    let other = house.post(&agent, "/v1/calls/c1/result", other).await;
    assert_eq!(other.problem(), (409, "already-finished".into()));
    assert_eq!(
        house.get(&agent, "/v1/calls/c1").await.ok()["grant"]["state"],
        "done"
    );
    house.close().await;
}

#[tokio::test]
async fn a_call_that_is_claimed_with_its_proposal_needs_two_requests_and_is_handed_out_once() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let proposal = json!({"sessionId": "job", "callId": "c1", "tool": "read", "args": {"path": "README.md"},
        "claim": true, "leaseSeconds": 120});
    let call = house.post(&agent, "/v1/calls", proposal.clone()).await.ok();
    assert_eq!(call["status"], "allowed", "{call}");
    assert_eq!(call["grant"], json!({"number": 1, "state": "claimed"}));
    assert_eq!(call["claim"]["leaseSeconds"], 120);
    // Asked again, for instance because the first answer was lost, it is not handed out a second time.
    let again = house.post(&agent, "/v1/calls", proposal).await;
    assert_eq!(again.problem(), (409, "already-claimed".into()));
    let claim = house.send(&agent, "POST", "/v1/calls/c1/claim", None).await;
    assert_eq!(claim.problem(), (409, "already-claimed".into()));
    let look = house.get(&agent, "/v1/calls/c1").await.ok();
    assert_eq!(
        (&look["grant"]["state"], &look["claim"]),
        (&json!("claimed"), &json!(null))
    );

    let result = json!({"ok": true, "output": "# Placet"});
    assert_eq!(
        house.post(&agent, "/v1/calls/c1/result", result).await.status,
        204
    );
    house.close().await;
}

#[tokio::test]
async fn a_call_that_is_asked_about_is_claimed_by_the_waiting_look_once_it_is_approved() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let proposal = json!({"sessionId": "job", "callId": "c1", "tool": "bash", "args": {"command": "make deploy"},
        "claim": true});
    let asked = house.post(&agent, "/v1/calls", proposal).await.ok();
    assert_eq!(
        (&asked["status"], &asked["claim"]),
        (&json!("pending"), &json!(null))
    );
    let id = asked["requestId"].as_str().unwrap().to_owned();
    let look = "/v1/calls/c1?wait=30&claim=true&leaseSeconds=30";
    let edited = json!({"selectedOptionId": "approve", "editedArgs": {"command": "make check"}});
    let (waited, answered) = tokio::join!(house.get(&agent, look), house.answer(&approver, &id, edited));
    answered.ok();
    let call = waited.ok();
    assert_eq!(
        (&call["status"], &call["grant"]["state"]),
        (&json!("approved"), &json!("claimed"))
    );
    assert_eq!(
        (&call["args"]["command"], &call["edited"]),
        (&json!("make check"), &json!(true))
    );
    assert_eq!(call["claim"]["leaseSeconds"], 30);
    assert_eq!(
        house.get(&agent, look).await.problem(),
        (409, "already-claimed".into())
    );

    // A refusal hands out nothing.
    let other = json!({"sessionId": "job", "callId": "c2", "tool": "bash", "args": {"command": "make all"}, "claim": true});
    let asked = house.post(&agent, "/v1/calls", other).await.ok();
    let id = asked["requestId"].as_str().unwrap().to_owned();
    house
        .answer(&approver, &id, json!({"selectedOptionId": "reject"}))
        .await
        .ok();
    let call = house.get(&agent, "/v1/calls/c2?claim=true").await.ok();
    assert_eq!(
        (&call["status"], &call["claim"]),
        (&json!("rejected"), &json!(null))
    );
    house.close().await;
}

#[tokio::test]
async fn a_lease_without_a_claim_is_a_mistake() {
    let house = House::plain().await;
    let agent = house.token("agent");
    for body in [
        json!({"sessionId": "job", "tool": "read", "args": {}, "leaseSeconds": 5}),
        json!({"sessionId": "job", "tool": "read", "args": {}, "claim": true, "leaseSeconds": 0}),
        json!({"sessionId": "job", "tool": "read", "args": {}, "claim": true, "leaseSeconds": 604_801}),
    ] {
        let refused = house.post(&agent, "/v1/calls", body.clone()).await;
        assert_eq!(refused.problem(), (400, "bad-request".into()), "{body}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_tool_that_shares_a_built_in_readers_name_is_asked_about() {
    let house = House::plain().await;
    let agent = house.token("agent");
    for (number, (tool, args)) in [
        ("task", json!({"iban": "DE02120300000000202051", "amount": 900})),
        ("task", json!({"prompt": "pay it", "description": "pay"})),
        ("todo", json!({"action": "drop"})),
        ("ls", json!({"op": "delete"})),
        ("skill", json!({"name": "pay"})),
        ("bash_output", json!({"id": "1", "signal": 9})),
        ("glob", json!({"pattern": "*", "unlink": true})),
        ("grep", json!({"pattern": "x", "replace": "y"})),
    ]
    .into_iter()
    .enumerate()
    {
        let call = house
            .propose(&agent, &format!("c{number}"), tool, args.clone())
            .await;
        assert_eq!(call["status"], "pending", "{tool} {args}: {call}");
        assert_eq!(call["verdict"]["category"], "command", "{tool} {args}");
    }
    // A shell line is inspected whatever the tool is called.
    let call = house
        .propose(&agent, "line", "bash", json!({"command": "rm -rf /"}))
        .await;
    assert_eq!(call["verdict"]["decision"], "deny", "{call}");
    // A person's check is the built-in agent's call unless it names another agent; this server runs no built-in agent.
    let check = json!({"tool": "read", "args": {"path": "a"}, "agent": "coder"});
    let checked = house
        .post(&house.token("approver"), "/v1/policy/check", check)
        .await
        .ok();
    assert_eq!(checked["decision"], "allow", "the operator described `read`");
    house.close().await;
}

#[tokio::test]
async fn a_waiting_agent_hears_of_the_answer() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let id = house
        .ask(&agent, "c1", "bash", json!({"command": "make deploy"}))
        .await;
    let early = house.send(&agent, "POST", "/v1/calls/c1/claim", None).await;
    assert_eq!(early.problem(), (409, "still-pending".into()));

    let answer = json!({"selectedOptionId": "reject", "feedback": "not on a Friday", "instruction": "wait for Monday"});
    let (waited, answered) = tokio::join!(
        house.get(&agent, "/v1/calls/c1?wait=30"),
        house.answer(&approver, &id, answer)
    );
    assert_eq!(answered.ok()["status"], "decided");
    let call = waited.ok();
    assert_eq!(
        (&call["status"], &call["feedback"]),
        (&json!("rejected"), &json!("not on a Friday"))
    );
    assert_eq!(call["instruction"], "wait for Monday");
    assert_eq!(call["forModel"]["executed"], false);
    assert_eq!(call["requestId"], json!(id));
    let claim = house.send(&agent, "POST", "/v1/calls/c1/claim", None).await;
    assert_eq!(claim.problem(), (409, "not-granted".into()));

    // Having read it, the agent is known to know.
    let question = house.get(&approver, &format!("/v1/interactions/{id}")).await.ok();
    assert_eq!(
        (&question["status"], &question["processed"]),
        (&json!("answered"), &json!(true))
    );
    house.close().await;
}

#[tokio::test]
async fn a_wait_ends_pending_when_nobody_answers() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let call = json!({"sessionId": "job", "callId": "c1", "tool": "deploy", "args": {}, "wait": 1});
    assert_eq!(
        house.post(&agent, "/v1/calls", call).await.ok()["status"],
        "pending"
    );
    house.close().await;
}

#[tokio::test]
async fn two_agents_have_sessions_of_the_same_name_and_neither_sees_the_other() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let make = |target: &str| json!({"command": format!("make {target}")});
    let first = house.ask(&agent, "c1", "bash", make("mine")).await;
    let call = house.propose(OTHER, "c1", "bash", make("theirs")).await;
    assert_eq!(
        (&call["status"], &call["sessionId"]),
        (&json!("pending"), &json!("job"))
    );
    assert_ne!(call["requestId"], first.as_str());
    // Each reads its own.
    for (token, own, others) in [
        (agent.as_str(), "make mine", "make theirs"),
        (OTHER, "make theirs", "make mine"),
    ] {
        let session = house.get(token, "/v1/sessions/job").await;
        assert_eq!(session.status, 200, "{}", session.text);
        assert!(
            session.text.contains(own) && !session.text.contains(others),
            "{}",
            session.text
        );
        let check = json!({"tool": "bash", "args": make("x"), "sessionId": "job"});
        house.post(token, "/v1/policy/check", check).await.ok();
        let request = json!({"sessionId": "job", "type": "USER_INPUT", "title": "Which?", "message": "Which one?",
                           "options": [{"optionId": "y", "label": "Y", "action": "CUSTOM"}]});
        assert_eq!(house.post(token, "/v1/interactions", request).await.status, 201);
    }
    // People read whose it is, and ending one leaves the other open.
    let admin = house.token("admin");
    assert_eq!(
        house.get(&admin, "/v1/sessions/other@job").await.ok()["session"]["agent"],
        "other"
    );
    let ended = house.send(&admin, "POST", "/v1/sessions/job/cancel", None).await;
    assert_eq!(ended.status, 204, "{}", ended.text);
    assert_eq!(house.get(OTHER, "/v1/calls/c1").await.ok()["status"], "pending");
    // No agent takes a name that is kept for another.
    let taken = json!({"sessionId": "other@next", "tool": "bash", "args": make("x")});
    let taken = house.post(&agent, "/v1/calls", taken).await;
    assert_eq!(taken.problem(), (404, "no-such-session".into()));
    house.close().await;
}

#[tokio::test]
async fn an_id_is_one_call_and_another_agents_id_is_not_found() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let id = house
        .ask(&agent, "c1", "bash", json!({"command": "make deploy"}))
        .await;
    let again = house
        .ask(&agent, "c1", "bash", json!({"command": "make deploy"}))
        .await;
    assert_eq!(id, again);
    let different =
        json!({"sessionId": "job", "callId": "c1", "tool": "bash", "args": {"command": "make clean"}});
    let different = house.post(&agent, "/v1/calls", different).await;
    assert_eq!(different.problem(), (409, "call-id-taken".into()));

    assert_eq!(
        house.get(OTHER, "/v1/calls/c1").await.problem(),
        (404, "no-such-call".into())
    );
    for action in ["claim", "result"] {
        let body = json!({"ok": true, "output": ""});
        let body = (action == "result").then_some(body);
        let tried = house
            .send(OTHER, "POST", &format!("/v1/calls/c1/{action}"), body)
            .await;
        assert_eq!(tried.problem(), (404, "no-such-call".into()), "{action}");
    }
    let question = house.get(OTHER, &format!("/v1/interactions/{id}")).await;
    assert_eq!(question.problem(), (404, "no-such-question".into()));
    let session = house.get(OTHER, "/v1/sessions/job").await;
    assert_eq!(session.problem(), (404, "no-such-session".into()));
    house.close().await;
}

#[tokio::test]
async fn what_cannot_be_understood_is_refused_and_changes_nothing() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let bearer = format!("Bearer {agent}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let head = house.state.engine().head().await.unwrap();
    for body in [
        "",
        "{",
        "[]",
        r#"{"sessionId":"s","tool":"t","args":[]}"#,
        r#"{"sessionId":"s","tool":"t","args":{},"rsk":"HIGH"}"#,
        r#"{"sessionId":"","tool":"t","args":{}}"#,
        r#"{"sessionId":"s","tool":"t","args":{"command":"ls","command":"rm"}}"#,
        r#"{"sessionId":"s","tool":"t","args":{"n":1e30}}"#,
        r#"{"sessionId":"s","tool":"t","args":{},"channel":"ops"}"#,
        "{\"sessionId\":\"s\",\"tool\":\"t\",\"args\":{\"a\":\"\u{0}\"}}",
    ] {
        let response = house
            .raw("POST", "/v1/calls", &headers, body.to_owned().into())
            .await;
        assert_eq!(response.status(), 400, "{body}");
        assert_eq!(response.headers()["content-type"], "application/problem+json");
    }
    let text = [("authorization", bearer.as_str()), ("content-type", "text/plain")];
    let response = house.raw("POST", "/v1/calls", &text, "{}".into()).await;
    assert_eq!(response.status(), 415);
    assert_eq!(house.state.engine().head().await.unwrap(), head);
    house.close().await;
}

#[tokio::test]
async fn the_same_call_twice_in_a_session_is_one_question_and_one_run() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let first = house
        .ask(&agent, "c1", "bash", json!({"command": "make deploy"}))
        .await;
    let second = house
        .ask(&agent, "c2", "bash", json!({"command": "make deploy"}))
        .await;
    assert_eq!(first, second);
    house
        .answer(&approver, &first, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    for id in ["c1", "c2"] {
        assert_eq!(
            house.get(&agent, &format!("/v1/calls/{id}")).await.ok()["status"],
            "approved"
        );
    }
    assert_eq!(
        house
            .send(&agent, "POST", "/v1/calls/c2/claim", None)
            .await
            .status,
        200
    );
    assert_eq!(
        house
            .send(&agent, "POST", "/v1/calls/c1/claim", None)
            .await
            .status,
        409
    );
    house.close().await;
}

#[tokio::test]
async fn an_agents_own_question_is_put_waited_for_and_answered() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let request = json!({
        "sessionId": "job", "type": "USER_CHOICE", "title": "Which colour?", "message": "Pick one.",
        "options": [{"optionId": "red", "label": "Red", "action": "CUSTOM"},
                    {"optionId": "blue", "label": "Blue", "action": "CUSTOM"}],
    });
    let asked = house.post(&agent, "/v1/interactions", request).await;
    assert_eq!(asked.status, 201, "{}", asked.text);
    let id = asked.json()["requestId"].as_str().unwrap().to_owned();
    let path = format!("/v1/interactions/{id}?wait=30");
    let (waited, answered) = tokio::join!(
        house.get(&agent, &path),
        house.answer(
            LIN,
            &id,
            json!({"selectedOptionId": "blue", "data": {"why": "calm"}})
        )
    );
    answered.ok();
    let question = waited.ok();
    assert_eq!(question["resolution"]["option"], "blue");
    assert_eq!(question["resolution"]["by"], json!(["lin"]));
    assert_eq!(question["resolution"]["data"], json!({"why": "calm"}));
    assert_eq!(question["mayAnswer"], false, "an agent never answers");
    let known = house.get(LIN, &format!("/v1/interactions/{id}")).await.ok();
    assert_eq!(known["processed"], true, "the agent has read it");
    house.close().await;
}

#[tokio::test]
async fn the_sessions_approval_tools_run_unasked_once_an_admin_has_added_them() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let make = |id: &str| json!({"sessionId": "job", "callId": id, "tool": "bash", "args": {"command": format!("make {id}")}});
    assert_eq!(
        house.post(&agent, "/v1/calls", make("a")).await.ok()["status"],
        "pending"
    );
    let allow = json!({"approvalTools": ["bash"]});
    let path = "/v1/sessions/job/approval-tools";
    assert_eq!(house.post(LIN, path, allow.clone()).await.status, 403);
    assert_eq!(
        house.post(WEI, path, json!({"approvalTools": []})).await.status,
        400
    );
    assert_eq!(
        house
            .post(WEI, "/v1/sessions/none/approval-tools", allow.clone())
            .await
            .status,
        404
    );
    assert_eq!(house.post(WEI, path, allow).await.status, 204);
    let session = house.get(WEI, "/v1/sessions/job").await.ok();
    assert_eq!(session["session"]["approvalTools"], json!(["bash"]));
    let listed = house.post(&agent, "/v1/calls", make("b")).await.ok();
    assert_eq!(listed["status"], "allowed", "{listed}");
    // HIGH still needs approval, and so do other sessions.
    let wipe = json!({"sessionId": "job", "callId": "c", "tool": "bash", "args": {"command": "rm -rf x"}});
    assert_eq!(
        house.post(&agent, "/v1/calls", wipe).await.ok()["status"],
        "pending"
    );
    let mut other = make("d");
    other["sessionId"] = "other".into();
    assert_eq!(
        house.post(&agent, "/v1/calls", other).await.ok()["status"],
        "pending"
    );
    house.close().await;
}

/// No model is configured here.
#[tokio::test]
async fn every_tool_of_category_ask_is_a_question_with_an_answer_field() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let document = json!({"type": "MISSING_INFO", "title": "缺少 API Key", "message": "执行该工具需要 OpenWeather API Key"});
    let own = json!({"question": "Which city?", "choices": ["Oslo", "Lima"]});
    for (id, tool, args, option, kind) in [
        ("a", "askUserQuestion", document, "answer", "MISSING_INFO"),
        ("b", "ask_human", own, "2", "USER_CHOICE"),
    ] {
        let call = json!({"sessionId": "job", "callId": id, "tool": tool, "args": args, "category": "ask"});
        let call = house.post(&agent, "/v1/calls", call).await.ok();
        assert_eq!(call["status"], "pending", "{call}");
        let question = call["requestId"].as_str().unwrap();
        let shown = house
            .get(&approver, &format!("/v1/interactions/{question}"))
            .await
            .ok();
        assert_eq!(shown["type"], kind, "{shown}");
        let answer = json!({"selectedOptionId": option, "feedback": "k-123"});
        house.answer(&approver, question, answer).await.ok();
        let told = house.get(&agent, &format!("/v1/calls/{id}?wait=30")).await.ok();
        assert_eq!(told["status"], "info", "{told}");
        assert_eq!(told["feedback"], "k-123", "{told}");
    }
    house.close().await;
}
