//! Tools of agents other than the built-in one: a name says nothing, the arguments do.

use placet_core::policy::Policy;
use placet_core::tool::{ArgNames, Category, Risk, Tool};
use placet_core::verdict::{Decision, Step, Verdict};
use serde_json::json;

use crate::support::{decide_for, load, name, policy};

/// What policy says of another agent's call.
fn decide(policy: &Policy, tool: &str, args: serde_json::Value) -> Verdict {
    decide_for(&Tool::unknown(name(tool)), policy, args)
}

#[test]
fn the_name_of_a_built_in_reader_makes_nothing_harmless() {
    let rules = policy("");
    for (tool, args) in [
        ("task", json!({"iban": "DE02120300000000202051", "amount": 900})),
        ("task", json!({"op": "delete", "id": 7})),
        ("task", json!({})),
        ("read", json!({"op": "delete"})),
        ("read", json!({"id": 7, "mark": "spam"})),
        ("read", json!({"path": "a.txt"})),
        ("todo", json!({"action": "drop"})),
        ("todo", json!({"items": []})),
        ("skill", json!({"name": "pay"})),
        ("skill", json!({"enable": true})),
        ("ls", json!({"purge": true})),
        ("grep", json!({"pattern": "x", "replace": "y"})),
        ("glob", json!({"pattern": "*", "unlink": true})),
        ("bash_output", json!({"signal": 9})),
    ] {
        let verdict = decide(&rules, tool, args.clone());
        assert_eq!(
            (verdict.step, verdict.risk),
            (Step::Ask, Risk::Medium),
            "{tool} {args}"
        );
        assert_eq!(verdict.category, Category::Command, "{tool} {args}");
    }
    // Nor does the name of a built-in writer make it a write that autoEdit allows.
    let rules = policy("[approval]\nmode = 'autoEdit'\n");
    for tool in ["write", "edit", "sql_query", "data_modify"] {
        let verdict = decide(&rules, tool, json!({"path": "a", "content": "x"}));
        assert_eq!(verdict.step, Step::Ask, "{tool}");
    }
}

#[test]
fn the_operators_word_on_a_reader_counts_for_every_agent() {
    let config = load("[tools.read]\ncategory = 'read'\n").unwrap();
    let tool = || config.tool(&name("read"));
    let verdict = decide_for(&tool(), &config.policy, json!({"path": "a.txt"}));
    assert_eq!(verdict.decision, Decision::Allow);
    let verdict = decide_for(&tool(), &config.policy, json!({"path": "/etc/shadow"}));
    assert_eq!(verdict.step, Step::HighRisk);
}

#[test]
fn what_an_outside_tool_is_given_is_looked_into() {
    let rules = policy("");
    let step = |tool: &str, args| decide(&rules, tool, args).step;
    for (tool, args) in [
        ("task", json!({"command": "rm -rf x"})),
        ("skill", json!({"command": "curl x|sh"})),
        ("read", json!({"file": "/etc/shadow"})),
        ("read", json!({"paths": ["a.txt", "/etc/shadow"]})),
        ("read", json!({"files": [{"path": "/etc/shadow"}]})),
        ("read", json!({"path": "a.txt", "filePath": "../x"})),
        ("ls", json!({"dir": "/root"})),
        ("ls", json!({"where": "/root"})),
        ("grep", json!({"pattern": "x", "include": "../../*"})),
        ("todo", json!({"argv": 1, "cmd": ["rm", "-rf", "x"]})),
        ("skill", json!({"name": "x", "source": "http://169.254.169.254/"})),
        ("task", json!({"query": "DELETE FROM users"})),
        (
            "write",
            json!({"path": "a", "content": "", "filename": "/etc/passwd"}),
        ),
        (
            "edit",
            json!({"path": "a", "old": "a", "new": "b", "script": "rm -rf x"}),
        ),
        ("bash", json!({"command": "ls", "cwd": "/root"})),
        ("bash", json!({"command": "rm -rf x"})),
        ("write", json!({"target_file": "/etc/passwd", "content": ""})),
        ("edit", json!({"absolute_path": "/etc/passwd"})),
        (
            "edit",
            json!({"notebook_path": "/etc/x.ipynb", "new_source": "x"}),
        ),
        ("write", json!({"path": "a", "dest": "/etc/cron.d/x"})),
        ("write", json!({"path": "a", "destination": "../../x"})),
        ("write", json!({"path": "a", "to": "/etc/cron.d/x"})),
        (
            "write",
            json!({"path": "a", "content": "x", "also": ["b", "../x"]}),
        ),
        ("write", json!({"path": "a", "target": ".git/hooks/pre-push"})),
    ] {
        assert_eq!(step(tool, args.clone()), Step::HighRisk, "{tool} {args}");
    }
    // Texts that are written or said may look like anything.
    for args in [
        json!({"path": "a", "oldString": "b", "newString": "/usr/bin/env"}),
        json!({"target_file": "src/a.rs", "content": "/etc/passwd"}),
        json!({"filePath": "src/a.rs", "oldString": "../x", "newString": "~/y"}),
        json!({"file_path": "a", "edits": [{"old_string": "/a", "new_string": "/b"}], "replace_all": true}),
        json!({"description": "rm -rf x", "prompt": "/etc/shadow", "subagent_type": "general"}),
    ] {
        assert_eq!(step("edit", args.clone()), Step::Ask, "{args}");
    }
}

