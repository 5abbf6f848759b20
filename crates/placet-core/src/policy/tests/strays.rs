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
