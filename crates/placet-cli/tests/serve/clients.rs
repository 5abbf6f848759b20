//! Commands beside a running server: they are its clients, through the socket of the data folder.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use placet_client::Client;
use placet_core::ids::{AgentId, InteractionId};
use placet_core::interaction::{Answer, Locale, Shown};
use placet_core::principal::Principal;
use placet_core::wire::answer::AnswerStatus;
use serde_json::{Value, json};

use crate::process::World;

const AGENT: &str =
    "[approval]\ntimeout = '1h'\n[models.main]\nprovider = 'scripted'\nscript = 'script.toml'\n";

const SCRIPT: &str = "
[[turns]]
on = 'write'
text = 'I write a file.'
calls = [{ tool = 'write', args = { path = 'a.txt', content = 'a' } }]
[[turns]]
text = 'Written.'
";

fn world(script: &str) -> World {
    let world = World::new();
    std::fs::write(world.folder.path().join("script.toml"), script).unwrap();
    world
}

/// The last line of standard output as JSON, and how the command ended.
fn json_of(world: &World, folder: &Path, args: &[&str]) -> (Value, i32) {
    let output = world.command(args).current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let line = text.lines().last().unwrap_or_else(|| panic!("{output:?}"));
    (serde_json::from_str(line).unwrap(), output.status.code().unwrap())
}

/// A bare request on the socket; the status line and what follows, or nothing when the connection was closed.
fn said(socket: &Path, head: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    let mut answer = String::new();
    let asked = write!(stream, "{head}\r\nhost: placet\r\nconnection: close\r\n\r\n");
    match asked.and_then(|()| stream.read_to_string(&mut answer)) {
        Ok(_) => answer,
        Err(_) => String::new(),
    }
}

#[test]
fn the_inbox_and_the_grants_are_those_of_the_running_server() {
    let world = World::new();
    let server = world.serve("[approval]\nmemory = '0s'\n");
    let agent = world.token("agent");
    let call =
        |id: &str| json!({"sessionId": "job", "callId": id, "tool": "deploy", "args": {"to": "staging"}});
    let (_, asked) = server.post(&agent, "/v1/calls", &call("c1"));
    let id = asked["requestId"].as_str().unwrap();
    let (listed, _) = json_of(
        &world,
        world.folder.path(),
        &["inbox", "list", "--json", "--data", "data"],
    );
    assert_eq!(listed["requestId"], id);
    let answer = [
        "inbox",
        "answer",
        id,
        "approve",
        "--remember",
        "1",
        "--json",
        "--data",
        "data",
    ];
    let (answered, code) = json_of(&world, world.folder.path(), &answer);
    assert_eq!((&answered["result"], code), (&json!("decided"), 0));
    // The server knows at once: it took the answer itself.
    let (status, claimed) = server.post(&agent, "/v1/calls/c1/claim", &json!({}));
    assert_eq!(status, 200, "{claimed}");
    assert_eq!(
        server.post(&agent, "/v1/calls", &call("c2")).1["status"],
        "allowed"
    );
    let grants = world.run(&["grants", "list", "--json", "--data", "data"]);
    let grants: Value = serde_json::from_str(&grants).unwrap();
    world.run(&[
        "grants",
        "revoke",
        grants[0]["id"].as_str().unwrap(),
        "--data",
        "data",
    ]);
    assert_eq!(
        server.post(&agent, "/v1/calls", &call("c3")).1["status"],
        "pending"
    );
    assert_eq!(server.terminate().code(), Some(0));
    assert!(!world.folder.path().join("data/placet.sock").exists());
}

