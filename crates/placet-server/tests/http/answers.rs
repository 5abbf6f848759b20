//! Answers over HTTP: who may, who was faster, and exactly what was agreed to.

use serde_json::json;

use crate::house::{House, LIN, WEI};

#[tokio::test]
async fn of_two_people_who_answer_at_once_one_decides_and_the_other_is_told_who() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    for round in 0..8 {
        // A session each: rejections in a row would ask how to go on instead.
        let call = json!({"sessionId": format!("job-{round}"), "callId": format!("c{round}"), "tool": "bash",
                          "args": {"command": format!("make {round}")}});
        let asked = house.post(&agent, "/v1/calls", call).await.ok();
        let id = asked["requestId"].as_str().unwrap().to_owned();
        let (lin, wei) = tokio::join!(
            house.answer(LIN, &id, json!({"selectedOptionId": "approve"})),
            house.answer(WEI, &id, json!({"selectedOptionId": "reject"})),
        );
        let (winner, option, loser) = match (lin.status, wei.status) {
            (200, 409) => ("lin", "approve", wei),
            (409, 200) => ("wei", "reject", lin),
            other => panic!("{other:?}"),
        };
        assert_eq!(loser.problem().1, "already-decided");
        let told = loser.json();
        assert_eq!(
            (&told["decidedBy"], &told["option"]),
            (&json!([winner]), &json!(option))
        );
        assert!(told["decidedAt"].as_str().unwrap().ends_with('Z'));
        let status = house.get(&agent, &format!("/v1/calls/c{round}")).await.ok()["status"].clone();
        assert_eq!(status, if winner == "lin" { "approved" } else { "rejected" });
    }
    house.close().await;
}

#[tokio::test]
async fn a_quorum_counts_people_and_nobody_twice() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let id = house
        .ask(&agent, "c1", "deploy", json!({"to": "production"}))
        .await;
    let approve = || json!({"selectedOptionId": "approve"});
    let voted = house.answer(LIN, &id, approve()).await.ok();
    assert_eq!((&voted["status"], &voted["needed"]), (&json!("voted"), &json!(1)));
    assert_eq!(
        house.answer(LIN, &id, approve()).await.problem(),
        (409, "already-voted".into())
    );
    let question = house.get(LIN, &format!("/v1/interactions/{id}")).await.ok();
    assert_eq!(question["votes"], json!({"needed": 2, "have": 1, "by": ["lin"]}));
    assert_eq!(
        (&question["mayAnswer"], &question["askedOf"]),
        (&json!(false), &json!(["lin", "wei"]))
    );
    assert_eq!(house.answer(WEI, &id, approve()).await.ok()["status"], "decided");
    assert_eq!(
        house.get(&agent, "/v1/calls/c1").await.ok()["decidedBy"],
        json!(["lin", "wei"])
    );
    house.close().await;
}

#[tokio::test]
async fn a_question_put_to_others_is_not_found_and_an_admin_sees_it_but_cannot_answer() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let approver = house.token("approver");
    let id = house.ask(&agent, "c1", "pay", json!({"amount": 5})).await;
    let path = format!("/v1/interactions/{id}");
    assert_eq!(
        house.get(&approver, &path).await.problem(),
        (404, "no-such-question".into())
    );
    let answer = || json!({"selectedOptionId": "approve"});
    assert_eq!(
        house.answer(&approver, &id, answer()).await.problem(),
        (404, "no-such-question".into())
    );
    assert_eq!(
        house.get(&approver, "/v1/interactions").await.ok()["items"],
        json!([])
    );

    let seen = house.get(WEI, &path).await.ok();
    assert_eq!(
        (&seen["mayAnswer"], &seen["why"]),
        (&json!(false), &json!("assigned to lin"))
    );
    assert_eq!(
        house.answer(WEI, &id, answer()).await.problem(),
        (403, "not-yours".into())
    );
    assert_eq!(
        house.answer(&agent, &id, answer()).await.problem(),
        (403, "forbidden".into())
    );
    assert_eq!(house.answer(LIN, &id, answer()).await.ok()["status"], "decided");
    house.close().await;
}

