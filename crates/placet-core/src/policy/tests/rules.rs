//! What rules do to a verdict, and what they cannot do.

use super::*;
use crate::analysis::tests::uninspected;
use crate::verdict::Approvers;

#[test]
fn every_command_of_a_line_must_be_allowed_by_some_rule() {
    let rules = policy(
        "[[rules]]\nname='git'\ntool='bash'\ncommand='git status'\neffect='allow'\n\
         [[rules]]\nname='ls'\ntool='bash'\ncommand='ls *'\neffect='allow'\n",
    );
    let line = |lines: &[&str]| Case::new("bash", medium(lines)).decide(&rules);
    assert_eq!(line(&["git status", "ls -l"]).rule.as_deref(), Some("git"));
    assert_eq!(line(&["git status", "rm x"]).step, Step::Ask);
    assert_eq!(line(&["sudo git status", "git status"]).step, Step::Ask);
    assert_eq!(line(&["/tmp/evil/git status"]).step, Step::Ask);
}

#[test]
fn an_allow_rule_does_not_cover_what_is_dynamic_assigned_unreadable_or_redirected_outside() {
    let rules = policy("[[rules]]\nname='any'\ntool='bash'\ncommand='*'\neffect='allow'\n");
    let with = |extra: FactKind| {
        let mut found = medium(&["ls"]);
        found.facts.push(fact(Risk::Medium, extra));
        Case::new("bash", found).short(&rules)
    };
    let ls = |dynamic, assignments| FactKind::Command {
        argv: vec!["ls".into()],
        text: "ls".into(),
        dynamic,
        assignments,
        under: vec![],
        effects: Vec::new(),
        paths: vec![],
    };
    assert_eq!(with(ls(false, vec![])), "4 allow");
    assert_eq!(with(ls(true, vec![])), "13 ask");
    assert_eq!(with(ls(false, vec!["PATH=.".into()])), "13 ask");
    assert_eq!(with(FactKind::Unreadable { what: "x".into() }), "13 ask");
    let redirect = |contained| FactKind::Redirect {
        path: "x".into(),
        writes: true,
        contained,
        paths: vec![],
    };
    // Where output goes, a rule that allows must say.
    assert_eq!(with(redirect(true)), "13 ask");
    assert_eq!(with(redirect(false)), "13 ask");
}

/// ironclaw#4862: `sort` was on the safe list, and `--compress-program` ran anything.
#[test]
fn a_wildcard_that_allows_leaves_no_word_of_a_high_risk_command_open() {
    let rules = policy(
        "[[rules]]\nname='sort'\ntool='bash'\ncommand=['sort *', 'git push --force *', 'git push --force origin dev']\neffect='allow'\n",
    );
    let step = |found: Analysis| Case::new("bash", found).short(&rules);
    assert_eq!(step(medium(&["sort -r x"])), "4 allow");
    assert_eq!(step(high("sort --compress-program=sh x")), "5 ask");
    assert_eq!(step(high("git push --force origin main")), "5 ask");
    assert_eq!(step(high("git push --force origin dev")), "4 allow");
}

/// The argument's text says `git status; rm -r x`, and starts as the rule wants it.
#[test]
fn an_allow_rule_on_the_text_of_an_argument_does_not_allow_commands() {
    let rules = policy("[[rules]]\nname='git'\ntool='bash'\nargs={command='git *'}\neffect='allow'\n");
    assert_eq!(
        Case::new("bash", medium(&["git status", "rm -r x"])).short(&rules),
        "13 ask"
    );
}

#[test]
fn a_rule_that_allows_covers_only_the_effects_it_names() {
    let rules = policy(
        "[[rules]]\nname='docs'\npath='docs/**'\neffect='allow'\n\
         [[rules]]\nname='example'\ntool='fetch'\nhost='*.Example.com'\neffect='allow'\n\
         [[rules]]\nname='orders'\nsql='insert'\ntable='public.orders'\neffect='allow'\n",
    );
    let step = |tool: &str, found: Analysis| Case::new(tool, found).short(&rules);
    assert_eq!(
        step("write", path("/workspace/docs/a.md", Risk::Medium)),
        "4 allow"
    );
    assert_eq!(step("write", path("/workspace/src/a.rs", Risk::Medium)), "13 ask");
    assert_eq!(step("fetch", host("api.example.com")), "4 allow");
    assert_eq!(step("fetch", host("example.org")), "13 ask");
    assert_eq!(
        step("data_modify", statement("INSERT", Category::Write)),
        "4 allow"
    );
    assert_eq!(
        step("data_modify", statement("DELETE", Category::Write)),
        "13 ask"
    );
    // `cp docs/a docs/b`, `curl` to the host: a path or a host is not a command.
    let mut line = medium(&["cp docs/a docs/b"]);
    line.facts.extend(path("/workspace/docs/b", Risk::Medium).facts);
    assert_eq!(step("bash", line), "13 ask");
}

