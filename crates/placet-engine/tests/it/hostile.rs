//! Bad input of every kind: a clear error or a denial, nothing run, and the store still works.

use std::fmt::Write as _;

use async_trait::async_trait;
use placet_core::call::{ARGS_BYTES_MAX, Args, ArgsError, ToolCall};
use placet_core::config::Config;
use placet_core::confine::{Confinement, Level};
use placet_core::evidence::Evidence;
use placet_core::ids::AgentId;
use placet_core::interaction::{Answer, AnswerError, InteractionRequest, Locale, RequestError};
use placet_core::outcome::Outcome;
use placet_core::render::{Markup, Surface, to_text};
use placet_core::steps::{AnswerRefusal, AskRefusal};
use placet_core::time::Millis;
use placet_core::tool::{Category, Risk};
use placet_core::verdict::Decision;
use placet_engine::toolbox::Toolbox;
use placet_engine::{Engine, Proposed, Submission};
use placet_store::StepError;
use serde_json::{Value, json};

use crate::support::*;

/// Everything still works after whatever came before.
async fn works(engine: &Engine, id: &str) {
    assert!(
        decide(engine, in_session(deploy(id, id), id), choice("lin", "approve"))
            .await
            .permits()
    );
    verify(engine).await;
}

#[tokio::test]
async fn arguments_that_are_too_large_or_too_deep_are_refused_at_the_edge() {
    let huge = format!(r#"{{"a":"{}"}}"#, "x".repeat(ARGS_BYTES_MAX));
    assert!(matches!(
        Args::parse(huge.as_bytes()),
        Err(ArgsError::TooLarge(_))
    ));
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    assert!(matches!(Args::parse(deep.as_bytes()), Err(ArgsError::TooDeep)));
    let mut value = json!(1);
    for _ in 0..200 {
        value = json!([value]);
    }
    assert!(matches!(
        Args::from_value(json!({ "a": value })),
        Err(ArgsError::TooDeep)
    ));
}

#[tokio::test]
async fn a_megabyte_of_command_is_high_risk_shown_and_answered_like_any_other() {
    let house = House::new();
    let engine = house.open("").await;
    let command = format!("echo {}", "a".repeat(1024 * 1024));
    let proposed = engine
        .gate()
        .propose(call("c", "bash", json!({ "command": command })))
        .await
        .unwrap();
    let Proposed::Parked { verdict, on } = proposed else {
        panic!("{proposed:?}")
    };
    assert_eq!(verdict.risk, Risk::High);
    let question = engine.broker().question(&on).await.unwrap().unwrap();
    let surface = Surface {
        width: None,
        chars_max: Some(1000),
        markup: Markup::Plain,
        elsewhere: None,
    };
    let part = to_text(&question.document(Locale::English), &surface).shown();
    let refused = say(
        &engine,
        &on,
        Answer {
            shown: part,
            ..choice("lin", "approve")
        },
    )
    .await;
    assert!(
        matches!(
            refused,
            Err(StepError::Refused(AnswerRefusal::Invalid(
                AnswerError::NotShownWhole
            )))
        ),
        "{refused:?}"
    );
    say(&engine, &on, because("lin", "reject", "what is this?"))
        .await
        .unwrap();
    works(&engine, "after").await;
}

#[tokio::test]
async fn control_characters_are_kept_exactly_and_never_shown_raw() {
    let house = House::new();
    let engine = house.open("").await;
    let nasty = "ls\u{0}\u{1b}[2J\u{202e}fdp.exe\u{200b}";
    let id = park(&engine, call("c", "bash", json!({ "command": nasty }))).await;
    let question = engine.broker().question(&id).await.unwrap().unwrap();
    assert_eq!(
        question.call.as_ref().unwrap().call.args.text("command"),
        Some(nasty)
    );
    let surface = Surface {
        width: None,
        chars_max: None,
        markup: Markup::Plain,
        elsewhere: None,
    };
    let text = to_text(&question.document(Locale::English), &surface).text;
    assert!(
        !text.contains(['\u{0}', '\u{1b}', '\u{202e}', '\u{200b}']),
        "{text:?}"
    );
    let said = because("lin", "reject", "no\u{0}\u{1b}[2J");
    say(&engine, &id, said).await.unwrap();
    works(&engine, "after").await;
}

#[tokio::test]
async fn absurd_lengths_of_time_are_refused_or_saturate_and_stop_nothing() {
    let house = House::new();
    let engine = house.open("").await;
    let request = |seconds: u64| -> InteractionRequest {
        serde_json::from_value(json!({
            "sessionId": "s", "type": "USER_INPUT", "title": "t", "message": "m", "timeoutSeconds": seconds,
            "options": [{ "optionId": "y", "label": "Y", "action": "PROVIDE_INFO" }],
        }))
        .unwrap()
    };
    let origin = deploy("c", "x").origin;
    let none = engine.broker().ask(request(0), origin.clone()).await;
    assert!(
        matches!(
            none,
            Err(StepError::Refused(AskRefusal::Invalid(RequestError::NoTime)))
        ),
        "{none:?}"
    );
    let endless = engine.broker().ask(request(u64::MAX), origin.clone()).await;
    assert!(
        matches!(
            endless,
            Err(StepError::Refused(AskRefusal::Invalid(
                RequestError::TooMuchTime(_)
            )))
        ),
        "{endless:?}"
    );
    let year = 366 * 24 * 60 * 60;
    let asked = engine.broker().ask(request(year), origin).await.unwrap();
    decide(&engine, deploy("d", "d"), choice("lin", "approve")).await;
    let _permit = engine
        .gate()
        .claim(&key("d"), Some(Millis::new(u64::MAX)))
        .await
        .unwrap();
    house.pass(&engine, 10_000_000);
    assert!(is_open(&engine, &asked.id).await);
    works(&engine, "after").await;
    say(&engine, &asked.id, choice("lin", "y")).await.unwrap();
}

#[tokio::test]
async fn clocks_that_run_backwards_neither_lose_nor_hurry_a_question() {
    let house = House::new();
    let engine = house.open("").await;
    let id = park(&engine, deploy("c", "staging")).await;
    house.pass(&engine, 30);
    house.clock.jump(-1_000_000_000);
    house.clock.set_back();
    engine.look_at_the_clock();
    assert!(is_open(&engine, &id).await);
    works(&engine, "backwards").await;
    engine.shutdown().await.unwrap();
    let engine = house.open("").await;
    let left = asked(&engine, &id)
        .await
        .deadline
        .remaining_from(engine.store().now());
    assert!((1..=60_000).contains(&left.get()), "{left}");
    house.pass(&engine, 60);
    assert!(matches!(outcome(&engine, "c").await, Outcome::Expired { .. }));
    verify(&engine).await;
}

/// cadis#1101: an empty allow-list meant everyone.
#[test]
fn an_empty_list_of_approvers_refuses_the_file() {
    for empty in ["approvers = []", "approvers = [\"group:none\"]"] {
        let text = format!("[[rules]]\nname = \"r\"\ntool = \"bash\"\neffect = \"ask\"\n{empty}\n");
        assert!(
            Config::parse(
                &text,
                "placet.toml",
                std::iter::empty(),
                placet_inspect::builtin()
            )
            .is_err(),
            "{empty}"
        );
    }
}

#[tokio::test]
async fn more_text_than_an_agent_should_read_is_refused_and_the_question_stays_open() {
    let house = House::new();
    let engine = house.open("").await;
    let id = park(&engine, deploy("c", "staging")).await;
    let refused = say(&engine, &id, because("lin", "reject", &"x".repeat(1024 * 1024))).await;
    assert!(
        matches!(
            refused,
            Err(StepError::Refused(AnswerRefusal::Invalid(
                AnswerError::TooLong { .. }
            )))
        ),
        "{refused:?}"
    );
    assert!(is_open(&engine, &id).await);
    works(&engine, "after").await;
}

#[tokio::test]
async fn a_question_with_too_much_in_it_is_refused() {
    let house = House::new();
    let engine = house.open("").await;
    let mut many = Vec::new();
    for n in 0..51 {
        many.push(json!({ "optionId": n.to_string(), "label": "x", "action": "SKIP" }));
    }
    let mut message = String::new();
    for n in 0..100_000 {
        write!(message, "{n} ").unwrap();
    }
    for (message, options) in [
        ("m".to_owned(), Value::from(many)),
        (
            message,
            json!([{
                "optionId": "y", "label": "Y", "action": "SKIP"
            }]),
        ),
    ] {
        let request = serde_json::from_value(json!({
            "sessionId": "s", "type": "CUSTOM", "title": "t", "message": message, "options": options,
        }))
        .unwrap();
        let refused = engine.broker().ask(request, deploy("c", "x").origin).await;
        assert!(
            matches!(
                refused,
                Err(StepError::Refused(AskRefusal::Invalid(RequestError::TooLarge(_))))
            ),
            "{refused:?}"
        );
    }
    assert!(open(&engine).await.is_empty());
}

/// A tool that says too much about its calls, or cannot say anything.
struct Talkative;

#[async_trait]
impl Toolbox for Talkative {
    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        match call.args.text("to") {
            Some("huge") => Ok(vec![Evidence::Note {
                title: "n".into(),
                text: "x".repeat(2 * 1024 * 1024),
            }]),
            _ => Err("the database is away".into()),
        }
    }

    fn schema(&self, _: &str) -> Option<Value> {
        Some(json!({ "type": 7 }))
    }
}

