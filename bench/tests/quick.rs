//! The bench itself: `--quick` measures everything once, and every number is one. No time is judged here.

#![expect(clippy::unwrap_used, reason = "a bench that prints no table fails the test")]

use std::process::Command;

use serde_json::Value;

fn quick(args: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("rows.json");
    let run = Command::new(env!("CARGO_BIN_EXE_placet-bench"))
        .args(["--quick", "--json"])
        .arg(&json)
        .arg("--dir")
        .arg(folder.path())
        .args(args)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap()
}

fn names(table: &Value) -> Vec<&str> {
    table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_quick_run_measures_every_claim() {
    let table = quick(&[]);
    let names = names(&table);
    for claim in [
        "verdict, 1000 rules, mixed calls",
        "analysis and verdict, 223-byte line, 1000 rules",
        "HTTP, allowed calls",
        "HTTP, answer to waiting agent p99, 20 wait",
        "SSE, one event to 50 streams",
        "canonical JSON, 2 KiB",
        "digest of a call, 2 KiB",
        "shell analysis, 223-byte line",
        "SQL analysis, CTE DELETE, any dialect",
        "SQL analysis, simple UPDATE, any dialect",
        "reply, `yes CODE`, 3 open",
        "question of the 223-byte line as text",
        "ask→answer→resume, 1 in flight",
        "ask→answer→resume, 50 in flight",
        "resume p99, 50 in flight",
        "ours against the sketch, 50 in flight",
        "allowed calls, 10 in flight",
        "resident per parked question at 400",
        "on disk per parked question at 400",
        "first page of the inbox at 400",
        "engine started after kill -9, 400 pending",
        "first page after kill -9, 400 pending",
    ] {
        assert!(names.contains(&claim), "no row `{claim}` among {names:#?}");
    }
    for row in table["rows"].as_array().unwrap() {
        for number in ["median", "min", "max", "n"] {
            assert!(row[number].as_f64().is_some_and(|value| value > 0.0), "{row}");
        }
        assert_eq!(row.get("bar").is_some(), row.get("met").is_some(), "{row}");
    }
    assert!(table["syncsPerSecond"].as_f64().unwrap() > 0.0);
}

#[test]
fn only_what_is_named_is_measured() {
    let table = quick(&["digest"]);
    assert_eq!(
        names(&table),
        [
            "read 2 KiB of arguments",
            "canonical JSON, 2 KiB",
            "digest of a call, 2 KiB"
        ]
    );
}
