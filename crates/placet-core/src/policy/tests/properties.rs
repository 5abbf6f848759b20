//! What holds for every policy and every call.

use proptest::prelude::*;

use super::*;

fn strictness(decision: &Decision) -> u8 {
    match decision {
        Decision::Allow => 0,
        Decision::Ask(_) => 1,
        Decision::Deny => 2,
    }
}

fn any_settings() -> impl Strategy<Value = String> {
    let mode = prop::sample::select(vec!["default", "autoEdit", "yolo"]);
    let word = prop::sample::select(vec![
        "",
        "tool_overrides = { bash = true }\n",
        "tool_overrides = { bash = false }\n",
    ]);
    (any::<bool>(), any::<bool>(), mode, word).prop_map(|(enabled, strict, mode, word)| {
        format!("[approval]\nenabled = {enabled}\nstrict = {strict}\nmode = '{mode}'\n{word}")
    })
}

fn any_rule() -> impl Strategy<Value = (String, String)> {
    let condition = prop::sample::select(vec![
        "tool='bash'",
        "tool='*'",
        "command='git *'",
        "command='rm -rf'",
        "command=['ls', 'git status']",
        "path='docs/**'",
        "tool='write'",
    ]);
    (condition, prop::sample::select(vec!["allow", "ask", "deny"]))
        .prop_map(|(when, then)| (when.into(), then.into()))
}

fn toml_of(settings: &str, rules: &[(String, String)]) -> String {
    rules
        .iter()
        .enumerate()
        .fold(settings.to_owned(), |toml, (index, (when, then))| {
            format!("{toml}[[rules]]\nname = 'r{index}'\n{when}\neffect = '{then}'\n")
        })
}

fn any_case() -> impl Strategy<Value = Case> {
    let line = prop::sample::select(vec![
        "git status",
        "git push --force",
        "rm -rf x",
        "ls",
        "cat docs/a",
    ]);
    let risk = prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High]);
    let shell = prop::collection::vec((line, risk), 0..4).prop_map(|lines| {
        let facts = lines
            .into_iter()
            .map(|(line, risk)| command(risk, line))
            .collect();
        Case::new(
            "bash",
            Analysis {
                facts,
                ..Analysis::nothing()
            },
        )
    });
    let write = Just(Case::new("write", path("/workspace/docs/a", Risk::Medium)));
    let outside = Just(Case::new("write", path("/etc/passwd", Risk::High)));
    let read = Just(Case::new("read", Analysis::nothing()));
    (prop_oneof![shell, write, outside, read], any::<[bool; 4]>()).prop_map(
        |(case, [own, listed, remembered, granted])| Case {
            own_opinion: if own {
                OwnOpinion::NotNeeded
            } else {
                OwnOpinion::Silent
            },
            session: if listed {
                [case.tool.name.clone()].into()
            } else {
                BTreeSet::new()
            },
            standing: if granted {
                vec![grant(Covers::Commands(vec!["git *".into()]))]
            } else {
                vec![]
            },
            remembered,
            ..case
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_more_ask_or_deny_rule_never_makes_a_verdict_laxer(
        settings in any_settings(),
        rules in prop::collection::vec(any_rule(), 0..4),
        extra in any_rule().prop_filter("not allow", |(_, then)| then != "allow"),
        case in any_case(),
    ) {
        let before = case.decide(&policy(&toml_of(&settings, &rules)));
        let after = case.decide(&policy(&toml_of(&settings, &[rules, vec![extra]].concat())));
        prop_assert!(strictness(&before.decision) <= strictness(&after.decision), "{before:?} {after:?}");
    }

    #[test]
    fn high_risk_runs_unasked_only_by_an_explicit_word_of_the_operator(
        settings in any_settings(),
        rules in prop::collection::vec(any_rule(), 0..4),
        case in any_case(),
    ) {
        let verdict = case.decide(&policy(&toml_of(&settings, &rules)));
        if verdict.risk == Risk::High && verdict.decision == Decision::Allow {
            prop_assert!(matches!(verdict.step, Step::Disabled | Step::Rule), "{verdict:?}");
        }
    }

    #[test]
    fn a_deny_rule_that_matches_wins_under_all_settings(
        settings in any_settings(),
        rules in prop::collection::vec(any_rule(), 0..4),
        case in any_case(),
    ) {
        let deny = (format!("tool = '{}'", case.tool.name), "deny".to_owned());
        let verdict = case.decide(&policy(&toml_of(&settings, &[rules, vec![deny]].concat())));
        prop_assert_eq!(verdict.decision, Decision::Deny);
    }
}