/// Agents pivot to whatever tool is not gated (oh-my-pi#3091): paths and hosts count in commands, too.
#[test]
fn a_rule_on_paths_or_hosts_is_not_evaded_through_the_shell() {
    let rules = policy(
        "[[rules]]\nname='secrets'\npath='secrets/**'\neffect='deny'\n\
         [[rules]]\nname='host'\nhost='*.evil.example'\neffect='deny'\n\
         [[rules]]\nname='table'\nsql='DELETE'\ntable='orders'\neffect='deny'\n",
    );
    for line in [
        "cat secrets/key",
        "cat ./src/../secrets/key",
        "tar --file=secrets/x",
        "curl https://a.evil.example/x",
    ] {
        assert_eq!(Case::bash(line).short(&rules), "1 deny", "{line}");
    }
    assert_eq!(Case::bash("cat src/secrets.rs").short(&rules), "13 ask");
    assert_eq!(
        Case::new("mystery", path("/workspace/secrets/key", Risk::Medium)).short(&rules),
        "1 deny"
    );
    assert_eq!(
        Case::new("data_modify", statement("delete", Category::Write)).short(&rules),
        "1 deny"
    );
}

#[test]
fn rules_look_at_agent_channel_session_category_and_risk() {
    let ask = |condition: &str| policy(&format!("[[rules]]\nname='r'\n{condition}\neffect='deny'\n"));
    let case = Case::bash("ls");
    for (condition, expected) in [
        ("agent='test*'", "1 deny"),
        ("agent='other'", "13 ask"),
        ("session='s'", "1 deny"),
        ("channel='feishu'", "13 ask"),
        ("category='command'", "1 deny"),
        ("category='network'", "13 ask"),
        ("risk='MEDIUM'", "1 deny"),
        ("risk='HIGH'", "13 ask"),
        ("args={x='y'}", "1 deny"),
        ("args={z='y'}", "13 ask"),
        ("tool=['b*h', 'zsh']", "1 deny"),
    ] {
        assert_eq!(case.short(&ask(condition)), expected, "{condition}");
    }
}

#[test]
fn the_terms_of_an_ask_are_the_rules_and_plain_otherwise() {
    let toml = "[[people]]\nname='lin'\n[[people]]\nname='wei'\n[groups]\nops=['lin','wei']\n\
                [[rules]]\nname='a'\ntool='bash'\neffect='ask'\napprovers=['group:ops']\nquorum=2\n\
                [[rules]]\nname='b'\ncommand='git'\neffect='ask'\nnot_requester=true\n";
    let Decision::Ask(terms) = Case::bash("git push").decide(&policy(toml)).decision else {
        panic!("not asked")
    };
    assert_eq!((terms.quorum, terms.not_requester), (2, true));
    assert!(matches!(terms.approvers, Approvers::People(people) if people.len() == 2));
    let plain = Case::bash("git push").decide(&policy("")).decision;
    assert_eq!(plain, Decision::Ask(AskTerms::plain()));
}

/// Claude Code 2.1.74: a user's allow beat a managed ask.
#[test]
fn an_allow_does_not_beat_an_ask() {
    let ask = "[[rules]]\nname='ask'\ncommand='git'\neffect='ask'\n";
    let allow = "[[rules]]\nname='allow'\ncommand='git *'\neffect='allow'\n";
    let override_allow = "[approval.tool_overrides]\nbash = false\n";
    for toml in [
        format!("{ask}{allow}"),
        format!("{allow}{ask}"),
        format!("{override_allow}{ask}"),
    ] {
        assert_eq!(Case::bash("git push").short(&policy(&toml)), "4 ask");
    }
    let always = format!("[approval.tool_overrides]\nbash = true\n{allow}");
    assert_eq!(Case::bash("git push").short(&policy(&always)), "4 ask");
}

/// Claude Code 2.1.77: a hook's allow beat a deny.
#[test]
fn the_tools_own_opinion_and_grants_do_not_beat_a_deny() {
    let mut case = Case::bash("git push");
    case.own_opinion = OwnOpinion::NotNeeded;
    case.session = [name("bash")].into();
    case.standing = vec![grant(Covers::Commands(vec!["git *".into()]))];
    assert_eq!(case.short(&policy(DENY_GIT)), "1 deny");
}

/// zeroclaw#10968: without a manager the gate was inert.
#[test]
fn without_any_configuration_calls_are_still_asked_about() {
    let builtin = Config::builtin(uninspected()).policy;
    assert_eq!(Case::bash("ls").short(&builtin), "13 ask");
    assert_eq!(
        Case::new("a tool nobody knows", Analysis::nothing()).short(&builtin),
        "13 ask"
    );
}

#[test]
fn the_version_changes_with_every_rule_and_setting_and_not_with_spelling() {
    let version = |toml: &str| policy(toml).version();
    assert_eq!(version(""), Config::builtin(uninspected()).policy.version());
    assert_eq!(
        version("[approval]\nstrictMode = true"),
        version("approval.strict = true # same")
    );
    assert_ne!(version(STRICT), version(""));
    assert_ne!(version(DENY_GIT), version(""));
    assert_ne!(version(DENY_GIT), version(&DENY_GIT.replace("git *", "git")));
}

#[test]
fn the_version_changes_with_what_the_operator_says_about_programs_and_tools() {
    let version = |toml: &str| policy(toml).version();
    let record = "[programs.frobnicate]\ndoes = \"reads\"\nargs = \"reads*\"\n";
    let runs = record.replace("does = \"reads\"", "does = \"runs\"");
    assert_ne!(version(record), version(""));
    assert_ne!(version(record), version(&runs));
    assert_eq!(version(record), version(&format!("{record} # the same")));
    assert_ne!(
        version("[tools.deploy]\nrisk = \"HIGH\""),
        version("[tools.deploy]\nrisk = \"LOW\"")
    );
}
