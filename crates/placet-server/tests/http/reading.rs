//! What people and operators read: lists, sessions, the audit trail, the policy; and messages from channels.

use placet_agent::sandbox::Support;
use placet_engine::channel::BODY_BYTES_MAX;
use serde_json::{Value, json};

use crate::house::{House, LIN, PEOPLE, WEI};

#[tokio::test]
async fn questions_are_listed_a_page_at_a_time() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    for number in 0..5 {
        house
            .ask(
                &agent,
                &format!("c{number}"),
                "bash",
                json!({"command": format!("make {number}")}),
            )
            .await;
    }
    let mut found: Vec<Value> = Vec::new();
    let mut after = String::new();
    loop {
        let page = house
            .get(&approver, &format!("/v1/interactions?limit=2{after}"))
            .await
            .ok();
        found.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["call"]["callId"].clone()),
        );
        match page["next"].as_u64() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(found, ["c0", "c1", "c2", "c3", "c4"]);

    let first = house.get(&approver, "/v1/interactions?limit=1").await.ok()["items"][0].clone();
    assert!(first["remainingMs"].as_u64().unwrap() <= 3_600_000);
    house
        .answer(
            &approver,
            first["requestId"].as_str().unwrap(),
            json!({"selectedOptionId": "skip"}),
        )
        .await
        .ok();
    let count = async |query: &str| {
        let page = house
            .get(&approver, &format!("/v1/interactions?{query}"))
            .await
            .ok();
        page["items"].as_array().unwrap().len()
    };
    assert_eq!(count("status=answered").await, 1);
    assert_eq!(count("status=all").await, 5);
    assert_eq!(count("status=expired").await, 0);
    assert_eq!(count("sessionId=none").await, 0);
    let odd = house.get(&approver, "/v1/interactions?status=odd").await;
    assert_eq!(odd.problem(), (400, "bad-request".into()));
    house.close().await;
}

#[tokio::test]
async fn a_question_is_shown_in_both_languages_and_safely() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let id = house
        .ask(&agent, "c1", "bash", json!({"command": "deploy \u{202e}hidden"}))
        .await;
    let english = house
        .get(&approver, &format!("/v1/interactions/{id}?locale=en"))
        .await
        .ok();
    let chinese = house
        .get(&approver, &format!("/v1/interactions/{id}?locale=zh"))
        .await
        .ok();
    assert_eq!(
        (&english["document"]["locale"], &chinese["document"]["locale"]),
        (&json!("en"), &json!("zh"))
    );
    assert_eq!(english["options"][0]["label"], "Approve");
    assert_eq!(chinese["options"][0]["label"], "批准");
    assert!(
        !english["document"].to_string().contains('\u{202e}'),
        "it is made visible"
    );
    assert_ne!(english["shownDigest"], chinese["shownDigest"]);
    house.close().await;
}

#[tokio::test]
async fn a_decided_question_still_shows_all_of_what_was_asked_and_then_what_became_of_it() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let id = house
        .ask(&agent, "c1", "bash", json!({"command": "git push --force"}))
        .await;
    let path = format!("/v1/interactions/{id}?locale=en");
    let asked = house.get(&approver, &path).await.ok();
    let no = json!({"selectedOptionId": "reject", "feedback": "not today"});
    house.answer(&approver, &id, no).await.ok();
    let decided = house.get(&approver, &path).await.ok();
    for part in ["/document/head", "/document/body", "/message"] {
        assert_eq!(decided.pointer(part), asked.pointer(part), "{part}");
    }
    let foot = decided["document"]["foot"].to_string();
    assert!(
        foot.contains("Rejected by") && foot.contains("not today"),
        "{foot}"
    );
    house.close().await;
}