#[tokio::test]
async fn evidence_that_fails_or_is_too_large_is_said_to_be_missing_and_lets_nothing_through() {
    let house = House::new();
    let engine = house
        .start(
            house
                .builder("")
                .toolbox(AgentId::new("coder").unwrap(), Talkative),
        )
        .await;
    for to in ["huge", "small"] {
        let id = park(&engine, deploy(to, to)).await;
        let evidence = asked(&engine, &id).await.evidence;
        assert!(
            matches!(evidence.as_slice(), [Evidence::Failed { .. }]),
            "{to}: {} items",
            evidence.len()
        );
    }
    let id = park(&engine, deploy("c", "staging")).await;
    let refused = say(&engine, &id, edit("lin", json!({ "to": "canary" }))).await;
    assert!(
        matches!(refused, Err(StepError::Refused(AnswerRefusal::EditInvalid(_)))),
        "a broken schema fits nothing: {refused:?}"
    );
}

#[tokio::test]
async fn ids_that_name_nothing_are_not_found() {
    let house = House::new();
    let engine = house.open("").await;
    let head = engine.head().await.unwrap();
    let nothing = placet_core::ids::InteractionId::new("int_nothing").unwrap();
    assert!(matches!(
        say(&engine, &nothing, choice("lin", "approve")).await,
        Err(StepError::Refused(AnswerRefusal::NotFound(_)))
    ));
    assert!(matches!(
        say(&engine, &nothing, edit("lin", json!({}))).await,
        Err(StepError::Refused(AnswerRefusal::NotFound(_)))
    ));
    assert_eq!(engine.broker().wait(&nothing).await.unwrap(), None);
    assert!(engine.broker().question(&nothing).await.unwrap().is_none());
    assert!(!engine.broker().withdraw(&nothing, "x").await.unwrap());
    assert!(engine.gate().wait(&key("nothing")).await.is_err());
    assert!(engine.gate().claim(&key("nothing"), None).await.is_err());
    engine.gate().acknowledge(&key("nothing")).await.unwrap();
    assert_eq!(engine.head().await.unwrap(), head);
}

#[tokio::test]
async fn an_agent_that_is_not_built_in_cannot_claim_that_its_call_is_confined() {
    let config = Config::parse(
        "[approval]\nmode = 'autoEdit'\n",
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let engine = Engine::builder(config).start_in_memory().await.unwrap();
    let claimed = Submission {
        confinement: Some(Confinement::whole(Level::Workspace)),
        ..Submission::from(call("c", "bash", json!({ "command": "make" })))
    };
    let (verdict, _) = engine.gate().check(claimed).await.unwrap();
    assert_eq!((verdict.confinement, verdict.category), (None, Category::Command));
    assert_ne!(verdict.decision, Decision::Allow);
}
