//! The HTTP API against its own description: schemathesis makes requests up from `/openapi.json`, good and bad ones, and no
//! answer may be a server error, undocumented, or of another shape.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use super::step::{Outcome, build_program};
use crate::cargo::succeeds;
use crate::workspace::Workspace;

/// Where Python packages are kept: with everything else that is built.
const VENV: &str = "target/schemathesis";
const VERSION: &str = "schemathesis==4.32.5";
/// The same requests every time.
const SEED: &str = "20261103";
/// An approver and an admin see different things; an agent does what neither may.
const ROLES: [&str; 2] = ["admin", "agent"];

/// Runs the check once a role.
pub(super) fn run(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let program = install(&workspace.root)?;
    if !build_program()? {
        return Ok(Outcome::Failed("placet does not build".to_owned()));
    }
    let data = workspace.root.join(VENV).join("data");
    if data.exists() {
        std::fs::remove_dir_all(&data).context("the data of the last run cannot be removed")?;
    }
    let server = Server::start(&workspace.root, &data)?;
    converse(&server, &token(&data, "admin")?)?;
    for role in ROLES {
        println!("as {role}:");
        let token = token(&data, role)?;
        let checked = Command::new(&program)
            .args(["run", "--url", &server.url, "--max-examples", "15", "--seed", SEED])
            .args(["--phases", "examples,coverage,fuzzing", "--workers", "1", "--no-color"])
            // A made-up body can be right in shape and wrong in sense, so that valid data may be refused; what is
            // refused must be documented. Streams never end, and ending sessions would starve the others.
            .args(["--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"])
            .args(["--exclude-path", "/v1/events", "--request-timeout", "20"])
            .args(["--header", &format!("Authorization: Bearer {token}")])
            .arg(format!("{}/openapi.json", server.url))
            .status()
            .context("schemathesis does not run")?;
        if !checked.success() {
            return Ok(Outcome::Failed(format!(
                "schemathesis found something as {role}; see above"
            )));
        }
    }
    Ok(Outcome::Ok)
}

/// The program, in an environment of its own.
fn install(root: &Path) -> anyhow::Result<PathBuf> {
    let venv = root.join(VENV);
    let program = venv.join("bin/schemathesis");
    let works = |program: &Path| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    if works(&program) {
        return Ok(program);
    }
    println!("installing {VERSION} in {VENV} because the API is checked with it");
    let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    if !made.unwrap_or(false) {
        bail!("python3 with venv is needed: on Debian `apt-get install python3-venv`");
    }
    let installed = succeeds(Command::new(venv.join("bin/pip")).args(["install", "--quiet", VERSION]))?;
    if !installed || !works(&program) {
        bail!("{VERSION} could not be installed");
    }
    Ok(program)
}

/// `placet serve` on a free port, as long as this lives.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(root: &Path, data: &Path) -> anyhow::Result<Self> {
        let config = root.join(VENV).join("placet.toml");
        let script = root.join(VENV).join("script.toml");
        std::fs::write(&script, "[[turns]]\non = ''\ntext = 'As you say.'\n")?;
        // No approver answers here, so requests expire soon.
        let text = format!(
            "[approval]\ntimeout = \"1s\"\n[models.main]\nprovider = \"scripted\"\nscript = '{}'\n",
            script.display()
        );
        std::fs::write(&config, text)?;
        let mut child = Command::new(root.join("target/debug/placet"))
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--json",
                "--log",
                "error",
                "--data",
            ])
            .arg(data)
            .arg("--config")
            .arg(config)
            .stdout(Stdio::piped())
            .spawn()
            .context("placet does not start")?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("placet has no output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        let Some(url) = said.get("url").and_then(Value::as_str) else {
            let _ = child.kill();
            bail!("placet did not say where it listens")
        };
        let url = url.to_owned();
        Ok(Self { child, url })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Begins a conversation: without it a client that watches the newest one would wait for the first.
fn converse(server: &Server, token: &str) -> anyhow::Result<()> {
    let address = server.url.trim_start_matches("http://");
    let body = r#"{"message":"hello"}"#;
    let mut stream = TcpStream::connect(address).context("placet cannot be reached")?;
    write!(
        stream,
        "POST /api/agent/chat/react/stream HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    if !said.contains("event: COMPLETED") {
        bail!("the scripted agent did not answer: {said}");
    }
    Ok(())
}

fn token(data: &Path, role: &str) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(data.join("tokens.toml")).context("placet made no tokens")?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{role} = \"")));
    let token = line.and_then(|line| line.strip_suffix('"'));
    token.map(str::to_owned).context("a role has no token")
}
