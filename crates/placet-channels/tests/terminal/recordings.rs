//! The screens in `docs/terminal.md`, recorded from the screen model: documentation that drifts is a failed test.

use serde_json::{Value, json};

use crate::person::{Person, Place, bash};
use crate::pty::Room;
use crate::record::recorded;

fn at(scene: Value) -> Person {
    let place = Place {
        room: Room { cols: 86, rows: 26 },
        ..Place::default()
    };
    Person::sits(&place, scene)
}

/// The question on the screen, without what this test's own program printed above it.
fn question(kim: &Person) -> String {
    kim.is_asked();
    let screen = kim.still();
    let start = screen.find("━━ placet").unwrap();
    let folder = std::fs::canonicalize(kim.file("")).unwrap();
    screen[start..].replace(folder.to_str().unwrap(), "~/project")
}

fn refuses(mut kim: Person) {
    kim.types("\u{3}");
    kim.ends();
}

#[test]
fn a_high_command() {
    let mut call = bash("git status && rm -rf build | tee /tmp/log");
    call["description"] = json!("Clean up before the next build.");
    let kim = at(json!({ "calls": [call] }));
    recorded("terminal.md", "high-command", &question(&kim));
    refuses(kim);
}

#[test]
fn an_edit_with_its_diff() {
    let diff = json!({
        "kind": "diff", "path": "src/limits.rs",
        "before": "pub const RETRIES: u32 = 3;\npub const TIMEOUT: u64 = 30;\n",
        "after": "pub const RETRIES: u32 = 30;\npub const TIMEOUT: u64 = 30;\n",
    });
    let call = json!({ "tool": "edit", "args": { "path": "src/limits.rs", "old": "= 3;", "new": "= 30;" } });
    let kim = at(json!({ "calls": [call], "evidence": [diff] }));
    recorded("terminal.md", "diff", &question(&kim));
    refuses(kim);
}

#[test]
fn a_delete_with_its_row_count() {
    let sql = "DELETE FROM orders WHERE status = 'old'";
    let rows = json!({ "kind": "rows", "statement": "SELECT count(*) FROM orders WHERE status = 'old'", "count": 4211 });
    let kim = at(json!({ "calls": [{ "tool": "data_modify", "args": { "sql": sql } }], "evidence": [rows] }));
    recorded("terminal.md", "delete", &question(&kim));
    refuses(kim);
}

#[test]
fn dont_ask_again() {
    let mut kim = at(json!({ "calls": [bash("git fetch origin")] }));
    kim.presses("a");
    kim.sees("Approve on these terms");
    recorded("terminal.md", "dont-ask-again", &question(&kim));
    refuses(kim);
}

#[test]
fn dont_ask_again_as_a_rule() {
    let mut kim = at(json!({ "calls": [bash("git fetch origin")] }));
    kim.presses("a");
    kim.sees("Approve on these terms");
    kim.types("7");
    kim.sees("‹365 days›");
    kim.types("y");
    kim.sees("again for 365 days?");
    recorded("terminal.md", "as-a-rule", &question(&kim));
    refuses(kim);
}

#[test]
fn a_changed_argument() {
    let mut kim = at(json!({ "calls": [bash("rm -rf build")] }));
    kim.presses("e");
    kim.sees("› rm -rf build");
    kim.enters("/tmp");
    kim.sees("Changed by: kim");
    recorded("terminal.md", "edited", &question(&kim));
    refuses(kim);
}

#[test]
fn a_choice_in_chinese() {
    let request = json!({
        "sessionId": "terminal:kim", "type": "USER_CHOICE", "title": "要连接哪个数据库？", "message": "配置里有两个。",
        "options": [
            { "optionId": "staging", "label": "测试库", "description": "昨天的副本", "action": "CUSTOM" },
            { "optionId": "production", "label": "生产库", "action": "CUSTOM", "isDangerous": true },
            { "optionId": "none", "label": "都不连", "action": "SKIP", "isDefault": true },
        ],
    });
    let kim = at(json!({ "locale": "zh", "requests": [request] }));
    recorded("terminal.md", "choice-zh", &question(&kim));
    refuses(kim);
}
