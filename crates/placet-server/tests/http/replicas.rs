//! Several servers on one database: what is done at one holds at all of them.

use http_body_util::Full;
use hyper::Request;
use placet_store::Location;
use serde_json::json;
use tokio::task::JoinSet;

use crate::database;
use crate::events::Stream;
use crate::house::{House, LIN, OTHER, WEI};

#[tokio::test]
async fn a_call_posted_at_one_server_is_answered_at_a_second_and_claimed_at_a_third() {
    let url = database::database();
    let (one, two, three) = (
        House::replica(&url).await,
        House::replica(&url).await,
        House::replica(&url).await,
    );
    let question = one.ask(OTHER, "c1", "pay", json!({"amount": 5})).await;
    // The third server waits, and nothing is asked of it meanwhile: the database wakes it.
    let waiting = three.get(OTHER, "/v1/calls/c1?wait=30");
    let answering = async {
        let shown = two.get(LIN, &format!("/v1/interactions/{question}")).await.ok();
        assert_eq!(shown["status"], "pending", "{shown}");
        let answer = json!({"selectedOptionId": "approve"});
        two.answer(LIN, &question, answer.clone()).await.ok();
        // Late at another server.
        let late = one.answer(LIN, &question, answer).await;
        assert_eq!(late.status, 409, "{}", late.text);
    };
    let (call, ()) = tokio::join!(waiting, answering);
    assert_eq!(call.ok()["status"], "approved");

    // All want it, and one gets it.
    let (first, second, third) = tokio::join!(claim(&one), claim(&two), claim(&three));
    let mut statuses = [first, second, third];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409]);

    let result = json!({"ok": true, "output": "paid"});
    assert_eq!(two.post(OTHER, "/v1/calls/c1/result", result).await.status, 204);
    assert_eq!(
        one.get(OTHER, "/v1/calls/c1").await.ok()["grant"]["state"],
        "done"
    );
    let verified = three.get(WEI, "/v1/audit/verify").await.ok();
    assert_eq!(verified["ok"], true, "{verified}");
    for house in [one, two, three] {
        house.close().await;
    }
}

async fn claim(house: &House) -> u16 {
    house.send(OTHER, "POST", "/v1/calls/c1/claim", None).await.status
}

/// At one server, which writes the rivals' claims as one group, and at several.
#[tokio::test]
async fn however_many_rivals_claim_a_call_one_may_run_it() {
    let url = database::database();
    let in_a_file = [House::with_people().await];
    let on_a_database = [House::replica(&url).await, House::replica(&url).await];
    for houses in [&in_a_file[..], &on_a_database[..1], &on_a_database[..]] {
        for round in 0..4 {
            let id = format!("c{}-{round}", houses[0].address.port() as usize + houses.len());
            let question = houses[0].ask(OTHER, &id, "pay", json!({"to": id})).await;
            let approve = json!({"selectedOptionId": "approve"});
            houses[0].answer(LIN, &question, approve).await.ok();
            let path = format!("/v1/calls/{id}/claim");
            let mut rivals = JoinSet::new();
            for rival in 0..32 {
                let house = &houses[rival % houses.len()];
                let (mut connection, path) = (house.connect().await, path.clone());
                let host = house.address.to_string();
                rivals.spawn(async move {
                    let request = Request::post(path)
                        .header("host", host)
                        .header("authorization", format!("Bearer {OTHER}"))
                        .body(Full::default())
                        .unwrap();
                    connection.send_request(request).await.unwrap().status().as_u16()
                });
            }
            let mut statuses = rivals.join_all().await;
            statuses.sort_unstable();
            assert_eq!((statuses[0], &statuses[1..]), (200, &[409; 31][..]));
        }
        let verified = houses[0].get(WEI, "/v1/audit/verify").await.ok();
        assert_eq!(verified["ok"], true, "{verified}");
    }
    for house in in_a_file.into_iter().chain(on_a_database) {
        house.close().await;
    }
}

#[tokio::test]
async fn a_stream_that_goes_on_at_another_server_misses_nothing_and_repeats_nothing() {
    let url = database::database();
    let (one, two) = (House::replica(&url).await, House::replica(&url).await);
    let mut stream = Stream::open(&one, OTHER, "", Some(0)).await;
    one.ask(OTHER, "c1", "pay", json!({"amount": 1})).await;
    two.ask(OTHER, "c2", "pay", json!({"amount": 2})).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(stream.next().await.unwrap()["id"].as_u64().unwrap());
    }
    let mut stream = Stream::open(&two, OTHER, "", Some(stream.last_id)).await;
    one.ask(OTHER, "c3", "pay", json!({"amount": 3})).await;
    while seen.len() < 6 {
        seen.push(stream.next().await.unwrap()["id"].as_u64().unwrap());
    }
    let mut sorted = seen.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted, seen);
    let mut whole = Stream::open(&one, OTHER, "", Some(0)).await;
    for id in seen {
        assert_eq!(whole.next().await.unwrap()["id"], id);
    }
    one.close().await;
    two.close().await;
}

#[tokio::test]
async fn a_question_outlives_the_server_it_was_asked_at() {
    let url = database::database();
    let first = House::replica(&url).await;
    let question = first.ask(OTHER, "c1", "pay", json!({"amount": 5})).await;
    let second = House::replica(&url).await;
    first.close().await;
    second
        .answer(LIN, &question, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    second.close().await;
    let third = House::replica(&url).await;
    assert_eq!(third.get(OTHER, "/v1/calls/c1").await.ok()["status"], "approved");
    third.send(OTHER, "POST", "/v1/calls/c1/claim", None).await.ok();
    third.close().await;
    let store = placet_store::Store::look_at(&Location::parse(&url).unwrap())
        .await
        .unwrap();
    assert_eq!(store.verify(None).await.unwrap().findings, []);
}
