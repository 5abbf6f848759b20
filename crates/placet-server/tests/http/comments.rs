//! Comments on a request: kept, shown to people, hidden from agents.

use serde_json::{Value, json};

use crate::house::{Answer, House, LIN, OTHER, WEI};

async fn say(house: &House, token: &str, id: &str, text: &str) -> Answer {
    house
        .post(
            token,
            &format!("/v1/interactions/{id}/comments"),
            json!({"text": text}),
        )
        .await
}

#[tokio::test]
async fn people_comment_on_a_request_and_its_agent_sees_nothing_of_it() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let id = house.ask(&agent, "c1", "pay", json!({"amount": 3})).await;
    let first = say(&house, LIN, &id, "  Is this the invoice of March?\n").await;
    assert_eq!(first.status, 201, "{}", first.text);
    say(
        &house,
        WEI,
        &id,
        "Yes. token=ghp_abcdefghijklmnopqrstuvwxyz0123456789 \u{202e}cipher",
    )
    .await
    .ok();
    let path = format!("/v1/interactions/{id}");
    let shown = house.get(LIN, &path).await.ok();
    let comments = shown["comments"].as_array().unwrap();
    assert_eq!(
        (&comments[0]["by"], &comments[0]["text"]),
        (&json!("lin"), &json!("Is this the invoice of March?"))
    );
    let text = comments[1]["text"].as_str().unwrap();
    assert!(
        !text.contains("ghp_abcdefgh") && !text.contains('\u{202e}'),
        "{text}"
    );
    let listed = house.get(LIN, "/v1/interactions").await.ok();
    assert_eq!(listed["items"][0]["comments"].as_array().unwrap().len(), 2);

    let for_agent = house.get(&agent, &path).await;
    assert!(!for_agent.text.contains("March"), "{}", for_agent.text);
    assert_eq!(for_agent.json()["comments"], Value::Null);
    let audit = house.get(WEI, "/v1/audit?type=commented&locale=en").await.ok();
    let rows = audit["items"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(
        rows[1]["text"].as_str().unwrap().contains("invoice of March"),
        "{rows:?}"
    );

    // Closed, it can still be commented on.
    house
        .answer(LIN, &id, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    say(&house, LIN, &id, "Paid.").await.ok();
    let verified = house.get(WEI, "/v1/audit/verify").await.ok();
    assert_eq!(verified["faults"], json!([]));
    house.close().await;
}

#[tokio::test]
async fn an_agent_a_stranger_and_an_empty_comment_are_refused() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let id = house.ask(&agent, "c1", "pay", json!({"amount": 3})).await;
    let head = house.state.engine().head().await.unwrap();
    let approver = house.token("approver");
    for (token, text, status, code) in [
        (agent.as_str(), "hello", 403, "forbidden"),
        (OTHER, "hello", 403, "forbidden"),
        (&approver, "not mine", 404, "no-such-question"),
        (LIN, " \n", 422, "empty-message"),
        (LIN, &"x".repeat(4001), 422, "text-too-long"),
    ] {
        let refused = say(&house, token, &id, text).await;
        assert_eq!(refused.problem(), (status, code.to_owned()), "{text}");
    }
    assert_eq!(house.state.engine().head().await.unwrap(), head);
    for number in 0..100 {
        say(&house, LIN, &id, &format!("note {number}")).await.ok();
    }
    let full = say(&house, LIN, &id, "one more").await;
    assert_eq!(full.problem(), (409, "too-many-comments".into()));
    house.close().await;
}
