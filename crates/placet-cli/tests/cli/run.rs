//! `placet run`: the built-in agent for scripts, with a scripted model.

use serde_json::Value;

use crate::world::World;

const CONFIG: &str =
    "[approval]\ntimeout = '1h'\n[models.main]\nprovider = 'scripted'\nscript = 'script.toml'\n";

const SCRIPT: &str = "
[[turns]]
on = 'rejected_by_person'
text = 'I left it.'
[[turns]]
on = 'hello'
text = 'Good day.'
[[turns]]
text = 'I write a file.'
calls = [{ tool = 'write', args = { path = 'a.txt', content = 'a' } }]
[[turns]]
text = 'Written.'
";

fn world() -> World {
    let world = World::new();
    world.write("placet.toml", CONFIG);
    world.write("script.toml", SCRIPT);
    world
}

/// Runs, and reads what is printed as JSON.
fn json(world: &World, args: &[&str], status: i32) -> Value {
    let output = world
        .placet(args)
        .env("USER", "lin")
        .assert()
        .code(status)
        .get_output()
        .stdout
        .clone();
    serde_json::from_slice(&output).unwrap()
}

fn text<'a>(report: &'a Value, field: &str) -> &'a str {
    report[field].as_str().unwrap()
}

#[test]
fn a_run_that_needs_nobody_ends_with_0() {
    let report = json(&world(), &["run", "hello", "--json"], 0);
    assert_eq!(
        (text(&report, "state"), text(&report, "text")),
        ("completed", "Good day.")
    );
}

#[test]
fn a_run_that_waits_ends_with_5_and_goes_on_after_the_answer() {
    let world = world();
    let report = json(&world, &["run", "write a file", "--json"], 5);
    let (session, id) = (
        text(&report, "sessionId"),
        report["requestIds"][0].as_str().unwrap(),
    );
    assert!(!world.path("a.txt").exists());
    let again = json(&world, &["run", "--resume", session, "--json"], 5);
    assert_eq!(
        again["requestIds"], report["requestIds"],
        "it waits for the same answer"
    );
    world
        .placet(&["inbox", "answer", id, "approve"])
        .env("USER", "lin")
        .assert()
        .code(0);
    let done = json(&world, &["run", "--resume", session, "--json"], 0);
    assert_eq!(text(&done, "text"), "Written.");
    assert_eq!(std::fs::read_to_string(world.path("a.txt")).unwrap(), "a");
}

#[test]
fn a_run_that_a_person_ends_ends_with_6() {
    let world = world();
    let report = json(&world, &["run", "write a file", "--json"], 5);
    let (session, id) = (
        text(&report, "sessionId"),
        report["requestIds"][0].as_str().unwrap(),
    );
    world
        .placet(&["inbox", "answer", id, "terminate"])
        .env("USER", "lin")
        .assert()
        .code(0);
    let ended = json(&world, &["run", "--resume", session, "--json"], 6);
    assert_eq!(text(&ended, "state"), "terminated");
    assert!(!world.path("a.txt").exists());
}

#[test]
fn without_a_model_or_a_task_nothing_begins() {
    let world = World::new();
    let (_, said) = world.said(&["run", "hello"], 2);
    assert!(said.contains("no model is configured"), "{said}");
    world.run(&["run"]).code(2);
    world.run(&["run", "--resume", "nobody's"]).code(2);
}
