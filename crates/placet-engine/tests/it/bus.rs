//! The bus: what people write answers questions first, and reaches the agent only if it answers none.

use std::sync::Arc;

use placet_core::call::Chat;
use placet_core::ids::{ChannelName, ChatId, InteractionId};
use placet_core::journal::InboundMessage;
use placet_core::messages::chat;
use placet_core::outcome::Outcome;
use placet_core::steps::InboundOutcome;
use placet_engine::Engine;
use placet_engine::bus::{Author, InboundError};
use serde_json::json;

use crate::recorder::{Mood, Recorder, What};
use crate::support::*;

const HOUSE: &str = r#"
[tools.wipe]
risk = "HIGH"

[channels.feishu]
type = "webhook"
url = "https://feishu.example.com"
secret = "env:FEISHU"
"#;

/// A person of the operator's, who may approve HIGH; the room is their own chat.
const KIM: &str = "[[people]]\nname = \"kim\"\nfeishu = \"oc_1\"\n";

struct Room {
    house: House,
    engine: Engine,
    feishu: Arc<Recorder>,
    chat: Chat,
}

impl Room {
    async fn new(config: &str) -> Self {
        let (house, feishu) = (House::new(), Recorder::new("feishu"));
        let engine = house.start(house.builder(config).channel(feishu.clone())).await;
        Self {
            house,
            engine,
            feishu,
            chat: chat("feishu", "oc_1"),
        }
    }

    /// A question for Zoe in her chat.
    async fn ask(&self, id: &str, to: &str) -> InteractionId {
        park(
            &self.engine,
            in_chat(deploy(id, to), &self.chat, Some("feishu:ou_zoe")),
        )
        .await
    }

    async fn hear(&self, sender: &str, id: &str, content: &str) -> InboundOutcome {
        self.engine
            .bus()
            .publish_inbound(message(sender, id, content), Author::Human)
            .await
            .unwrap()
    }

    async fn code(&self, id: &InteractionId) -> String {
        asked(&self.engine, id).await.code.to_string()
    }

    async fn queued(&self) -> String {
        let session = placet_core::ids::SessionId::of_chat(&self.chat.channel, &self.chat.id).unwrap();
        soon(self.engine.bus().consume_inbound(&session))
            .await
            .unwrap()
            .content
    }
}

fn message(sender: &str, id: &str, content: &str) -> InboundMessage {
    InboundMessage {
        channel: ChannelName::new("feishu").unwrap(),
        chat_id: ChatId::new("oc_1").unwrap(),
        sender_id: sender.to_owned(),
        message_id: id.to_owned(),
        content: content.to_owned(),
        author: Author::Human,
    }
}

#[tokio::test]
async fn a_reply_is_consumed_and_other_talk_is_queued() {
    let room = Room::new(HOUSE).await;
    assert_eq!(
        room.hear("ou_zoe", "m1", "good morning").await,
        InboundOutcome::Queued
    );
    let id = room.ask("c", "staging").await;
    assert_eq!(
        room.hear("ou_zoe", "m2", "批准").await,
        InboundOutcome::Consumed(vec![id])
    );
    assert!(outcome(&room.engine, "c").await.permits());
    assert_eq!(
        room.hear("ou_zoe", "m3", "yes").await,
        InboundOutcome::Queued,
        "nothing is open any more"
    );
    assert_eq!(
        (room.queued().await.as_str(), room.queued().await.as_str()),
        ("good morning", "yes")
    );
    verify(&room.engine).await;
}

/// queryclaw read "不确认" and "why?" as yes; each approves nothing here.
#[tokio::test]
async fn what_is_not_a_yes_refuses_with_those_words_as_the_reason() {
    let room = Room::new("[approval]\nrejections_max = 100\n").await;
    for said in [
        "不确认",
        "why?",
        "not ok",
        "yes, but later",
        "maybe",
        "不执行",
        "today",
    ] {
        let question = room.ask(said, said).await;
        assert_eq!(
            room.hear("ou_zoe", said, said).await,
            InboundOutcome::Consumed(vec![question])
        );
        assert!(
            matches!(outcome(&room.engine, said).await, Outcome::Rejected { .. }),
            "{said}"
        );
    }
    let Outcome::Rejected { reason, .. } = outcome(&room.engine, "why?").await else {
        panic!()
    };
    assert_eq!(reason.as_deref(), Some("why?"));
}

