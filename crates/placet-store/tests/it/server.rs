//! A real PostgreSQL server, started once for all tests of this program, in a folder of its own. It ends with this program,
//! however that ends: a shell waits for its input to be closed, stops the server and takes the folder away.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

const SCRIPT: &str = r#"
bin=$1 dir=$2 port=$3
"$bin/initdb" -D "$dir/data" -U placet -A trust -E UTF8 --no-sync >"$dir/log" 2>&1 &&
"$bin/pg_ctl" -D "$dir/data" -w -t 120 -l "$dir/log" \
  -o "-p $port -k $dir -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=400" start >>"$dir/log" 2>&1 && echo ready || tail "$dir/log"
read -r _
"$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1
rm -rf "$dir"
"#;

/// A server that runs.
struct Server {
    port: u16,
    /// Holds its input open.
    _shell: Child,
}

/// The address of a database that nothing is in yet.
pub(crate) fn database() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("placet_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    psql("postgres", &format!("CREATE DATABASE {name}"));
    format!("postgres://placet@127.0.0.1:{}/{name}", server().port)
}

/// Runs SQL as another program would.
pub(crate) fn tamper(url: &str, sql: &str) {
    let (_, name) = url.rsplit_once('/').unwrap();
    psql(name, &format!("SET search_path = placet; {sql}"));
}

fn psql(database: &str, sql: &str) {
    let psql = installed().join("psql");
    let said = Command::new(psql)
        .args([
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-U",
            "placet",
            "-p",
        ])
        .arg(server().port.to_string())
        .args(["-d", database, "-c", sql])
        .output()
        .unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(start)
}

/// Debian keeps each version in a folder of its own.
fn installed() -> PathBuf {
    let missing = "PostgreSQL is missing: `apt-get install postgresql`, or `cargo xtask test` installs it";
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let newest = versions.map(|entry| entry.unwrap().path()).max();
    assert!(newest.is_some(), "{missing}");
    newest.unwrap().join("bin")
}

fn start() -> Server {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let dir = tempfile::tempdir().unwrap().keep();
    // The server refuses to run as root, and the user its package made may not look into a folder of root's.
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = if root {
        let owned = Command::new("chown").arg("postgres").arg(&dir).status().unwrap();
        assert!(owned.success(), "there is no user `postgres`");
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid",
            "postgres",
            "--regid",
            "postgres",
            "--clear-groups",
            "sh",
        ]);
        command
    } else {
        Command::new("sh")
    };
    let mut shell = command
        .args(["-c", SCRIPT, "server"])
        .arg(installed())
        .arg(&dir)
        .arg(port.to_string())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(shell.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    assert_eq!(said, "ready\n", "the server does not start");
    Server { port, _shell: shell }
}

/// A transaction of another program that stays open until this is dropped.
pub(crate) struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// Begins a transaction with `sql` and leaves it open.
pub(crate) fn hold(url: &str, sql: &str) -> Held {
    use std::io::Write as _;
    let mut child = Command::new(installed().join("psql"))
        .args(["-X", "-q", "-t", "-d", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "BEGIN; {sql}; SELECT 'held';").unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line.trim() == "held"));
    Held(child)
}
