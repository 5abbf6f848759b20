//! `placet init`: a file to start from.

use crate::world::World;

#[test]
fn the_file_passes_its_own_tests_and_explains_itself() {
    let world = World::new();
    let (out, err) = world.said(&["init"], 0);
    assert!(
        out.starts_with("wrote ./placet.toml\n") && out.contains("placet policy test"),
        "{out}"
    );
    assert_eq!(err, "");
    let (out, err) = world.said(&["policy", "test"], 0);
    assert!(out.contains("4 examples") && err.is_empty(), "{out}{err}");
    let written = std::fs::read_to_string(world.path("placet.toml")).unwrap();
    for section in [
        "[approval]",
        "[[people]]",
        "[groups]",
        "[channels.ops]",
        "[tools.deploy]",
        "[server]",
        "[store]",
    ] {
        assert!(written.contains(section), "{section}");
    }
    let push = r#"{"command":"git push --force origin main"}"#;
    let (out, _) = world.said(&["check", "--tool", "bash", "--args", push], 3);
    assert!(out.contains("force pushes need approval"), "{out}");
}

#[test]
fn a_file_that_exists_is_replaced_only_by_force() {
    let world = World::new();
    world.write("placet.toml", "# mine\n");
    let (out, err) = world.said(&["init"], 2);
    assert_eq!(out, "");
    assert!(
        err.contains("exists already") && err.contains("placet init --force"),
        "{err}"
    );
    assert_eq!(
        std::fs::read_to_string(world.path("placet.toml")).unwrap(),
        "# mine\n"
    );
    world.said(&["init", "--force"], 0);
    assert_ne!(
        std::fs::read_to_string(world.path("placet.toml")).unwrap(),
        "# mine\n"
    );
    let left: Vec<_> = std::fs::read_dir(world.path("")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing else is left behind: {left:?}");
}

#[test]
fn a_folder_that_is_missing_is_made_and_one_that_cannot_be_is_named() {
    let world = World::new();
    world.said(&["init", "new/folder"], 0);
    assert!(world.path("new/folder/placet.toml").is_file());
    world.write("file", "");
    let (_, err) = world.said(&["init", "file"], 2);
    assert!(err.contains("cannot create the folder `file`"), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_is_named_and_no_other() {
    let world = World::new();
    // Not even root makes files there.
    let (_, err) = world.said(&["init", "/proc/self"], 2);
    assert!(
        err.starts_with("error: cannot write `/proc/self/placet.toml`: "),
        "{err}"
    );
    assert!(!err.contains(".tmp"), "{err}");
}

#[test]
fn every_pack_loads_passes_its_own_tests_and_has_no_dead_rule() {
    for pack in ["coding", "database", "ci", "strict"] {
        let world = World::new();
        world.said(&["init", "--pack", pack], 0);
        let (out, err) = world.said(&["policy", "test"], 0);
        assert!(out.contains("\nValid: ") && err.is_empty(), "{pack}: {out}{err}");
    }
    let world = World::new();
    let (_, err) = world.said(&["init", "--pack", "nothing"], 2);
    assert!(err.contains("coding") && err.contains("strict"), "{err}");
}

#[test]
fn packs_decide_as_their_table_says() {
    let table = [
        ("coding", r#"{"command":"cargo test"}"#, 0),
        ("coding", r#"{"command":"git push origin main"}"#, 3),
        ("coding", r#"{"command":"git push --force origin main"}"#, 4),
        ("coding", r#"{"command":"cargo publish"}"#, 4),
        ("ci", r#"{"command":"npm ci"}"#, 0),
        ("ci", r#"{"command":"git push origin main"}"#, 4),
        ("strict", r#"{"command":"cargo test"}"#, 3),
        ("strict", r#"{"command":"sudo ls"}"#, 4),
    ];
    for (pack, args, status) in table {
        let world = World::new();
        world.said(&["init", "--pack", pack], 0);
        world.said(&["check", "--tool", "bash", "--args", args], status);
    }
    let world = World::new();
    world.said(&["init", "--pack", "database"], 0);
    for (tool, sql, status) in [
        ("sql_query", "SELECT 1", 0),
        ("data_modify", "UPDATE users SET a = 1 WHERE id = 1", 3),
        ("data_modify", "DROP TABLE users", 4),
    ] {
        let args = serde_json::json!({ "sql": sql }).to_string();
        world.said(&["check", "--tool", tool, "--args", &args], status);
    }
}
