//! Commands and servers that share a store on a database server.

use serde_json::{Value, json};

use crate::database;
use crate::process::World;

const SCRIPTED: &str = "
[approval]
timeout = '1h'
[models.main]
provider = 'scripted'
script = 'script.toml'
";

const SCRIPT: &str = "
[[turns]]
on = 'write'
text = 'I write a file.'
calls = [{ tool = 'write', args = { path = 'a.txt', content = 'a' } }]
[[turns]]
text = 'Written.'
";

fn world() -> World {
    let world = World::new();
    std::fs::write(world.folder.path().join("script.toml"), SCRIPT).unwrap();
    world.configure(SCRIPTED);
    world
}

/// The last line of standard output as JSON.
fn json_of(world: &World, args: &[&str], url: &str) -> Value {
    let on = ["--data", "data", "--store", url];
    let output = world.command(args).args(on).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let line = text.lines().last().unwrap_or_else(|| panic!("{output:?}"));
    serde_json::from_str(line).unwrap()
}

/// How a command fails, as one line.
fn failure(world: &World, args: &[&str], url: &str) -> String {
    let on = ["--data", "data", "--store", url];
    let output = world.command(args).args(on).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    said.replace(['\n', '│'], " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn commands_beside_a_server_of_a_database_are_its_clients() {
    let (world, url) = (world(), database::database());
    let server = world.serve_with("", &["--store", &url]);
    let parked = json_of(&world, &["run", "write it", "--json"], &url);
    assert_eq!(parked["state"], "parked", "{parked}");
    let (session, id) = (
        parked["sessionId"].as_str().unwrap(),
        parked["requestIds"][0].as_str().unwrap(),
    );
    let listed = json_of(&world, &["inbox", "list", "--json"], &url);
    assert_eq!(listed["requestId"], id);
    let answered = json_of(
        &world,
        &["inbox", "answer", id, "approve", "--remember", "1", "--json"],
        &url,
    );
    assert_eq!(answered["result"], "decided", "{answered}");
    let ended = json_of(&world, &["run", "--resume", session, "--json"], &url);
    assert_eq!(ended["text"], "Written.", "{ended}");
    let grants = json_of(&world, &["grants", "list", "--json"], &url);
    assert_eq!(grants[0]["scope"]["tool"], "write", "{grants}");
    assert!(world.folder.path().join("a.txt").exists());

    let second = failure(&world, &["serve", "--listen", "127.0.0.1:0"], &url);
    assert!(
        second.contains("another placet uses this data folder"),
        "{second}"
    );
    assert_eq!(server.terminate().code(), Some(0));
    assert!(!world.folder.path().join("data/placet.sock").exists());
}

#[test]
fn a_command_without_a_server_in_its_folder_works_on_the_database_with_the_same_sealing_key() {
    let url = database::database();
    let (world, elsewhere) = (world(), world());
    let server = world.serve_with("", &["--store", &url]);
    let agent = world.token("agent");
    let call = json!({"sessionId": "job", "callId": "c1", "tool": "deploy", "args": {"to": "staging"}});
    let (_, asked) = server.post(&agent, "/v1/calls", &call);
    let id = asked["requestId"].as_str().unwrap();

    let refused = failure(&elsewhere, &["inbox", "list"], &url);
    assert!(
        refused.contains("[store] seal_key") && refused.contains("seal.key"),
        "{refused}"
    );
    let key = |world: &World| world.folder.path().join("data/seal.key");
    std::fs::copy(key(&world), key(&elsewhere)).unwrap();
    let answered = json_of(&elsewhere, &["inbox", "answer", id, "approve", "--json"], &url);
    assert_eq!(answered["result"], "decided", "{answered}");
    let (status, claimed) = server.post(&agent, "/v1/calls/c1/claim", &json!({}));
    assert_eq!(status, 200, "{claimed}");

    // Nor is a server needed at all.
    assert_eq!(server.terminate().code(), Some(0));
    let parked = json_of(&elsewhere, &["run", "write it", "--json"], &url);
    assert_eq!(parked["state"], "parked", "{parked}");
    let listed = json_of(&world, &["inbox", "list", "--json"], &url);
    assert_eq!(listed["requestId"], parked["requestIds"][0], "{listed}");
}
