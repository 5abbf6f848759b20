//! Asking less over HTTP: wide scopes, suggestions, and a replay.

use serde_json::{Value, json};

use crate::house::{House, LIN, WEI};

async fn fetch(house: &House, id: &str, host: &str, session: &str) -> String {
    let call = json!({"sessionId": session, "callId": id, "tool": "fetch", "args": {"url": format!("https://{host}/{id}")}});
    let call = house.post(&house.token("agent"), "/v1/calls", call).await.ok();
    assert_eq!(call["status"], "pending", "{call}");
    call["requestId"].as_str().unwrap().to_owned()
}

async fn say(house: &House, id: &str, option: &str) {
    house
        .answer(LIN, id, json!({"selectedOptionId": option}))
        .await
        .ok();
}

/// The scopes of a question for a person, by reach.
async fn scope(house: &House, token: &str, id: &str, reach: &str) -> Option<Value> {
    let question = house.get(token, &format!("/v1/interactions/{id}")).await.ok();
    let scopes = question["scopes"].as_array().unwrap().clone();
    scopes.into_iter().find(|scope| scope["reach"] == reach)
}

#[tokio::test]
async fn wide_scopes_are_offered_to_admins_shown_as_rules_and_refused_to_others() {
    let house = House::with_people().await;
    let id = fetch(&house, "a", "example.com", "job").await;
    assert!(scope(&house, LIN, &id, "session").await.is_some());
    for reach in ["project", "rule"] {
        assert!(scope(&house, LIN, &id, reach).await.is_none(), "{reach}");
    }
    let rule = scope(&house, WEI, &id, "rule").await.unwrap();
    let name = rule["scope"].as_str().unwrap();
    let path = format!("/v1/interactions/{id}/scopes/{name}");
    let preview = house.get(WEI, &path).await.ok();
    assert!(
        preview["toml"]
            .as_str()
            .unwrap()
            .contains("host = [\"example.com\"]"),
        "{preview}"
    );
    assert_eq!(preview["lastWeek"]["calls"], 1);
    assert_eq!(house.get(LIN, &path).await.problem().1, "remember-refused");

    let remember = json!({"scope": name, "lastsMs": rule["lastsMs"]});
    let body = json!({"selectedOptionId": "approve", "remember": remember});
    assert_eq!(
        house.answer(LIN, &id, body.clone()).await.problem().1,
        "remember-refused"
    );
    let spelled = json!({"tool": "fetch", "covers": {"hosts": ["example.com"]}});
    let spelled = json!({"selectedOptionId": "approve", "remember": {"scope": spelled, "lastsMs": 1000}});
    assert_eq!(
        house.answer(LIN, &id, spelled).await.problem().1,
        "remember-refused"
    );
    house.answer(WEI, &id, body).await.ok();

    let grants = house.get(WEI, "/v1/grants").await.ok();
    assert_eq!(grants["items"][0]["reach"], "rule");
    assert!(
        grants["items"][0]["toml"]
            .as_str()
            .unwrap()
            .contains("effect = \"allow\""),
        "{grants}"
    );
    let other = json!({"sessionId": "other", "callId": "b", "tool": "fetch", "args": {"url": "https://example.com/b"}});
    let call = house.post(&house.token("agent"), "/v1/calls", other).await.ok();
    assert_eq!(call["status"], "allowed", "{call}");
}

#[tokio::test]
async fn what_was_always_approved_is_suggested_to_admins_alone() {
    let house = House::with_people().await;
    for id in ["a", "b", "c"] {
        let question = fetch(&house, id, "example.com", id).await;
        say(&house, &question, "approve").await;
    }
    let found = house.get(WEI, "/v1/policy/suggestions?days=7&min=3").await.ok();
    let [one] = found["items"].as_array().unwrap().as_slice() else {
        panic!("one rule: {found}")
    };
    assert_eq!(
        (&one["covered"]["approved"], &one["covered"]["sessions"]),
        (&json!(3), &json!(3))
    );
    assert!(one["toml"].as_str().unwrap().contains("matches = ["), "{one}");
    assert_eq!(
        house.get(LIN, "/v1/policy/suggestions").await.problem(),
        (403, "forbidden".into())
    );
    assert_eq!(
        house.get(WEI, "/v1/policy/suggestions?days=0").await.problem().0,
        400
    );
}

#[tokio::test]
async fn a_replay_says_what_would_change_and_refuses_a_broken_file_with_its_line() {
    let house = House::with_people().await;
    let approved = fetch(&house, "a", "example.com", "a").await;
    say(&house, &approved, "approve").await;
    let refused = fetch(&house, "b", "example.org", "b").await;
    say(&house, &refused, "reject").await;
    let rule = "[[rules]]\nname = \"open\"\neffect = \"allow\"\nhost = \"example.*\"\n[[rules]]\nname = \"typo\"\neffect = \"deny\"\ntool = \"bahs\"\n";
    let replay = house
        .post(WEI, "/v1/policy/replay", json!({"config": rule}))
        .await
        .ok();
    assert_eq!((&replay["calls"], &replay["changed"]), (&json!(2), &json!(2)));
    let first = &replay["changes"][0];
    assert_eq!(
        (&first["refusedThen"], &first["to"]),
        (&json!(true), &json!("allow"))
    );
    assert_eq!(first["examples"][0]["refusedBy"], "lin");
    assert!(
        replay["deadRules"][0].as_str().unwrap().contains("`bahs`"),
        "{replay}"
    );

    let broken = house
        .post(
            WEI,
            "/v1/policy/replay",
            json!({"config": "[[rules]]\nnam = 1\n"}),
        )
        .await;
    assert_eq!(broken.problem().0, 400);
    assert!(
        broken.json()["detail"]
            .as_str()
            .unwrap()
            .contains("placet.toml:2:1"),
        "{}",
        broken.text
    );
    let by_lin = house.post(LIN, "/v1/policy/replay", json!({"config": ""})).await;
    assert_eq!(by_lin.problem(), (403, "forbidden".into()));
}
