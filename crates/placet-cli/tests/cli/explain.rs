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
             When an agent uses the tool `bash` to run a command like `git push --force*`, it waits for people. 2 of these people must approve: lin, wei. The person the agent works for does not count. They have 30m; when time runs out, it does not run. If it is still open after 10m, lin may answer too. They can approve it, refuse it with a reason or end the run.

          2. no reboots
             When an agent named `ci-*` uses any tool to run a command like `reboot*` or `shutdown*`, it is refused. Nobody can allow it, in any mode.

          3. tests may run
             When an agent uses the tool `bash` to run a command like `cargo test*`, it may run without anybody being asked, as long as everything it would do is covered by this rule.

          4. orders are looked at
             When an agent, on the channel `feishu`, uses any tool to run SQL like `DELETE` or `UPDATE`, on the database table `orders`, with the argument `branch` like `release-*`, at MEDIUM risk or more, it waits for people. lin or wei must approve. They have as long as the channel gives them (1h in the inbox); when time runs out, it does not run. They can approve it, approve it with changes, refuse it with a reason, tell the agent to think again, skip it or end the run. The reason given: orders are money.

        What no rule is about
             Reading runs without being asked about. Changes, programs and the network wait for a person. High risk always waits for a person. They have 1h in the inbox.
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
        by_name.contains("it is refused") && !by_name.contains("force pushes"),
        "{by_name}"
    );
    let (_, err) = world.said(&["policy", "explain", "no reboot"], 2);
    assert!(
        err.contains("there is no rule `no reboot`") && err.contains("2. no reboots"),
        "{err}"
    );
    let (_, err) = World::new().said(&["policy", "explain", "x"], 2);
    assert!(err.contains("the configuration has none"), "{err}");
}

#[test]
fn the_same_as_json() {
    let (out, _) = world().said(&["policy", "explain", "--json"], 0);
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(object["rules"][1]["effect"], "deny");
    assert_eq!(object["rules"][0]["number"], 1);
    let sentence = object["rules"][0]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("2 of these people must approve: lin, wei."),
        "{sentence}"
    );
    assert!(
        object["otherwise"]
            .as_str()
            .unwrap()
            .contains("High risk always waits")
    );
}

#[test]
fn what_holds_without_a_rule_depends_on_the_mode() {
    for (config, said) in [
        ("[approval]\nenabled = false\n", "Approvals are switched off"),
        ("[approval]\nmode = \"yolo\"\n", "low or medium risk runs"),
        (
            "[approval]\nmode = \"autoEdit\"\n",
            "Reading and changing files run",
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