#[tokio::test]
async fn other_text_is_queued_and_the_question_stays_open_when_so_configured() {
    let room = Room::new("[approval]\non_other_reply = \"queue\"\n").await;
    let id = room.ask("c", "staging").await;
    assert_eq!(
        room.hear("ou_zoe", "m1", "what does it cost?").await,
        InboundOutcome::Queued
    );
    assert!(is_open(&room.engine, &id).await);
    assert_eq!(room.queued().await, "what does it cost?");
    assert_eq!(
        room.hear("ou_zoe", "m2", "no: too much").await,
        InboundOutcome::Consumed(vec![id])
    );
    let reason = Some("too much".to_owned());
    let rejected = Outcome::Rejected {
        by: person("feishu:ou_zoe"),
        reason,
        instruction: None,
    };
    assert_eq!(outcome(&room.engine, "c").await, rejected);
}

#[tokio::test]
async fn what_is_said_to_a_colleague_decides_nothing_and_waits_for_the_agent() {
    let room = Room::new(HOUSE).await;
    let id = room.ask("c", "staging").await;
    for said in ["@wei ok", "@王伟 好的", "@wei no", "<@U7> yes"] {
        assert_eq!(
            room.hear("ou_zoe", said, said).await,
            InboundOutcome::Queued,
            "{said}"
        );
        assert!(is_open(&room.engine, &id).await, "{said}");
        assert_eq!(room.queued().await, said);
    }
    assert_eq!(
        room.hear("ou_zoe", "m", "@Feishu 好的").await,
        InboundOutcome::Consumed(vec![id])
    );
    assert!(outcome(&room.engine, "c").await.permits());
}

#[tokio::test]
async fn the_same_message_twice_is_one_message() {
    let room = Room::new(HOUSE).await;
    assert_eq!(room.hear("ou_zoe", "m1", "hello").await, InboundOutcome::Queued);
    assert_eq!(
        room.hear("ou_zoe", "m1", "hello").await,
        InboundOutcome::Duplicate
    );
    let (a, b) = (room.ask("a", "a").await, InboundOutcome::Duplicate);
    room.hear("ou_zoe", "m2", "yes").await;
    let next = room.ask("b", "b").await;
    assert_eq!(
        room.hear("ou_zoe", "m2", "yes").await,
        b,
        "delivered again by the platform, it must not approve {next}"
    );
    assert!(!is_open(&room.engine, &a).await && is_open(&room.engine, &next).await);
}

#[tokio::test]
async fn a_bystander_is_told_and_the_question_stays_open() {
    let room = Room::new(HOUSE).await;
    let id = room.ask("c", "staging").await;
    room.feishu.given(1).await;
    assert_eq!(
        room.hear("ou_eve", "m1", "yes").await,
        InboundOutcome::Consumed(vec![])
    );
    let said = room.feishu.messages(2).await;
    assert_eq!(said, [chat::not_an_approver().to_string()]);
    assert_eq!(
        room.hear("ou_eve", "m2", "nice weather").await,
        InboundOutcome::Queued
    );
    assert!(is_open(&room.engine, &id).await);
}

#[tokio::test]
async fn a_bot_never_counts_and_is_never_answered() {
    let room = Room::new(HOUSE).await;
    let id = room.ask("c", "staging").await;
    let heard = room
        .engine
        .bus()
        .publish_inbound(message("ou_zoe", "m1", "yes"), Author::Bot)
        .await
        .unwrap();
    assert_eq!(heard, InboundOutcome::Queued);
    assert!(is_open(&room.engine, &id).await);
    room.hear("ou_zoe", "m2", "yes").await;
    let given = room.feishu.given(3).await;
    let messages = given
        .iter()
        .filter(|item| matches!(item.what, What::Message(_)))
        .count();
    assert_eq!(messages, 1, "only the person is answered: {given:?}");
}

#[tokio::test]
async fn with_several_open_a_bare_yes_asks_which_one_and_a_code_decides() {
    let room = Room::new(HOUSE).await;
    let (a, b) = (room.ask("a", "a").await, room.ask("b", "b").await);
    let (code_a, code_b) = (room.code(&a).await, room.code(&b).await);
    room.feishu.given(2).await;
    assert_eq!(
        room.hear("ou_zoe", "m1", "yes").await,
        InboundOutcome::Consumed(vec![])
    );
    let [which] = room.feishu.messages(3).await.try_into().unwrap();
    assert!(which.contains(&code_a) && which.contains(&code_b), "{which}");
    assert!(is_open(&room.engine, &a).await && is_open(&room.engine, &b).await);
    let reply = format!("yes {}", code_b.to_lowercase());
    assert_eq!(
        room.hear("ou_zoe", "m2", &reply).await,
        InboundOutcome::Consumed(vec![b.clone()])
    );
    assert!(is_open(&room.engine, &a).await && !is_open(&room.engine, &b).await);
    let stale = room.hear("ou_zoe", "m3", &format!("yes #{code_b}")).await;
    assert_eq!(
        stale,
        InboundOutcome::Consumed(vec![]),
        "a stale code answers nothing else instead"
    );
    assert!(is_open(&room.engine, &a).await);
}

