//! Tools that share no more than a name with a built-in one.

use super::lines::decide;
use super::*;

#[test]
fn an_argument_the_built_in_tool_does_not_have_is_looked_into() {
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
    ] {
        assert_eq!(step(tool, args.clone()), Step::HighRisk, "{tool} {args}");
    }
    // Not HIGH, and still no longer a read.
    for (tool, args) in [
        ("task", json!({"command": "make"})),
        ("task", json!({"cmd": "ls"})),
        ("read", json!({"uri": "https://example.com/x"})),
        ("skill", json!({"at": "https://example.com/x"})),
        (
            "grep",
            json!({"pattern": "x", "sql": "UPDATE t SET a = 1 WHERE id = 2"}),
        ),
    ] {
        assert_eq!(step(tool, args.clone()), Step::Ask, "{tool} {args}");
    }
}

#[test]
fn what_is_harmless_in_an_unknown_argument_stays_allowed() {
    let rules = policy("");
    for (tool, args) in [
        ("read", json!({"file": "a.txt"})),
        ("read", json!({"paths": ["a.txt", "src/b.rs"]})),
        (
            "read",
            json!({"path": "a.txt", "encoding": "utf-8", "lines": [1, 20]}),
        ),
        (
            "task",
            json!({"description": "rm -rf x", "prompt": "/etc/shadow", "subagent_type": "general"}),
        ),
        (
            "grep",
            json!({"pattern": "/etc/", "output_mode": "content", "-n": true}),
        ),
        (
            "todo",
            json!({"items": [], "note": "Use tabs. Delete the old ones"}),
        ),
        ("ls", json!({"ignore": ["*.o", "target"]})),
    ] {
        let verdict = decide(&rules, tool, args.clone());
        assert_eq!(verdict.decision, Decision::Allow, "{tool} {args}");
    }
}

#[test]
fn in_auto_edit_a_text_to_be_written_may_look_like_anything() {
    let rules = policy("[approval]\nmode = 'autoEdit'\n");
    for text in ["/usr/bin/env", "https://example.com", "DELETE FROM users", "../x"] {
        let edit = json!({"path": "a", "oldString": "b", "newString": text});
        assert_eq!(decide(&rules, "edit", edit).decision, Decision::Allow, "{text}");
    }
    let escape = json!({"filePath": "../x", "oldString": "b", "newString": "c"});
    assert_ne!(decide(&rules, "edit", escape).decision, Decision::Allow);
    let command = json!({"path": "a", "old": "a", "new": "b", "command": "make"});
    assert_ne!(decide(&rules, "edit", command).decision, Decision::Allow);
}

#[test]
fn in_auto_edit_a_write_under_another_name_leads_nowhere_else() {
    let rules = policy("[approval]\nmode = 'autoEdit'\n");
    for (tool, args) in [
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
        // Where this goes, nobody said.
        ("write", json!({"content": "x"})),
        ("write", json!({"resource": "x", "content": "x"})),
    ] {
        let verdict = decide(&rules, tool, args.clone());
        assert_eq!(verdict.step, Step::HighRisk, "{tool} {args}");
    }
    for (tool, args) in [
        (
            "write",
            json!({"target_file": "src/a.rs", "content": "/etc/passwd"}),
        ),
        (
            "edit",
            json!({"filePath": "src/a.rs", "oldString": "../x", "newString": "~/y"}),
        ),
        (
            "edit",
            json!({"file_path": "a", "edits": [{"old_string": "/a", "new_string": "/b"}], "replace_all": true}),
        ),
    ] {
        let verdict = decide(&rules, tool, args.clone());
        assert_eq!(verdict.decision, Decision::Allow, "{tool} {args}: {verdict:?}");
    }
}

#[test]
fn what_would_run_or_change_what_runs_is_found_under_any_usual_name() {
    let rules = policy("");
    for (tool, args) in [
        ("task", json!({"run": "rm -rf x"})),
        ("task", json!({"code": "rm -rf x"})),
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
fn a_tool_nobody_describes_is_looked_into_by_names_and_shapes() {
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
    let config = Config::parse(
        "[tools.task]\ncategory = 'read'\n",
        "placet.toml",
        std::iter::empty(),
    )
    .unwrap();
    assert_eq!(config.tool(&name("task")).args, crate::tool::ArgNames::Any);
    let config = Config::parse(
        "[tools.task]\nrisk = 'MEDIUM'\n",
        "placet.toml",
        std::iter::empty(),
    )
    .unwrap();
    assert_ne!(config.tool(&name("task")).args, crate::tool::ArgNames::Any);
}
