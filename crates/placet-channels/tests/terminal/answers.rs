//! Every way to answer a call, from the keys to what the agent is told.

use serde_json::json;

use crate::person::{Person, Place, bash};
use placet_core::messages::{prompt, scope};

#[test]
fn y_runs_exactly_what_was_shown() {
    let mut kim = Person::asked_about("mkdir -p build/out");
    kim.sees("Create the folder `build/out`");
    kim.sees("Where: folder ");
    kim.sees("│ mkdir -p build/out");
    kim.sees("Why you are asked:");
    kim.sees("Asked by: helper");
    kim.presses("y");
    kim.sees("→ Approved by kim.");
    assert_eq!(
        kim.result(),
        json!({ "output": r#"ran {"command":"mkdir -p build/out"}"# })
    );
}

#[test]
fn enter_alone_refuses() {
    let mut kim = Person::asked_about("rm -rf build");
    kim.sees("[HIGH]");
    kim.sees("[N] Reject");
    kim.presses("\r");
    kim.sees("→ Rejected by kim.");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn a_refusal_carries_its_reason() {
    let mut kim = Person::asked_about("rm -rf build");
    kim.presses("r");
    kim.sees(&prompt::ask_reason().to_string());
    kim.enters("the build is still needed 明天");
    kim.sees("→ Rejected by kim. “the build is still needed 明天”");
    let result = kim.result();
    assert_eq!(result["status"], "rejected");
    assert_eq!(result["reason"], "the build is still needed 明天");
}

#[test]
fn think_again_needs_feedback_and_gives_it_to_the_agent() {
    let mut kim = Person::asked_about("rm -rf build");
    kim.presses("t");
    kim.sees("What should it do differently?");
    kim.types("\r");
    kim.sees(&prompt::text_needed().to_string());
    kim.enters("use mv");
    kim.sees("→ Sent back to think again by kim. “use mv”");
    let result = kim.result();
    assert_eq!(
        (&result["status"], &result["feedback"]),
        (&json!("retry"), &json!("use mv"))
    );
}

#[test]
fn information_reaches_the_agent() {
    let config = "[[rules]]\nname = \"ask\"\ntool = \"bash\"\neffect = \"ask\"\nanswers = [\"approve\", \"info\", \"reject\"]\n";
    let mut kim = Person::at(json!({ "config": config, "calls": [bash("rm -rf build")] }));
    kim.presses("i");
    kim.sees("What should the agent know?");
    kim.enters("build is a symlink");
    kim.sees("kim answered");
    let result = kim.result();
    assert_eq!(
        (&result["status"], &result["feedback"]),
        (&json!("info"), &json!("build is a symlink"))
    );
}

#[test]
fn skipping_leaves_this_one_out() {
    let mut kim = Person::asked_about("rm -rf build");
    kim.presses("s");
    kim.sees("→ Skipped by kim.");
    assert_eq!(kim.result()["status"], "skipped");
}

#[test]
fn ending_the_run_is_confirmed_first() {
    let mut kim = Person::asked_about("rm -rf build");
    kim.presses("x");
    kim.sees(&prompt::choose("End the run").to_string());
    kim.types("\r");
    // What was asked before must be off the screen, or it is taken for what is asked next.
    kim.sees_no_more(&prompt::choose("End the run").to_string());
    kim.presses("x");
    kim.sees(&prompt::choose("End the run").to_string());
    kim.types("y");
    kim.sees("→ Run ended by kim.");
    assert_eq!(kim.result()["status"], "terminated");
}

#[test]
fn edited_arguments_are_shown_as_a_change_and_then_run() {
    let mut kim = Person::asked_about("rm -rf build");
    kim.presses("e");
    // The command line is edited, not JSON.
    kim.sees("› rm -rf build");
    kim.enters("/tmp");
    kim.sees("Changed by: kim");
    kim.sees(r#"-  "command": "rm -rf build""#);
    kim.sees(r#"+  "command": "rm -rf build/tmp""#);
    kim.types("y");
    kim.sees("→ Approved with changes by kim.");
    kim.sees(r#""command": "rm -rf build" → "command": "rm -rf build/tmp""#);
    assert_eq!(
        kim.result(),
        json!({ "output": r#"ran {"command":"rm -rf build/tmp"}"# })
    );
}

#[test]
fn bad_json_and_a_bad_schema_are_said_and_can_be_mended() {
    let schema = json!({ "type": "object", "required": ["to"], "additionalProperties": false });
    let call = json!({ "tool": "deploy", "args": { "to": "staging" } });
    let mut kim = Person::at(json!({ "calls": [call], "schema": schema }));
    kim.presses("e");
    kim.sees("› {");
    kim.enters("\u{7f}");
    kim.sees("the arguments are not valid JSON");
    kim.enters(",\"x\":1}");
    kim.sees("Changed by: kim");
    kim.types("y");
    kim.sees("don't fit the tool's schema");
    // Still the same text, to be mended.
    kim.types(&"\u{7f}".repeat(7));
    kim.enters("}");
    kim.sees(&prompt::nothing_changed().to_string());
    kim.types("n");
    kim.sees("→ Rejected by kim.");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn arguments_are_edited_in_the_persons_own_editor() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("editor.sh");
    std::fs::write(&script, "sed -i 's#build#build/tmp#' \"$1\"\n").unwrap();
    let place = Place {
        env: vec![("EDITOR", format!("sh {}", script.display()))],
        ..Place::default()
    };
    let mut kim = Person::sits(&place, json!({ "calls": [bash("rm -rf build")] }));
    kim.presses("E");
    kim.sees("Changed by: kim");
    kim.presses("y");
    kim.sees("→ Approved with changes by kim.");
    assert_eq!(
        kim.result(),
        json!({ "output": r#"ran {"command":"rm -rf build/tmp"}"# })
    );
}

#[test]
fn an_editor_that_fails_or_is_not_set_changes_nothing() {
    let mut kim = Person::asked_about("rm -rf build");
    kim.presses("E");
    kim.sees("$EDITOR is not set");
    kim.types("n");
    assert_eq!(kim.result()["status"], "rejected");
    let place = Place {
        env: vec![("EDITOR", "false".into())],
        ..Place::default()
    };
    let mut kim = Person::sits(&place, json!({ "calls": [bash("rm -rf build")] }));
    kim.presses("E");
    kim.sees("the editor failed: `false`");
    kim.presses("n");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn dont_ask_again_shows_its_exact_scope_and_end_and_is_kept() {
    let calls = [bash("mkdir build"), bash("mkdir build")];
    let mut kim = Person::at(json!({ "calls": calls, "oneByOne": true }));
    kim.presses("a");
    kim.sees(&scope::exactly("bash").to_string());
    kim.sees("in session `terminal:kim` only");
    kim.sees("‹1 hour›");
    kim.types("\u{1b}[B\u{1b}[C");
    kim.sees("‹8 hours›");
    kim.types("y");
    kim.sees("→ Approved by kim.");
    let results = kim.results();
    assert_eq!(
        results["calls"][0], results["calls"][1],
        "the second one was not asked about"
    );
    assert_eq!(
        results["standing"],
        json!([{
            "covers": "`bash` lines in which every command is `mkdir build`, in session `terminal:kim` only",
            "seconds": 8 * 3600,
        }])
    );
}

#[test]
fn as_a_rule_is_shown_with_its_past_before_it_counts_and_spares_the_next_question() {
    let mut elsewhere = bash("git fetch upstream");
    elsewhere["session"] = json!("other");
    let calls = [bash("git fetch origin"), elsewhere];
    let mut kim = Person::at(json!({ "calls": calls, "oneByOne": true }));
    kim.presses("a");
    kim.sees("As a rule: ");
    kim.types("7");
    kim.sees("‹365 days›");
    kim.types("y");
    kim.sees("command = [\"git fetch *\"]");
    kim.sees("In the last seven days it would have covered: 1 call,");
    kim.sees_bold("[y] Yes");
    kim.types("y");
    kim.sees("→ Approved by kim.");
    let results = kim.results();
    assert_eq!(
        results["calls"][1],
        json!({ "output": r#"ran {"command":"git fetch upstream"}"# }),
        "the second one was not asked about"
    );
    assert_eq!(
        results["standing"],
        json!([{
            "covers": "`bash` lines in which every command is `git fetch *`, in every session",
            "seconds": 365 * 24 * 3600,
        }])
    );
}

#[test]
fn beyond_the_conversation_only_an_admin_says_dont_ask_again() {
    let config = "[[people]]\nname = \"kim\"\n[[people]]\nname = \"wei\"\n[server]\nadmins = [\"wei\"]\n";
    let mut kim = Person::at(json!({ "config": config, "calls": [bash("git fetch origin")] }));
    kim.presses("a");
    kim.sees("In this conversation: ");
    assert!(!kim.screen().contains("As a rule"), "{}", kim.screen());
    kim.types("\u{3}");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn dont_ask_again_is_never_offered_for_high_risk_nor_taken_by_enter() {
    let mut kim = Person::asked_about("rm -rf build");
    kim.is_asked();
    assert!(!kim.screen().contains("don't ask again"), "{}", kim.screen());
    kim.types("n");
    assert_eq!(kim.result()["status"], "rejected");
    let mut kim = Person::asked_about("mkdir build");
    kim.presses("a");
    kim.sees("Approve on these terms");
    kim.types("\r");
    kim.sees("[N] Reject");
    kim.types("\r");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn a_message_for_the_agent_goes_with_the_answer() {
    let mut kim = Person::asked_about("mkdir build");
    kim.presses("m");
    kim.sees(&prompt::ask_message().to_string());
    kim.enters("afterwards run the tests");
    kim.sees("Note for the agent: afterwards run the tests");
    kim.types("n");
    kim.sees("→ Rejected by kim.");
    assert_eq!(kim.result()["instruction"], "afterwards run the tests");
}
