//! What comes in: only what the platform signed, just now, for this channel, once.

use http::{Method, Request};
use placet_channels::webhook::{SIGNATURE_HEADER, SignatureError};
use placet_engine::bus;
use placet_engine::channel::{BODY_BYTES_MAX, INBOUND, RouteError};
use serde_json::json;

use crate::house::*;

/// Why a body with this signature is refused for its signature.
async fn refused(house: &House, signature: &str, body: &[u8]) -> String {
    match house.receive_raw(signature, body).await {
        Err(RouteError::Signature(error)) => error,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn sentence(error: &SignatureError) -> String {
    error.to_string()
}

#[tokio::test]
async fn a_signed_reply_approves_and_is_consumed() {
    let house = House::new("").await;
    house.ask(deploy("c", "staging")).await;
    assert!(house.hear("zoe", "m1", "yes").await);
    assert!(house.outcome("c").await.permits());
    assert!(
        !house.hear("zoe", "m2", "thank you").await,
        "nothing is open: it is for the agent"
    );
    assert_eq!(house.queued().await, "thank you");
}

#[tokio::test]
async fn the_platform_is_told_in_one_field_whether_the_message_was_consumed() {
    let house = House::new("").await;
    let body = message("c1", "zoe", "m1", "hello").to_string();
    let channel = name("ops");
    let route = house.engine.route(&channel, &Method::POST, INBOUND).unwrap();
    let request = Request::builder().header(SIGNATURE_HEADER, house.sign(body.as_bytes()));
    let request = request.body(body.into()).unwrap();
    let response = house.engine.answer_route(&channel, route, request).await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(&response.body()[..], br#"{"consumed":false}"#);
}

#[tokio::test]
async fn a_reply_without_a_right_signature_decides_nothing() {
    let house = House::new("").await;
    let id = house.ask(deploy("c", "staging")).await;
    let body = message("c1", "zoe", "m1", "yes").to_string();
    let signature = house.sign(body.as_bytes());
    let forged = format!("t={},v1={}", house.now().as_millis() / 1000, "0".repeat(64));
    assert_eq!(
        refused(&house, &forged, body.as_bytes()).await,
        sentence(&SignatureError::Wrong)
    );
    assert_eq!(
        refused(&house, "", body.as_bytes()).await,
        sentence(&SignatureError::Malformed)
    );
    let tampered = body.replace("\"yes\"", "\"yes!\"");
    assert_ne!(tampered, body);
    assert_eq!(
        refused(&house, &signature, tampered.as_bytes()).await,
        sentence(&SignatureError::Wrong)
    );
    let spaced = format!("{body} ");
    assert_eq!(
        refused(&house, &signature, spaced.as_bytes()).await,
        sentence(&SignatureError::Wrong),
        "the raw body is signed, not what it means"
    );
    assert!(house.is_open(&id).await);
    assert!(
        house
            .receive_raw(&signature, body.as_bytes())
            .await
            .unwrap()
            .consumed,
        "nothing of the others was kept"
    );
}

#[tokio::test]
async fn a_stale_message_is_refused_and_one_replayed_in_time_changes_nothing() {
    let house = House::new("[approval]\nmemory = \"0s\"\n").await;
    house.ask(deploy("a", "staging")).await;
    let body = message("c1", "zoe", "m1", "yes").to_string();
    let signature = house.sign(body.as_bytes());
    assert!(
        house
            .receive_raw(&signature, body.as_bytes())
            .await
            .unwrap()
            .consumed
    );
    assert!(house.outcome("a").await.permits());

    let next = house.ask(deploy("b", "production")).await;
    assert!(
        house
            .receive_raw(&signature, body.as_bytes())
            .await
            .unwrap()
            .consumed,
        "it came before"
    );
    assert!(house.is_open(&next).await, "a replayed yes approves nothing");
    house.pass(299);
    house.receive_raw(&signature, body.as_bytes()).await.unwrap();
    house.pass(2);
    let stale = refused(&house, &signature, body.as_bytes()).await;
    assert!(stale.contains("more than 300 s away"), "{stale}");
    let early = house.hooks[&name("ops")].sign(
        body.as_bytes(),
        placet_core::time::Timestamp::from_millis(house.now().as_millis() + 301_000),
    );
    let early = refused(&house, &early, body.as_bytes()).await;
    assert!(early.contains("more than 300 s away"), "{early}");
}

#[tokio::test]
async fn another_channels_secret_opens_no_door_here() {
    let (house, _dev) = House::with_two_platforms("").await;
    let id = house.ask(deploy("c", "staging")).await;
    let body = message("c1", "zoe", "m1", "yes").to_string();
    let signature = house.hooks[&name("dev")].sign(body.as_bytes(), house.now());
    assert_eq!(
        refused(&house, &signature, body.as_bytes()).await,
        sentence(&SignatureError::Wrong)
    );
    // Straight to `dev`'s door, with `dev`'s signature and `ops`'s name in the body.
    let claimed = house.receive_at("dev", &signature, body.as_bytes()).await;
    let error = claimed.unwrap_err().to_string();
    assert_eq!(
        error,
        "the message says it comes from `ops`, and is signed by `dev`"
    );
    assert!(house.is_open(&id).await);
}

#[tokio::test]
async fn what_is_not_a_message_is_refused_clearly_and_stops_nothing() {
    let house = House::new("").await;
    let id = house.ask(deploy("c", "staging")).await;
    for body in [
        &b""[..],
        b"yes",
        b"[]",
        b"{}",
        b"{\"channel\":\"ops\"}",
        b"\xff\xfe",
        b"{\"channel\":7}",
    ] {
        let refused = house.receive_raw(&house.sign(body), body).await;
        assert!(matches!(refused, Err(RouteError::BadRequest(_))), "{refused:?}");
    }
    // A misspelt `isBot` must not turn a bot into a person.
    let mut misspelt = message("c1", "zoe", "m1", "yes");
    misspelt["isbot"] = json!(true);
    assert!(matches!(
        house.receive(&misspelt).await,
        Err(RouteError::BadRequest(_))
    ));
    for (field, value) in [
        ("messageId", json!("")),
        ("senderId", json!("")),
        ("senderId", json!("a\u{7}")),
    ] {
        let mut nameless = message("c1", "zoe", "m1", "yes");
        nameless[field] = value;
        assert!(
            matches!(house.receive(&nameless).await, Err(RouteError::BadRequest(_))),
            "{field}"
        );
    }
    let mut chatless = message("", "zoe", "m1", "yes");
    assert!(matches!(
        house.receive(&chatless).await,
        Err(RouteError::BadRequest(_))
    ));
    chatless["chatId"] = json!("c1");
    assert!(house.is_open(&id).await);
    assert!(
        house.receive(&chatless).await.unwrap().consumed,
        "and the next one is heard"
    );
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_read() {
    let house = House::new("").await;
    let body = vec![b' '; BODY_BYTES_MAX + 1];
    let refused = house.receive_raw(&house.sign(&body), &body).await;
    assert!(matches!(refused, Err(RouteError::TooLarge(_))), "{refused:?}");
    let long = message("c1", "zoe", "m1", &"x".repeat(bus::MESSAGE_BYTES_MAX + 1));
    let refused = house.receive(&long).await;
    assert!(matches!(refused, Err(RouteError::TooLarge(_))), "{refused:?}");
    let longest = message("c1", "zoe", "m1", &"\u{1}".repeat(bus::MESSAGE_BYTES_MAX));
    assert!(
        !house.receive(&longest).await.unwrap().consumed,
        "the longest message fits in every spelling"
    );
}

#[tokio::test]
async fn a_message_delivered_twice_is_one_message_also_after_a_restart() {
    let house = House::new("[approval]\nmemory = \"0s\"\n").await;
    house.ask(deploy("a", "a")).await;
    assert!(house.hear("zoe", "m1", "yes").await);
    assert!(!house.hear("zoe", "m2", "hello").await);
    let house = house.restart().await;
    let next = house.ask(deploy("b", "b")).await;
    assert!(house.hear("zoe", "m1", "yes").await, "done with already");
    assert!(house.hear("zoe", "m2", "hello").await, "queued already");
    assert!(house.is_open(&next).await);
    assert_eq!(house.queued().await, "hello");
    assert!(!house.hear("bystander", "m3", "second").await);
    assert_eq!(house.queued().await, "second", "and it was queued once");
    house.verify().await;
}

#[tokio::test]
async fn a_bot_never_counts_and_is_never_answered() {
    let house = House::new("").await;
    let id = house.ask(deploy("c", "staging")).await;
    let mut body = message("c1", "zoe", "m1", "yes");
    body["isBot"] = json!(true);
    assert!(!house.receive(&body).await.unwrap().consumed);
    assert!(house.is_open(&id).await);
    assert!(house.hear("zoe", "m2", "yes").await);
    let told = house.platform.messages(1).await;
    assert_eq!(told.len(), 1, "only the person is answered: {told:?}");
}