#[test]
fn a_run_beside_a_server_happens_in_the_server_and_is_answered_from_the_terminal() {
    let world = world(SCRIPT);
    let server = world.serve(AGENT);
    let folder = world.folder.path();
    let (parked, code) = json_of(&world, folder, &["run", "write it", "--json", "--data", "data"]);
    assert_eq!((&parked["state"], code), (&json!("parked"), 5), "{parked}");
    let session = parked["sessionId"].as_str().unwrap();
    let id = parked["requestIds"][0].as_str().unwrap();
    world.run(&["inbox", "answer", id, "approve", "--data", "data"]);
    let resumed = ["run", "--resume", session, "--json", "--data", "data"];
    let (ended, code) = json_of(&world, folder, &resumed);
    assert_eq!((&ended["text"], code), (&json!("Written."), 0), "{ended}");
    assert!(folder.join("a.txt").exists());
    server.terminate();
}

#[test]
fn a_run_from_another_folder_is_refused_and_both_folders_are_named() {
    let world = world(SCRIPT);
    let server = world.serve(AGENT);
    let (folder, other) = (world.folder.path(), tempfile::tempdir().unwrap());
    let data = folder.join("data");
    let config = folder.join("placet.toml");
    let args = [
        "run",
        "write it",
        "--data",
        data.to_str().unwrap(),
        "--config",
        config.to_str().unwrap(),
    ];
    let output = world.command(&args).current_dir(other.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let name = |folder: &Path| folder.canonicalize().unwrap().display().to_string();
    // The message is wrapped; names are not.
    let said = said.replace(['\n', '│', ' '], "");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains(&name(folder)) && said.contains(&name(other.path())),
        "{said}"
    );
    server.terminate();
}