#[tokio::test]
async fn edited_arguments_run_and_secrets_left_masked_stay_what_they_were() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let secret = "Bearer sk-abcdef0123456789abcdef0123456789";
    let args = json!({"url": "https://example.com/a", "headers": {"Authorization": secret}});
    let id = house.ask(&agent, "c1", "http_request", args).await;
    let question = house.get(&approver, &format!("/v1/interactions/{id}")).await.ok();
    let mut shown = question["call"]["args"].clone();
    assert!(
        !question.to_string().contains("sk-abcdef"),
        "nothing of it shows the secret"
    );
    shown["url"] = json!("https://example.com/b");
    let answer =
        json!({"selectedOptionId": "approve", "editedArgs": shown, "shownDigest": question["shownDigest"]});
    house.answer(&approver, &id, answer).await.ok();
    let claimed = house.send(&agent, "POST", "/v1/calls/c1/claim", None).await.ok();
    assert_eq!(
        claimed["args"],
        json!({"url": "https://example.com/b", "headers": {"Authorization": secret}})
    );
    assert_eq!(house.get(&agent, "/v1/calls/c1").await.ok()["edited"], true);
    house.close().await;
}

#[tokio::test]
async fn an_answer_to_something_else_than_what_is_there_now_is_refused() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let id = house
        .ask(&agent, "c1", "deploy", json!({"to": "production"}))
        .await;
    let path = format!("/v1/interactions/{id}?locale=zh");
    let before = house.get(WEI, &path).await.ok()["shownDigest"].clone();
    house
        .answer(LIN, &id, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    let stale = json!({"selectedOptionId": "approve", "shownDigest": before, "shownLocale": "zh"});
    assert_eq!(
        house.answer(WEI, &id, stale).await.problem(),
        (409, "shown-changed".into())
    );
    let now = house.get(WEI, &path).await.ok()["shownDigest"].clone();
    let other_language = json!({"selectedOptionId": "approve", "shownDigest": now, "shownLocale": "en"});
    assert_eq!(
        house.answer(WEI, &id, other_language).await.problem(),
        (409, "shown-changed".into())
    );
    let fresh = json!({"selectedOptionId": "approve", "shownDigest": now, "shownLocale": "zh"});
    assert_eq!(house.answer(WEI, &id, fresh).await.ok()["status"], "decided");
    house.close().await;
}

#[tokio::test]
async fn an_edited_call_has_the_verdict_on_what_runs() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let path = format!("/v1/interactions/{id}");
    let before = house.get(&approver, &path).await.ok();
    assert_eq!(before["risk"], "MEDIUM");
    assert_eq!(before["verdict"]["reasonCode"], "nothing_allows");
    assert_eq!(
        before["verdict"]["reasonParameters"],
        json!({"category": "command"})
    );
    let edit = json!({"selectedOptionId": "approve", "editedArgs": {"command": "rm -rf build"},
        "shownDigest": before["shownDigest"]});
    house.answer(&approver, &id, edit).await.ok();
    let call = house.get(&agent, "/v1/calls/c1").await.ok();
    let question = house.get(&approver, &path).await.ok();
    for body in [&call, &question] {
        assert_eq!(body["verdict"]["risk"], "HIGH");
        assert_eq!(body["verdict"]["reasonCode"], "found");
    }
    assert_eq!(question["risk"], "HIGH");
    assert_eq!(question["call"]["args"], json!({"command": "rm -rf build"}));
    let audit = house
        .get(&house.token("admin"), "/v1/audit?type=settled")
        .await
        .ok();
    let row = &audit["items"][0];
    assert!(row["text"].as_str().unwrap().contains("HIGH risk"), "{row}");
    assert_eq!(row["event"]["outcome"]["judgement"]["verdict"]["risk"], "HIGH");
    house.close().await;
}

