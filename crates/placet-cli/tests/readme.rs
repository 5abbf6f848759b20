//! The commands of both READMEs, run as a newcomer would: in their order, on a machine without a configuration.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const READMES: [&str; 2] = ["README.md", "README.zh-CN.md"];

/// What the READMEs start programs with; the program is built already.
const FROM_SOURCE: &str = "cargo run --release --";
const INSTALL: &str = "cargo install --path crates/placet-cli\n";
const ADDRESS: &str = "127.0.0.1:7319";

/// The `sh` blocks of a README.
fn blocks(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```sh\n").skip(1);
    blocks
        .map(|rest| rest.split_once("```").unwrap().0.to_owned())
        .collect()
}

/// A machine of its own, with `placet` installed.
struct Machine {
    home: TempDir,
    address: String,
}

impl Machine {
    fn new() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            home: TempDir::new().unwrap(),
            address: free.local_addr().unwrap().to_string(),
        }
    }

    /// A block as a script of this machine.
    fn shell(&self, block: &str) -> Command {
        let placet = assert_cmd::cargo::cargo_bin("placet");
        let bin = placet.parent().unwrap().display().to_string();
        let path = std::env::var("PATH").unwrap();
        let script = block
            .replace(FROM_SOURCE, "exec placet")
            .replace(INSTALL, "")
            .replace(ADDRESS, &self.address);
        let mut shell = Command::new("sh");
        let inherited = std::env::vars_os().map(|(name, _)| name);
        for name in inherited.filter(|name| name.to_string_lossy().starts_with("PLACET_")) {
            shell.env_remove(name);
        }
        shell
            .args(["-c", &script])
            .current_dir(self.home.path())
            .env("HOME", self.home.path())
            .env("LC_ALL", "C")
            .env("PATH", format!("{bin}:{path}"))
            .env("PLACET_LISTEN", &self.address)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME");
        shell
    }

    fn run(&self, block: &str) -> Output {
        self.shell(block).output().unwrap()
    }
}

/// A server, stopped with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn succeeds(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

#[test]
fn both_readmes_have_the_same_commands() {
    let [english, chinese] = READMES.map(blocks);
    assert_eq!(english, chinese);
    assert_eq!(english.len(), 5, "each is run below");
}

#[test]
fn the_first_command_serves_without_a_warning_and_the_sample_request_is_approved() {
    let machine = Machine::new();
    let blocks = blocks(READMES[0]);
    let (serve, sample) = (&blocks[0], &blocks[1]);
    let mut child = machine
        .shell(serve)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut errors = child.stderr.take().unwrap();
    let serving = Serving(child);
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains(&machine.address), "{first}");

    let agent = std::thread::scope(|scope| {
        let agent = scope.spawn(|| machine.run(sample));
        let id = pending(&machine);
        let answer = format!("placet inbox answer {id} approve --as newcomer");
        succeeds(&machine.run(&answer));
        agent.join().unwrap()
    });
    let answered: Value = serde_json::from_str(&succeeds(&agent)).unwrap();
    assert_eq!(answered["status"], "approved", "{answered}");

    drop(serving);
    let mut log = String::new();
    errors.read_to_string(&mut log).unwrap();
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

/// The id of the request, as soon as there is one.
fn pending(machine: &Machine) -> String {
    let since = Instant::now();
    while since.elapsed() < Duration::from_mins(1) {
        let listed = succeeds(&machine.run("placet inbox list --json --as newcomer"));
        if let Some(line) = listed.lines().next() {
            let row: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
            return row["requestId"].as_str().unwrap().to_owned();
        }
    }
    panic!("no request after a minute");
}

#[test]
fn the_demo_the_first_rule_and_the_first_check_do_what_the_readme_says() {
    let machine = Machine::new();
    let blocks = blocks(READMES[0]);
    // Without a terminal, a script answers.
    let shown = succeeds(&machine.run(&blocks[2].replace("demo", "demo --yes")));
    assert!(shown.contains("DELETE"), "{shown}");
    let explained = succeeds(&machine.run(&blocks[3]));
    assert!(explained.contains("force pushes need approval"), "{explained}");
    let checked = machine.run(&blocks[4]);
    assert_eq!(checked.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&checked.stdout).starts_with("DENY"));
}
