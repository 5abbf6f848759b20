//! `placet policy suggest`, `placet policy replay` and `placet grants export`, over a store that a real engine wrote.

use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::digest::Digest;
use placet_core::ids::{InteractionId, PersonId};
use placet_core::interaction::{Answer, Remember, Shown};
use placet_core::principal::{Principal, Via};
use placet_core::standing::GrantReach;
use placet_engine::{Authority, Engine, Proposed};
use serde_json::{Value, json};

use crate::world::World;

fn fetch(id: &str, host: &str) -> ToolCall {
    serde_json::from_value(json!({
        "id": id, "tool": "fetch", "args": { "url": format!("https://{host}/{id}") }, "session": format!("job-{id}"),
        "origin": { "agent": "tester" },
    }))
    .unwrap()
}

fn answer(option: &str) -> Answer {
    Answer {
        by: Principal::Person {
            person: PersonId::new("lin").unwrap(),
            via: Via::Inbox,
        },
        option: option.into(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Whole(Digest::of("shown", &[])),
    }
}

async fn engine(world: &World) -> Engine {
    let config = Config::parse(
        "[approval]\nmemory = \"0s\"\n",
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let builder = Engine::builder(config).workspace(&world.path(""));
    builder.start(&world.path("placet.db")).await.unwrap()
}

async fn park(engine: &Engine, call: ToolCall) -> InteractionId {
    match engine.gate().propose(call).await.unwrap() {
        Proposed::Parked { on, .. } => on,
        other => panic!("it was not asked about: {other:?}"),
    }
}

/// Three approvals of one host, and a refusal of another.
async fn with_a_past() -> World {
    let world = World::new();
    let engine = engine(&world).await;
    for id in ["a", "b", "c"] {
        let on = park(&engine, fetch(id, "example.com")).await;
        engine.broker().answer(&on, answer("approve")).await.unwrap();
    }
    let on = park(&engine, fetch("d", "example.org")).await;
    engine.broker().answer(&on, answer("reject")).await.unwrap();
    engine.shutdown().await.unwrap();
    world
}

#[tokio::test]
async fn a_suggested_rule_can_be_pasted_and_tested() {
    let world = with_a_past().await;
    let (out, err) = world.said(&["policy", "suggest", "--db", "placet.db"], 0);
    assert!(
        out.starts_with("# approved 3 times by lin, in 3 sessions on 1 day; never rejected\n[[rules]]\n"),
        "{out}{err}"
    );
    world.write("placet.toml", &out);
    let (tested, err) = world.said(&["policy", "test", "--db", "placet.db"], 0);
    assert!(
        tested.contains("Valid: 1 rule, 3 examples passed"),
        "{tested}{err}"
    );
    let (out, _) = world.said(
        &["policy", "suggest", "--db", "placet.db", "--json", "--min", "1"],
        0,
    );
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["suggestions"], json!([]), "nothing is asked about any more");
    let (_, err) = world.said(&["policy", "suggest"], 0);
    assert!(err.contains("nothing to suggest"), "{err}");
}

#[tokio::test]
async fn a_replay_says_what_would_change_and_its_exit_status_says_how_bad_that_is() {
    let world = with_a_past().await;
    world.write("same.toml", "rules = []\n");
    let replay = |file: &'static str, status| {
        world.said(
            &[
                "policy",
                "replay",
                "--config",
                file,
                "--db",
                "placet.db",
                "--since",
                "7d",
            ],
            status,
        )
    };
    let (out, _) = replay("same.toml", 0);
    assert!(
        out.contains("4 calls since") && out.contains("0 would be decided differently"),
        "{out}"
    );
    assert!(out.contains("inspected by this version of placet"), "{out}");

    let rule = |host: &str| format!("[[rules]]\nname = \"hosts\"\neffect = \"allow\"\nhost = \"{host}\"\n");
    world.write("com.toml", rule("example.com"));
    let (out, _) = replay("com.toml", 3);
    assert!(out.contains("ask → allow: 3 calls\n"), "{out}");

    world.write("both.toml", rule("example.*"));
    let (out, _) = replay("both.toml", 1);
    let refused = out.find("ask → allow: 1 call that a person rejected").unwrap();
    assert!(
        refused < out.find("ask → allow: 3 calls\n").unwrap(),
        "it stands first: {out}"
    );
    assert!(
        out.contains("rule `hosts`") && out.contains("rejected by lin"),
        "{out}"
    );

    let (out, _) = world.said(
        &[
            "policy",
            "replay",
            "--config",
            "both.toml",
            "--db",
            "placet.db",
            "--json",
        ],
        1,
    );
    let replay: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (
            &replay["changed"],
            &replay["changes"][0]["refusedThen"],
            &replay["changes"][0]["to"]
        ),
        (&json!(4), &json!(true), &json!("allow"))
    );
}

#[tokio::test]
async fn a_rule_made_from_a_question_is_shown_listed_and_exported() {
    let world = World::new();
    let engine = engine(&world).await;
    let on = park(&engine, fetch("a", "example.com")).await;
    engine.shutdown().await.unwrap();
    let (out, _) = world.said(
        &["inbox", "show", on.as_str(), "--db", "placet.db", "--as", "lin"],
        0,
    );
    assert!(
        out.contains("in the last seven days it would have covered 1 call, ")
            && out.contains("host = [\"example.com\"]"),
        "{out}"
    );
    let engine = self::engine(&world).await;
    let question = engine.broker().question(&on).await.unwrap().unwrap();
    let scopes = engine.broker().wide_scopes(&question);
    let scope = scopes
        .into_iter()
        .find(|scope| scope.reach() == GrantReach::Rule)
        .unwrap();
    let remembering = Answer {
        remember: Some(Remember {
            lasts: scope.reach().lasts(),
            scope,
            uses_max: None,
        }),
        ..answer("approve")
    };
    let broker = engine.broker();
    broker
        .answer_with(&on, remembering, Authority::Admin)
        .await
        .unwrap();
    engine.shutdown().await.unwrap();

    let (out, _) = world.said(&["grants", "list", "--db", "placet.db", "--json"], 0);
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(listed[0]["reach"], "rule");
    let (out, _) = world.said(&["grants", "export", "--db", "placet.db"], 0);
    assert!(
        out.contains("given by lin") && out.contains("effect = \"allow\""),
        "{out}"
    );
    world.write("placet.toml", &out);
    world.said(&["policy", "test", "--db", "placet.db"], 0);
}
