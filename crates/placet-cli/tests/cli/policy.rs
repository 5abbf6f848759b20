//! `placet policy`, and how a bad file is shown.

use crate::check::RULES;
use crate::world::World;

#[test]
fn every_rule_is_listed_with_its_examples() {
    let world = World::new();
    world.write("placet.toml", RULES);
    let (out, err) = world.said(&["policy", "test"], 0);
    assert!(
        out.contains("ok    2 examples  force pushes need two people from ops"),
        "{out}"
    );
    assert!(out.contains("Valid: 1 rule, 2 examples passed"), "{out}");
    assert_eq!(err, "");
}

#[test]
fn a_rule_without_examples_is_warned_about() {
    let world = World::new();
    world.write(
        "placet.toml",
        "[[rules]]\nname = \"bare\"\ntool = \"bash\"\neffect = \"deny\"\n",
    );
    let (_, err) = world.said(&["policy", "test"], 0);
    assert!(err.contains("warning: the rule `bare` has no examples"), "{err}");
}

#[test]
fn a_bad_file_is_refused_with_file_line_column_and_a_sentence() {
    let world = World::new();
    let refused = |content: &str, place: &str, sentence: &str| {
        world.write("placet.toml", content);
        for args in [
            &["policy", "test"][..],
            &["policy", "show"],
            &["check", "--tool", "bash", "--args", "{}"],
        ] {
            let (out, err) = world.said(args, 2);
            assert_eq!(out, "");
            assert!(err.contains(place) && err.contains(sentence), "{err}");
            assert!(!err.contains('\u{1b}'), "{err}");
        }
    };
    refused(
        "[channels.ops]\ntype = \"feishu\"\n",
        "placet.toml:2:8: ",
        "this version has no channels of type `feishu`",
    );
    refused(
        "[approval]\nstrct = true\n",
        "placet.toml:2:1: ",
        "did you mean `strict`?",
    );
    refused(
        "[approval]\nmode = \"wild\"\n",
        "placet.toml:2:8: ",
        "unknown value `wild`",
    );
    refused(
        "[approval\n",
        "placet.toml:1:",
        "placet.toml: 1 error, not applied",
    );
    let failing = RULES.replace(
        "not_matches = [\"git push origin main\"]",
        "not_matches = [\"git push --force\"]",
    );
    refused(
        &failing,
        "placet.toml:23:16: ",
        "should not match `git push --force`, but it does",
    );
}

#[test]
fn the_source_is_shown_around_a_problem() {
    let world = World::new();
    world.write("placet.toml", "[approval]\nstrict = true\nstrct = true\n");
    let (_, err) = world.said(&["policy", "test"], 2);
    assert!(err.contains("strct = true") && err.contains("here"), "{err}");
}

#[test]
fn a_file_that_cannot_be_read_is_not_passed_over() {
    let world = World::new();
    let (_, err) = world.said(&["policy", "test", "--config", "missing.toml"], 2);
    assert!(
        err.contains("cannot read the configuration `missing.toml`"),
        "{err}"
    );
    world.write("placet.toml", b"[approval]\n# \xff\n");
    let (_, err) = world.said(&["policy", "test"], 2);
    assert!(err.contains("placet.toml:2:3: not valid UTF-8"), "{err}");
    let bad = world
        .placet(&["policy", "test", "--config", "/dev/null"])
        .env("PLACET_APPROVAL__MODE", "wild")
        .assert();
    let err = String::from_utf8_lossy(&bad.code(2).get_output().stderr).into_owned();
    assert!(err.contains("PLACET_APPROVAL__MODE: "), "{err}");
    assert!(err.ends_with("environment: 1 error, not applied\n"), "{err}");
}

#[test]
fn the_rules_in_force_are_shown_in_order() {
    let world = World::new();
    world.write(
        "placet.toml",
        format!("{RULES}\n[[rules]]\nname = \"no reboots\"\ncommand = \"reboot*\"\neffect = \"deny\"\n"),
    );
    let (out, _) = world.said(&["policy", "show"], 0);
    let (first, second) = (out.find("force pushes").unwrap(), out.find("no reboots").unwrap());
    assert!(
        first < second && out.contains("quorum") && out.contains("deny"),
        "{out}"
    );
    let (out, _) = world.said(&["policy", "show", "--json"], 0);
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(object["rules"][1]["name"], "no reboots");
    assert_eq!(object["settings"]["enabled"], true);
}

#[test]
fn a_rule_for_a_tool_that_does_not_exist_fails_the_test_although_its_examples_hold() {
    let world = World::new();
    world.write("placet.toml", RULES.replace("tool = \"bash\"", "tool = \"bahs\""));
    let (out, err) = world.said(&["policy", "test"], 1);
    assert!(out.contains("2 examples passed"), "{out}");
    assert!(
        err.contains(
            "error: this rule can never apply: `force pushes need two people from ops` names the tool `bahs`"
        ) && err.contains("did you mean `bash`?"),
        "{err}"
    );
}

#[test]
fn an_sql_verb_that_does_not_exist_fails_the_test() {
    let world = World::new();
    world.write(
        "placet.toml",
        "[[rules]]\nname = \"n\"\nsql = \"DELTE\"\neffect = \"deny\"\nnot_matches = [\"SELECT 1\"]\n",
    );
    let (_, err) = world.said(&["policy", "test"], 1);
    assert!(
        err.contains("the SQL verb `DELTE`") && err.contains("`DELETE`"),
        "{err}"
    );
}
