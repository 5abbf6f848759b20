//! What rules that allow cover: known effects, and nothing else; and one model of a call, however it is written.

use placet_core::policy::Policy;
use placet_core::tool::{Category, Risk, Tool};
use placet_core::verdict::{Decision, Step, Verdict};
use serde_json::json;

use crate::support::{decide, decide_for, line, load, name, policy};

/// Another agent's call.
fn other(policy: &Policy, tool: &str, args: serde_json::Value) -> Verdict {
    decide_for(&Tool::unknown(name(tool)), policy, args)
}

#[test]
fn a_line_known_to_only_read_is_a_read_of_low_risk_and_allowed_by_step_8() {
    for text in ["ls -la", "git status", "git diff HEAD~1 | head", "grep -rn x src"] {
        let verdict = line(&policy(""), text);
        assert_eq!(
            (verdict.step, verdict.risk, verdict.category),
            (Step::LowRisk, Risk::Low, Category::Read),
            "{text}"
        );
        for mode in ["strict = true", "mode = 'yolo'"] {
            let rules = policy(&format!("[approval]\n{mode}\n"));
            assert_eq!(line(&rules, text).decision, Decision::Allow, "{mode} {text}");
        }
    }
    assert_eq!(line(&policy(""), "make").step, Step::Ask);
}

#[test]
fn another_agents_shell_counts_when_it_is_given_a_line_and_nothing_else() {
    let rules = policy("");
    for tool in ["bash", "shell", "run_shell_command", "Bash"] {
        let verdict = other(
            &rules,
            tool,
            json!({"command": "ls -la", "description": "look", "timeout": 5}),
        );
        assert_eq!(verdict.risk, Risk::Low, "{tool}");
    }
    for (tool, args) in [
        ("deploy", json!({"command": "ls"})),
        ("bash", json!({"command": "ls", "host": "prod"})),
        ("bash", json!({"command": "ls", "env": {"PATH": "."}})),
        ("bash", json!({"command": "ls", "cwd": "/tmp"})),
        ("bash", json!({"command": "ls", "script": "rm x"})),
        ("bash", json!({"input": "ls"})),
        ("bash", json!({})),
    ] {
        assert!(
            other(&rules, tool, args.clone()).risk > Risk::Low,
            "{tool} {args}"
        );
    }
}

#[test]
fn however_a_command_is_written_the_same_rules_hold() {
    let rules = policy("[[rules]]\nname='no pushing'\ncommand='git push*'\neffect='deny'\n");
    for args in [
        json!({"command": "git push --force"}),
        json!({"command": "git", "args": ["push", "--force"]}),
        json!({"command": ["git", "push", "--force"]}),
        json!({"cmd": ["git", "push"]}),
        json!({"argv": ["git", "push"]}),
        json!({"cmdline": "git push"}),
        json!({"program": "git", "arguments": ["push"]}),
        json!({"program": "/usr/bin/git", "args": ["push"]}),
        json!({"executable": "git", "argv": ["push"]}),
        json!({"script": "git push"}),
        json!({"line": "git push"}),
        json!({"input": "git push"}),
        json!({"code": "git push"}),
        json!({"command": "sh", "args": ["-c", "git push"]}),
        json!({"command": "sh", "stdin": "git push"}),
        json!({"call": {"command": "git", "args": ["push"]}}),
        json!({"steps": [{"run": "git push"}]}),
        json!({"commands": ["ls", "git push"]}),
    ] {
        let verdict = other(&rules, "anything", args.clone());
        assert_eq!(verdict.decision, Decision::Deny, "{args}: {verdict:?}");
    }
    for args in [
        json!({"command": "rm", "args": ["-rf", "/"]}),
        json!({"argv": ["rm", "-rf", "/"]}),
        json!({"command": "sh", "args": ["-c", "rm -rf /"]}),
    ] {
        assert_eq!(
            other(&policy(""), "anything", args.clone()).step,
            Step::Deny,
            "{args}"
        );
    }
    for args in [
        json!({"command": "git", "args": ["push", "--force"]}),
        json!({"command": "cat", "args": [".env"]}),
        json!({"command": "cat", "args": ["x"], "cwd": "/etc"}),
        json!({"command": "ls", "env": {"LD_PRELOAD": "x.so"}}),
        json!({"command": "xargs", "args": ["cat"], "stdin": ".env"}),
    ] {
        assert_eq!(
            other(&policy(""), "anything", args.clone()).risk,
            Risk::High,
            "{args}"
        );
    }
}

