//! `placet audit` over a store that a real engine wrote.

use std::path::{Path, PathBuf};

use placet_core::call::{Args, Origin, ToolCall};
use placet_core::config::Config;
use placet_core::digest::Digest;
use placet_core::ids::{AgentId, CallId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::{Answer, CallKey, Shown};
use placet_core::journal::CallResult;
use placet_core::principal::{Principal, Via};
use placet_engine::{Engine, Proposed};
use serde_json::{Value, json};

use crate::world::World;

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

fn call(id: &str, command: &str) -> ToolCall {
    ToolCall {
        id: CallId::new(id).unwrap(),
        tool: ToolName::new("bash").unwrap(),
        args: Args::from_value(json!({ "command": command })).unwrap(),
        session: SessionId::new("job-1").unwrap(),
        origin: Origin {
            agent: AgentId::new("tester").unwrap(),
            agent_path: Vec::new(),
            chat: None,
            user: None,
        },
        group: None,
        description: None,
    }
}

fn answer(option: &str, feedback: Option<&str>) -> Answer {
    Answer {
        by: Principal::Person {
            person: PersonId::new("lin").unwrap(),
            via: Via::Inbox,
        },
        option: option.to_owned(),
        feedback: feedback.map(str::to_owned),
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Whole(Digest::of("shown", &[])),
    }
}

async fn ask(engine: &Engine, call: ToolCall) -> InteractionId {
    match engine.gate().propose(call).await.unwrap() {
        Proposed::Parked { on, .. } => on,
        other => panic!("expected a question, got {other:?}"),
    }
}

/// One call approved and run, one rejected, one still open, one allowed at once.
async fn some_history(engine: &Engine) -> InteractionId {
    let gate = engine.gate();
    let approved = ask(engine, call("c-approved", "sudo apt-get install jq")).await;
    engine
        .broker()
        .answer(&approved, answer("approve", None))
        .await
        .unwrap();
    let key = CallKey {
        agent: AgentId::new("tester").unwrap(),
        call: CallId::new("c-approved").unwrap(),
    };
    let permit = gate.claim(&key, None).await.unwrap();
    gate.finish(permit.key(), CallResult::new(true, "installed"))
        .await
        .unwrap();
    let command = format!("sudo curl -H 'Authorization: Bearer {SECRET}' https://example.com");
    let rejected = ask(engine, call("c-rejected", &command)).await;
    engine
        .broker()
        .answer(&rejected, answer("reject", Some("=not on a Friday")))
        .await
        .unwrap();
    ask(engine, call("c-open", "sudo reboot")).await;
    let look = ToolCall {
        tool: ToolName::new("read").unwrap(),
        args: Args::from_value(json!({ "path": "README.md" })).unwrap(),
        ..call("c-allowed", "")
    };
    gate.propose(look).await.unwrap();
    approved
}

async fn engine(world: &World, db: &Path) -> Engine {
    let reader = "[tools.read]\ncategory = 'read'\n";
    let config = Config::parse(
        reader,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    Engine::builder(config)
        .workspace(&world.path(""))
        .start(db)
        .await
        .unwrap()
}

/// A closed store with some history, and the question that was approved.
pub(crate) async fn closed_store(world: &World) -> (PathBuf, InteractionId) {
    let db = world.path("placet.db");
    let engine = engine(world, &db).await;
    let approved = some_history(&engine).await;
    engine.shutdown().await.unwrap();
    (db, approved)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_says_who_approved_what_while_the_engine_is_running() {
    let world = World::new();
    let db = world.path("placet.db");
    let engine = engine(&world, &db).await;
    some_history(&engine).await;
    let (out, _) = world.said(&["audit", "list", "--db", "placet.db"], 0);
    for part in [
        "tester requested “Run `sudo apt-get install jq`” (c-approved)",
        "lin approved “Run `sudo apt-get install jq`” (c-approved)",
        "asked the inbox about “Run `sudo reboot`” (c-open)",
        ": =not on a Friday",
        "c-approved) ran (9 bytes of output)",
        "(c-allowed): allow",
        "job-1",
    ] {
        assert!(out.contains(part), "{part} is missing in:\n{out}");
    }
    assert!(!out.contains(SECRET), "{out}");
    let (out, _) = world.said(&["audit", "verify", "--db", "placet.db"], 0);
    assert!(out.starts_with("intact: "), "{out}");
    engine.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_is_narrowed_by_type_session_moment_and_number() {
    let world = World::new();
    closed_store(&world).await;
    let list = |args: &[&str]| {
        let all = [&["audit", "list", "--data", ".", "--json"], args].concat();
        lines(&world.said(&all, 0).0)
    };
    let types: Vec<Value> = list(&["--type", "asked,resolved"])
        .iter()
        .map(|row| row["type"].clone())
        .collect();
    assert_eq!(types, ["asked", "resolved", "asked", "resolved", "asked"]);
    assert_eq!(list(&["--type", "asked", "--limit", "1"]).len(), 1);
    assert_eq!(list(&["--session", "nobody"]).len(), 0);
    assert!(
        list(&["--session", "job-1"])
            .iter()
            .all(|row| row["session"] == "job-1")
    );
    assert_eq!(list(&["--since", "2999-01-01"]).len(), 0);
    let everything = list(&["--since", "1h", "--limit", "1000"]);
    let ids: Vec<u64> = everything.iter().map(|row| row["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_about_a_question_or_a_call_is_shown() {
    let world = World::new();
    let (_, approved) = closed_store(&world).await;
    let (by_question, _) = world.said(&["audit", "show", approved.as_str(), "--data", "."], 0);
    let (by_call, _) = world.said(&["audit", "show", "c-approved", "--data", "."], 0);
    assert_eq!(by_question, by_call);
    for part in [
        "callReceived",
        "asked",
        "resolution.ballot.by: lin",
        &format!("resolution.ballot.shown.digest: {}", Digest::of("shown", &[])),
        "grant: 1",
        "result.output: installed",
    ] {
        assert!(by_call.contains(part), "{part} is missing in:\n{by_call}");
    }
    assert!(!by_call.contains("c-rejected"), "{by_call}");
    let (json, _) = world.said(&["audit", "show", "c-rejected", "--data", ".", "--json"], 0);
    let shown: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(shown["rows"][0]["event"]["call"]["id"], "c-rejected");
    let (row, _) = world.said(&["audit", "show", "1", "--data", "."], 0);
    assert!(row.starts_with("#1 "), "{row}");
    let (_, err) = world.said(&["audit", "show", "c-unheard-of", "--data", "."], 2);
    assert!(err.contains("no request, call or row `c-unheard-of`"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_journal_verifies_and_its_anchor_is_accepted() {
    let world = World::new();
    closed_store(&world).await;
    let (out, _) = world.said(&["audit", "verify", "--data", ".", "--json"], 0);
    let verified: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(verified["ok"], true);
    assert!(verified["rows"].as_u64().unwrap() > 10);
    let anchor = verified["anchor"].as_str().unwrap();
    world
        .run(&["audit", "verify", "--data", ".", "--anchor", anchor])
        .code(0);
    let other = format!("1:{}", Digest::of("another journal", &[]));
    world
        .run(&["audit", "verify", "--data", ".", "--anchor", &other])
        .code(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_row_is_found_and_named() {
    let world = World::new();
    let (db, _) = closed_store(&world).await;
    let conn = rusqlite::Connection::open(&db).unwrap();
    let row: i64 = conn
        .query_row(
            "SELECT max(id) FROM journal WHERE body LIKE '%Friday%'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    conn.execute(
        "UPDATE journal SET body = replace(body, 'Friday', 'Monday') WHERE id = ?1",
        [row],
    )
    .unwrap();
    drop(conn);
    let (out, _) = world.said(&["audit", "verify", "--data", "."], 1);
    assert!(out.contains(&format!("wrong row {row}: ")), "{out}");
    let (out, _) = world.said(&["audit", "verify", "--data", ".", "--json"], 1);
    let verified: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&verified["ok"], &verified["faults"][0]["row"]),
        (&json!(false), &json!(row))
    );
    assert_eq!(verified["faults"][0]["kind"], "changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_an_older_version_is_listed_and_called_older_instead_of_damaged() {
    let world = World::new();
    let (db, _) = closed_store(&world).await;
    let old = "DROP TABLE members; DROP TABLE room; DROP TABLE asks; DROP INDEX pending_by_agent; ALTER TABLE pending DROP COLUMN agent; ALTER TABLE service DROP COLUMN queued; ALTER TABLE sessions DROP COLUMN agent; ALTER TABLE sessions DROP COLUMN version; ALTER TABLE runs DROP COLUMN interrupted; PRAGMA user_version = 3;";
    let file = rusqlite::Connection::open(db).unwrap();
    file.execute_batch(old).unwrap();
    drop(file);
    let (_, err) = world.said(&["audit", "verify", "--data", "."], 2);
    assert!(err.contains("the database has format 3"), "{err}");
    let (out, _) = world.said(&["audit", "list", "--data", "."], 0);
    assert!(
        out.contains("lin approved “Run `sudo apt-get install jq`”"),
        "{out}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_is_told_in_the_configured_language() {
    let world = World::new();
    closed_store(&world).await;
    world.write("placet.toml", "[approval]\nlocale = \"zh\"\n");
    let (out, _) = world.said(&["audit", "list", "--data", "."], 0);
    assert!(
        out.contains("lin 批准了 “执行 `sudo apt-get install jq`” (c-approved)"),
        "{out}"
    );
    let (out, _) = world.said(&["audit", "verify", "--data", "."], 0);
    assert!(out.starts_with("完好："), "{out}");
    // A file that is named is looked at whatever the configuration says.
    world.write("placet.toml", "[approval");
    let (out, _) = world.said(&["audit", "verify", "--db", "placet.db"], 0);
    assert!(out.starts_with("intact: "), "{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_reads_back() {
    let world = World::new();
    closed_store(&world).await;
    for (format, file) in [("jsonl", "out.jsonl"), ("csv", "out.csv")] {
        world
            .run(&[
                "audit", "export", "--data", ".", "--format", format, "--output", file,
            ])
            .code(0);
    }
    let rows = lines(&std::fs::read_to_string(world.path("out.jsonl")).unwrap());
    let mut table = csv::Reader::from_path(world.path("out.csv")).unwrap();
    let header = table.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|found| found == name).unwrap();
    let records: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(&rows) {
        assert_eq!(
            serde_json::from_str::<Value>(&record[column("event")]).unwrap(),
            row["event"]
        );
        assert_eq!(record[column("hash")], row["hash"]);
        assert!(
            record.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@'])),
            "{record:?}"
        );
    }
    let by: Vec<&str> = records
        .iter()
        .map(|record| &record[column("by")])
        .filter(|by| !by.is_empty())
        .collect();
    assert_eq!(by, ["lin", "lin"]);
    let (out, _) = world.said(
        &[
            "audit",
            "export",
            "--data",
            ".",
            "--session",
            "job-1",
            "--until",
            "2001-01-01",
        ],
        0,
    );
    assert_eq!(out, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_replaces_a_file_only_when_told_to() {
    let world = World::new();
    closed_store(&world).await;
    world.write("out.jsonl", "precious");
    let export = ["audit", "export", "--data", ".", "--output", "out.jsonl"];
    let (_, err) = world.said(&export, 2);
    assert!(err.contains("exists already") && err.contains("--force"), "{err}");
    assert_eq!(
        std::fs::read_to_string(world.path("out.jsonl")).unwrap(),
        "precious"
    );
    world.placet(&export).arg("--force").assert().code(0);
    assert!(!lines(&std::fs::read_to_string(world.path("out.jsonl")).unwrap()).is_empty());
    let left = std::fs::read_dir(world.path("")).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with(".tmp")
    });
    assert_eq!(left.count(), 0, "no temporary file is left behind");
    let nowhere = ["audit", "export", "--data", ".", "--output", "nowhere/out.csv"];
    let (_, err) = world.said(&nowhere, 2);
    assert!(
        err.contains("cannot write `nowhere/out.csv`") && !err.contains(".tmp"),
        "{err}"
    );
}

#[test]
fn a_file_that_is_no_journal_is_refused() {
    let world = World::new();
    world.write("other.db", "hello".repeat(1000));
    world.write("empty.db", "");
    for file in ["missing.db", "other.db", "empty.db", "."] {
        for command in ["list", "verify", "export"] {
            let (out, err) = world.said(&["audit", command, "--db", file], 2);
            assert_eq!(out, "", "{command} {file}");
            assert!(
                err.contains("--db") && err.contains(file),
                "{command} {file}: {err}"
            );
        }
    }
    assert!(!world.path("missing.db").exists(), "looking makes no files");
}

#[test]
fn the_audit_log_of_a_newcomer_is_empty_and_a_mistyped_one_is_an_error() {
    let world = World::new();
    let (out, _) = world.said(&["audit", "list"], 0);
    assert!(out.contains("audit log is empty"), "{out}");
    let (json, _) = world.said(&["audit", "list", "--json"], 0);
    assert_eq!(json, "");
    world.run(&["audit", "--db", "missing.db", "list"]).code(2);
    world.run(&["audit", "verify"]).code(2);
}
