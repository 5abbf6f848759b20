//! Help that teaches: every command shows examples, and completions and the manual know every command.

use crate::world::World;

#[test]
fn every_command_shows_an_example() {
    let world = World::new();
    for command in [
        &[][..],
        &["init"],
        &["check"],
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
