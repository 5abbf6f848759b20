//! Who an agent says it works for: only the platform or the operator vouches for them.

use serde_json::{Value, json};

use crate::house::{Answer, House};

const SECRET: &str = "a secret of the ops channel";
/// HIGH.
const WIPE: &str = "rm -rf x";

/// A house with the channel `ops`, where `u-lin` is lin.
pub(crate) async fn house() -> House {
    let data = tempfile::tempdir().unwrap();
    let secret = data.path().join("SECRET");
    std::fs::write(&secret, SECRET).unwrap();
    let config = format!(
        "[[people]]\nname = \"lin\"\nops = \"u-lin\"\n\
         [channels.ops]\ntype = \"webhook\"\nurl = \"http://127.0.0.1:9/\"\nsecret = \"file:{}\"\n",
        secret.display()
    );
    House::open(data, &config).await
}

/// A message that the platform signed; whether it was consumed.
async fn hears(house: &House, sender: &str, id: &str, content: &str) -> Value {
    let body =
        json!({"channel": "ops", "chatId": "room", "senderId": sender, "messageId": id, "content": content});
    signed(house, body).await.ok()["consumed"].clone()
}

/// A body that the platform signed.
pub(crate) async fn signed(house: &House, body: Value) -> Answer {
    let channel = placet_core::ids::ChannelName::new("ops").unwrap();
    let key = placet_engine::secret::SecretText::new(SECRET).unwrap();
    let webhook = placet_channels::webhook::Webhook::new(channel, "http://127.0.0.1:9/", &key).unwrap();
    let signature = webhook.sign(body.to_string().as_bytes(), house.state.now());
    let signed = [("placet-signature", signature.as_str())];
    house.say("POST", "/v1/inbound", &signed, Some(body)).await
}

/// What becomes of a call for which the agent names a user of the chat.
pub(crate) async fn proposed(house: &House, id: &str, user: &str, command: &str) -> Value {
    let call = json!({"sessionId": "ops:room", "callId": id, "tool": "bash", "args": {"command": command}, "userId": user});
    house.post(&house.token("agent"), "/v1/calls", call).await.ok()
}

#[tokio::test]
async fn an_account_that_only_the_agent_names_is_not_asked_and_approves_nothing() {
    let house = house().await;
    for (id, command) in [("high", WIPE), ("medium", "make deploy")] {
        let call = proposed(&house, id, "u-eve", command).await;
        assert_eq!(call["status"], "denied", "{call}");
        assert_eq!(call["forModel"]["outcome"], "nobody_to_ask", "{call}");
    }
    assert_eq!(
        hears(&house, "u-eve", "m1", "yes").await,
        false,
        "nothing was asked"
    );
    for id in ["high", "medium"] {
        let claim = format!("/v1/calls/{id}/claim");
        let claim = house.send(&house.token("agent"), "POST", &claim, None).await;
        assert_eq!(claim.status, 409, "{}", claim.text);
    }
    // Another chat's member is not this chat's.
    let call = json!({"sessionId": "ops:lobby", "callId": "lobby", "tool": "bash", "args": {"command": "make deploy"}, "userId": "u-eve"});
    let call = house.post(&house.token("agent"), "/v1/calls", call).await.ok();
    assert_eq!(call["status"], "denied", "{call}");
    house.close().await;
}

#[tokio::test]
async fn an_account_the_platform_vouched_for_is_asked_but_never_approves_high() {
    let house = house().await;
    assert_eq!(hears(&house, "u-zoe", "m1", "please deploy").await, false);
    let medium = proposed(&house, "medium", "u-zoe", "make deploy").await;
    assert_eq!(medium["status"], "pending", "{medium}");
    assert_eq!(hears(&house, "u-zoe", "m2", "yes").await, true);
    let agent = house.token("agent");
    assert_eq!(
        house.get(&agent, "/v1/calls/medium?wait=30").await.ok()["status"],
        "approved"
    );

    // HIGH goes to the inbox: the account's "yes" decides nothing, a configured person's does.
    let high = proposed(&house, "high", "u-zoe", WIPE).await;
    assert_eq!(high["status"], "pending", "{high}");
    hears(&house, "u-zoe", "m3", "yes").await;
    assert_eq!(
        house.get(&agent, "/v1/calls/high").await.ok()["status"],
        "pending"
    );
    let question = high["requestId"].as_str().unwrap();
    let approve = json!({"selectedOptionId": "approve"});
    house
        .answer(&house.token("approver"), question, approve)
        .await
        .ok();
    assert_eq!(
        house.get(&agent, "/v1/calls/high?wait=30").await.ok()["status"],
        "approved"
    );
    house.close().await;
}

#[tokio::test]
async fn a_person_the_operator_mapped_counts_without_having_written_before() {
    let house = house().await;
    let call = proposed(&house, "c1", "u-lin", "make deploy").await;
    assert_eq!(call["status"], "pending", "{call}");
    assert_eq!(hears(&house, "u-lin", "m1", "yes").await, true);
    let agent = house.token("agent");
    assert_eq!(
        house.get(&agent, "/v1/calls/c1?wait=30").await.ok()["status"],
        "approved"
    );
    house.close().await;
}

/// Each names a channel of which no one could answer: one that this process does not connect, one that does not exist.
#[tokio::test]
async fn a_call_that_no_one_can_answer_is_denied_at_once_with_the_typed_reason() {
    let house = house().await;
    for (channel, user) in [("terminal", "nobody"), ("terminal", "u-lin"), ("smoke", "u-lin")] {
        let call = json!({"sessionId": "s", "tool": "bash", "args": {"command": "make deploy"},
            "channel": channel, "chatId": "c", "userId": user, "callId": format!("{channel}-{user}")});
        let call = house.post(&house.token("agent"), "/v1/calls", call).await.ok();
        assert_eq!(call["status"], "denied", "{call}");
        assert_eq!(call["forModel"]["outcome"], "nobody_to_ask", "{call}");
    }
    house.close().await;
}

/// lin has no token, so only the chat could reach them; the platform's address answers nothing.
#[tokio::test]
async fn what_a_channel_cannot_deliver_an_admin_answers_in_the_inbox() {
    let house = house().await;
    let call = proposed(&house, "c1", "u-lin", "make deploy").await;
    let question = call["requestId"].as_str().unwrap();
    let approve = || json!({"selectedOptionId": "approve"});
    let by_approver = house.answer(&house.token("approver"), question, approve()).await;
    assert_eq!(by_approver.status, 404, "{}", by_approver.text);
    house
        .answer(&house.token("admin"), question, approve())
        .await
        .ok();
    let agent = house.token("agent");
    let decided = house.get(&agent, "/v1/calls/c1?wait=30").await.ok();
    assert_eq!(decided["status"], "approved", "{decided}");
    house.close().await;
}
