//! The end: nothing acknowledged is lost, and no client is left hanging.

use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use serde_json::json;

use crate::house::House;

/// How long an agent is ready to wait for an answer: `wait=60`.
const LONG_POLL: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread")]
async fn long_polls_and_streams_end_at_once_and_questions_stay_open() {
    let house = House::plain().await;
    let (agent, admin) = (house.token("agent"), house.token("admin"));
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let bearer = format!("Bearer {admin}");
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(
            house
                .raw("GET", "/v1/events", &[("authorization", &bearer)], "".into())
                .await
                .into_body(),
        );
    }
    let bearer = format!("Bearer {agent}");
    let mut connection = house.connect().await;
    let request = hyper::Request::get("/v1/calls/c1?wait=60")
        .header("host", house.address.to_string())
        .header("authorization", bearer)
        .body(http_body_util::Full::default())
        .unwrap();
    let waiting = tokio::spawn(async move { connection.send_request(request).await });
    while !house
        .get(&admin, "/metrics")
        .await
        .text
        .contains("placet_http_long_polls 1")
    {
        tokio::task::yield_now().await;
    }

    let began = Instant::now();
    let data = house.close().await;
    // Not when the long poll would have ended by itself.
    assert!(began.elapsed() < LONG_POLL, "{:?}", began.elapsed());
    let waited = waiting.await.unwrap().unwrap();
    assert_eq!(waited.status(), 200);
    let waited = waited.into_body().collect().await.unwrap().to_bytes();
    let waited: serde_json::Value = serde_json::from_slice(&waited).unwrap();
    assert_eq!(waited["status"], "pending");
    for stream in streams {
        // A stream that is cut would be an error here; one that ends is not.
        stream.collect().await.unwrap();
    }

    let house = House::open(data, "").await;
    let approver = house.token("approver");
    assert_eq!(
        house
            .answer(&approver, &id, json!({"selectedOptionId": "approve"}))
            .await
            .ok()["status"],
        "decided"
    );
    house.close().await;
}
