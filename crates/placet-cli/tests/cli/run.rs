//! `placet run`: the built-in agent for scripts, with a scripted model.

use std::io::{Read as _, Write as _};

use serde_json::Value;

use crate::beside;
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
fn a_tool_that_is_allowed_on_the_command_line_runs_unasked_in_that_session_alone() {
    let world = world();
    let report = json(&world, &["run", "write a file", "--allow", "write", "--json"], 0);
    assert_eq!(text(&report, "text"), "Written.");
    assert_eq!(std::fs::read_to_string(world.path("a.txt")).unwrap(), "a");
    json(&world, &["run", "write a file", "--json"], 5);
}

#[test]
fn with_wait_a_run_goes_on_by_itself_once_it_is_approved() {
    let world = world();
    let mut run = beside::spawn(&world, &["run", "write a file", "--wait", "--json"]);
    let mut said = String::new();
    let mut stderr = std::io::BufReader::new(run.stderr.take().unwrap());
    // Its first line names the request.
    std::io::BufRead::read_line(&mut stderr, &mut said).unwrap();
    let id = said.split(&[' ', ';'][..]).find(|word| word.starts_with("int_"));
    let id = id.unwrap_or_else(|| panic!("no request in {said:?}"));
    assert!(!world.path("a.txt").exists(), "nothing runs before the answer");
    world
        .placet(&["inbox", "answer", id, "approve"])
        .env("USER", "lin")
        .assert()
        .code(0);
    let done = run.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (text(&report, "state"), text(&report, "text")),
        ("completed", "Written.")
    );
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

/// The error for a workflow that does not begin.
fn refused(world: &World, workflow: &str) -> String {
    let output = world
        .placet(&["run", "--workflow", workflow])
        .env("USER", "lin")
        .assert()
        .code(2)
        .get_output()
        .stderr
        .clone();
    String::from_utf8(output).unwrap()
}

#[test]
fn a_workflow_runs_by_its_name_or_its_file_and_brings_its_own_approvals() {
    let world = world();
    world.write(
        "placet.toml",
        format!("{CONFIG}[workflows]\nwriter = 'writer.toml'\n"),
    );
    let auto = "[workflow.config.toolApproval]\nautoApprovedTools = ['write']\n";
    world.write("writer.toml", auto);
    for named in ["writer", "writer.toml"] {
        let report = json(&world, &["run", "--workflow", named, "--json"], 0);
        assert_eq!(text(&report, "text"), "Written.");
    }
    let said = refused(&world, "nowhere");
    assert!(
        said.contains("unknown workflow `nowhere`") && said.contains("writer"),
        "{said}"
    );
    world.write("writer.toml", "[workflow]\ntools = ['teleport']\n");
    let said = refused(&world, "writer");
    assert!(said.contains("the tool `teleport`"), "{said}");
}

/// The first question of a parked run is approved, and the run goes on to its end.
fn approved(world: &World, report: &Value) -> Value {
    let id = report.pointer("/requestIds/0").unwrap().as_str().unwrap();
    world
        .placet(&["inbox", "answer", id, "approve"])
        .env("USER", "lin")
        .assert()
        .code(0);
    json(
        world,
        &["run", "--resume", text(report, "sessionId"), "--json"],
        0,
    )
}

#[test]
fn a_workflow_that_is_changed_while_its_run_waits_changes_nothing_for_it() {
    let world = world();
    world.write("flow.toml", "[workflow]\ntools = ['write']\n");
    let report = json(
        &world,
        &["run", "--workflow", "flow.toml", "write it", "--json"],
        5,
    );
    world.write("flow.toml", "[workflow]\ntools = ['read']\n");
    let done = approved(&world, &report);
    assert_eq!(text(&done, "text"), "Written.");
    assert!(world.path("a.txt").exists());
}

#[test]
fn a_run_in_another_folder_goes_on_with_no_other_run_and_uses_up_no_approval() {
    let (here, there) = (world(), world());
    let report = json(&here, &["run", "write a file", "--json"], 5);
    let session = text(&report, "sessionId");
    let id = report["requestIds"][0].as_str().unwrap();
    here.placet(&["inbox", "answer", id, "approve"])
        .env("USER", "lin")
        .assert()
        .code(0);
    let data = here.path(".local/share");
    let shared = |args: &[&str], status| {
        let mut command = there.placet(args);
        command.env("XDG_DATA_HOME", &data).env("USER", "lin");
        command.assert().code(status).get_output().clone()
    };
    shared(&["run", "hello", "--json"], 0);
    let refused = shared(&["run", "--resume", session, "--json"], 2);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("resume it from there"), "{said}");
    assert!(!there.path("a.txt").exists() && !here.path("a.txt").exists());
    let done = json(&here, &["run", "--resume", session, "--json"], 0);
    assert_eq!(text(&done, "text"), "Written.");
    assert!(here.path("a.txt").exists() && !there.path("a.txt").exists());
}

