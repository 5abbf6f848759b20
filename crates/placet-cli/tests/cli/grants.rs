//! `placet grants` over a store that a real engine wrote.

use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::digest::Digest;
use placet_core::ids::PersonId;
use placet_core::interaction::{Answer, Remember, Shown};
use placet_core::messages::{grants, scope};
use placet_core::principal::{Principal, Via};
use placet_core::standing::{Covers, Scope};
use placet_core::time::Millis;
use placet_engine::{Engine, Proposed};
use serde_json::{Value, json};

use crate::world::World;

async fn engine(world: &World) -> Engine {
    // Without a memory, only a standing grant can spare people a question.
    let config = Config::parse(
        "[approval]\nmemory = \"0s\"\nwide_grants = \"approvers\"\n",
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let builder = Engine::builder(config).workspace(&world.path(""));
    builder.start(&world.path("placet.db")).await.unwrap()
}

fn deploy(id: &str) -> ToolCall {
    serde_json::from_value(json!({
        "id": id, "tool": "deploy", "args": { "to": "staging" }, "session": "job-1", "origin": { "agent": "tester" },
    }))
    .unwrap()
}

/// Lin says "don't ask again" about one call, for an hour.
async fn give(engine: &Engine) {
    let call = deploy("c1");
    let scope = Scope {
        tool: call.tool.clone(),
        session: None,
        workspace: None,
        covers: Covers::Exactly(call.digest()),
    };
    let Proposed::Parked { on, .. } = engine.gate().propose(call).await.unwrap() else {
        panic!("it was not asked about")
    };
    let answer = Answer {
        by: Principal::Person {
            person: PersonId::new("lin").unwrap(),
            via: Via::Inbox,
        },
        option: "approve".into(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: Some(Remember {
            scope,
            lasts: Millis::from_secs(3600),
            uses_max: Some(5),
        }),
        shown: Shown::Whole(Digest::of("shown", &[])),
    };
    engine.broker().answer(&on, answer).await.unwrap();
}

async fn with_a_grant() -> World {
    let world = World::new();
    let engine = engine(&world).await;
    give(&engine).await;
    engine.shutdown().await.unwrap();
    world
}

fn grants(world: &World) -> Vec<Value> {
    let (out, _) = world.said(&["grants", "list", "--db", "placet.db", "--json"], 0);
    serde_json::from_str(&out).unwrap()
}

/// Who took the grant back, as the journal has it.
fn revoked_by(world: &World) -> String {
    let list = [
        "audit",
        "list",
        "--db",
        "placet.db",
        "--type",
        "standingRevoked",
        "--json",
    ];
    let (out, _) = world.said(&list, 0);
    let row: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    row.pointer("/event/by")
        .and_then(Value::as_str)
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn a_grant_is_listed_with_what_it_covers_until_when_and_how_often_it_was_used() {
    let world = with_a_grant().await;
    let (out, _) = world.said(&["grants", "list", "--db", "placet.db"], 0);
    assert!(
        out.contains("in force") && out.contains(&scope::exactly("deploy").to_string()),
        "{out}"
    );
    assert!(
        out.contains("by lin at ") && out.contains("used 0 of 5 times"),
        "{out}"
    );
    let [grant] = grants(&world).try_into().unwrap();
    assert_eq!(
        (&grant["state"], &grant["by"], &grant["usesMax"]),
        (&json!("inForce"), &json!("lin"), &json!(5))
    );
    assert_eq!(grant["scope"]["tool"], "deploy");
}

#[tokio::test]
async fn a_grant_taken_back_asks_again_and_the_journal_says_who() {
    let world = with_a_grant().await;
    let again = engine(&world).await;
    let proposed = again.gate().propose(deploy("c0")).await.unwrap();
    assert!(matches!(proposed, Proposed::Settled { .. }), "{proposed:?}");
    again.shutdown().await.unwrap();
    assert_eq!(grants(&world)[0]["uses"], 1);
    let id = grants(&world)[0]["id"].as_str().unwrap().to_owned();
    let (out, _) = world.said(&["grants", "revoke", &id, "--db", "placet.db", "--as", "wei"], 0);
    assert!(
        out.contains("revoked by wei") && out.contains("for 5 min"),
        "{out}"
    );
    assert_eq!(grants(&world)[0]["state"], "revoked");
    assert_eq!(revoked_by(&world), "wei");
    world.said(&["audit", "verify", "--db", "placet.db"], 0);
    let (_, err) = world.said(&["grants", "revoke", &id, "--db", "placet.db", "--as", "wei"], 2);
    assert!(
        err.contains("no standing approval") && err.contains("placet grants list"),
        "{err}"
    );

    let engine = engine(&world).await;
    let proposed = engine.gate().propose(deploy("c2")).await.unwrap();
    assert!(matches!(proposed, Proposed::Parked { .. }), "{proposed:?}");
    engine.shutdown().await.unwrap();
}

#[tokio::test]
async fn taking_back_disturbs_nothing_else_that_is_open() {
    let world = World::new();
    let running = engine(&world).await;
    give(&running).await;
    let mut open = deploy("c2");
    open.tool = placet_core::ids::ToolName::new("restart").unwrap();
    let Proposed::Parked { on, .. } = running.gate().propose(open).await.unwrap() else {
        panic!()
    };
    running.shutdown().await.unwrap();
    let id = grants(&world)[0]["id"].as_str().unwrap().to_owned();
    world.said(&["grants", "revoke", &id, "--db", "placet.db", "--as", "wei"], 0);
    let running = engine(&world).await;
    let waiting = running.broker().pending(None, 10).await.unwrap();
    assert_eq!(waiting.iter().map(|row| &row.id).collect::<Vec<_>>(), [&on]);
    running.shutdown().await.unwrap();
}

#[tokio::test]
async fn who_takes_it_back_must_be_somebody() {
    let world = with_a_grant().await;
    let id = grants(&world)[0]["id"].as_str().unwrap().to_owned();
    world.write(
        "placet.toml",
        "[[people]]\nname = \"lin\"\nterminal = \"lin-at-home\"\n",
    );
    let (_, err) = world.said(&["grants", "revoke", &id, "--db", "placet.db", "--as", "eve"], 2);
    assert!(
        err.contains("no person named `eve`") && err.contains("lin"),
        "{err}"
    );
    assert_eq!(grants(&world)[0]["state"], "inForce");
    let mut linked = world.placet(&["grants", "revoke", &id, "--db", "placet.db"]);
    linked.env("USER", "lin-at-home").assert().code(0);
    assert_eq!(revoked_by(&world), "lin");
}

#[tokio::test]
async fn a_newcomer_has_no_grants_and_is_told_how_to_begin() {
    let world = World::new();
    let (out, err) = world.said(&["grants", "list"], 0);
    assert!(
        out.starts_with("No standing approvals: no agent has asked"),
        "{out}"
    );
    assert!(out.contains("placet demo") && err.is_empty(), "{out}{err}");
    let (out, _) = world.said(&["grants", "list", "--json"], 0);
    assert_eq!(out, "[]\n");
    assert!(
        !world.path(".local/share/placet").exists(),
        "looking makes nothing"
    );
    let (_, err) = world.said(&["grants", "revoke", "sg_1", "--as", "lin"], 2);
    assert!(err.contains("cannot be opened"), "{err}");
}

#[tokio::test]
async fn a_store_that_is_missing_is_not_made() {
    let world = World::new();
    for args in [
        &["grants", "list"][..],
        &["grants", "revoke", "sg_1", "--as", "lin"],
    ] {
        let (_, err) = world.said(&[args, &["--db", "none.db"]].concat(), 2);
        assert!(
            err.contains("`none.db` cannot be opened") && err.contains("--data"),
            "{err}"
        );
    }
    assert!(!world.path("none.db").exists());
}

#[tokio::test]
async fn with_no_grants_it_says_so() {
    let world = World::new();
    engine(&world).await.shutdown().await.unwrap();
    let (out, err) = world.said(&["grants", "list", "--db", "placet.db"], 0);
    assert!(
        out.is_empty() && err.contains(&grants::none().to_string()),
        "{err}"
    );
    assert_eq!(grants(&world), Vec::<Value>::new());
}
