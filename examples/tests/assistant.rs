//! The six usage examples of the approval document: each runs as it is, against a provider on loopback that speaks the vendor's
//! protocol and checks what it is sent.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use portable_pty::CommandBuilder;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use provider::{Provider, Reply, anthropic, openai};
use pty::{Pty, Room};

#[path = "../../crates/placet-agent/tests/it/provider.rs"]
#[expect(dead_code, reason = "the agent's own tests use the rest of it")]
mod provider;
#[path = "../../crates/placet-channels/tests/terminal/pty.rs"]
#[expect(dead_code, reason = "the terminal's own tests use the rest of it")]
mod pty;

/// A folder to work in, and a vendor.
struct House {
    _runtime: Runtime,
    provider: Provider,
    folder: TempDir,
}

impl House {
    /// The vendor says these things, one after the other.
    fn where_it_says(bodies: Vec<String>) -> Self {
        let replies = bodies
            .into_iter()
            .map(|body| Reply::Stream {
                body,
                piece_bytes: 100,
            })
            .collect();
        let runtime = Runtime::new().unwrap();
        let provider = runtime.block_on(Provider::start(replies));
        Self {
            _runtime: runtime,
            provider,
            folder: TempDir::new().unwrap(),
        }
    }

    fn environment(&self) -> Vec<(String, String)> {
        let vendors = ["ZHIPUAI", "ANTHROPIC", "DEEPSEEK"];
        let urls = vendors.map(|vendor| (format!("{vendor}_BASE_URL"), self.provider.url.clone()));
        let keys = vendors.map(|vendor| (format!("{vendor}_API_KEY"), "sk-test".to_owned()));
        urls.into_iter().chain(keys).collect()
    }

    fn start(&self, program: &str) -> Child {
        Command::new(program)
            .current_dir(self.folder.path())
            .envs(self.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// What a program prints when it is typed `input`. It must succeed, and complain about nothing.
    fn printed(&self, program: &str, input: &str) -> String {
        let mut running = self.start(program);
        running.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = running.wait_with_output().unwrap();
        let complaints = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && complaints.is_empty(), "{complaints}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn has(&self, file: &str) -> bool {
        self.folder.path().join(file).exists()
    }
}

const WRITE: (&str, &str) = ("write", r#"{"path":"add.ts","content":"export const add = 1;"}"#);

#[test]
fn example_1_the_default_mode_prompts_before_it_writes() {
    let house = House::where_it_says(vec![openai("I write it.", &[WRITE]), openai("Here it is.", &[])]);
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_default_mode"));
    command.cwd(house.folder.path());
    command.env("USER", "lin");
    for (name, value) in house.environment() {
        command.env(name, value);
    }
    let mut pty = Pty::start(command, Room { cols: 80, rows: 30 });
    pty.sees("add.ts");
    pty.sees_bold("[y]");
    assert!(!house.has("add.ts"));
    pty.types("y");
    pty.sees("Here it is.");
    pty.ends();
    assert!(house.has("add.ts"));
}

#[test]
fn example_2_auto_edit_writes_and_runs_no_command_unasked_that_is_not_confined() {
    let calls = [
        WRITE,
        ("bash", r#"{"command":"touch run.txt","needs":["network"]}"#),
    ];
    let house = House::where_it_says(vec![anthropic("I edit.", &calls), anthropic("Edited.", &[])]);
    let output = house.printed(env!("CARGO_BIN_EXE_auto_edit"), "");
    assert_eq!(output, "write: ran\nbash: did not run\nEdited.\n");
    assert!(house.has("add.ts") && !house.has("run.txt"));
}

#[test]
fn example_3_yolo_runs_all_but_the_dangerous() {
    let calls = [
        ("bash", r#"{"command":"touch run.txt"}"#),
        ("bash", r#"{"command":"rm -rf ."}"#),
    ];
    let house = House::where_it_says(vec![openai("I work.", &calls), openai("All done.", &[])]);
    let output = house.printed(env!("CARGO_BIN_EXE_yolo"), "");
    assert!(
        output.contains("nobody_to_ask") && output.contains("All done."),
        "{output}"
    );
    assert!(output.ends_with("the run is complete\n"), "{output}");
    assert!(house.has("run.txt"));
}

#[test]
fn example_4_the_custom_approver_does_what_is_typed_and_silence_is_a_no() {
    let calls = [
        ("bash", r#"{"command":"touch one.txt"}"#),
        ("bash", r#"{"command":"touch two.txt"}"#),
    ];
    let turns = || {
        vec![
            openai("", &calls[..1]),
            openai("", &calls[1..]),
            openai("Tidy.", &[]),
        ]
    };
    let house = House::where_it_says(turns());
    let output = house.printed(env!("CARGO_BIN_EXE_custom_approver"), "y\nn\n");
    assert!(
        output.contains(r#"[params]   {"command":"touch one.txt"}"#),
        "{output}"
    );
    assert!(
        output.contains("Approve bash? (y/n): ") && output.ends_with("Tidy.\n"),
        "{output}"
    );
    assert!(house.has("one.txt") && !house.has("two.txt"));
    let told = house.provider.asked()[2].body.to_string();
    assert!(told.contains("refused at the terminal"), "{told}");
    let house = House::where_it_says(turns());
    house.printed(env!("CARGO_BIN_EXE_custom_approver"), "");
    assert!(!house.has("one.txt") && !house.has("two.txt"));
}

/// One request to the example's page.
fn http(method: &str, url: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn example_5_the_web_application_asks_on_its_page() {
    let house = House::where_it_says(vec![
        openai("", &[("bash", r#"{"command":"touch '<b>'"}"#)]),
        openai("Tidy.", &[]),
    ]);
    let mut running = house.start(env!("CARGO_BIN_EXE_web_approval"));
    let mut output = BufReader::new(running.stdout.take().unwrap());
    let mut url = String::new();
    output.read_line(&mut url).unwrap();
    let url = url.trim();
    let page = loop {
        let page = http("GET", url);
        if page.contains("<form") {
            break page;
        }
        std::thread::yield_now();
    };
    assert!(page.contains("&lt;b>") && !page.contains("<b>"), "{page}");
    let approve = page.split('\'').find(|part| part.ends_with("/approve")).unwrap();
    let elsewhere = url.rsplit_once('/').unwrap().0.rsplit_once('/').unwrap().0;
    let stranger = http("POST", &format!("{elsewhere}/guessed/{approve}"));
    assert!(stranger.starts_with("HTTP/1.1 404"), "{stranger}");
    assert!(!house.has("<b>"));
    http("POST", &format!("{url}{approve}"));
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert!(running.wait().unwrap().success());
    assert_eq!(rest, "Tidy.\n");
    assert!(house.has("<b>"));
}

#[test]
fn example_6_the_answer_depends_on_the_call() {
    let calls = [
        ("bash", r#"{"command":"ls"}"#),
        ("bash", r#"{"command":"rm -rf build"}"#),
        ("bash", r#"{"command":"touch asked.txt"}"#),
    ];
    let house = House::where_it_says(vec![
        openai("", &calls[..2]),
        openai("", &calls[2..]),
        openai("Faster.", &[]),
    ]);
    let output = house.printed(env!("CARGO_BIN_EXE_conditional"), "y\n");
    assert!(output.contains("a dangerous command"), "{output}");
    assert!(
        output.contains(r#"Allow bash {"command":"touch asked.txt"}? (y/n): "#),
        "{output}"
    );
    assert_eq!(output.matches("(y/n)").count(), 1, "{output}");
    assert!(house.has("asked.txt"));
}
