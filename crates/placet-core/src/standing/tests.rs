//! What a standing grant covers, and what it does not.

use serde_json::json;

use super::*;
use crate::analysis::Fact;
use crate::analysis::tests::uninspected;
use crate::call::tests::call;
use crate::tool::Risk;

fn fact(kind: FactKind) -> Fact {
    Fact {
        kind,
        risk: Risk::Medium,
        why: None,
    }
}

fn command(line: &str) -> Fact {
    let argv = line.split_whitespace().map(str::to_owned).collect();
    fact(FactKind::Command {
        argv,
        text: line.into(),
        dynamic: false,
        assignments: vec![],
        under: vec![],
        effects: Vec::new(),
        paths: vec![],
    })
}

fn found(facts: Vec<Fact>) -> Analysis {
    Analysis {
        facts,
        ..Analysis::nothing()
    }
}

fn path(relative: &str) -> Fact {
    let resolved = format!("/workspace/{relative}");
    fact(FactKind::Path {
        given: relative.into(),
        resolved,
        inside: true,
        writes: true,
    })
}

fn host(name: &str) -> Fact {
    fact(FactKind::Host {
        host: name.into(),
        scheme: "https".into(),
        port: Some(443),
    })
}

fn scope(tool: &str, covers: Covers) -> Scope {
    Scope {
        tool: ToolName::new(tool).unwrap(),
        session: None,
        workspace: None,
        covers,
    }
}

fn covered(scope: &Scope, facts: Vec<Fact>) -> bool {
    let call = call(scope.tool.as_str(), json!({"x": 1}));
    scope.covers(&call, &found(facts), call.digest(), "/workspace")
}

#[test]
fn every_command_of_a_line_must_be_covered() {
    let git = scope(
        "bash",
        Covers::Commands(vec!["git status".into(), "git log *".into()]),
    );
    assert!(covered(&git, vec![command("git status"), command("git log -p")]));
    assert!(!covered(&git, vec![command("git status"), command("rm x")]));
    assert!(!covered(&git, vec![command("git status --ignored")]));
    assert!(!covered(&git, vec![]));
}

/// `OpenClaw` CVE-2026-29607: "always allow" was bound to the wrapper.
#[test]
fn a_grant_for_a_wrapper_does_not_cover_what_it_runs() {
    let wrapper = scope("bash", Covers::Commands(vec!["time *".into()]));
    assert!(!covered(&wrapper, vec![command("time rm x"), command("rm x")]));
}

#[test]
fn what_is_dynamic_assigned_unreadable_or_written_elsewhere_is_not_covered() {
    let any = scope("bash", Covers::Commands(vec!["ls *".into()]));
    assert!(covered(&any, vec![command("ls")]));
    let variant = |dynamic, assignments| {
        fact(FactKind::Command {
            argv: vec!["ls".into()],
            text: "ls".into(),
            dynamic,
            assignments,
            under: vec![],
            effects: Vec::new(),
            paths: vec![],
        })
    };
    assert!(!covered(&any, vec![variant(true, vec![])]));
    assert!(!covered(&any, vec![variant(false, vec!["LD_PRELOAD=x".into()])]));
    assert!(!covered(
        &any,
        vec![command("ls"), fact(FactKind::Unreadable { what: "x".into() })]
    ));
    let redirect = |contained| {
        fact(FactKind::Redirect {
            path: "x".into(),
            writes: true,
            contained,
            paths: vec![],
        })
    };
    assert!(!covered(&any, vec![command("ls"), redirect(false)]));
    assert!(!covered(&any, vec![command("ls"), redirect(true)]));
}

#[test]
fn any_command_at_all_cannot_be_said() {
    for pattern in ["*", "* *", "?*", "l*", "l? *", "*s", "*/ls"] {
        let any = scope("bash", Covers::Commands(vec![pattern.into()]));
        assert!(!covered(&any, vec![command("ls")]), "{pattern}");
    }
    let named = scope("bash", Covers::Commands(vec!["*".into(), "ls *".into()]));
    assert!(covered(&named, vec![command("ls -l")]));
    assert!(!covered(&named, vec![command("rm x")]));
}

#[test]
fn a_pattern_or_glob_that_cannot_be_read_covers_nothing() {
    assert!(!covered(
        &scope("bash", Covers::Commands(vec!["ls '".into()])),
        vec![command("ls")]
    ));
    assert!(!covered(
        &scope("write", Covers::Paths(vec!["../**".into()])),
        vec![path("a")]
    ));
    assert!(!covered(
        &scope("bash", Covers::Commands(vec![])),
        vec![command("ls")]
    ));
}

#[test]
fn paths_and_hosts_cover_what_they_name_and_never_a_shell_line() {
    let docs = scope("write", Covers::Paths(vec!["docs/**".into()]));
    assert!(covered(&docs, vec![path("docs/a.md")]));
    assert!(!covered(&docs, vec![path("docs/a.md"), path("src/a.rs")]));
    let example = scope("fetch", Covers::Hosts(vec!["*.example.com".into()]));
    assert!(covered(&example, vec![host("a.example.com")]));
    assert!(!covered(&example, vec![host("example.com.evil.org")]));
    for scope in [docs, example] {
        assert!(!covered(
            &Scope {
                tool: ToolName::new("bash").unwrap(),
                ..scope.clone()
            },
            vec![command("ls")]
        ));
        assert!(!covered(&scope, vec![]));
    }
}

#[test]
fn a_grant_is_for_its_tool_its_session_and_its_digest() {
    let ls = call("bash", json!({"command": "ls"}));
    let other = call("bash", json!({"command": "ls -l"}));
    let mut grant = scope("bash", Covers::Exactly(ls.digest()));
    let nothing = Analysis::nothing();
    assert!(grant.covers(&ls, &nothing, ls.digest(), "/workspace"));
    assert!(!grant.covers(&other, &nothing, other.digest(), "/workspace"));
    grant.session = Some(SessionId::new("another").unwrap());
    assert!(!grant.covers(&ls, &nothing, ls.digest(), "/workspace"));
}