#[tokio::test]
async fn a_stale_code_is_told_apart_from_somebody_elses_question() {
    let room = Room::new(HOUSE).await;
    assert_eq!(
        room.hear("ou_zoe", "m1", "yes #K7QP").await,
        InboundOutcome::Consumed(vec![])
    );
    assert_eq!(
        room.feishu.messages(1).await,
        [chat::unknown_code("K7QP").to_string()]
    );
}

#[tokio::test]
async fn approving_all_leaves_high_risk_to_be_answered_one_by_one() {
    let room = Room::new(&format!("{HOUSE}{KIM}")).await;
    let for_kim = |call| in_chat(call, &room.chat, Some("kim"));
    let a = park(&room.engine, for_kim(deploy("a", "a"))).await;
    let b = park(&room.engine, for_kim(deploy("b", "b"))).await;
    let high = park(&room.engine, for_kim(call("w", "wipe", json!({})))).await;
    room.feishu.given(3).await;
    let InboundOutcome::Consumed(touched) = room.hear("oc_1", "m1", "全部批准").await else {
        panic!()
    };
    assert_eq!(touched, [a, b]);
    assert!(is_open(&room.engine, &high).await);
    let said = room.feishu.messages(8).await.join("\n");
    let code = room.code(&high).await;
    assert!(said.contains(&chat::one_by_one([&code]).to_string()), "{said}");
    room.hear("oc_1", "m2", "yes").await;
    assert!(outcome(&room.engine, "w").await.permits());
    verify(&room.engine).await;
}

#[tokio::test]
async fn high_risk_is_not_approved_from_a_surface_that_showed_only_a_part() {
    let room = Room::new(&format!("{HOUSE}{KIM}")).await;
    room.feishu.next(Mood::Small(200));
    let long = json!({ "disk": "x".repeat(2000) });
    let id = park(
        &room.engine,
        in_chat(call("w", "wipe", long), &room.chat, Some("kim")),
    )
    .await;
    room.feishu.given(1).await;
    room.hear("oc_1", "m1", "yes").await;
    assert!(is_open(&room.engine, &id).await);
    let [refusal] = room.feishu.messages(2).await.try_into().unwrap();
    assert!(refusal.contains("not everything was shown"), "{refusal}");
    room.hear("oc_1", "m2", "no").await;
    assert!(
        !is_open(&room.engine, &id).await,
        "saying no needs nothing to be shown"
    );
}

#[tokio::test]
async fn queued_messages_are_consumed_in_order_and_survive_a_restart() {
    let room = Room::new(HOUSE).await;
    for (id, text) in [("m1", "one"), ("m2", "two"), ("m3", "three")] {
        room.hear("ou_zoe", id, text).await;
    }
    assert_eq!(room.queued().await, "one");
    let Room {
        house, engine, chat, ..
    } = room;
    engine.shutdown().await.unwrap();
    let engine = house.open(HOUSE).await;
    let session = placet_core::ids::SessionId::of_chat(&chat.channel, &chat.id).unwrap();
    let bus = engine.bus();
    assert_eq!(soon(bus.consume_inbound(&session)).await.unwrap().content, "two");
    assert_eq!(
        soon(bus.consume_inbound(&session)).await.unwrap().content,
        "three"
    );
    let heard = bus
        .publish_inbound(message("ou_zoe", "m3", "three"), Author::Human)
        .await
        .unwrap();
    assert_eq!(heard, InboundOutcome::Duplicate, "also after a restart");
    let waiting = tokio::spawn({
        let (bus, session) = (engine.bus(), session.clone());
        async move { bus.consume_inbound(&session).await }
    });
    bus.publish_inbound(message("ou_zoe", "m4", "four"), Author::Human)
        .await
        .unwrap();
    assert_eq!(soon(waiting).await.unwrap().unwrap().content, "four");
}

