//! Closed requests: searched on the server, saved as a file, and counted.

use serde_json::{Value, json};

use crate::house::{House, LIN, WEI};

/// Closes three requests: lin approves a build and a payment that wei edited nothing of, and wei skips a push.
async fn closed(house: &House) -> [String; 3] {
    let agent = house.token("agent");
    let build = house
        .ask(&agent, "c1", "bash", json!({"command": "npm run build"}))
        .await;
    let pay = house
        .ask(&agent, "c2", "pay", json!({"amount": 3, "note": "=1+1"}))
        .await;
    let push = house
        .ask(&agent, "c3", "bash", json!({"command": "git push origin main"}))
        .await;
    let choose = async |token: &str, id: &str, body: Value| {
        house.answer(token, id, body).await.ok();
    };
    choose(LIN, &build, json!({"selectedOptionId": "approve"})).await;
    choose(
        LIN,
        &pay,
        json!({"selectedOptionId": "approve", "editedArgs": {"amount": 2, "note": "=1+1"}}),
    )
    .await;
    choose(
        WEI,
        &push,
        json!({"selectedOptionId": "reject", "feedback": "wait for the release"}),
    )
    .await;
    [build, pay, push]
}

async fn found(house: &House, token: &str, query: &str) -> Vec<String> {
    let page = house.get(token, &format!("/v1/history?{query}")).await.ok();
    let items = page["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item["requestId"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn history_is_filtered_by_the_server() {
    let house = House::with_people().await;
    let [build, pay, push] = closed(&house).await;
    let agent = house.token("agent");
    house.ask(&agent, "c4", "bash", json!({"command": "make"})).await;
    let all = [push.clone(), pay.clone(), build.clone()];
    for (query, wanted) in [
        ("", &all[..]),
        ("person=lin", &all[1..]),
        ("person=wei", &all[..1]),
        ("tool=pay", &all[1..2]),
        ("rule=only%20lin%20pays", &all[1..2]),
        ("outcome=rejected", &all[..1]),
        ("outcome=expired", &[]),
        ("risk=MEDIUM&tool=pay", &all[1..2]),
        ("edited=true", &all[1..2]),
        ("q=RELEASE%20push", &all[..1]),
        ("q=release%20build", &[]),
        ("to=2020-01-01T00:00:00Z", &[]),
        (
            "from=2020-01-01T00:00:00Z&tool=bash",
            &[push.clone(), build.clone()][..],
        ),
    ] {
        assert_eq!(found(&house, WEI, query).await, wanted, "{query}");
    }
    for odd in ["outcome=odd", "risk=odd", "from=yesterday", "rulez=x"] {
        let refused = house.get(WEI, &format!("/v1/history?{odd}")).await;
        assert_eq!(refused.problem(), (400, "bad-request".into()), "{odd}");
    }
    house.close().await;
}

#[tokio::test]
async fn history_has_a_cursor_and_nothing_of_others() {
    let house = House::with_people().await;
    let [build, pay, push] = closed(&house).await;
    let mut pages = Vec::new();
    let mut after = String::new();
    loop {
        let page = house.get(WEI, &format!("/v1/history?limit=1{after}")).await.ok();
        let items = page["items"].as_array().unwrap();
        pages.extend(items.iter().map(|item| item["requestId"].clone()));
        match page["next"].as_u64() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(pages, [json!(push), json!(pay), json!(build)]);
    let approver = house.token("approver");
    assert_eq!(
        found(&house, &approver, "").await,
        [push, build],
        "the payment was lin's"
    );
    assert!(
        found(&house, &approver, "rule=only%20lin%20pays")
            .await
            .is_empty()
    );
    let export = house.get(&approver, "/v1/history/export").await.text;
    assert!(!export.contains(&pay), "{export}");
    house.close().await;
}

#[tokio::test]
async fn the_filtered_rows_are_saved_as_csv_and_as_json_lines() {
    let house = House::with_people().await;
    let [_, pay, push] = closed(&house).await;
    let csv = house
        .get(WEI, "/v1/history/export?format=csv&tool=pay&locale=en")
        .await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(
        csv.headers["content-disposition"],
        "attachment; filename=\"placet-history.csv\""
    );
    let lines: Vec<_> = csv.text.split("\r\n").collect();
    assert_eq!(
        lines[0],
        "requestId,sessionId,agent,askedAt,closedAt,tookMs,outcome,by,risk,tool,rule,edited,gist,reason"
    );
    assert!(
        lines[1].starts_with(&format!("\"{pay}\",\"job\",\"agent\",\"20")),
        "{}",
        lines[1]
    );
    assert!(
        lines[1].contains("\"approved\",\"lin\",\"MEDIUM\",\"pay\",\"only lin pays\",\"true\","),
        "{}",
        lines[1]
    );
    assert_eq!(lines[2..], [""]);

    let rows = house.get(WEI, "/v1/history/export?outcome=rejected").await.text;
    let rows: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(
        (
            &row["requestId"],
            &row["outcome"],
            &row["by"],
            &row["reason"],
            &row["rule"]
        ),
        (
            &json!(push),
            &json!("rejected"),
            &json!(["wei"]),
            &json!("wait for the release"),
            &Value::Null
        )
    );
    let took = row["tookMs"].as_i64().unwrap();
    assert!((0..60_000).contains(&took), "{took}");
    house.close().await;
}

#[tokio::test]
async fn insights_count_what_closed() {
    let house = House::with_people().await;
    closed(&house).await;
    let got = house.get(WEI, "/v1/insights").await.ok();
    assert_eq!(
        got["all"],
        json!({
            "requests": 3, "decided": 3, "approved": 2, "rejected": 1, "expired": 0, "edited": 1,
            "hasty": got["all"]["hasty"], "meanMs": got["all"]["meanMs"],
        })
    );
    let names = |kind: &str| -> Vec<Value> {
        let tallies = got[kind].as_array().unwrap();
        tallies
            .iter()
            .map(|tally| json!([tally["name"], tally["requests"], tally["approved"]]))
            .collect()
    };
    assert_eq!(names("tools"), [json!(["bash", 2, 1]), json!(["pay", 1, 1])]);
    assert_eq!(
        names("rules"),
        [json!([null, 2, 1]), json!(["only lin pays", 1, 1])]
    );
    assert_eq!(names("people"), [json!(["lin", 2, 2]), json!(["wei", 1, 0])]);
    assert_eq!(got["days"].as_array().unwrap().len(), 1);
    assert_eq!(got["days"][0]["outcomes"], json!({"approved": 2, "rejected": 1}));
    let counted: u64 = got["decisionTimes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["count"].as_u64().unwrap())
        .sum();
    assert_eq!(counted, 3);
    assert!(got["medianMs"].as_u64().unwrap() <= got["ninetiethMs"].as_u64().unwrap());
    assert_eq!(got["standing"]["inForce"], 0);

    let before = house
        .get(
            WEI,
            "/v1/insights?since=2020-01-01T00:00:00Z&until=2020-02-01T00:00:00Z",
        )
        .await
        .ok();
    assert_eq!(
        (&before["all"]["requests"], &before["days"]),
        (&json!(0), &json!([]))
    );
    assert_eq!(before["medianMs"], Value::Null);
    let one = house.get(WEI, "/v1/insights?names=1").await.ok();
    assert_eq!(one["tools"].as_array().unwrap().len(), 1);
    for odd in ["utcOffset=900", "since=1999-01-01T00:00:00Z", "until=noon"] {
        let refused = house.get(WEI, &format!("/v1/insights?{odd}")).await;
        assert_eq!(refused.problem(), (400, "bad-request".into()), "{odd}");
    }
    house.close().await;
}
