//! A folder, and `placet serve` running in it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) folder: TempDir,
}

pub(crate) struct Process {
    child: Child,
    pub(crate) address: String,
    pub(crate) url: String,
    pub(crate) said: Value,
    log: Arc<Mutex<String>>,
    _stdout: BufReader<ChildStdout>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("placet"));
        let inherited = std::env::vars_os().map(|(name, _)| name);
        for name in inherited.filter(|name| name.to_string_lossy().starts_with("PLACET_")) {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C");
        command
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .args(args);
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
        command
    }

    pub(crate) fn configure(&self, config: &str) -> PathBuf {
        let path = self.folder.path().join("placet.toml");
        std::fs::write(&path, config).unwrap();
        path
    }

    pub(crate) fn serve(&self, config: &str) -> Process {
        self.serve_with(config, &[])
    }

    /// The same with more arguments.
    pub(crate) fn serve_with(&self, config: &str, more: &[&str]) -> Process {
        self.serve_on("127.0.0.1:0", config, more)
    }

    /// The same at a given place.
    pub(crate) fn serve_on(&self, address: &str, config: &str, more: &[&str]) -> Process {
        self.start(self.command(&[]), address, config, more)
    }

    /// The same with files that cannot grow beyond so many blocks.
    pub(crate) fn serve_limited(&self, blocks: &str, config: &str) -> Process {
        let placet = self.command(&[]);
        // The signal for a file that is too large would end the process; ignored, the write fails.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).arg(placet.get_program());
        shell.current_dir(self.folder.path());
        for (name, value) in placet.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        self.start(shell, "127.0.0.1:0", config, &[])
    }

    fn start(&self, mut command: Command, address: &str, config: &str, more: &[&str]) -> Process {
        if !config.is_empty() {
            self.configure(config);
        }
        let args = [
            "serve",
            "--listen",
            address,
            "--data",
            "data",
            "--json",
            "--log-format",
            "json",
        ];
        let mut child = command
            .args(args)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let kept = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let mut log = kept.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let said: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error}: {line}{}", log.lock().unwrap()));
        Process {
            child,
            address: said["listen"].as_str().unwrap().to_owned(),
            url: said["url"].as_str().unwrap().to_owned(),
            said,
            log,
            _stdout: stdout,
        }
    }

    pub(crate) fn token(&self, role: &str) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("data/tokens.toml")).unwrap();
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{role} = ")))
            .unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    }

    /// Standard output of a command that succeeds.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of a command that is refused.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Process {
    /// Sends a request; the connection, to read the answer from.
    pub(crate) fn open(&self, token: &str, method: &str, path: &str, body: &str) -> TcpStream {
        open(&self.address, token, method, path, body).unwrap()
    }

    fn say(&self, token: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
        say(&self.address, token, method, path, body).unwrap()
    }

    pub(crate) fn get(&self, token: &str, path: &str) -> (u16, Value) {
        self.say(token, "GET", path, "")
    }

    pub(crate) fn post(&self, token: &str, path: &str, body: &Value) -> (u16, Value) {
        self.say(token, "POST", path, &body.to_string())
    }

    pub(crate) fn stream(&self, token: &str, after: &str) -> Stream {
        let connection = self.open(token, "GET", &format!("/v1/events?after={after}"), "");
        Stream(BufReader::new(connection))
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", name, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Whether a signal reaches a handler; the others end the process.
    pub(crate) fn heeds(&self, name: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .unwrap();
        let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
        let number = Command::new("kill").args(["-l", name]).output().unwrap().stdout;
        let number: u32 = String::from_utf8(number).unwrap().trim().parse().unwrap();
        caught & (1 << (number - 1)) != 0
    }

    /// Told to stop; how it ended.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        self.signal("TERM");
        self.child.wait().unwrap()
    }

    /// Ended without being told.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Told to read its configuration again; waits until the log says `words`.
    pub(crate) fn hang_up(&self, words: &str) {
        self.signal("HUP");
        self.log_with(words);
    }

    /// The log, once it holds `words`.
    pub(crate) fn log_with(&self, words: &str) -> String {
        let began = Instant::now();
        loop {
            let log = self.log.lock().unwrap().clone();
            if log.contains(words) {
                return log;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{log}");
            std::thread::yield_now();
        }
    }
}

fn open(address: &str, token: &str, method: &str, path: &str, body: &str) -> std::io::Result<TcpStream> {
    open_within(PATIENCE, address, token, method, path, body)
}

fn open_within(
    patience: Duration,
    address: &str,
    token: &str,
    method: &str,
    path: &str,
    body: &str,
) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(patience))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    Ok(stream)
}

/// A request and its answer; `None` when the connection broke, as it does when the other side is killed.
pub(crate) fn say(address: &str, token: &str, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
    say_within(PATIENCE, address, token, method, path, body)
}

/// The same with less patience, for servers that may be paused.
pub(crate) fn say_within(
    patience: Duration,
    address: &str,
    token: &str,
    method: &str,
    path: &str,
    body: &str,
) -> Option<(u16, Value)> {
    let mut answer = String::new();
    let mut connection = open_within(patience, address, token, method, path, body).ok()?;
    connection.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.to_ascii_lowercase();
    let length = length
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let whole = length.is_none_or(|length| length.parse() == Ok(body.len()));
    whole.then(|| (status, serde_json::from_str(body).unwrap_or(Value::Null)))
}

pub(crate) struct Stream(BufReader<TcpStream>);

impl Stream {
    /// The next event.
    pub(crate) fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the stream ended");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    /// The ids of the events up to the first of this kind.
    pub(crate) fn until(&mut self, kind: &str) -> Vec<u64> {
        let mut seen = Vec::new();
        loop {
            let data = self.next();
            seen.push(data["id"].as_u64().unwrap());
            if data["type"] == kind {
                return seen;
            }
        }
    }

    /// Whether it ends as a stream should: with its last chunk.
    pub(crate) fn ended(mut self) -> bool {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        rest.ends_with("0\r\n\r\n")
    }
}
