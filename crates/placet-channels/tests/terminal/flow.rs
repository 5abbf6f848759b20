//! Every diamond of the approval flow that shows at a terminal, and every row of the boundary table that concerns one. Which
//! test is about which is in the tables of `webhook/diagrams.rs` and `webhook/boundary.rs`.

use serde_json::{Value, json};

use crate::person::{Person, bash};
use placet_core::messages::prompt;

/// Nothing is asked; the program ends by itself.
fn unasked(scene: Value) -> Value {
    let mut kim = Person::at(scene);
    let results = kim.results();
    assert!(
        !kim.screen().contains("placet ·"),
        "nothing was asked: {}",
        kim.screen()
    );
    results["calls"].clone()
}

#[test]
fn diamond_enabled_with_approvals_off_nothing_is_asked() {
    let calls = unasked(json!({ "config": "[approval]\nenabled = false\n", "calls": [bash("mkdir build")] }));
    assert_eq!(calls[0]["output"], r#"ran {"command":"mkdir build"}"#);
}

#[test]
fn diamond_override_false_runs_and_true_asks() {
    let config = |value: &str| format!("[approval.tool_overrides]\ndeploy = {value}\n");
    let call = json!({ "tool": "deploy", "args": { "to": "staging" } });
    let calls = unasked(json!({ "config": config("false"), "calls": [call] }));
    assert!(calls[0]["output"].is_string());
    let mut kim = Person::at(json!({ "config": config("true"), "calls": [call] }));
    kim.sees("Run `deploy`: `to: staging`");
    kim.presses("n");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn diamond_risk_low_runs_high_always_asks() {
    let config = "[tools.ls]\ncategory = 'read'\n";
    let calls = unasked(json!({ "config": config, "calls": [{ "tool": "ls", "args": { "path": "." } }] }));
    assert!(calls[0]["output"].is_string());
    // Approved once, a HIGH call needs approval again.
    let mut kim = Person::at(json!({ "calls": [bash("rm -rf a"), bash("rm -rf a")], "oneByOne": true }));
    kim.presses("y");
    kim.sees("→ Approved by kim.");
    kim.presses("y");
    assert!(kim.results()["calls"][1]["output"].is_string());
}

#[test]
fn diamond_memory_a_medium_call_is_asked_about_once_and_remembered_in_its_window() {
    let mut kim = Person::at(json!({ "calls": [bash("mkdir a"), bash("mkdir a")], "oneByOne": true }));
    kim.presses("y");
    let results = kim.results();
    assert_eq!(results["calls"][0], results["calls"][1]);
    // After the window it needs approval again.
    let config = "[approval]\nmemory = \"0s\"\n";
    let scene = json!({ "config": config, "calls": [bash("mkdir a"), bash("mkdir a")], "oneByOne": true });
    let mut kim = Person::at(scene);
    kim.presses("y");
    kim.sees("→ Approved by kim.");
    kim.presses("n");
    let results = kim.results();
    assert_eq!(results["calls"][1]["status"], "rejected");
}

#[test]
fn diamond_strict_asks_about_everything_above_low() {
    let config = "[approval]\nstrict = true\nmode = \"yolo\"\n";
    let mut kim = Person::at(json!({ "config": config, "calls": [bash("mkdir a")] }));
    kim.sees("Strict mode requires approval");
    kim.presses("n");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn diamond_input_check_yes_no_and_interrupt() {
    for (key, status) in [
        ("y", None),
        ("Y", None),
        ("n", Some("rejected")),
        ("N", Some("rejected")),
        ("\u{3}", Some("rejected")),
    ] {
        let mut kim = Person::asked_about("mkdir build");
        kim.presses(key);
        assert_eq!(kim.result()["status"].as_str(), status, "{key:?}");
    }
}

#[test]
fn boundary_anything_else_than_an_answer_decides_nothing_and_the_question_stays() {
    let mut kim = Person::asked_about("mkdir build");
    kim.presses("确认kqzh9 ");
    kim.sees(&prompt::one_key().to_string());
    kim.types("k");
    kim.sees_no_more(&prompt::one_key().to_string());
    kim.types("?");
    kim.sees("Ctrl-C");
    kim.types("z");
    kim.sees_no_more("Ctrl-C");
    kim.types("n");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn boundary_a_timeout_is_expired_and_never_a_refusal() {
    let mut kim =
        Person::at(json!({ "config": "[approval]\ntimeout = \"1s\"\n", "calls": [bash("mkdir a")] }));
    kim.sees("→ Expired");
    assert_eq!(kim.result()["status"], "expired");
}

/// 超时处理: 默认60秒
#[test]
fn boundary_a_question_has_sixty_seconds() {
    let mut kim = Person::asked_about("mkdir a");
    kim.waits_until("the clock at its start", |screen| {
        let text = screen.contents();
        text.contains("1:00 left") || text.contains("0:59 left")
    });
    kim.presses("n");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn boundary_sessions_are_independent_an_answer_counts_for_its_own_question_only() {
    let mut other = bash("mkdir b");
    other["session"] = json!("another");
    let mut kim = Person::at(json!({ "calls": [bash("mkdir a"), other] }));
    kim.sees(prompt::others(1_u32).to_string().trim());
    let approved = usize::from(kim.screen().contains("│ mkdir b"));
    kim.presses("y");
    kim.waits_until("the other one", |screen| {
        let text = screen.contents();
        text.contains("[N] Reject") && !text.contains("more pending")
    });
    kim.presses("n");
    let calls = kim.results()["calls"].clone();
    assert!(calls[approved]["output"].is_string(), "{calls}");
    assert_eq!(calls[1 - approved]["status"], "rejected", "{calls}");
}