#[tokio::test]
async fn a_session_is_listed_told_and_ended() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    house.propose(&agent, "c1", "read", json!({"path": "a"})).await;
    house.ask(&agent, "c2", "pay", json!({"amount": 5})).await;
    let sessions = house.get(LIN, "/v1/sessions").await.ok();
    let session = &sessions["items"][0];
    assert_eq!(
        (&session["sessionId"], &session["agent"]),
        (&json!("job"), &json!("agent"))
    );
    assert_eq!(
        (&session["calls"], &session["open"], &session["state"]),
        (&json!(2), &json!(1), &json!("open"))
    );
    assert_eq!(
        house.get(&house.token("approver"), "/v1/sessions").await.ok()["items"],
        json!([])
    );
    assert_eq!(
        house.get(WEI, "/v1/sessions?q=nothing").await.ok()["items"],
        json!([])
    );

    let told = house.get(LIN, "/v1/sessions/job?locale=zh").await.ok();
    let kinds: Vec<_> = told["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["type"].clone())
        .collect();
    assert_eq!(kinds, ["callReceived", "callReceived", "asked"]);
    assert!(
        told["rows"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("agent 请求 ")
    );
    let own = house.get(&agent, "/v1/sessions/job").await.ok();
    assert_eq!(own["rows"].as_array().unwrap().len(), 3);

    assert_eq!(
        house
            .post(WEI, "/v1/sessions/job/mode", json!({"mode": "yolo"}))
            .await
            .status,
        204
    );
    assert_eq!(
        house.get(WEI, "/v1/sessions/job").await.ok()["session"]["mode"],
        "yolo"
    );
    assert_eq!(
        house
            .send(WEI, "POST", "/v1/sessions/job/cancel", None)
            .await
            .status,
        204
    );
    assert_eq!(
        house.get(&agent, "/v1/calls/c2").await.ok()["status"],
        "cancelled"
    );
    let late = house.send(&agent, "POST", "/v1/calls/c1/claim", None).await;
    assert_eq!(late.problem(), (409, "session-over".into()));
    let denied = house.propose(&agent, "c3", "read", json!({"path": "b"})).await;
    assert_eq!(denied["forModel"]["outcome"], "session_over");
    assert_eq!(
        house
            .send(WEI, "POST", "/v1/sessions/none/cancel", None)
            .await
            .problem(),
        (404, "no-such-session".into())
    );
    house.close().await;
}

#[tokio::test]
async fn the_audit_trail_is_searched_verified_and_taken_along() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    for number in 0..10 {
        house
            .propose(
                &agent,
                &format!("c{number}"),
                "read",
                json!({"path": format!("file-{number}")}),
            )
            .await;
    }
    house
        .ask(
            &agent,
            "p",
            "pay",
            json!({"amount": 5, "password": "hunter2hunter2"}),
        )
        .await;
    let page = house.get(WEI, "/v1/audit?limit=3").await.ok();
    assert_eq!(page["items"][0]["type"], "asked", "newest first");
    let next = page["next"].as_u64().unwrap();
    let older = house
        .get(WEI, &format!("/v1/audit?limit=200&after={next}"))
        .await
        .ok();
    assert_eq!(older["items"][0]["id"], next - 1);
    assert_eq!(older["next"], Value::Null);
    let found = house.get(WEI, "/v1/audit?q=file-7").await.ok();
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        house.get(WEI, "/v1/audit?type=asked,started").await.ok()["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        house.get(WEI, "/v1/audit?to=2020-01-01T00:00:00Z").await.ok()["items"],
        json!([])
    );
    assert_eq!(house.get(WEI, "/v1/audit?from=yesterday").await.problem().0, 400);

    let verified = house.get(WEI, "/v1/audit/verify").await.ok();
    assert_eq!((&verified["ok"], &verified["faults"]), (&json!(true), &json!([])));

    let lines = house.get(WEI, "/v1/audit/export").await;
    let rows: Vec<Value> = lines
        .text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len() as u64, verified["rows"].as_u64().unwrap());
    let table = house.get(WEI, "/v1/audit/export?format=csv&sessionId=job").await;
    assert_eq!(table.text.lines().count(), 1 + 12);
    for text in [&lines.text, &table.text] {
        assert!(!text.contains("hunter2"), "secrets are masked");
    }
    house.close().await;
}

