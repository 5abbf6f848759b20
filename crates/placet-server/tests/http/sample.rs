//! The sample agent behind the button of the empty inbox.

use serde_json::{Value, json};

use crate::house::{House, LIN, PEOPLE, WEI};

async fn sample(house: &House, token: &str) -> Value {
    house.post(token, "/v1/sample", json!({})).await.ok()
}

async fn question(house: &House, token: &str, id: &Value) -> Value {
    let path = format!("/v1/interactions/{}", id.as_str().unwrap());
    house.get(token, &path).await.ok()
}

#[tokio::test]
async fn a_sample_request_is_decided_like_any_other_and_nothing_is_executed() {
    let house = House::with_people().await;
    let begun = sample(&house, LIN).await;
    let asked = question(&house, LIN, &begun["requestId"]).await;
    assert_eq!(
        (&asked["agent"], &asked["status"]),
        (&json!("sample-agent"), &json!("pending"))
    );
    let shown = asked["document"].to_string();
    let note = placet_core::messages::sample::note().to_string();
    assert!(shown.contains(&note), "it says that it is a sample: {shown}");
    house
        .answer(
            LIN,
            begun["requestId"].as_str().unwrap(),
            json!({"selectedOptionId": "approve"}),
        )
        .await
        .ok();
    let closed = question(&house, LIN, &begun["requestId"]).await;
    let result = placet_core::messages::sample::result().to_string();
    assert_eq!(
        (
            &closed["status"],
            &closed["ran"]["state"],
            &closed["ran"]["output"]
        ),
        (&json!("answered"), &json!("finished"), &json!(result))
    );
    house.close().await;
}

#[tokio::test]
async fn a_person_has_one_pending_sample_at_most_and_gets_another_once_it_is_decided() {
    let house = House::with_people().await;
    let (one, same) = tokio::join!(sample(&house, LIN), sample(&house, LIN));
    assert_eq!(one, same, "two presses are one request");
    let other = sample(&house, WEI).await;
    assert_ne!(one["requestId"], other["requestId"], "each person has one");
    for option in ["reject", "terminate", "reject", "reject", "approve"] {
        let begun = sample(&house, LIN).await;
        let id = begun["requestId"].as_str().unwrap();
        house
            .answer(LIN, id, json!({"selectedOptionId": option}))
            .await
            .ok();
        let next = sample(&house, LIN).await;
        assert_ne!(next["requestId"], begun["requestId"]);
        assert!(next["requestId"].is_string(), "{next}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_sample_outlives_a_restart() {
    let house = House::with_people().await;
    let begun = sample(&house, LIN).await;
    let data = house.close().await;
    let house = House::open(data, PEOPLE).await;
    assert_eq!(sample(&house, LIN).await, begun);
    let id = begun["requestId"].as_str().unwrap();
    house
        .answer(LIN, id, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    let closed = question(&house, LIN, &begun["requestId"]).await;
    assert_eq!(closed["ran"]["state"], "finished");
    house.close().await;
}

#[tokio::test]
async fn policy_decides_about_a_sample_too_and_agents_play_none() {
    let denied = format!("{PEOPLE}\n[[rules]]\nname = 'no shell'\ntool = 'bash'\neffect = 'deny'\n");
    let house = House::open(tempfile::tempdir().unwrap(), &denied).await;
    let begun = sample(&house, LIN).await;
    assert_eq!(begun["requestId"], json!(null), "{begun}");
    let agent = house.token("agent");
    let refused = house.post(&agent, "/v1/sample", json!({})).await;
    assert_eq!(refused.problem(), (403, "forbidden".into()));
    house.close().await;
}
