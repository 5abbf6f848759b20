//! Bounds: size, time, numbers.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::house::House;

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_and_the_server_goes_on() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let args = json!({"content": "x".repeat(5 * 1024 * 1024)});
    let call = json!({"sessionId": "s", "tool": "write", "args": args});
    // The server may close before all of it is sent; either way nothing came of it.
    let mut connection = house.connect().await;
    let request = hyper::Request::post("/v1/calls")
        .header("host", house.address.to_string())
        .header("authorization", format!("Bearer {agent}"))
        .header("content-type", "application/json")
        .body(http_body_util::Full::new(call.to_string().into()))
        .unwrap();
    if let Ok(response) = connection.send_request(request).await {
        assert_eq!(response.status(), 413);
    }
    let fits =
        json!({"sessionId": "s", "tool": "write", "args": {"path": "a", "content": "x".repeat(1024 * 1024)}});
    assert_eq!(house.post(&agent, "/v1/calls", fits).await.status, 200);
    house.close().await;
}

/// Sends the beginning of a request and then nothing; what comes back until the connection ends.
async fn stalled(house: &House, beginning: &str) -> String {
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    stream.write_all(beginning.as_bytes()).await.unwrap();
    // Let the server, on this same thread, read what there is; then let a minute pass at once.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_mins(1)).await;
    tokio::time::resume();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

#[tokio::test(flavor = "current_thread")]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let house = House::plain().await;
    let (host, agent) = (house.address, house.token("agent"));
    let answer = stalled(
        &house,
        &format!(
            "POST /v1/calls HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {agent}\r\n\
             content-type: application/json\r\ncontent-length: 100\r\n\r\n{{\"sessionId\":"
        ),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("\"code\":\"too-slow\""), "{answer}");
    house.close().await;
}

#[tokio::test(flavor = "current_thread")]
async fn headers_that_do_not_come_end_the_connection() {
    let house = House::plain().await;
    let answer = stalled(&house, "GET /healthz HTTP/1.1\r\nhost: ").await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 408 "),
        "{answer}"
    );
    house.close().await;
}

#[tokio::test(flavor = "current_thread")]
async fn whoever_asks_and_never_reads_does_not_keep_the_connection() {
    let house = House::open(tempfile::tempdir().unwrap(), "[server]\nconnections_max = 1\n").await;
    let mut unread = TcpStream::connect(house.address).await.unwrap();
    // Far more than the buffers in between hold.
    let request = format!("GET /openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n", house.address);
    unread.write_all(request.repeat(400).as_bytes()).await.unwrap();
    // Let the server, on this same thread, write as much as there is room for; then let a minute pass at once.
    for _ in 0..20_000 {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_mins(1)).await;
    tokio::time::resume();
    let served = tokio::time::timeout(Duration::from_secs(10), house.say("GET", "/healthz", &[], None));
    assert_eq!(
        served
            .await
            .unwrap_or_else(|_| panic!("nobody else is served"))
            .status,
        200
    );
    drop(unread);
    house.close().await;
}

#[tokio::test]
async fn thousands_of_idle_connections_disturb_nobody() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let mut idle = Vec::new();
    for _ in 0..2000 {
        idle.push(TcpStream::connect(house.address).await.unwrap());
    }
    for number in 0..20 {
        let call = house
            .propose(&agent, &format!("c{number}"), "read", json!({"path": "a"}))
            .await;
        assert_eq!(call["status"], "allowed");
    }
    drop(idle);
    house.close().await;
}

#[tokio::test]
async fn past_the_connections_there_may_be_others_wait_and_are_served_then() {
    let house = House::open(tempfile::tempdir().unwrap(), "[server]\nconnections_max = 2\n").await;
    let first = TcpStream::connect(house.address).await.unwrap();
    let second = TcpStream::connect(house.address).await.unwrap();
    let mut third = Box::pin(house.say("GET", "/healthz", &[], None));
    let early = tokio::time::timeout(Duration::from_millis(200), &mut third).await;
    assert!(early.is_err(), "two are open already");
    drop((first, second));
    assert_eq!(third.as_mut().await.status, 200);
    drop(third);
    house.close().await;
}

#[tokio::test]
async fn a_token_that_is_used_too_often_is_refused_for_a_moment() {
    let house = House::open(
        tempfile::tempdir().unwrap(),
        "[server]\nrequests_per_second = 5\n",
    )
    .await;
    let (agent, admin) = (house.token("agent"), house.token("admin"));
    let mut refused = 0;
    for _ in 0..20 {
        let answer = house.get(&agent, "/v1/calls/none").await;
        if answer.status == 429 {
            assert_eq!(answer.headers["retry-after"], "1");
            refused += 1;
        }
    }
    assert!(refused > 0);
    assert_eq!(house.get(&admin, "/v1/me").await.status, 200, "others are not");
    house.close().await;
}
