//! What lasts beyond one answer: session memory, standing grants, modes and allow-lists.

use placet_core::ids::{InteractionId, StandingGrantId, ToolName};
use placet_core::interaction::{Answer, AnswerError, Remember};
use placet_core::listing::StandingRow;
use placet_core::outcome::Outcome;
use placet_core::policy::Mode;
use placet_core::principal::{Principal, Via};
use placet_core::standing::{Covers, Scope};
use placet_core::steps::{AnswerRefusal, RevokeRefusal, SettingRefusal};
use placet_core::time::Millis;
use placet_core::verdict::Step;
use placet_engine::{Engine, Proposed};
use placet_store::StepError;
use serde_json::json;

use crate::recorder::Recorder;
use crate::support::*;

const HOUSE: &str = r#"
[tools.wipe]
risk = "HIGH"
[tools.write]
category = "write"
"#;

/// Approvers may say "don't ask again" everywhere.
const WIDE: &str = "[approval]\nwide_grants = \"approvers\"\n";

/// The step that allowed a call at once.
async fn allowed_by(engine: &Engine, call: placet_core::call::ToolCall) -> Step {
    match engine.gate().propose(call).await.unwrap() {
        Proposed::Settled {
            verdict,
            outcome: Outcome::Allowed,
            ..
        } => verdict.step,
        other => panic!("expected it to be allowed, got {other:?}"),
    }
}

#[tokio::test]
async fn the_same_medium_call_is_not_asked_again_in_its_chat_for_300_seconds() {
    let house = House::new();
    let engine = house
        .start(house.builder(HOUSE).channel(Recorder::new("feishu")))
        .await;
    let (one, two) = (chat("feishu", "oc_1"), chat("feishu", "oc_2"));
    let zoe = Some("feishu:ou_zoe");
    let id = park(&engine, in_chat(deploy("a", "staging"), &one, zoe)).await;
    say(
        &engine,
        &id,
        Answer {
            by: by_zoe(),
            ..choice("zoe", "approve")
        },
    )
    .await
    .unwrap();
    assert_eq!(
        allowed_by(&engine, in_chat(deploy("b", "staging"), &one, zoe)).await,
        Step::Memory
    );
    park(&engine, in_chat(deploy("c", "canary"), &one, zoe)).await;
    park(&engine, in_chat(deploy("d", "staging"), &two, zoe)).await;
    house.pass(&engine, 299);
    assert_eq!(
        allowed_by(&engine, in_chat(deploy("e", "staging"), &one, zoe)).await,
        Step::Memory
    );
    house.pass(&engine, 1);
    park(&engine, in_chat(deploy("f", "staging"), &one, zoe)).await;
}

fn by_zoe() -> Principal {
    Principal::Person {
        person: person("feishu:ou_zoe"),
        via: Via::Chat(chat("feishu", "x").channel),
    }
}

#[tokio::test]
async fn high_risk_is_asked_every_time() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let wipe = |id: &str| call(id, "wipe", json!({ "disk": "sda" }));
    let Outcome::Approved { remembered_until, .. } =
        decide(&engine, wipe("a"), choice("lin", "approve")).await
    else {
        panic!()
    };
    assert_eq!(remembered_until, None);
    park(&engine, wipe("b")).await;
}

#[tokio::test]
async fn what_a_rule_asks_about_is_asked_every_time() {
    let house = House::new();
    let rule = "[[rules]]\nname = \"always ask\"\ntool = \"deploy\"\neffect = \"ask\"\n";
    let engine = house.open(rule).await;
    let outcome = decide(&engine, deploy("a", "staging"), choice("lin", "approve")).await;
    assert!(
        matches!(
            outcome,
            Outcome::Approved {
                remembered_until: None,
                ..
            }
        ),
        "{outcome:?}"
    );
    park(&engine, deploy("b", "staging")).await;
}