fn offers(tool: &str, facts: Vec<Fact>) -> Vec<String> {
    let call = call(tool, json!({}));
    let all = Scope::suggest(&call, &found(facts), call.digest(), "/workspace");
    all.iter()
        .skip(1)
        .map(|scope| scope.describe().replace(", in session `s` only", ""))
        .collect()
}

#[test]
fn offers_go_from_narrow_to_wider_and_never_to_the_whole_tool() {
    assert_eq!(
        offers("bash", vec![command("git log -p a*")]),
        [
            "`bash` lines in which every command is `git log -p 'a*'`",
            "`bash` lines in which every command is `git log *`",
        ]
    );
    assert_eq!(
        offers("bash", vec![command("rm build")]),
        ["`bash` lines in which every command is `rm build`"]
    );
    assert_eq!(
        offers("write", vec![path("docs/a.md")]),
        ["`write` on workspace paths matching `docs/*`"]
    );
    assert_eq!(offers("write", vec![path("a.md")]), [""; 0]);
    assert_eq!(
        offers("fetch", vec![host("example.com")]),
        ["`fetch` requests to `example.com`"]
    );
    assert_eq!(offers("mystery", vec![]), [""; 0]);
}

#[test]
fn nothing_is_offered_for_high_risk() {
    let mut bad = command("git push --force");
    bad.risk = Risk::High;
    let call = call("bash", json!({}));
    assert_eq!(
        Scope::suggest(&call, &found(vec![bad]), call.digest(), "/workspace"),
        []
    );
}

#[test]
fn a_token_in_a_covered_command_is_not_spelled_out() {
    let token = "ghp_AAAAAAAAAAAAAAAAAAAA0123456789abcdef";
    let argv = [
        "curl",
        "-H",
        &format!("Authorization: Bearer {token}"),
        "https://a.example",
    ];
    let line = CommandPattern::quote(&argv.map(str::to_owned));
    let scope = scope("bash", Covers::Commands(vec![line]));
    for locale in [Locale::English, Locale::Chinese] {
        let words = scope.describe_in(locale);
        assert!(!words.contains(token), "{words}");
        assert!(
            words.contains("Bearer ghp_...[40-chars-masked]' https://a.example"),
            "{words}"
        );
    }
}

fn statement(verb: &str, tables: &[&str]) -> Fact {
    fact(FactKind::Statement {
        verb: verb.into(),
        also: Vec::new(),
        category: crate::tool::Category::Write,
        tables: tables.iter().map(|table| (*table).to_owned()).collect(),
        text: verb.into(),
    })
}

#[test]
fn statements_are_covered_by_verb_and_table() {
    let rows = scope(
        "data_modify",
        Covers::Statements {
            verbs: vec!["INSERT".into()],
            tables: vec!["log".into()],
        },
    );
    assert!(covered(&rows, vec![statement("INSERT", &["log"])]));
    for other in [
        statement("DELETE", &["log"]),
        statement("INSERT", &["users"]),
        statement("INSERT", &["log", "users"]),
        statement("INSERT", &[]),
        command("ls"),
    ] {
        assert!(!covered(&rows, vec![other]));
    }
    let high = Fact {
        risk: Risk::High,
        ..statement("INSERT", &["log"])
    };
    assert!(!covered(&rows, vec![high]));
}

#[test]
fn a_project_is_one_folder_and_a_rule_is_everywhere() {
    let hosts = scope("fetch", Covers::Hosts(vec!["example.com".into()]));
    assert_eq!(hosts.reach(), GrantReach::Rule);
    let here = hosts.in_project("/workspace");
    assert_eq!(here.reach(), GrantReach::Project);
    assert!(covered(&here, vec![host("example.com")]));
    assert!(!covered(
        &hosts.in_project("/elsewhere"),
        vec![host("example.com")]
    ));
    assert_eq!(
        here.describe(),
        "`fetch` requests to `example.com`, in every session of the project `/workspace`"
    );
}

#[test]
fn a_proposed_rule_is_a_rule_that_loads_and_one_exact_call_is_none() {
    let rule = ProposedRule::new(
        scope("bash", Covers::Commands(vec!["cargo build".into()])),
        &uninspected(),
    )
    .unwrap();
    let loaded =
        crate::config::Config::parse(&rule.to_toml(), "rule", std::iter::empty(), uninspected()).unwrap();
    assert_eq!(loaded.policy.rules().next().unwrap().name, rule.name());
    let call = call("bash", json!({"command": "cargo build"}));
    assert!(ProposedRule::new(scope("bash", Covers::Exactly(call.digest())), &uninspected()).is_none());
}

#[test]
fn a_rule_with_a_secret_in_it_is_not_proposed() {
    let line = "curl -H 'Authorization: Bearer sk-0123456789abcdef0123456789abcdef' https://example.com";
    assert!(ProposedRule::new(scope("bash", Covers::Commands(vec![line.into()])), &uninspected()).is_none());
}

#[test]
fn a_grant_for_a_command_does_not_cover_it_when_it_asks_for_more_than_its_confinement() {
    let make = scope("bash", Covers::Commands(vec!["make".into()]));
    let call = call("bash", json!({"command": "make", "needs": ["write outside"]}));
    let facts = found(vec![command("make")]);
    assert!(!make.covers(&call, &facts, call.digest(), "/workspace"));
    let exactly = scope("bash", Covers::Exactly(call.digest()));
    assert!(exactly.covers(&call, &facts, call.digest(), "/workspace"));
}
