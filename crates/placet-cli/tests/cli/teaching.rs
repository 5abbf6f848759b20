//! Help that teaches: every command shows examples, and completions and the manual know every command.

use crate::world::World;

#[test]
fn every_command_shows_an_example() {
    let world = World::new();
    for command in [
        &[][..],
        &["demo"],
        &["init"],
        &["check"],
        &["run"],
        &["chat"],
        &["serve"],
        &["inbox"],
        &["inbox", "list"],
        &["inbox", "show"],
        &["inbox", "answer"],
        &["policy"],
        &["policy", "test"],
        &["policy", "show"],
        &["policy", "explain"],
        &["audit"],
        &["audit", "list"],
        &["audit", "show"],
        &["audit", "verify"],
        &["audit", "export"],
        &["grants"],
        &["grants", "list"],
        &["grants", "revoke"],
        &["completions"],
        &["man"],
    ] {
        let (out, _) = world.said(&[command, &["--help"]].concat(), 0);
        let line = format!("  placet {}", command.join(" "));
        assert!(
            out.contains("Example") && out.contains(&line),
            "{command:?}: {out}"
        );
    }
}

#[test]
fn a_commands_own_flags_come_before_those_every_command_has() {
    let world = World::new();
    for command in [
        &["inbox", "answer"][..],
        &["inbox", "list"],
        &["audit", "export"],
        &["grants", "revoke"],
        &["run"],
        &["chat"],
    ] {
        let (out, _) = world.said(&[command, &["--help"]].concat(), 0);
        let flags: Vec<&str> = out
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("--"))
            .map(|line| line.split(' ').next().unwrap())
            .collect();
        let shared = ["as", "data", "db", "store", "config", "color"];
        let is_shared = |flag: &&str| shared.contains(flag);
        let first = flags.iter().position(is_shared).unwrap();
        let own_after = flags[first..].iter().filter(|flag| !is_shared(flag)).count();
        assert_eq!(own_after, 0, "{command:?}: {flags:?}");
        assert!(
            !out.contains("names the store") && !out.contains("`cli` account"),
            "{out}"
        );
    }
}

#[test]
fn completions_and_the_manual_know_every_command() {
    let world = World::new();
    let (page, _) = world.said(&["man"], 0);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (script, _) = world.said(&["completions", shell], 0);
        for command in ["init", "explain", "grants", "revoke"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    assert!(page.contains("init") && page.contains("grants"), "{page}");
}