/// "Don't ask again" for calls to one place, for an hour.
fn never_again(id: &InteractionId, covers: Covers, uses_max: Option<u32>) -> (InteractionId, Answer) {
    let scope = Scope {
        tool: ToolName::new("fetch").unwrap(),
        session: None,
        workspace: None,
        covers,
    };
    let remember = Remember {
        scope,
        lasts: Millis::from_secs(3600),
        uses_max,
    };
    (
        id.clone(),
        Answer {
            remember: Some(remember),
            ..choice("lin", "approve")
        },
    )
}

fn fetch(id: &str, host: &str) -> placet_core::call::ToolCall {
    call(id, "fetch", json!({ "url": format!("https://{host}/{id}") }))
}

#[tokio::test]
async fn a_standing_grant_covers_is_counted_ends_and_can_be_revoked() {
    let house = House::new();
    let engine = house.open(WIDE).await;
    let id = park(&engine, fetch("a", "example.com")).await;
    let (id, answer) = never_again(&id, Covers::Hosts(vec!["example.com".into()]), None);
    say(&engine, &id, answer).await.unwrap();
    assert_eq!(
        allowed_by(&engine, fetch("b", "example.com")).await,
        Step::AllowList
    );
    assert_eq!(
        allowed_by(&engine, in_session(fetch("c", "example.com"), "another")).await,
        Step::AllowList
    );
    park(&engine, fetch("d", "example.org")).await;

    let [row] = engine.broker().standing().await.unwrap().try_into().unwrap();
    let StandingRow { grant, uses, revoked } = row;
    assert_eq!((&grant.by, uses, revoked), (&person("lin"), 2, false));
    let stranger = StandingGrantId::new("sg_nothing").unwrap();
    let refused = engine.broker().revoke_standing(&stranger, &person("lin")).await;
    assert!(
        matches!(refused, Err(StepError::Refused(RevokeRefusal::NotFound(_)))),
        "{refused:?}"
    );
    engine
        .broker()
        .revoke_standing(&grant.id, &person("wei"))
        .await
        .unwrap();
    let twice = engine.broker().revoke_standing(&grant.id, &person("wei")).await;
    assert!(
        matches!(twice, Err(StepError::Refused(RevokeRefusal::NotFound(_)))),
        "{twice:?}"
    );
    park(&engine, fetch("e", "example.com")).await;
    verify(&engine).await;
}

