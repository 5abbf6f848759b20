//! Every example runs, and prints what its page says.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// What a program prints when it is typed `input`. It must succeed, and complain about nothing.
fn printed(program: &str, input: &str) -> String {
    let mut running = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    running.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    let complaints = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && complaints.is_empty(), "{complaints}");
    String::from_utf8(output.stdout).unwrap()
}

/// What stands after `label` on its line, as JSON.
fn told(output: &str, label: &str) -> Value {
    let line = output.lines().find_map(|line| line.split_once(label)).unwrap();
    serde_json::from_str(line.1).unwrap()
}

#[test]
fn gate_runs_a_read_and_refuses_the_rest_with_a_reason_each() {
    let output = printed(env!("CARGO_BIN_EXE_gate"), "");
    assert!(
        output.contains(r#"read {"path":"README.md"} ran: (the tool's output)"#),
        "{output}"
    );
    let banned = told(&output, r#""rm -rf /"} did not run: "#);
    let pushed = told(&output, r#"main"} did not run: "#);
    assert_eq!(
        (&banned["executed"], &pushed["executed"]),
        (&json!(false), &json!(false))
    );
    assert_ne!(banned["outcome"], pushed["outcome"]);
    assert_eq!(pushed["outcome"], "nobody_to_ask");
}

#[test]
fn events_come_in_order_and_say_what_was_decided() {
    let output = printed(env!("CARGO_BIN_EXE_events"), "");
    let events: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let one = [
        "USER_INTERACTION_REQUESTED",
        "USER_INTERACTION_RESPONDED",
        "USER_INTERACTION_PROCESSED",
    ];
    assert_eq!(kinds, [one, one].concat());
    let decided: Vec<_> = events
        .iter()
        .map(|event| &event["inputData"]["approved"])
        .collect();
    assert_eq!((decided[1], decided[4]), (&json!(true), &json!(false)));
}

#[test]
fn the_webhook_approver_is_asked_and_answers_over_http() {
    let output = printed(env!("CARGO_BIN_EXE_webhook_approver"), "");
    assert!(
        output.contains("the platform shows: ") && output.contains("deploy"),
        "{output}"
    );
    assert!(
        output.contains(r#"zoe: yes; placet: {"consumed":true}"#),
        "{output}"
    );
    assert!(output.contains("the agent: deployed"), "{output}");
}