#[tokio::test]
async fn what_an_option_needs_is_asked_for() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let refused = async |body| house.answer(&approver, &id, body).await.problem();
    assert_eq!(
        refused(json!({"selectedOptionId": "retry"})).await,
        (422, "input-required".into())
    );
    assert_eq!(
        refused(json!({"selectedOptionId": "maybe"})).await,
        (422, "no-such-option".into())
    );
    assert_eq!(
        refused(json!({"selectedOptionId": "approve", "by": "lin"})).await,
        (400, "bad-request".into())
    );
    // Fields by their order are none.
    assert_eq!(
        refused(json!(["approve", null, null, null, null, null, null])).await,
        (400, "bad-request".into())
    );
    let long = "x".repeat(70_000);
    assert_eq!(
        refused(json!({"selectedOptionId": "reject", "feedback": long})).await,
        (422, "text-too-long".into())
    );
    assert_eq!(
        refused(json!({"selectedOptionId": "reject", "editedArgs": {"command": "ls"}})).await,
        (422, "edited-args-refused".into())
    );
    house
        .answer(
            &approver,
            &id,
            json!({"selectedOptionId": "retry", "feedback": "use make -n"}),
        )
        .await
        .ok();
    house.close().await;
}

#[tokio::test]
async fn the_questions_of_a_turn_are_answered_together_and_each_on_its_own() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let mut ids = Vec::new();
    for number in 0..3 {
        let call = json!({"sessionId": "job", "callId": format!("c{number}"), "group": "turn-1", "tool": "bash",
                          "args": {"command": format!("make {number}")}});
        ids.push(house.post(&agent, "/v1/calls", call).await.ok()["requestId"].clone());
    }
    let listed = house.get(&approver, "/v1/interactions").await.ok();
    assert_eq!(listed["items"][0]["groupSize"], 3);
    let answers: Vec<_> = ids
        .iter()
        .map(|id| json!({"requestId": id, "selectedOptionId": "approve"}))
        .collect();
    let mut answers = answers;
    answers[1]["selectedOptionId"] = json!("no such option");
    let results = house
        .post(&approver, "/v1/interactions/answers", json!({"answers": answers}))
        .await
        .ok();
    let ok: Vec<_> = results["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["ok"].clone())
        .collect();
    assert_eq!(ok, [json!(true), json!(false), json!(true)]);
    assert_eq!(results["results"][1]["problem"]["code"], "no-such-option");
    house.close().await;
}

#[tokio::test]
async fn dont_ask_again_is_listed_and_taken_back_by_whoever_gave_it() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let id = house
        .ask(&agent, "c1", "bash", json!({"command": "make test"}))
        .await;
    let question = house.get(LIN, &format!("/v1/interactions/{id}")).await.ok();
    let scope = &question["scopes"][0]["scope"];
    let answer = json!({"selectedOptionId": "approve", "remember": {"scope": scope, "lastsMs": 3_600_000}});
    house.answer(LIN, &id, answer).await.ok();
    let approver = house.token("approver");
    assert_eq!(
        house.get(&approver, "/v1/grants").await.ok()["items"],
        json!([]),
        "it is lin's"
    );
    let grant = house.get(LIN, "/v1/grants").await.ok()["items"][0].clone();
    assert_eq!(
        (&grant["by"], &grant["state"]),
        (&json!("lin"), &json!("inForce"))
    );
    let path = format!("/v1/grants/{}", grant["id"].as_str().unwrap());
    assert_eq!(
        house.send(&approver, "DELETE", &path, None).await.problem(),
        (404, "no-such-grant".into())
    );
    assert_eq!(house.send(LIN, "DELETE", &path, None).await.status, 204);
    assert_eq!(
        house.get(WEI, "/v1/grants").await.ok()["items"][0]["state"],
        "revoked"
    );
    house.close().await;
}