#[test]
fn a_run_that_handed_work_on_waits_for_what_the_helper_asks() {
    let world = world();
    let script = "
[[turns]]
on = 'PART'
calls = [{ tool = 'write', args = { path = 'part.txt', content = 'p' } }]
[[turns]]
on = 'hand it on'
calls = [{ tool = 'task', args = { description = 'Write a part', prompt = 'PART' } }]
[[turns]]
text = 'Done.'
";
    world.write("script.toml", script);
    let report = json(&world, &["run", "hand it on", "--json"], 5);
    let id = report["requestIds"][0].as_str().unwrap();
    let shown = world
        .placet(&["inbox", "show", id])
        .env("USER", "lin")
        .assert()
        .code(0);
    let shown = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
    assert!(shown.contains("placet › write-a-part"), "{shown}");
    let done = approved(&world, &report);
    assert_eq!(text(&done, "text"), "Done.");
    assert!(world.path("part.txt").exists());
}

/// With an approver's token an agent could answer for people.
#[test]
fn commands_of_the_agent_get_no_secret_and_no_setting_of_placet() {
    let world = world();
    let secrets = "
[approval.tool_overrides]
bash = false
[[people]]
name = 'lin'
token = 'env:LIN'
[channels.ops]
type = 'webhook'
url = 'https://chat.example.com/placet'
secret = 'env:OPS'
[server.agents]
builder = 'env:BUILDER'
[server.tokens]
approver = 'env:APPROVER'
[agent]
model = 'main'
[models.other]
provider = 'openai'
model = 'm'
api_key = 'env:KEY'
[databases.orders]
type = 'postgresql'
url = 'env:ORDERS'
";
    world.write("placet.toml", format!("{CONFIG}{secrets}"));
    world.write(
        "script.toml",
        "[[turns]]\ncalls = [{ tool = 'bash', args = { command = 'env > seen.txt' } }]\n[[turns]]\ntext = 'Seen.'\n",
    );
    let mut run = world.placet(&["run", "look around", "--json"]);
    let named = ["LIN", "OPS", "BUILDER", "APPROVER", "ADMIN", "KEY", "ORDERS"];
    let run = run
        .envs(named.map(|name| (name, format!("hunter2-{name}"))))
        .env("PLACET_SERVER__TOKENS__ADMIN", "env:ADMIN")
        .env("USER", "lin")
        .env("PLAIN", "seen");
    run.assert().code(0);
    let seen = std::fs::read_to_string(world.path("seen.txt")).unwrap();
    assert!(seen.contains("PLAIN=seen"), "{seen}");
    assert!(
        !seen.contains("hunter2") && !seen.contains("PLACET_SERVER"),
        "{seen}"
    );
}

#[test]
fn several_models_and_none_named_are_said_to_be_several() {
    let world = World::new();
    world.write(
        "placet.toml",
        "[models.main]\nprovider = 'scripted'\nscript = 'script.toml'\n\
         [models.other]\nprovider = 'scripted'\nscript = 'script.toml'\n",
    );
    world.write("script.toml", SCRIPT);
    let (_, said) = world.said(&["run", "hello"], 2);
    assert!(
        said.contains("2 models are configured (`main`, `other`); name one of them in `[agent] model`"),
        "{said}"
    );
}

/// A provider that hangs up on the first caller and answers the second one.
fn provider() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        drop(listener.accept().unwrap());
        let (mut caller, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        while !asked.windows(9).any(|part| part == b"\"messages") {
            let mut piece = [0; 4096];
            let read = caller.read(&mut piece).unwrap();
            asked.extend_from_slice(piece.get(..read).unwrap());
        }
        let said =
            r#"data: {"choices":[{"index":0,"delta":{"content":"Here I am."},"finish_reason":"stop"}]}"#;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        write!(caller, "{head}{said}\n\ndata: [DONE]\n\n").unwrap();
        // Hanging up before reading all of it resets the connection.
        caller.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = caller.read_to_end(&mut asked);
    });
    port
}

#[test]
fn a_model_that_does_not_answer_is_named_and_tried_again() {
    let (world, port) = (World::new(), provider());
    let config =
        format!("[models.main]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{port}/v1'\n");
    world.write("placet.toml", config);
    let (out, said) = world.said(&["run", "hello"], 0);
    assert_eq!(out, "Here I am.\n");
    let start = format!("warning: the model `main` at http://127.0.0.1:{port} cannot be reached: ");
    assert!(
        said.starts_with(&start) && said.ends_with("; trying again\n"),
        "{said}"
    );
}

#[test]
fn a_run_whose_commands_nothing_confines_says_so_once() {
    let world = world();
    world.write("placet.toml", format!("{CONFIG}[agent.sandbox]\nmode = 'off'\n"));
    let run = world
        .placet(&["run", "hello"])
        .env("USER", "lin")
        .assert()
        .code(0);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert_eq!(said.matches("commands are not confined").count(), 1, "{said}");
}