#[tokio::test]
async fn a_message_that_cannot_be_told_from_another_is_refused() {
    let room = Room::new(HOUSE).await;
    let bus = room.engine.bus();
    let publish = |message| bus.publish_inbound(message, Author::Human);
    assert!(matches!(
        publish(message("ou_zoe", "", "yes")).await,
        Err(InboundError::MessageId(0))
    ));
    assert!(matches!(
        publish(message("", "m1", "yes")).await,
        Err(InboundError::Name(_))
    ));
    assert!(matches!(
        publish(message("a\u{7}", "m2", "yes")).await,
        Err(InboundError::Name(_))
    ));
    let long = "x".repeat(300 * 1024);
    assert!(matches!(
        publish(message("ou_zoe", "m3", &long)).await,
        Err(InboundError::TooLong(_))
    ));
    assert_eq!(
        room.hear("ou_zoe", "m3", "hello").await,
        InboundOutcome::Queued,
        "nothing of it was kept"
    );
}

#[tokio::test]
async fn an_outbound_message_is_delivered_once_per_key() {
    let room = Room::new(HOUSE).await;
    for _ in 0..2 {
        room.engine
            .bus()
            .publish_outbound(&room.chat, "k1", "done")
            .await
            .unwrap();
    }
    room.engine
        .bus()
        .publish_outbound(&room.chat, "k2", "really")
        .await
        .unwrap();
    assert_eq!(room.feishu.messages(2).await, ["done", "really"]);
}

#[tokio::test]
async fn a_reply_that_arrives_before_the_record_of_its_questions_delivery_waits_for_the_record() {
    let room = Room::new(&format!("{HOUSE}{KIM}")).await;
    let (shown, slow) = tokio::sync::oneshot::channel();
    room.feishu.next(Mood::Slow(slow));
    let wipe = in_chat(call("c", "wipe", json!({})), &room.chat, Some("kim"));
    let id = park(&room.engine, wipe).await;
    // Kim sees the question, and the platform has not confirmed that yet.
    room.feishu.given(1).await;
    let bus = room.engine.bus();
    let reply = message("oc_1", "m1", "yes");
    let reply = tokio::spawn(async move { bus.publish_inbound(reply, Author::Human).await.unwrap() });
    // Other messages are not held up, and each takes as long as the reply would.
    for number in 0..20 {
        let heard = room.hear("ou_zoe", &format!("z{number}"), "good morning").await;
        assert_eq!(heard, InboundOutcome::Queued);
    }
    assert!(
        !reply.is_finished(),
        "it was answered before it was known what was shown"
    );
    shown.send(()).unwrap();
    assert_eq!(soon(reply).await.unwrap(), InboundOutcome::Consumed(vec![id]));
    assert!(outcome(&room.engine, "c").await.permits());
    verify(&room.engine).await;
}

#[tokio::test]
async fn a_delivery_that_is_never_recorded_does_not_hold_a_reply_for_ever() {
    let room = Room::new(&format!("{HOUSE}{KIM}")).await;
    room.feishu.next(Mood::Hang);
    let wipe = in_chat(call("c", "wipe", json!({})), &room.chat, Some("kim"));
    let id = park(&room.engine, wipe).await;
    room.feishu.given(1).await;
    assert_eq!(
        room.hear("oc_1", "m1", "yes").await,
        InboundOutcome::Consumed(vec![id.clone()])
    );
    assert!(is_open(&room.engine, &id).await, "what was shown is not known");
}

#[tokio::test]
async fn a_secret_is_not_taken_from_a_chat_which_keeps_what_is_typed() {
    let room = Room::new(&format!("{HOUSE}{KIM}")).await;
    let request = json!({
        "sessionId": "feishu:oc_1", "type": "MISSING_INFO", "title": "Key", "message": "Which key?",
        "options": [{"optionId": "provide", "label": "Key", "action": "PROVIDE_INFO", "requiresInput": true, "inputSecret": true}],
    });
    let origin = in_chat(deploy("c", "x"), &room.chat, Some("kim")).origin;
    let request = serde_json::from_value(request).unwrap();
    let id = room.engine.broker().ask(request, origin).await.unwrap().id;
    room.feishu.given(1).await;
    assert_eq!(
        room.hear("oc_1", "m1", "k-123").await,
        InboundOutcome::Consumed(vec![id.clone()])
    );
    assert!(is_open(&room.engine, &id).await);
    assert!(room.feishu.messages(2).await[0].contains("answer in the inbox"));
    say(&room.engine, &id, because("kim", "provide", "k-123"))
        .await
        .unwrap();
    let answered = format!("{:?}", interaction(&room.engine, &id).await);
    assert!(
        answered.contains("sealed_v1_") && !answered.contains("k-123"),
        "{answered}"
    );
    verify(&room.engine).await;
}