#[tokio::test]
async fn the_policy_is_shown_and_explains_a_call_without_storing_anything() {
    let house = House::with_people().await;
    let policy = house.get(WEI, "/v1/policy").await.ok();
    assert_eq!(policy["rules"][0]["name"], "deploying needs two");
    assert_eq!(policy["rules"][0]["ask"]["quorum"], 2);
    assert_eq!(policy["timeoutMs"], 300_000);

    let head = house.state.engine().head().await.unwrap();
    let check = json!({"tool": "bash", "args": {"command": "ls && sudo rm -rf /srv"}});
    let checked = house.post(LIN, "/v1/policy/check", check).await.ok();
    assert_eq!(checked["risk"], "HIGH");
    let commands = checked["commands"].as_array().unwrap();
    let texts: Vec<_> = commands
        .iter()
        .map(|command| command["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["ls", "sudo rm -rf /srv", "rm -rf /srv"]);
    assert_eq!(commands[2]["under"], json!(["sudo"]));
    // The built-in agent's commands are judged with their sandbox, those of the agent that asks are not.
    let is_confined = Support::probe() == Support::Full;
    let make = json!({"tool": "bash", "args": {"command": "make", "needs": ["network"]}});
    let ours = house.post(LIN, "/v1/policy/check", make.clone()).await.ok();
    let theirs = house
        .post(&house.token("agent"), "/v1/policy/check", make)
        .await
        .ok();
    assert_eq!(ours["category"], if is_confined { "network" } else { "command" });
    assert_eq!(ours["confined"].is_string(), is_confined);
    assert_eq!(ours["wants"].is_string(), is_confined);
    assert_eq!(theirs["confined"], Value::Null);
    let deploy = json!({"tool": "deploy", "args": {}});
    let person = house.post(LIN, "/v1/policy/check", deploy.clone()).await.ok();
    assert_eq!(
        (&person["decision"], &person["ask"]["approvers"]),
        (&json!("ask"), &json!(["lin", "wei"]))
    );
    let agent = house
        .post(&house.token("agent"), "/v1/policy/check", deploy)
        .await
        .ok();
    assert_eq!(
        (&agent["decision"], &agent["ask"]),
        (&json!("ask"), &Value::Null),
        "who decides is not its business"
    );
    assert_eq!(house.state.engine().head().await.unwrap(), head);
    house.close().await;
}

#[tokio::test]
async fn a_signed_message_from_a_channel_answers_and_an_unsigned_one_does_not() {
    let data = tempfile::tempdir().unwrap();
    let secret = data.path().join("SECRET");
    std::fs::write(&secret, "a secret of the ops channel").unwrap();
    let config = format!(
        "{PEOPLE}\n[channels.ops]\ntype = \"webhook\"\nurl = \"http://127.0.0.1:9/\"\nsecret = \"file:{}\"\n",
        secret.display()
    );
    let house = House::open(data, &config).await;
    let body =
        json!({"channel": "ops", "chatId": "room", "senderId": "u1", "messageId": "m1", "content": "hello"});
    let unsigned = house.say("POST", "/v1/inbound", &[], Some(body.clone())).await;
    assert_eq!(unsigned.problem(), (401, "bad-signature".into()));
    let token = house
        .send(&house.token("admin"), "POST", "/v1/inbound", Some(body.clone()))
        .await;
    assert_eq!(
        token.problem(),
        (401, "bad-signature".into()),
        "a token is no signature"
    );
    let elsewhere =
        json!({"channel": "none", "chatId": "r", "senderId": "u", "messageId": "m", "content": "x"});
    let unknown = house.say("POST", "/v1/inbound", &[], Some(elsewhere)).await;
    assert_eq!(
        unknown.problem(),
        (401, "bad-signature".into()),
        "which channels there are is not told"
    );

    let text = body.to_string();
    let channel = placet_core::ids::ChannelName::new("ops").unwrap();
    let key = placet_engine::secret::SecretText::new("a secret of the ops channel").unwrap();
    let webhook = placet_channels::webhook::Webhook::new(channel, "http://127.0.0.1:9/", &key).unwrap();
    let signature = webhook.sign(text.as_bytes(), house.state.now());
    let signed = [("placet-signature", signature.as_str())];
    let received = house
        .say("POST", "/v1/inbound", &signed, Some(body.clone()))
        .await
        .ok();
    assert_eq!(received, json!({"consumed": false}), "it waits for the agent");

    // The same door under the channel's own name.
    let own = "/v1/channels/ops/inbound";
    let again = house.say("POST", own, &signed, Some(body.clone())).await.ok();
    assert_eq!(again, json!({"consumed": true}), "it came before");
    let forged = house.say("POST", own, &[], Some(body.clone())).await;
    assert_eq!(forged.problem(), (401, "bad-signature".into()));
    for unknown in [
        "/v1/channels/none/inbound",
        "/v1/channels/ops/nothing",
        "/v1/channels/%20/inbound",
    ] {
        let unknown = house.say("POST", unknown, &signed, Some(body.clone())).await;
        assert_eq!(unknown.problem(), (404, "not-found".into()));
    }
    let other_method = house.say("GET", own, &[], None).await;
    assert_eq!(other_method.problem(), (405, "method-not-allowed".into()));
    let large = house
        .raw("POST", own, &signed, vec![b' '; BODY_BYTES_MAX + 1].into())
        .await;
    assert_eq!(large.status(), 413);
    house.close().await;
}

#[tokio::test]
async fn a_channel_that_cannot_deliver_is_degraded_until_it_can() {
    let house = crate::vouching::house().await;
    let admin = house.token("admin");
    let channel = async || house.get(&admin, "/v1/channels").await.ok()["items"][0].clone();
    let ready = async || house.say("GET", "/readyz", &[], None).await.ok()["status"].clone();
    let before = channel().await;
    assert_eq!(
        (&before["channel"], &before["connection"]),
        (&json!("ops"), &json!("none"))
    );
    assert_eq!((&before["degraded"], ready().await), (&json!(false), json!("ok")));
    // Nothing listens at the platform's address.
    house
        .state
        .engine()
        .bus()
        .publish_outbound(&chat(), "k", "hello")
        .await
        .unwrap();
    let mut after = channel().await;
    while after["lastError"].is_null() {
        tokio::task::yield_now().await;
        after = channel().await;
    }
    assert_eq!(
        (&after["degraded"], ready().await),
        (&json!(true), json!("degraded"))
    );
    let metrics = house.get(&admin, "/metrics").await.text;
    assert!(
        metrics.contains("placet_channel_degraded{channel=\"ops\"} 1"),
        "{metrics}"
    );
    house.close().await;
}

fn chat() -> placet_core::call::Chat {
    placet_core::call::Chat {
        channel: placet_core::ids::ChannelName::new("ops").unwrap(),
        id: placet_core::ids::ChatId::new("room").unwrap(),
    }
}

#[tokio::test]
async fn what_is_counted_can_be_read() {
    let house = House::plain().await;
    let (agent, approver, admin) = (
        house.token("agent"),
        house.token("approver"),
        house.token("admin"),
    );
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    house
        .answer(&approver, &id, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    house
        .ask(&agent, "c2", "bash", json!({"command": "make 2"}))
        .await;
    assert_eq!(house.say("GET", "/readyz", &[], None).await.status, 200);
    // Rows are counted by the reader of the journal, a moment after they are written.
    let mut text = String::new();
    for _ in 0..100 {
        text = house.get(&admin, "/metrics").await.text;
        if text.contains("placet_journal_events_total{kind=\"asked\"} 2") {
            break;
        }
        tokio::task::yield_now().await;
    }
    for line in [
        "placet_journal_events_total{kind=\"asked\"} 2",
        "placet_questions_resolved_total{outcome=\"approved\",tool=\"bash\",rule=\"\"} 1",
        "placet_decisions_total{person=\"",
        "placet_stored{kind=\"standingInForce\"} 0",
        "placet_stored{kind=\"questionsPending\"} 1",
        "placet_decision_seconds_count 2",
        "placet_question_open_seconds_count{outcome=\"approved\",tool=\"bash\"} 1",
        "placet_http_requests_total{method=\"POST\",route=\"/v1/calls\",status=\"200\"} 2",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_session_is_shown_to_whoever_is_asked_late_in_it() {
    let house = House::with_people().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    for number in 0..205 {
        let id = house
            .ask(&agent, &format!("c{number}"), "pay", json!({"amount": number}))
            .await;
        house
            .answer(LIN, &id, json!({"selectedOptionId": "approve"}))
            .await
            .ok();
    }
    let session = async || house.get(&approver, "/v1/sessions/job").await;
    assert_eq!(session().await.problem(), (404, "no-such-session".into()));
    house
        .ask(&agent, "late", "bash", json!({"command": "make"}))
        .await;
    session().await.ok();
    let listed = house.get(&approver, "/v1/sessions").await.ok();
    assert_eq!(listed["items"][0]["sessionId"], "job");
    house.close().await;
}