#[test]
fn a_wildcard_that_allows_covers_known_effects_only() {
    let rules = policy(
        "[[rules]]\nname='log'\ntool='bash'\ncommand=['git log *', 'git add *', 'cargo test *', 'tee *', 'xargs *']\neffect='allow'\n",
    );
    for covered in [
        "git add src",
        "cargo test -p core",
        "git add src && ls",
        "ls | tee out.txt",
    ] {
        assert_eq!(line(&rules, covered).rule.as_deref(), Some("log"), "{covered}");
    }
    for open in [
        "git log --output=Makefile",
        "git log --ext-diff",
        "git add src > x",
        "git add $x",
        "xargs git add",
        "xargs git add <<< src",
        "cargo test --no-such-option",
        "XDG_CONFIG_HOME=cfgd git add src",
        "PYTEST_ADDOPTS=x cargo test",
        "git add src && make",
    ] {
        assert_ne!(line(&rules, open).decision, Decision::Allow, "{open}");
    }
}

#[test]
fn a_rule_can_say_effects() {
    let rules = policy(
        "[[rules]]\nname='build'\ntool='bash'\neffect='allow'\nreads='**'\nwrites='build/**'\nhost='example.org'\nruns=false\n\
         matches=['cp src/a build/a', 'mkdir -p build/x && touch build/x/y', 'rm build/a', 'cat src/a > build/b']\n\
         not_matches=['cp src/a src/b', 'make', 'mytool', 'cat src/a > src/b', 'cp /etc/hosts build/a', 'rm -r build']\n",
    );
    assert_eq!(line(&rules, "cp src/a build/a").rule.as_deref(), Some("build"));
    for asked in [
        "cp src/a src/b",
        "make",
        "mytool x",
        "touch x",
        "curl https://evil.example",
        "cp $x build/a",
    ] {
        assert_ne!(line(&rules, asked).decision, Decision::Allow, "{asked}");
    }
    let error = load("[[rules]]\nname='r'\neffect='deny'\nreads='x'\n").unwrap_err();
    assert!(error.to_string().contains("say what a rule allows"), "{error}");
}

#[test]
fn a_host_rule_does_not_cover_a_url_that_clients_read_differently() {
    let rules = policy("[[rules]]\nname='h'\ntool='fetch'\nhost='example.com'\neffect='allow'\n");
    let fetch = |url: &str| decide(&rules, "fetch", json!({ "url": url }));
    assert_eq!(fetch("http://example.com/x").decision, Decision::Allow);
    for odd in [
        r"http://example.com\@127.0.0.1/",
        "http://example.com@evil.com/",
        "http:/example.com/x",
    ] {
        assert_ne!(fetch(odd).decision, Decision::Allow, "{odd}");
    }
}

#[test]
fn a_wildcard_behind_a_program_without_a_record_is_refused() {
    let text = "[[rules]]\nname='r'\ntool='bash'\ncommand='mytool *'\neffect='allow'\n";
    let error = load(text).unwrap_err();
    assert!(error.to_string().contains("`mytool` has no record"), "{error}");
    let record = "[programs.mytool]\ndoes='edits'\nargs='text*'\nmedium=['mytool x']\n";
    let config = load(&format!("{record}{text}")).unwrap();
    assert!(config.inspect.knows_program("mytool"));
    let wrong = "[programs.mytool]\ndoes='reads'\nargs='text*'\nmedium=['mytool x']\n";
    let error = load(wrong).unwrap_err();
    assert!(error.to_string().contains("is LOW and not MEDIUM"), "{error}");
    let error = load("[programs.git]\ndoes='reads'\n").unwrap_err();
    assert!(error.to_string().contains("has a record already"), "{error}");
}

#[test]
fn home_paths_can_be_written_in_rules() {
    let rules = policy("[[rules]]\nname='keys'\npath='~/notes/**'\neffect='deny'\n");
    for denied in [
        "cat ~/notes/x",
        "cat /home/user/notes/x",
        "cp x ~/notes/y",
        "cat $HOME/notes/x",
    ] {
        assert_eq!(line(&rules, denied).decision, Decision::Deny, "{denied}");
    }
    assert_ne!(line(&rules, "cat notes/x").decision, Decision::Deny);
}
