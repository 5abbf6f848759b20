//! Rules about paths on real lines: from where the shell stands, through links, in whatever part of a word.

use placet_core::analysis::FixedPlaces;
use placet_core::policy::{Context, Mode, Policy};
use placet_core::tool::Risk;
use placet_core::verdict::{Decision, Verdict};
use serde_json::json;

use crate::support::{builtin, call, policy};

/// A workspace in which `slink` leads to `secrets`.
fn linked() -> FixedPlaces {
    let links = [(
        "/workspace/slink".to_owned(),
        Some("/workspace/secrets".to_owned()),
    )];
    FixedPlaces {
        links: links.into(),
        ..FixedPlaces::of_examples()
    }
}

fn line(policy: &Policy, line: &str) -> Verdict {
    let (call, tool) = (call("bash", json!({ "command": line })), builtin("bash"));
    let found = placet_inspect::builtin().inspect(&tool, &call.args, &linked());
    let context = Context {
        mode: Some(Mode::Yolo),
        ..Context::alone(call.digest(), "/workspace")
    };
    policy.decide(&call, &tool, &found.analysis, &context)
}

const SECRETS: &str = "[[rules]]\nname='secrets'\npath='secrets/**'\neffect='deny'\n";

#[test]
fn a_rule_that_denies_a_path_finds_it_from_wherever_the_shell_stands() {
    for toml in [SECRETS, &SECRETS.replace("secrets/**", "secrets/key")] {
        let rules = policy(toml);
        for bypass in [
            "cat secrets/key",
            "cd src && cat ../secrets/key",
            "cd src; cat ../secrets/key",
            "pushd src && cat ../secrets/key",
            "(cd src; cat ../secrets/key)",
            "cd src && cat ../s*/key",
            "cd src/deep && cat ../../secrets/key",
            "cd src && cat < ../secrets/key",
            "cd src && sh -c 'cat ../secrets/key'",
            "cd \"$DIR\" && cat ../secrets/key",
            "cat /workspace/src/../secrets/key",
        ] {
            assert_eq!(line(&rules, bypass).decision, Decision::Deny, "{bypass}");
        }
    }
}

#[test]
fn a_rule_that_denies_a_path_finds_it_through_links() {
    let rules = policy(SECRETS);
    for bypass in [
        "cat slink/key",
        "cat slink/*",
        "cd src && cat ../slink/key",
        "cat < slink/key",
        "grep -fslink/key x",
    ] {
        assert_eq!(line(&rules, bypass).decision, Decision::Deny, "{bypass}");
    }
}

#[test]
fn a_rule_that_denies_a_path_finds_it_in_every_part_of_a_word() {
    let rules = policy(&SECRETS.replace("secrets/**", "secrets"));
    for bypass in [
        "git show HEAD:secrets/key",
        "grep -fsecrets/key x",
        "grep -nnfsecrets/key x",
        "sort -osecrets/x a",
        "cp -tsecrets a",
        "tar -cf- -Csecrets .",
        "docker run -v ./secrets:/s x",
        "docker run --mount type=bind,source=./secrets,target=/s x",
        "gcc @secrets/key",
        "x=secrets; cat $x/key",
        "x=secrets; y=$x; cat $y/key",
        "x=sec; y=rets; cat \"$x${y}/key\"",
        "for f in secrets/key; do cat \"$f\"; done",
        "for d in src secrets; do cat $d/key; done",
        "for d in secrets src; do cat ${d}/key; done",
        "D=secrets make",
        "x=secrets; cat < $x/key",
    ] {
        assert_eq!(line(&rules, bypass).decision, Decision::Deny, "{bypass}");
    }
}

#[test]
fn what_only_mentions_a_denied_path_is_not_denied() {
    let rules = policy(SECRETS);
    for other in [
        "cat src/secrets.rs",
        "git commit -m 'secrets: rotate them'",
        "cd src && cat ../README.md",
        "cat src/secrets/key",
        "cargo test secrets::rotate",
        "curl https://example.com/secrets",
        "git log --oneline -5",
    ] {
        assert_eq!(line(&rules, other).decision, Decision::Allow, "{other}");
    }
}

#[test]
fn a_line_that_sets_more_values_than_are_tracked_is_high() {
    let rules = policy(SECRETS);
    let many: Vec<String> = (0..40).map(|n| format!("v{n}=1;")).collect();
    let many = many.join(" ");
    for bypass in ["cat $x/key", "cat < $x/key", "cat $v39.txt"] {
        let verdict = line(&rules, &format!("x=secrets; {many} {bypass}"));
        assert_eq!(verdict.risk, Risk::High, "{bypass}");
    }
    assert_eq!(line(&rules, "x=1; cat $x.txt").risk, Risk::Medium);
}
