//! Every endpoint with every role that may not call it, taken from the server's own description.

use serde_json::{Value, json};

use crate::house::{House, LIN, succeeded};

/// Method, path and roles of every operation. A new endpoint is in here by itself.
async fn operations(house: &House) -> Vec<(String, String, Vec<String>)> {
    let document = house.say("GET", "/openapi.json", &[], None).await.ok();
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let roles = operation["x-roles"]
                .as_array()
                .unwrap_or_else(|| panic!("{method} {path} names no roles"));
            let roles = roles
                .iter()
                .map(|role| role.as_str().unwrap().to_owned())
                .collect();
            found.push((method.to_uppercase(), path.clone(), roles));
        }
    }
    assert!(found.len() >= 25, "{found:?}");
    found
}

/// The path with names of things that exist.
fn concrete(path: &str, question: &str) -> String {
    path.replace("{callId}", "c1")
        .replace("{requestId}", question)
        .replace("{sessionId}", "job")
        .replace("{grantId}", "sg_1")
        .replace("{deviceId}", "dev_1")
}

fn body(method: &str) -> Option<Value> {
    (method == "POST").then(|| json!({}))
}

#[tokio::test]
async fn a_role_gets_nowhere_where_it_is_not_named() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let question = house
        .ask(&agent, "c1", "deploy", json!({"to": "production"}))
        .await;
    let head = house.state.engine().head().await.unwrap();
    let tokens = [("agent", agent.as_str()), ("approver", LIN)];
    for (method, path, roles) in operations(&house).await {
        let path = concrete(&path, &question);
        if roles.iter().any(|role| role == "anybody" || role == "signature") {
            continue;
        }
        let nobody = house.say(&method, &path, &[], body(&method)).await;
        assert_eq!(
            nobody.problem(),
            (401, "unauthenticated".into()),
            "{method} {path} without a token"
        );
        let wrong = house
            .send("placet_admin_0000000000000000", &method, &path, body(&method))
            .await;
        assert!(
            matches!(wrong.status, 401 | 429),
            "{method} {path} with a wrong token: {}",
            wrong.text
        );
        for (role, token) in tokens {
            if !roles.iter().any(|named| named == role) {
                let refused = house.send(token, &method, &path, body(&method)).await;
                assert_eq!(
                    refused.problem(),
                    (403, "forbidden".into()),
                    "{method} {path} as {role}"
                );
            }
        }
    }
    assert_eq!(
        house.state.engine().head().await.unwrap(),
        head,
        "nothing came of any of it"
    );
    house.close().await;
}

#[tokio::test]
async fn every_answer_is_described() {
    let house = House::with_people().await;
    let document = house.say("GET", "/openapi.json", &[], None).await.ok();
    let admin = house.token("admin");
    for (method, path, _) in operations(&house).await {
        let described = &document["paths"][&path][method.to_lowercase()]["responses"];
        if path == "/v1/events" {
            continue;
        }
        let answer = house
            .send(&admin, &method, &concrete(&path, "int_1"), body(&method))
            .await;
        assert!(
            described.get(answer.status.to_string()).is_some(),
            "{method} {path} answers {}",
            answer.status
        );
        assert_ne!(answer.status / 100, 5, "{method} {path}: {}", answer.text);
    }
    house.close().await;
}

#[tokio::test]
async fn an_admin_of_the_configuration_is_one_and_a_person_is_who_their_token_says() {
    let house = House::with_people().await;
    let me = house.get(crate::house::WEI, "/v1/me").await.ok();
    assert_eq!((&me["person"], &me["role"]), (&json!("wei"), &json!("admin")));
    let me = house.get(LIN, "/v1/me").await.ok();
    assert_eq!(
        (&me["person"], &me["role"], &me["product"]),
        (&json!("lin"), &json!("approver"), &json!("Placet"))
    );
    let (approver, admin) = (house.token("approver"), house.token("admin"));
    let [local, same] = [
        house.get(&approver, "/v1/me").await.ok(),
        house.get(&admin, "/v1/me").await.ok(),
    ];
    assert_eq!(local["person"], same["person"], "one person, so one vote");
    assert!(succeeded(house.get(&admin, "/metrics").await.status));
    house.close().await;
}