#[test]
fn the_socket_of_a_killed_owner_is_replaced_by_the_next_one() {
    let world = World::new();
    let server = world.serve("");
    let agent = world.token("agent");
    let call = json!({"sessionId": "job", "callId": "c1", "tool": "deploy", "args": {}});
    server.post(&agent, "/v1/calls", &call);
    server.kill();
    let socket = world.folder.path().join("data/placet.sock");
    assert!(socket.exists(), "a process that is killed removes nothing");
    let (listed, _) = json_of(
        &world,
        world.folder.path(),
        &["inbox", "list", "--json", "--data", "data"],
    );
    assert_eq!(listed["about"], "deploy");
    assert!(!socket.exists(), "the command was the owner, and is gone");
    let server = world.serve("");
    assert_eq!(
        std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(world.run(&["inbox", "list", "--data", "data"]).contains("deploy"));
    server.terminate();
}

#[test]
fn in_a_data_folder_whose_path_is_too_long_for_a_socket_a_command_reaches_its_owner_all_the_same() {
    let world = world(SCRIPT);
    world.configure(AGENT);
    let long = world.folder.path().join("d".repeat(120));
    std::fs::create_dir(&long).unwrap();
    let (ended, code) = json_of(
        &world,
        world.folder.path(),
        &["run", "hello", "--json", "--data", long.to_str().unwrap()],
    );
    assert_eq!((&ended["state"], code), (&json!("completed"), 0), "{ended}");
}

#[test]
fn a_token_counts_for_nothing_on_the_socket_and_records_are_not_served_on_tcp() {
    let world = World::new();
    let server = world.serve("");
    let socket = world.folder.path().join("data/placet.sock");
    let (agent, admin) = (world.token("agent"), world.token("admin"));
    let me = said(
        &socket,
        &format!("GET /v1/me HTTP/1.1\r\nauthorization: Bearer {agent}"),
    );
    assert!(me.contains("200 OK") && me.contains("\"role\":\"admin\""), "{me}");
    let call = r#"POST /v1/calls HTTP/1.1"#;
    let proposed = said(&socket, &format!("{call}\r\nauthorization: Bearer {agent}"));
    assert!(
        proposed.contains("403"),
        "no request on the socket is an agent's: {proposed}"
    );
    assert_eq!(server.get(&admin, "/local/questions").0, 404);
    server.terminate();
}

/// As root, so that nothing but the peer's credentials can refuse: the file is opened to all users first.
#[test]
fn another_user_is_refused_even_where_the_file_lets_them_in() {
    let world = World::new();
    let server = world.serve("");
    let data = world.folder.path().join("data");
    let socket = data.join("placet.sock");
    for path in [world.folder.path(), &data, &socket] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let connect = "import socket,sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
                   s.sendall(b'GET /v1/me HTTP/1.1\\r\\nhost: placet\\r\\nconnection: close\\r\\n\\r\\n')\nprint(s.recv(100))";
    let ask = |uid: Option<u32>| {
        let mut python = Command::new("python3");
        python.args(["-c", connect]).arg(&socket);
        if let Some(uid) = uid {
            python.uid(uid);
        }
        let output = python.output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(ask(None).contains("200 OK"));
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if is_root {
        let heard = ask(Some(65534));
        assert!(!heard.contains("200"), "{heard}");
        server.log_with("it runs as user 65534");
    }
    server.terminate();
}

/// A command that a person let write anywhere may open unix sockets, and runs as the same user. It is still confined, and must
/// not answer for people.
#[test]
fn a_confined_command_cannot_use_the_socket_even_where_it_may_write_anywhere() {
    let connect = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('data/placet.sock'); \
                   s.sendall(b'GET /local/questions HTTP/1.1\\r\\nhost: placet\\r\\n\\r\\n'); print('heard', s.recv(100))";
    let script = format!(
        "[[turns]]\non = 'go'\ntext = 'I try.'\ncalls = [{{ tool = 'bash', args = {{ command = \"\"\"python3 -c \"{}\" \"\"\", needs = \
         ['write outside'] }} }}]\n[[turns]]\ntext = 'Done.'\n",
        connect.replace('\\', "\\\\")
    );
    let world = world(&script);
    let server = world.serve(AGENT);
    let folder = world.folder.path();
    let (parked, _) = json_of(&world, folder, &["run", "go", "--json", "--data", "data"]);
    assert_eq!(parked["state"], "parked", "{parked}");
    let id = parked["requestIds"][0].as_str().unwrap();
    world.run(&["inbox", "answer", id, "approve", "--data", "data"]);
    let session = parked["sessionId"].as_str().unwrap();
    let resumed = ["run", "--resume", session, "--json", "--data", "data"];
    assert_eq!(json_of(&world, folder, &resumed).1, 0);
    server.log_with("is confined");
    let journal = world.run(&["audit", "list", "--json", "--data", "data"]);
    assert!(!journal.contains("heard b'HTTP"), "{journal}");
    server.terminate();
}

#[test]
fn over_tcp_the_client_answers_with_a_token_and_is_told_why_it_is_refused() {
    let world = World::new();
    let server = world.serve("");
    let call = json!({"sessionId": "job", "callId": "c1", "tool": "deploy", "args": {}});
    let (_, asked) = server.post(&world.token("agent"), "/v1/calls", &call);
    let id = InteractionId::new(asked["requestId"].as_str().unwrap()).unwrap();
    let answer = Answer {
        by: Principal::Agent {
            agent: AgentId::new("not-believed").unwrap(),
        },
        option: "reject".into(),
        feedback: Some("not on a Friday".into()),
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Program,
    };
    let client = |token: &str| Client::tcp(&server.url, token).unwrap();
    let (approver, agent) = (client(&world.token("approver")), client(&world.token("agent")));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut journal = approver.journal(None).await.unwrap();
        let refused = agent
            .answer(&id, answer.clone(), Locale::English)
            .await
            .unwrap_err();
        assert_eq!(refused.code(), Some("forbidden"), "{refused}");
        let stranger = client("no-such-token-at-all");
        let refused = stranger
            .answer(&id, answer.clone(), Locale::English)
            .await
            .unwrap_err();
        assert_eq!(refused.code(), Some("unauthenticated"), "{refused}");
        let answered = approver
            .answer(&id, answer.clone(), Locale::English)
            .await
            .unwrap();
        assert_eq!(answered.status, AnswerStatus::Decided);
        while journal.next().await.unwrap().unwrap().event != "resolved" {}
        let late = approver.answer(&id, answer, Locale::Chinese).await.unwrap_err();
        assert_eq!(late.code(), Some("already-decided"));
    });
    server.terminate();
}