#[tokio::test]
async fn an_edit_that_leaves_it_open_which_secret_is_meant_decides_nothing() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let tokens = [
        "ghp_AAAAAAAAAAAAAAAAAAAA0123456789abcdef",
        "ghp_BBBBBBBBBBBBBBBBBBBB0123456789abcdef",
    ];
    let id = house
        .ask(&agent, "c1", "http_request", json!({"tokens": tokens}))
        .await;
    let path = format!("/v1/interactions/{id}");
    let mut args = house.get(&approver, &path).await.ok()["call"]["args"].clone();
    args["tokens"].as_array_mut().unwrap().remove(0);
    let answer = json!({"selectedOptionId": "approve", "editedArgs": args});
    let refused = house.answer(&approver, &id, answer).await;
    assert_eq!(refused.problem(), (422, "edited-args-refused".into()));
    assert!(refused.text.contains("hidden secret"), "{}", refused.text);
    assert_eq!(house.get(&approver, &path).await.ok()["status"], "pending");
    house.close().await;
}

#[tokio::test]
async fn a_line_edited_around_a_masked_secret_runs_with_the_secret() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let line = "curl -H 'Authorization: Bearer ghp_AAAAAAAAAAAAAAAAAAAA0123456789abcdef' https://example.com";
    let id = house.ask(&agent, "c1", "bash", json!({"command": line})).await;
    let question = house.get(&approver, &format!("/v1/interactions/{id}")).await.ok();
    let shown = question["call"]["args"]["command"].as_str().unwrap();
    assert!(shown.contains("-chars-masked]"), "{shown}");
    let edited = json!({"command": format!("{shown} --fail")});
    house
        .answer(
            &approver,
            &id,
            json!({"selectedOptionId": "approve", "editedArgs": edited}),
        )
        .await
        .ok();
    let claimed = house.send(&agent, "POST", "/v1/calls/c1/claim", None).await.ok();
    assert_eq!(claimed["args"]["command"], format!("{line} --fail"));
    house.close().await;
}

#[tokio::test]
async fn a_secret_is_not_told_with_what_dont_ask_again_covers() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let token = "ghp_AAAAAAAAAAAAAAAAAAAA0123456789abcdef";
    let line = format!("curl -H 'Authorization: Bearer {token}' https://example.com");
    let id = house.ask(&agent, "c1", "bash", json!({"command": line})).await;
    let question = house.get(LIN, &format!("/v1/interactions/{id}")).await;
    let scopes = question.ok()["scopes"].clone();
    assert!(!question.text.contains(token), "{}", question.text);
    assert!(
        scopes[1]["text"].as_str().unwrap().contains("-chars-masked]"),
        "{scopes}"
    );

    let remember = |scope: &serde_json::Value| json!({"selectedOptionId": "approve", "remember": {"scope": scope, "lastsMs": 3_600_000}});
    let refused = house.answer(LIN, &id, remember(&json!("no such scope"))).await;
    assert_eq!(refused.problem(), (422, "remember-refused".into()));
    house.answer(LIN, &id, remember(&scopes[1]["scope"])).await.ok();
    for path in ["/v1/grants", "/v1/audit?type=standingGiven", "/v1/audit"] {
        let told = house.get(WEI, path).await;
        assert_eq!(told.status, 200);
        assert!(!told.text.contains(token), "{path}: {}", told.text);
    }
    let again = house
        .propose(&agent, "c2", "bash", json!({"command": line}))
        .await;
    assert_eq!(
        (&again["status"], &again["verdict"]["step"]),
        (&json!("allowed"), &json!(11)),
        "{again}"
    );
    house.close().await;
}

