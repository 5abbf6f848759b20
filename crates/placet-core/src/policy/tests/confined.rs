//! What confines a command, and what policy makes of that.

use super::*;
use crate::confine::{Confinement, Level, Need};

const AUTO_EDIT: &str = "[approval]\nmode = 'autoEdit'\n";

fn confined(analysis: Analysis, needs: &[Need]) -> Case {
    Case {
        confinement: Some(Confinement {
            needs: needs.to_vec(),
            ..Confinement::whole(Level::Workspace)
        }),
        ..Case::new("bash", analysis)
    }
}

fn is_allowed(case: &Case, config: &str) -> bool {
    case.decide(&policy(config)).decision == Decision::Allow
}

#[test]
fn a_confined_command_is_a_write_that_auto_edit_allows_and_the_usual_mode_does_not() {
    let case = confined(medium(&["make"]), &[]);
    let verdict = case.decide(&policy(AUTO_EDIT));
    assert_eq!(
        (verdict.step, verdict.category),
        (Step::AutoEdit, Category::Write)
    );
    assert_eq!(verdict.confinement, case.confinement);
    assert!(!is_allowed(&case, ""));
    assert!(!is_allowed(
        &case,
        "[approval]\nmode = 'autoEdit'\nstrict = true\n"
    ));
    assert!(!is_allowed(&Case::bash("make"), AUTO_EDIT), "nothing confines it");
}

#[test]
fn a_confined_command_that_is_high_stays_high() {
    let verdict = confined(high("rm -rf ~"), &[]).decide(&policy(AUTO_EDIT));
    assert_eq!((verdict.step, verdict.risk), (Step::HighRisk, Risk::High));
}

#[test]
fn a_command_that_asks_for_more_is_asked_about_in_auto_edit() {
    for (need, category) in [
        (Need::Network, Category::Network),
        (Need::ReadOutside, Category::Command),
        (Need::WriteInside, Category::Command),
        (Need::WriteOutside, Category::Command),
        (Need::Unguarded, Category::Command),
    ] {
        let verdict = confined(medium(&["make"]), &[need]).decide(&policy(AUTO_EDIT));
        assert_eq!(
            (verdict.step, verdict.category),
            (Step::Ask, category),
            "{need:?}"
        );
    }
}

#[test]
fn asking_for_more_is_never_harmless_and_reading_an_unguarded_workspace_is() {
    let reads = |need| Case {
        tool: Tool {
            category: Category::Read,
            risk: Risk::Low,
            ..Case::bash("ls").tool
        },
        ..confined(Analysis::nothing(), &[need])
    };
    let verdict = reads(Need::Network).decide(&policy(AUTO_EDIT));
    assert_eq!((verdict.step, verdict.risk), (Step::Ask, Risk::Medium));
    assert!(is_allowed(&reads(Need::Unguarded), AUTO_EDIT));
}

#[test]
fn rules_about_commands_and_rules_about_writes_both_concern_a_confined_command() {
    let case = confined(medium(&["make"]), &[]);
    for category in ["command", "write"] {
        let rule = |effect: &str| {
            format!(
                "{AUTO_EDIT}[[rules]]\nname = 'r'\ntool = 'bash'\ncategory = '{category}'\neffect = '{effect}'\n"
            )
        };
        assert_eq!(case.decide(&policy(&rule("deny"))).decision, Decision::Deny);
        assert_eq!(case.decide(&policy(&rule("ask"))).step, Step::Rule);
        assert!(is_allowed(&case, &rule("allow")));
    }
}
