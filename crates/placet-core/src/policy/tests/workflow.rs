//! A workflow's `autoApprovedTools`: only what is on the list runs without a person.

use super::*;

const MODES: [&str; 6] = [
    "",
    "[approval]\nmode = 'autoEdit'\n",
    "[approval]\nmode = 'yolo'\n",
    "[approval]\nstrict = true\n",
    "[approval]\nauto_approved_tools = ['read', 'bash', 'write']\n",
    "[approval.tool_overrides]\nread = false\nbash = false\nwrite = false\n",
];

fn listed(tool: &str, list: &[&str], analysis: Analysis) -> Case {
    let mut case = Case::new(tool, analysis);
    case.workflow = list.iter().map(|tool| name(tool)).collect();
    case.only = true;
    case
}

fn decide(config: &str, case: &Case) -> Verdict {
    let call = call(case.tool.name.as_str(), json!({}));
    policy(config).decide(&call, &case.tool, &case.analysis, &case.context(&call))
}

#[test]
fn only_tools_that_are_not_on_the_white_list_need_approval_in_every_mode_reads_included() {
    for config in MODES {
        for tool in ["read", "bash", "write", "fetch", "get_weather"] {
            let outside = decide(config, &listed(tool, &["ls"], Analysis::nothing()));
            assert_eq!(
                outside.reason,
                Reason::NotInWorkflow { tool: name(tool) },
                "{config}"
            );
            assert!(matches!(outside.decision, Decision::Ask(_)), "{config} {tool}");
            let mut on_list = listed(tool, &[tool], Analysis::nothing());
            on_list.session = BTreeSet::new();
            assert_eq!(
                decide(config, &on_list).decision,
                Decision::Allow,
                "{config} {tool}"
            );
        }
    }
}

#[test]
fn what_was_granted_before_does_not_add_to_an_exact_list() {
    let mut case = listed("bash", &["read"], medium(&["make"]));
    case.session = [name("bash")].into();
    case.remembered = true;
    case.own_opinion = OwnOpinion::NotNeeded;
    assert_eq!(decide("", &case).step, Step::Rule);
}

#[test]
fn a_listed_tool_is_still_asked_about_where_it_is_high_and_denied_where_a_rule_denies_it() {
    let case = listed("bash", &["bash"], high("git push --force"));
    assert_eq!(decide("", &case).step, Step::HighRisk);
    let deny = "[[rules]]\nname = 'no'\ntool = 'bash'\neffect = 'deny'\n";
    let case = listed("bash", &["read"], medium(&["make"]));
    assert_eq!(decide(deny, &case).step, Step::Deny);
}
