//! `placet serve` as a real process: started, killed, told to stop, told to read its configuration again.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "serve/clients.rs"]
mod clients;
#[expect(dead_code, reason = "shared with the tests of the store")]
#[path = "../../placet-store/tests/it/server.rs"]
mod database;
#[path = "serve/on_a_database.rs"]
mod on_a_database;
#[path = "serve/process.rs"]
mod process;

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use process::{Process, World};
use serde_json::json;

/// A tool that only reads.
const READER: &str = "[tools.read]\ncategory = \"read\"\n";

/// How long an agent is ready to wait for an answer: `wait=60`.
const LONG_POLL: Duration = Duration::from_mins(1);

#[test]
fn without_configuration_it_makes_private_tokens_and_prints_a_link() {
    let world = World::new();
    let server = world.serve("");
    let tokens = world.folder.path().join("data/tokens.toml");
    assert_eq!(
        std::fs::metadata(&tokens).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(
        server.said["signIn"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{}/sign-in#", server.url))
    );
    let me = server.get(&world.token("admin"), "/v1/me");
    assert_eq!((me.0, &me.1["role"]), (200, &json!("admin")));
    assert_eq!(server.terminate().code(), Some(0));
}

#[test]
fn nothing_acknowledged_is_lost_when_it_is_killed() {
    let world = World::new();
    let server = world.serve(READER);
    let agent = world.token("agent");
    let call =
        json!({"sessionId": "job", "callId": "c1", "tool": "bash", "args": {"command": "make deploy"}});
    let (_, asked) = server.post(&agent, "/v1/calls", &call);
    let allowed = json!({"sessionId": "job", "callId": "c2", "tool": "read", "args": {"path": "a"}});
    server.post(&agent, "/v1/calls", &allowed);
    assert_eq!(server.post(&agent, "/v1/calls/c2/claim", &json!({})).0, 200);
    let mut stream = server.stream(&world.token("admin"), "0");
    let mut seen = stream.until("claimed");
    server.kill();

    let server = world.serve(READER);
    let approver = world.token("approver");
    let id = asked["requestId"].as_str().unwrap();
    let answer = json!({"selectedOptionId": "approve"});
    assert_eq!(
        server
            .post(&approver, &format!("/v1/interactions/{id}/answer"), &answer)
            .0,
        200
    );
    assert_eq!(
        server.post(&agent, "/v1/calls/c2/claim", &json!({})).0,
        409,
        "claimed before the kill"
    );
    let finished = json!({"ok": true, "output": "done"});
    assert_eq!(
        server.post(&agent, "/v1/calls/c2/result", &finished).0,
        204,
        "its lease outlives the server"
    );
    // The stream goes on where the dead one broke off.
    let mut stream = server.stream(&world.token("admin"), &seen.last().unwrap().to_string());
    seen.extend(stream.until("finished"));
    let expected: Vec<u64> = (1..=seen.len() as u64).collect();
    assert_eq!(seen, expected, "each row once, in order");
    assert_eq!(server.terminate().code(), Some(0));
}

#[test]
fn told_to_stop_it_ends_streams_and_long_polls_and_leaves_the_store_sound() {
    let world = World::new();
    let server = world.serve("");
    let agent = world.token("agent");
    let call = json!({"sessionId": "job", "callId": "c1", "tool": "deploy", "args": {}});
    server.post(&agent, "/v1/calls", &call);
    let mut stream = server.stream(&world.token("admin"), "0");
    stream.until("asked");
    let mut waiting = server.open(&agent, "GET", "/v1/calls/c1?wait=60", "");
    let began = Instant::now();
    assert_eq!(server.terminate().code(), Some(0));
    // Not when the long poll would have ended by itself.
    assert!(began.elapsed() < LONG_POLL, "{:?}", began.elapsed());
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).unwrap();
    // It may have been accepted and not yet read when the signal came; what was read is answered.
    assert!(
        answer.is_empty() || answer.contains("\"status\":\"pending\""),
        "{answer}"
    );
    assert!(stream.ended());
    let verified = world.run(&["audit", "verify", "--json", "--data", "data"]);
    assert!(verified.contains("\"ok\":true"), "{verified}");
}

#[test]
fn a_good_configuration_takes_effect_on_sighup_and_a_bad_one_changes_nothing() {
    let world = World::new();
    let rule = |effect: &str| format!("[[rules]]\nname = \"r\"\ntool = \"deploy\"\neffect = \"{effect}\"\n");
    let server = world.serve(&rule("deny"));
    let admin = world.token("admin");
    let decision = |server: &Process| {
        let check = json!({"tool": "deploy", "args": {}});
        server.post(&admin, "/v1/policy/check", &check).1["decision"].clone()
    };
    assert_eq!(decision(&server), "deny");
    world.configure(&rule("allow"));
    server.hang_up("configuration reloaded");
    assert_eq!(decision(&server), "allow");
    world.configure("[[rules]]\nname = \"broken\"\neffct = \"deny\"\n");
    server.hang_up("stays in force");
    let log = server.log_with("unknown key");
    assert_eq!(log.matches("placet.toml:3:1").count(), 1, "said once: {log}");
    assert_eq!(decision(&server), "allow");
    assert_eq!(server.terminate().code(), Some(0));
}

#[test]
fn a_reload_that_silently_loses_everything_is_refused() {
    let world = World::new();
    let rule = "[[rules]]\nname = \"no deploys\"\ntool = \"deploy\"\neffect = \"deny\"\n";
    let person = "[[people]]\nname = \"lin\"\n";
    let server = world.serve(&format!("{rule}{person}"));
    let admin = world.token("admin");
    let decision = |server: &Process| {
        let check = json!({"tool": "deploy", "args": {}});
        server.post(&admin, "/v1/policy/check", &check).1["decision"].clone()
    };
    assert_eq!(decision(&server), "deny");
    // Cut off while it was saved: empty, only comments, and a file that lost its end.
    for (cut, said) in [
        ("", "sets nothing"),
        ("# placet.toml\n\n", "sets nothing"),
        ("[approval]\nmode = \"yolo\"\n", "all 1 rules are gone"),
        (rule, "all 1 people are gone"),
    ] {
        world.configure(cut);
        server.hang_up(said);
        server.log_with("stays in force");
        assert_eq!(decision(&server), "deny", "{cut}");
    }
    std::fs::remove_file(world.folder.path().join("placet.toml")).unwrap();
    server.hang_up("cannot read the configuration");
    assert_eq!(decision(&server), "deny");
    // What is written down is meant.
    world.configure("rules = []\npeople = []\n[approval]\nmode = \"yolo\"\n");
    server.hang_up("configuration reloaded");
    assert_eq!(decision(&server), "allow");
    assert_eq!(server.terminate().code(), Some(0));
    // A start refuses the file as well.
    world.configure("");
    let error = world.refused(&["serve", "--listen", "127.0.0.1:0", "--data", "data"]);
    assert!(error.contains("sets nothing"), "{error}");
}

/// Files may have so many blocks of 512 or 1024 bytes; a larger write fails, as on a full disk.
const BLOCKS: &str = "3000";

#[test]
fn a_server_whose_disk_is_full_says_that_it_is_not_ready() {
    let world = World::new();
    let server = world.serve_limited(BLOCKS, READER);
    assert_eq!(server.get("", "/readyz").0, 200);
    let agent = world.token("agent");
    let text = "x".repeat(16 * 1024);
    let full = (0..1000).find(|number| {
        let call = json!({"sessionId": "job", "callId": format!("c{number}"), "tool": "read", "args": {"path": "a", "note": text}});
        server.post(&agent, "/v1/calls", &call).0 != 200
    });
    assert!(full.is_some(), "the disk never got full");
    let (status, problem) = server.get("", "/readyz");
    assert_eq!((status, &problem["code"]), (503, &json!("store-unavailable")));
    assert_eq!(server.get("", "/healthz").0, 200);
    server.kill();
}

#[test]
fn signals_are_heeded_before_anybody_hears_of_the_server() {
    let world = World::new();
    let server = world.serve("");
    assert!(["HUP", "INT", "TERM"].iter().all(|name| server.heeds(name)));
    assert_eq!(server.terminate().code(), Some(0));
}

#[test]
fn a_rule_that_can_never_apply_is_warned_about_at_the_start_and_when_it_is_loaded() {
    let world = World::new();
    let rule = |tool: &str| format!("[[rules]]\nname = \"n\"\ntool = \"{tool}\"\neffect = \"deny\"\n");
    let server = world.serve(&rule("bahs"));
    server.log_with("this rule can never apply: `n` names the tool `bahs`");
    world.configure(&rule("raed"));
    server.hang_up("this rule can never apply: `n` names the tool `raed`");
    assert_eq!(server.terminate().code(), Some(0));
}

#[test]
fn a_data_folder_that_is_in_use_is_said_to_be() {
    let world = World::new();
    let server = world.serve("");
    let error = world.refused(&["serve", "--listen", "127.0.0.1:0", "--data", "data"]);
    assert!(error.contains("another placet uses this data folder"), "{error}");
    let error = world.refused(&["serve", "--listen", &server.address, "--data", "elsewhere"]);
    assert!(error.contains("cannot be listened on"), "{error}");
    assert!(
        error.contains("--listen") && error.contains("another `placet serve`"),
        "{error}"
    );
    assert_eq!(error.matches("in use").count(), 1, "said once: {error}");
    server.terminate();
}

#[test]
fn an_address_that_is_none_is_refused_with_one_that_is() {
    let world = World::new();
    for (given, better) in [
        ("localhost:8123", "`127.0.0.1:8123`"),
        ("8123", "`127.0.0.1:8123`"),
        ("here", "`127.0.0.1:7319`"),
    ] {
        let error = world.refused(&["serve", "--data", "data", "--listen", given]);
        assert!(error.contains(given) && error.contains(better), "{error}");
    }
}

#[test]
fn whoever_lets_other_machines_in_is_told_what_they_can_read() {
    let world = World::new();
    let server = world.serve_on("0.0.0.0:0", "", &[]);
    let log = server.log_with("over plain HTTP");
    assert!(
        log.contains("TLS") && log.contains("tokens, questions and answers"),
        "{log}"
    );
    server.kill();
    let server = world.serve("");
    server.post(
        "",
        "/v1/sign-in",
        &json!({"token": "a-guess-that-is-long-enough"}),
    );
    let log = server.log_with("\"route\":\"/v1/sign-in\"");
    assert!(
        !log.contains("plain HTTP"),
        "nobody else can read on this machine: {log}"
    );
    server.terminate();
}

#[test]
fn tokens_are_in_no_log() {
    let world = World::new();
    let server = world.serve("");
    let (agent, admin) = (world.token("agent"), world.token("admin"));
    server.get(&admin, "/v1/me");
    server.get(&agent, "/v1/me");
    let key = format!("04{}", "1".repeat(128));
    let signed_in = server.post(&agent, "/v1/sign-in", &json!({"token": admin, "key": key}));
    let code = server.said["signIn"]
        .as_str()
        .unwrap()
        .split('#')
        .nth(1)
        .unwrap()
        .to_owned();
    server.post("", "/v1/sign-in", &json!({"code": code, "key": key}));
    server.post(
        "",
        "/v1/sign-in",
        &json!({"token": "a-guess-that-is-long-enough", "key": key}),
    );
    // Standard error is read by a thread; it has all of it once it has the last of it.
    let log = server.log_with("\"route\":\"/v1/sign-in\"");
    assert!(log.contains("\"id\":"), "{log}");
    let ticket = signed_in.1["ticket"].as_str().unwrap().to_owned();
    for secret in [agent, admin, code, ticket] {
        assert!(!log.contains(&secret), "{log}");
    }
    server.terminate();
}

#[cfg(not(feature = "otel"))]
#[test]
fn a_program_without_spans_says_how_to_get_one_that_has_them() {
    let said = World::new().refused(&["serve", "--data", "data", "--otlp", "http://127.0.0.1:4318"]);
    assert!(said.contains("--features otel"), "{said}");
}

/// A collector that takes one batch of spans; the request it came with.
#[cfg(feature = "otel")]
fn collect_once(collector: &std::net::TcpListener) -> Vec<u8> {
    use std::io::Write as _;

    let (mut connection, _) = collector.accept().unwrap();
    connection
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let head = request.windows(4).position(|four| four == b"\r\n\r\n");
        let length = head.map(|end| {
            let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            end + 4 + length.unwrap().parse::<usize>().unwrap()
        });
        if length.is_some_and(|length| request.len() >= length) {
            break;
        }
        let read = connection.read(&mut piece).unwrap();
        request.extend_from_slice(&piece[..read]);
    }
    write!(
        connection,
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    request
}

#[cfg(feature = "otel")]
#[test]
fn spans_of_requests_reach_a_collector_and_hold_no_token() {
    let collector = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", collector.local_addr().unwrap());
    let collecting = std::thread::spawn(move || collect_once(&collector));
    let world = World::new();
    let server = world.serve_with("", &["--otlp", &url]);
    let admin = world.token("admin");
    assert_eq!(server.get(&admin, "/v1/me").0, 200);
    assert_eq!(server.terminate().code(), Some(0));
    let request = collecting.join().unwrap();
    let holds = |text: &str| {
        request
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    };
    assert!(holds("POST /v1/traces"));
    for name in ["placet", "request", "/v1/me"] {
        assert!(holds(name), "no `{name}`");
    }
    assert!(!holds(&admin));
}
