//! `safety.require_confirmation`: what a call does to rows and schema counts, and not what its tool is called.

use placet_core::config::Config;
use placet_core::tool::Tool;
use placet_core::verdict::{AskTerms, Decision, Reason, Step};
use serde_json::json;

use crate::support::{builtin, decide_for, load, name};

const CHANGES: [&str; 6] = [
    "INSERT INTO orders VALUES (1)",
    "UPDATE orders SET status = 2 WHERE status = 1",
    "DELETE FROM orders WHERE status = 1",
    "DROP TABLE orders",
    "ALTER TABLE orders ADD COLUMN note text",
    "WITH gone AS (DELETE FROM orders WHERE id = 1 RETURNING id) SELECT * FROM gone",
];

/// The same statement by the built-in tool, by one of an MCP server, and by one that the operator described.
fn tools(config: &Config) -> Vec<(Tool, &'static str)> {
    let described = config.tools.get(&name("x")).unwrap();
    vec![
        (builtin("data_modify"), "sql"),
        (Tool::unknown(name("mcp__db__exec")), "statement"),
        (described.over(Tool::unknown(name("x"))), "q"),
    ]
}

fn config(approval: &str, safety: &str) -> Config {
    let text = format!("[approval]\n{approval}\n[tools.x]\nsql = 'q'\n{safety}");
    load(&text).unwrap()
}

#[test]
fn with_require_confirmation_every_insert_update_delete_and_ddl_is_asked_about_whatever_its_tool_is_called() {
    for approval in [
        "mode = 'default'",
        "mode = 'autoEdit'",
        "mode = 'yolo'",
        "mode = 'yolo'\nauto_approved_tools = ['data_modify', 'mcp__db__exec', 'x']",
        "tool_overrides = { data_modify = false, mcp__db__exec = false, x = false }",
    ] {
        let config = config(approval, "[safety]\nrequire_confirmation = true\n");
        for (tool, argument) in tools(&config) {
            for sql in CHANGES {
                let verdict = decide_for(&tool, &config.policy, json!({ argument: sql }));
                assert_eq!(
                    (verdict.decision, verdict.reason),
                    (Decision::Ask(AskTerms::plain()), Reason::DataConfirmed),
                    "{approval} {} {sql}",
                    tool.name
                );
            }
            let read = decide_for(
                &tool,
                &config.policy,
                json!({ argument: "SELECT id FROM orders" }),
            );
            assert_ne!(read.reason, Reason::DataConfirmed, "{}", tool.name);
        }
    }
}

#[test]
fn with_require_confirmation_sql_that_cannot_be_read_is_asked_about_even_where_a_rule_allows_the_tool() {
    let rule = "[safety]\nrequire_confirmation = true\n[[rules]]\nname = 'x'\ntool = 'x'\neffect = 'allow'\n";
    let config = config("mode = 'yolo'", rule);
    for (tool, argument) in tools(&config)
        .into_iter()
        .filter(|(tool, _)| tool.name == name("x"))
    {
        let verdict = decide_for(&tool, &config.policy, json!({ argument: "DELETE FROM FROM" }));
        assert_eq!(verdict.reason, Reason::DataConfirmed);
    }
}

#[test]
fn a_rule_that_asks_about_a_change_keeps_its_own_approvers() {
    let text = "[[people]]\nname = 'lin'\n[safety]\nrequire_confirmation = true\n\
                [[rules]]\nname = 'orders'\ntable = 'orders'\neffect = 'ask'\napprovers = ['lin']\n";
    let config = load(text).unwrap();
    let tool = builtin("data_modify");
    let verdict = decide_for(&tool, &config.policy, json!({ "sql": CHANGES[2] }));
    assert_eq!(verdict.rule.as_deref(), Some("orders"));
}

#[test]
fn mode_auto_edit_allows_files_and_no_rows() {
    let config = config("mode = 'autoEdit'", "");
    for (tool, argument) in tools(&config) {
        let verdict = decide_for(&tool, &config.policy, json!({ argument: CHANGES[0] }));
        assert_eq!(verdict.step, Step::Ask, "{}", tool.name);
    }
    let write = builtin("write");
    let verdict = decide_for(&write, &config.policy, json!({ "path": "a.txt", "content": "a" }));
    assert_eq!(verdict.step, Step::AutoEdit);
}
