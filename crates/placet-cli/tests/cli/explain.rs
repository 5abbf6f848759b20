//! `placet policy explain`: rules in plain words.

use expect_test::expect;

use crate::check::RULES;
use crate::world::World;

const MORE: &str = r#"
[[rules]]
name = "no reboots"
command = ["reboot*", "shutdown*"]
agent = "ci-*"
effect = "deny"

[[rules]]
name = "tests may run"
tool = "bash"
command = "cargo test*"
effect = "allow"

[[rules]]
name = "orders are looked at"
sql = ["DELETE", "UPDATE"]
table = "orders"
channel = "feishu"
args = { branch = "release-*" }
risk = "MEDIUM"
effect = "ask"
approvers = ["lin", "wei"]
reason = "orders are money"
"#;

fn world() -> World {
    let world = World::new();
    world.write("placet.toml", format!("{RULES}{MORE}"));
    world
}

#[test]
fn each_rule_says_when_who_how_many_how_long_and_what_then() {
    let (out, _) = world().said(&["policy", "explain"], 0);
    expect![[r#"
          1. force pushes need two people from ops
             When an agent uses the tool `bash` to run a command like `git push --force*`, it needs approval. 2 of these approvers must approve: lin, wei. The user of the session does not count. It expires after 30 min, and then it does not run. If it is still pending after 10 min, lin may answer too. Possible answers: approve, reject with a reason, end the run.

          2. no reboots
             When an agent named `ci-*` uses any tool to run a command like `reboot*` or `shutdown*`, it is denied. No approval is possible, in any mode.

          3. tests may run
             When an agent uses the tool `bash` to run a command like `cargo test*`, it runs without approval if this rule covers everything it would do.

          4. orders are looked at
             When an agent, on the channel `feishu`, uses any tool to run SQL like `DELETE` or `UPDATE`, on the database table `orders`, with the argument `branch` like `release-*`, at MEDIUM risk or higher, it needs approval. lin or wei must approve. It expires after the usual time of the channel (1 h in the inbox), and then it does not run. Possible answers: approve, approve with changes, reject with a reason, tell the agent to think again, skip, end the run. Reason: orders are money.

        Without a matching rule
             Reading runs without approval. Changes, programs and the network need approval. High risk always needs approval. A request expires after 1 h in the inbox.
    "#]]
    .assert_eq(&out);
}

#[test]
fn one_rule_is_found_by_its_name_or_its_number() {
    let world = world();
    let (by_name, _) = world.said(&["policy", "explain", "no reboots"], 0);
    let (by_number, _) = world.said(&["policy", "explain", "2"], 0);
    assert_eq!(by_name, by_number);
    assert!(
        by_name.contains("it is denied") && !by_name.contains("force pushes"),
        "{by_name}"
    );
    let (_, err) = world.said(&["policy", "explain", "no reboot"], 2);
    assert!(
        err.contains("no rule `no reboot`") && err.contains("2. no reboots"),
        "{err}"
    );
    let (_, err) = World::new().said(&["policy", "explain", "x"], 2);
    assert!(err.contains("the configuration has no rules"), "{err}");
}

#[test]
fn the_same_as_json() {
    let (out, _) = world().said(&["policy", "explain", "--json"], 0);
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(object["rules"][1]["effect"], "deny");
    assert_eq!(object["rules"][0]["number"], 1);
    let sentence = object["rules"][0]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("2 of these approvers must approve: lin, wei."),
        "{sentence}"
    );
    assert!(
        object["otherwise"]
            .as_str()
            .unwrap()
            .contains("High risk always needs approval")
    );
}

#[test]
fn what_holds_without_a_rule_depends_on_the_mode() {
    for (config, said) in [
        ("[approval]\nenabled = false\n", "Approvals are switched off"),
        (
            "[approval]\nmode = \"yolo\"\n",
            "low or medium risk runs without approval",
        ),
        (
            "[approval]\nmode = \"autoEdit\"\n",
            "Reading and changing files run without approval",
        ),
        ("[approval]\nmode = \"yolo\"\nstrict = true\n", "Only low risk"),
    ] {
        let world = World::new();
        world.write("placet.toml", config);
        let (out, _) = world.said(&["policy", "explain"], 0);
        assert!(out.contains(said), "{out}");
    }
}

#[test]
fn hostile_words_in_a_rule_cannot_move_the_cursor() {
    let world = World::new();
    let rule =
        "[[rules]]\nname = \"x\"\ntool = \"bash\"\neffect = \"deny\"\nreason = \"a\\u001b[2Jb\\u202e\"\n";
    world.write("placet.toml", rule);
    let (out, _) = world.said(&["policy", "explain"], 0);
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{out:?}");
}
