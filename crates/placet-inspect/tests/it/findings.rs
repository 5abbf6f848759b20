//! What is stored is what was found, whatever the call.

use expect_test::expect;
use placet_core::analysis::FactKind;
use placet_core::call::Args;
use placet_core::findings::{Findings, StoredFindings};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::chinese::corpus;
use crate::support::{builtin, inspect};

fn args(value: Value) -> Args {
    Args::from_value(value).unwrap()
}

fn found(tool: &str, args: &Args) -> Findings {
    let mut found = inspect(&builtin(tool), args);
    forget_what_is_not_stored(&mut found);
    found
}

/// Rules match these when the call is proposed; no surface shows them.
fn forget_what_is_not_stored(found: &mut Findings) {
    found.analysis.home = None;
    found.analysis.acts.clear();
    for fact in &mut found.analysis.facts {
        if let FactKind::Command { paths, .. } = &mut fact.kind {
            paths.clear();
        }
    }
}

fn through_the_journal(found: &Findings, args: &Args) -> Findings {
    let stored = serde_json::to_string(&found.stored(args)).unwrap();
    let stored: StoredFindings = serde_json::from_str(&stored).unwrap();
    stored.read(args).unwrap()
}

#[test]
fn findings_come_back_from_the_journal_as_they_were() {
    for (tool, value) in corpus() {
        let args = args(value);
        let found = found(tool, &args);
        assert_eq!(through_the_journal(&found, &args), found, "{tool} {args:?}");
    }
}

#[test]
fn findings_are_stored_without_the_texts_of_the_arguments() {
    let calls = [
        ("bash", json!({"command": "git status"})),
        (
            "bash",
            json!({"command": "cargo test --workspace 2>&1 | tee 'build output.log' && git push --force origin main"}),
        ),
        ("data_modify", json!({"sql": "DELETE FROM users WHERE id = 7"})),
        ("write", json!({"path": "src/main.rs", "content": "fn main() {}"})),
        ("fetch", json!({"url": "http://169.254.169.254/latest/meta-data"})),
        ("deploy", json!({"to": "production"})),
    ];
    let stored: Vec<String> = calls
        .into_iter()
        .map(|(tool, value)| {
            let args = args(value);
            serde_json::to_string(&found(tool, &args).stored(&args)).unwrap()
        })
        .collect();
    expect![[r#"
        {"facts":[{"argv":["git","status"],"kind":"command","risk":"LOW","text":"git status"}],"lines":["git status"],"location":{"folder":"/workspace"}}
        {"act":{"act":"force_push","more":2,"of":["origin","main"],"with":"git"},"facts":[{"argv":["cargo","test","--workspace"],"effects":[{"runs":"cargo"}],"kind":"command","risk":"MEDIUM","text":[0,22]},{"argv":["tee",[35,16]],"effects":[{"writes":"/workspace/build output.log"}],"kind":"command","risk":"MEDIUM","text":[30,22]},{"argv":["git","push","--force","origin","main"],"effects":["changes"],"kind":"command","risk":"HIGH","text":[56,28],"why":{"deed":"overwrites_remote","what":"git","why":"does"}}],"lines":[[0,84]],"location":{"folder":"/workspace"}}
        {"facts":[{"category":"write","kind":"statement","risk":"MEDIUM","tables":["users"],"text":[0,30],"verb":"DELETE"}]}
        {"facts":[{"given":"src/main.rs","inside":true,"kind":"path","resolved":"/workspace/src/main.rs","risk":"MEDIUM","writes":true}]}
        {"facts":[{"host":[7,15],"kind":"host","port":80,"risk":"HIGH","scheme":"http","why":{"address":"hands_out_credentials","url":"address","why":"url"}}]}
        {}"#]].assert_eq(&stored.join("\n"));
}

#[test]
fn a_reader_gets_the_texts_and_not_their_places() {
    let args = args(json!({"command": "make build-everything"}));
    let stored = found("bash", &args).stored(&args);
    assert_eq!(serde_json::to_value(&stored).unwrap()["lines"], json!([[0, 21]]));
    assert_eq!(stored.readable(&args)["lines"], json!(["make build-everything"]));
}

proptest! {
    #[test]
    fn no_shell_line_changes_on_its_way_through_the_journal(line in "[ -~é\n]{0,80}", other in "[a-z]{0,30}") {
        let args = args(json!({"command": line, "a": {"b": [other, 7, null]}}));
        let found = found("bash", &args);
        prop_assert_eq!(through_the_journal(&found, &args), found);
    }
}