#[tokio::test]
async fn a_standing_grant_ends_by_the_wall_clock_and_by_its_uses() {
    let house = House::new();
    let engine = house.open(WIDE).await;
    let id = park(&engine, fetch("a", "example.com")).await;
    let (id, answer) = never_again(&id, Covers::Hosts(vec!["example.com".into()]), Some(1));
    say(&engine, &id, answer).await.unwrap();
    assert_eq!(
        allowed_by(&engine, fetch("b", "example.com")).await,
        Step::AllowList
    );
    let id = park(&engine, fetch("c", "example.com")).await;
    let (id, answer) = never_again(&id, Covers::Hosts(vec!["example.com".into()]), None);
    say(&engine, &id, answer).await.unwrap();
    house.clock.jump(3599);
    assert_eq!(
        allowed_by(&engine, fetch("d", "example.com")).await,
        Step::AllowList
    );
    house.clock.jump(1);
    park(&engine, fetch("e", "example.com")).await;
    assert!(engine.broker().standing().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_scope_that_does_not_cover_the_call_it_is_said_about_is_refused_and_nothing_is_decided() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, fetch("a", "example.com")).await;
    let (id, elsewhere) = never_again(&id, Covers::Hosts(vec!["example.org".into()]), None);
    let refused = say(&engine, &id, elsewhere).await;
    assert!(
        matches!(refused, Err(StepError::Refused(AnswerRefusal::ScopeMismatch))),
        "{refused:?}"
    );
    let (id, fitting) = never_again(&id, Covers::Hosts(vec!["example.com".into()]), None);
    let edited = Answer {
        edited_args: Some(args(json!({ "url": "https://example.com/b" }))),
        ..fitting
    };
    let refused = say(&engine, &id, edited).await;
    assert!(
        matches!(refused, Err(StepError::Refused(AnswerRefusal::ScopeMismatch))),
        "{refused:?}"
    );
    assert!(is_open(&engine, &id).await);

    let high = park(&engine, call("w", "wipe", json!({}))).await;
    let scope = Scope {
        tool: ToolName::new("wipe").unwrap(),
        session: None,
        workspace: None,
        covers: Covers::Exactly(call("w", "wipe", json!({})).digest()),
    };
    let remember = Some(Remember {
        scope,
        lasts: Millis::from_secs(60),
        uses_max: None,
    });
    let refused = say(
        &engine,
        &high,
        Answer {
            remember,
            ..choice("lin", "approve")
        },
    )
    .await;
    assert!(
        matches!(
            refused,
            Err(StepError::Refused(AnswerRefusal::Invalid(
                AnswerError::RememberNotOffered
            )))
        ),
        "{refused:?}"
    );
    assert!(engine.broker().standing().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_sessions_mode_frees_that_session_alone_and_never_high_risk() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let write = |id: &str| {
        call(
            id,
            "write",
            json!({ "path": format!("{id}.txt"), "content": "x" }),
        )
    };
    park(&engine, write("a")).await;
    engine
        .broker()
        .set_mode(&session("s"), Mode::AutoEdit, &person("lin"))
        .await
        .unwrap();
    assert_eq!(allowed_by(&engine, write("b")).await, Step::AutoEdit);
    park(&engine, deploy("c", "x")).await;
    engine
        .broker()
        .set_mode(&session("s"), Mode::Yolo, &person("lin"))
        .await
        .unwrap();
    assert_eq!(allowed_by(&engine, deploy("d", "y")).await, Step::Yolo);
    park(&engine, call("e", "wipe", json!({}))).await;
    park(&engine, in_session(deploy("f", "y"), "another")).await;
    engine
        .broker()
        .set_mode(&session("s"), Mode::Default, &person("lin"))
        .await
        .unwrap();
    park(&engine, deploy("g", "z")).await;
    engine.broker().end_session(&session("s"), "lin").await.unwrap();
    let over = engine
        .broker()
        .set_mode(&session("s"), Mode::Yolo, &person("lin"))
        .await;
    assert!(
        matches!(over, Err(StepError::Refused(SettingRefusal::SessionOver(_)))),
        "{over:?}"
    );
}

#[tokio::test]
async fn an_allowed_tool_is_not_asked_about_in_its_session_and_uses_up_no_standing_grant() {
    let house = House::new();
    let engine = house.open(WIDE).await;
    let id = park(&engine, fetch("a", "example.com")).await;
    let (id, answer) = never_again(&id, Covers::Hosts(vec!["example.com".into()]), None);
    say(&engine, &id, answer).await.unwrap();
    let tool = ToolName::new("fetch").unwrap();
    engine
        .broker()
        .allow_tool(&session("s"), &tool, &person("lin"))
        .await
        .unwrap();
    engine
        .broker()
        .allow_tool(&session("s"), &tool, &person("lin"))
        .await
        .unwrap();
    assert_eq!(
        allowed_by(&engine, fetch("b", "example.com")).await,
        Step::AllowList
    );
    assert_eq!(
        allowed_by(&engine, fetch("c", "example.org")).await,
        Step::AllowList
    );
    park(&engine, in_session(fetch("d", "example.org"), "another")).await;
    let [StandingRow { uses, .. }] = engine.broker().standing().await.unwrap().try_into().unwrap();
    assert_eq!(uses, 0);
    let allowed = story(&engine, "s")
        .await
        .into_iter()
        .filter(|name| *name == "toolAllowed")
        .count();
    assert_eq!(allowed, 1, "said twice, it is one event");
}

#[tokio::test]
async fn a_clock_that_is_set_back_makes_no_memory_last_longer() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    decide(&engine, deploy("a", "staging"), choice("lin", "approve")).await;
    assert_eq!(allowed_by(&engine, deploy("b", "staging")).await, Step::Memory);
    house.clock.jump(-3600);
    park(&engine, deploy("c", "staging")).await;
}