#[tokio::test]
async fn an_answer_that_says_two_things_says_nothing() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let bearer = format!("Bearer {approver}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let one = format!("/v1/interactions/{id}/answer");
    for answer in [
        r#""selectedOptionId": "reject", "selectedOptionId": "approve""#,
        r#""selectedOptionId": "approve", "editedArgs": {"command": "make", "command": "make install"}"#,
        r#""selectedOptionId": "approve", "by": "lin""#,
    ] {
        let together = format!(r#"{{"answers": [{{"requestId": "{id}", {answer}}}]}}"#);
        for (path, body) in [
            (one.as_str(), format!("{{{answer}}}")),
            ("/v1/interactions/answers", together),
        ] {
            let refused = house.raw("POST", path, &headers, body.into()).await;
            assert_eq!(refused.status(), 400, "{path}: {answer}");
        }
    }
    let unnamed = json!({"answers": [
        {"requestId": id, "selectedOptionId": "approve"}, {"selectedOptionId": "approve"},
    ]});
    let refused = house.post(&approver, "/v1/interactions/answers", unnamed).await;
    assert_eq!(refused.problem(), (400, "bad-request".into()));
    let other = json!({"requestId": "int_other", "selectedOptionId": "approve"});
    assert_eq!(house.answer(&approver, &id, other).await.status, 400);
    assert_eq!(house.get(&agent, "/v1/calls/c1").await.ok()["status"], "pending");
    house.close().await;
}

#[tokio::test]
async fn a_typed_reply_is_read_and_decides_nothing() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let make = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let wipe = house
        .ask(&agent, "c2", "bash", json!({"command": "rm -rf build"}))
        .await;
    let read = async |text: &str, ids: &[&String]| {
        let body = json!({"text": text, "requestIds": ids, "locale": "en"});
        house.post(&approver, "/v1/interactions/reading", body).await.ok()
    };
    assert_eq!(
        read("yes", &[&make]).await,
        json!({"reading": "answer", "choices": [{"requestId": make, "optionId": "approve"}], "which": []})
    );
    assert_eq!(
        read("no: not today", &[&make]).await["choices"],
        json!([{"requestId": make, "optionId": "reject", "feedback": "not today"}])
    );
    assert_eq!(read("yes", &[&make, &wipe]).await["reading"], "unclear");
    assert_eq!(read("why?", &[&make]).await["reading"], "other");
    assert_eq!(
        read("approve all", &[&make, &wipe]).await,
        json!({"reading": "answer", "choices": [{"requestId": make, "optionId": "approve"}], "which": [wipe]}),
        "HIGH is decided one by one"
    );
    for id in [&make, &wipe] {
        let question = house.get(&approver, &format!("/v1/interactions/{id}")).await.ok();
        assert_eq!(question["status"], "pending");
    }
    let text = json!({"text": "yes", "requestIds": [make]});
    let refused = house.post(&agent, "/v1/interactions/reading", text).await;
    assert_eq!(refused.status, 403, "an agent's credential reads nothing");
    house.close().await;
}

#[tokio::test]
async fn a_closed_request_says_what_became_of_its_call() {
    let house = House::plain().await;
    let (agent, approver) = (house.token("agent"), house.token("approver"));
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let ran = async || {
        let question = house.get(&approver, &format!("/v1/interactions/{id}")).await.ok();
        (question["ran"].clone(), question["resolution"]["edited"].clone())
    };
    assert_eq!(ran().await, (json!(null), json!(null)));
    let answer = json!({"selectedOptionId": "approve", "editedArgs": {"command": "make -n"}});
    house.answer(&approver, &id, answer).await.ok();
    assert_eq!(
        ran().await,
        (json!({"state": "waiting", "more": false}), json!(true))
    );
    house.send(&agent, "POST", "/v1/calls/c1/claim", None).await.ok();
    assert_eq!(ran().await.0["state"], "running");
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let output = format!("{token}\n\u{1b}[2J\n{}", "line\n".repeat(100));
    let result = json!({"ok": false, "output": output});
    house.post(&agent, "/v1/calls/c1/result", result).await;
    let (ran, _) = ran().await;
    assert_eq!((&ran["state"], &ran["more"]), (&json!("failed"), &json!(true)));
    let shown = ran["output"].as_str().unwrap();
    assert!(!shown.contains(token) && !shown.contains('\u{1b}'), "{shown}");
    assert_eq!(shown.lines().count(), 20, "{shown}");
    house.close().await;
}
