//! Bad input of every kind: a clear sentence on standard error, exit status 2, and nothing on standard output.

use crate::world::World;

fn refused(world: &World, args: &[&str], sentence: &str) {
    let (out, err) = world.said(args, 2);
    assert_eq!(out, "");
    assert!(err.contains(sentence), "expected `{sentence}` in:\n{err}");
    assert!(!err.contains("panicked"), "{err}");
}

#[test]
fn arguments_that_are_not_a_json_object_are_refused() {
    let world = World::new();
    let check =
        |json: &str, sentence: &str| refused(&world, &["check", "--tool", "bash", "--args", json], sentence);
    check("{", "not valid JSON");
    check("", "not valid JSON");
    check("[1]", "must be a JSON object, not an array");
    check(r#"{"command":"ls","command":"rm"}"#, "name `command` twice");
    check(r#"{"n":1e400}"#, "error:");
    check(
        &format!("{{\"a\":{}{}}}", "[".repeat(80), "]".repeat(80)),
        "nested deeper than 64 levels",
    );
}

#[test]
fn deep_huge_and_undecodable_files_are_refused() {
    let world = World::new();
    let check = |content: Vec<u8>, sentence: &str| {
        let file = world.write("args.json", content);
        refused(
            &world,
            &["check", "--tool", "bash", "--args-file", file.to_str().unwrap()],
            sentence,
        );
    };
    check(
        [b"{\"a\":".to_vec(), b"[".repeat(1_000_000)].concat(),
        "nested deeper than 64 levels",
    );
    check(b" ".repeat(5 * 1024 * 1024), "at most 4194304 are accepted");
    check(b"{\"command\":\"\xff\xfe\"}".to_vec(), "not valid JSON");
    refused(
        &world,
        &["check", "--tool", "bash", "--args-file", "missing.json"],
        "cannot read the arguments `missing.json`",
    );
}

#[test]
fn a_cause_is_said_once() {
    let world = World::new();
    world.write(
        "placet.toml",
        "[models.main]\nprovider = \"scripted\"\nscript = \"missing.toml\"\n",
    );
    let (_, err) = world.said(&["run", "tidy up"], 2);
    assert_eq!(err.matches("No such file").count(), 1, "{err}");
    assert!(err.contains("the script `missing.toml` cannot be read"), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_endless_file_ends() {
    refused(
        &World::new(),
        &["check", "--tool", "bash", "--args-file", "/dev/zero"],
        "at most 4194304 are accepted",
    );
}

#[test]
fn a_command_of_a_megabyte_is_judged_and_its_length_is_said() {
    let world = World::new();
    let file = world.write(
        "args.json",
        format!(r#"{{"command":"echo {}"}}"#, "x".repeat(1024 * 1024)),
    );
    let (out, _) = world.said(
        &["check", "--tool", "bash", "--args-file", file.to_str().unwrap()],
        3,
    );
    assert!(out.contains("HIGH") && out.len() < 10_000, "{} bytes", out.len());
}

#[test]
fn a_nul_in_a_command_is_never_allowed_silently() {
    let world = World::new();
    let (out, _) = world.said(
        &[
            "check",
            "--tool",
            "bash",
            "--args",
            r#"{"command":"ls\u0000; rm -r x"}"#,
        ],
        3,
    );
    assert!(!out.contains('\0'), "{out}");
}

#[test]
fn flags_that_do_not_exist_or_do_not_fit_exit_with_2() {
    let world = World::new();
    refused(&world, &["check", "--tool", "bash", "--arsg", "{}"], "--args");
    refused(&world, &["check", "--tool", "bash"], "--args");
    refused(
        &world,
        &["check", "--tool", "", "--args", "{}"],
        "the tool name is empty",
    );
    refused(
        &world,
        &["check", "--tool", "bash", "--args", "{}", "--mode", "wild"],
        "autoEdit",
    );
    refused(
        &world,
        &[
            "check",
            "--tool",
            "bash",
            "--args",
            "{}",
            "--workspace",
            "nowhere",
        ],
        "nowhere",
    );
    refused(&world, &["frobnicate"], "frobnicate");
    refused(&world, &["audit", "list", "--type", "askd"], "asked");
    refused(
        &world,
        &["audit", "verify", "--anchor", "beef"],
        "is not an anchor",
    );
    refused(
        &world,
        &["audit", "list", "--since", "yesterday"],
        "two hours ago",
    );
}

#[cfg(unix)]
#[test]
fn a_flag_that_is_not_utf8_exits_with_2() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new();
    let bytes = std::ffi::OsStr::from_bytes(b"{\"a\":\"\xff\"}");
    world
        .placet(&["check", "--tool", "bash", "--args"])
        .arg(bytes)
        .assert()
        .code(2);
}

#[test]
fn help_teaches_with_examples_and_completions_and_the_manual_are_made() {
    let world = World::new();
    for args in [&["--help"][..], &["check", "--help"], &["audit", "--help"]] {
        let (out, _) = world.said(args, 0);
        assert!(out.contains("Examples:"), "{args:?}:\n{out}");
    }
    let (out, _) = world.said(&["--version"], 0);
    assert!(out.starts_with("placet "), "{out}");
    let (out, _) = world.said(&["completions", "bash"], 0);
    assert!(out.contains("_placet"), "{out}");
    let (out, _) = world.said(&["man"], 0);
    assert!(out.contains(".TH placet"), "{out}");
}