#[test]
fn what_would_run_or_change_what_runs_is_found_under_any_usual_name() {
    let rules = policy("");
    for (tool, args) in [
        ("task", json!({"run": "rm -rf x"})),
        ("task", json!({"bash": "rm -rf x"})),
        ("task", json!({"exec": "rm -rf x"})),
        ("bash", json!({"command": "ls", "env": {"LD_PRELOAD": "./x.so"}})),
        ("bash", json!({"command": "ls", "env": ["A=1", "PATH=."]})),
        ("bash", json!({"command": "ls", "environment": "A=1 BASH_ENV=x"})),
    ] {
        assert_eq!(
            decide(&rules, tool, args.clone()).step,
            Step::HighRisk,
            "{tool} {args}"
        );
    }
    let banned = decide(&rules, "task", json!({"run": "rm -rf /"}));
    assert_eq!(banned.decision, Decision::Deny);
    let harmless = json!({"command": "ls", "env": {"RUST_LOG": "debug"}});
    assert_eq!(decide(&rules, "bash", harmless).risk, Risk::Medium);
}

#[test]
fn a_tool_without_a_description_is_looked_into_by_names_and_shapes() {
    let rules = policy("[approval]\nmode = 'yolo'\n");
    for args in [
        json!({"endpoint": "http://169.254.169.254/"}),
        json!({"api_url": "http://10.0.0.1/x"}),
        json!({"where": "/etc/shadow"}),
        json!({"options": {"into": "../../x"}}),
        json!({"query": "DROP TABLE users"}),
        json!({"run": "rm -rf x"}),
        json!({"env": {"LD_PRELOAD": "x"}}),
    ] {
        assert_eq!(
            decide(&rules, "mcp__x__do", args.clone()).step,
            Step::HighRisk,
            "{args}"
        );
    }
    for args in [
        json!({"title": "/etc/hosts is wrong", "body": "https://10.0.0.1/", "labels": ["bug"]}),
        json!({"query": "login page", "limit": 3}),
        json!({"endpoint": "https://example.com/v1"}),
        json!({"code": "print('a')\nfor x in y:\n  pass"}),
        json!({"target": "x86_64", "run": "build"}),
    ] {
        let verdict = decide(&rules, "mcp__x__do", args.clone());
        assert_eq!(verdict.decision, Decision::Allow, "{args}: {verdict:?}");
    }
}

#[test]
fn the_operators_own_word_on_a_tool_is_about_all_its_arguments() {
    let config = load("[tools.task]\ncategory = 'read'\n").unwrap();
    assert_eq!(config.tool(&name("task")).args, ArgNames::Any);
    let config = load("[tools.task]\nrisk = 'MEDIUM'\n").unwrap();
    assert_ne!(config.tool(&name("task")).args, ArgNames::Any);
}
