//! Cards with buttons: the platform calls back with the question's id, and the same people may answer as by typing.

use serde_json::{Value, json};

use crate::house::House;
use crate::vouching::{house, proposed, signed};

/// A button that was pressed in the room.
fn pressed(sender: &str, id: &str, request: &Value, option: &str) -> Value {
    json!({"channel": "ops", "chatId": "room", "senderId": sender, "messageId": id,
        "requestId": request, "selectedOptionId": option})
}

async fn status(house: &House, call: &str) -> Value {
    let agent = house.token("agent");
    house.get(&agent, &format!("/v1/calls/{call}")).await.ok()["status"].clone()
}

#[tokio::test]
async fn the_callback_of_a_card_is_matched_to_its_pending_item_by_confirmation_id() {
    let house = house().await;
    // Two are open: a bare yes would ask which one, and a button does not need to.
    let first = proposed(&house, "c1", "u-lin", "make deploy").await;
    let second = proposed(&house, "c2", "u-lin", "make release").await;
    let yes = pressed("u-lin", "m1", &second["requestId"], "approve");
    assert_eq!(signed(&house, yes).await.ok(), json!({"consumed": true}));
    assert_eq!(status(&house, "c2").await, "approved");
    assert_eq!(status(&house, "c1").await, "pending");
    let mut no = pressed("u-lin", "m2", &first["requestId"], "reject");
    no["feedback"] = "not on a Friday".into();
    no["data"] = json!({"until": "Monday"});
    assert_eq!(signed(&house, no).await.ok(), json!({"consumed": true}));
    let agent = house.token("agent");
    let rejected = house.get(&agent, "/v1/calls/c1").await.ok();
    assert_eq!(rejected["status"], "rejected", "{rejected}");
    assert_eq!(rejected["feedback"], "not on a Friday", "{rejected}");
    house.close().await;
}

#[tokio::test]
async fn the_same_rules_say_who_may_press_a_button() {
    let house = house().await;
    let call = proposed(&house, "c1", "u-lin", "make deploy").await;
    let request = &call["requestId"];
    let mut bot = pressed("u-lin", "m1", request, "approve");
    bot["isBot"] = true.into();
    let mut elsewhere = pressed("u-lin", "m2", request, "approve");
    elsewhere["chatId"] = "lobby".into();
    for body in [
        bot,
        elsewhere,
        pressed("u-eve", "m3", request, "approve"),
        pressed("u-lin", "m4", &json!("int_none"), "approve"),
        pressed("u-lin", "m5", request, "no such option"),
    ] {
        assert_eq!(
            signed(&house, body.clone()).await.ok(),
            json!({"consumed": true}),
            "{body}"
        );
        assert_eq!(status(&house, "c1").await, "pending", "{body}");
    }
    let forged = pressed("u-lin", "m6", request, "approve");
    let forged = house
        .say(
            "POST",
            "/v1/inbound",
            &[("placet-signature", "t=1,v1=00")],
            Some(forged),
        )
        .await;
    assert_eq!(forged.status, 401, "{}", forged.text);
    assert_eq!(status(&house, "c1").await, "pending");
    house.close().await;
}

#[tokio::test]
async fn a_message_is_a_text_or_a_choice_and_never_half_of_one() {
    let house = house().await;
    let whole = pressed("u-lin", "m1", &json!("int_1"), "approve");
    for (field, value) in [
        ("requestId", Value::Null),
        ("selectedOptionId", Value::Null),
        ("content", json!("yes")),
    ] {
        let mut body = whole.clone();
        body[field] = value;
        assert_eq!(signed(&house, body.clone()).await.status, 400, "{body}");
    }
    let data = json!({"channel": "ops", "chatId": "room", "senderId": "u-lin", "messageId": "m2",
        "content": "hello", "data": {}});
    assert_eq!(signed(&house, data).await.status, 400);
    house.close().await;
}
