//! Real PostgreSQL servers, each in a folder of its own: one that all tests of this program share, and others for a test alone. A
//! server ends with this program, however that ends: a shell waits for its input to be closed, stops the server and takes the
//! folder away.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

const SCRIPT: &str = r#"
bin=$1 dir=$2 port=$3 settings=$4
start() {
  "$bin/pg_ctl" -D "$dir/data" -w -t 120 -l "$dir/log" \
    -o "-p $port -k $dir -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=400 $settings" start >>"$dir/log" 2>&1
}
stop() { "$bin/pg_ctl" -D "$dir/data" -w -m "$1" stop >/dev/null 2>&1; }
{ "$bin/initdb" -D "$dir/data" -U placet -A trust -E UTF8 --no-sync >"$dir/log" 2>&1 && start && echo done; } || tail "$dir/log"
while read -r order; do
  case $order in
    start) start ;;
    *) stop "$order" ;;
  esac && echo done
done
stop immediate
rm -rf "$dir"
"#;

/// A server.
pub(crate) struct Server {
    port: u16,
    /// Holds the shell's input open, and takes its orders.
    shell: Mutex<Shell>,
}

struct Shell {
    _process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Shell {
    fn answer(&mut self) {
        let mut said = String::new();
        self.answers.read_line(&mut said).unwrap();
        assert_eq!(said, "done\n", "the server does not do as told");
    }
}

impl Server {
    /// The server that all tests of this program share.
    pub(crate) fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(|| Self::start("", &[]))
    }

    /// A server with these settings, as on its command line, and files in its folder.
    pub(crate) fn start(settings: &str, files: &[(&str, &str)]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let dir = tempfile::tempdir().unwrap().keep();
        for (name, text) in files {
            std::fs::write(dir.join(name), text).unwrap();
            run(Command::new("chmod").arg("600").arg(dir.join(name)));
        }
        // The server refuses to run as root, and the user its package made may not look into a folder of root's.
        let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let mut command = if root {
            run(Command::new("chown").args(["-R", "postgres"]).arg(&dir));
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
        let mut process = command
            .args(["-c", SCRIPT, "server"])
            .arg(installed())
            .arg(&dir)
            .arg(port.to_string())
            .arg(settings.replace("DIR", dir.to_str().unwrap()))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut shell = Shell {
            orders: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            _process: process,
        };
        shell.answer();
        Self {
            port,
            shell: Mutex::new(shell),
        }
    }

    /// The address of a database that nothing is in yet.
    pub(crate) fn database(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("placet_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name}"));
        format!("postgres://placet@127.0.0.1:{}/{name}", self.port)
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Ends it as `pg_ctl` says: `fast`, or `immediate` as a crash would.
    pub(crate) fn stop(&self, how: &str) {
        self.order(how);
    }

    /// Starts it again.
    pub(crate) fn start_again(&self) {
        self.order("start");
    }

    fn order(&self, order: &str) {
        let mut shell = self.shell.lock().unwrap();
        writeln!(shell.orders, "{order}").unwrap();
        shell.answer();
    }

    /// Runs SQL as another program would; what it prints.
    pub(crate) fn psql(&self, database: &str, sql: &str) -> String {
        let said = Command::new(installed().join("psql"))
            .args([
                "-X",
                "-q",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-h",
                "127.0.0.1",
                "-U",
                "placet",
                "-p",
            ])
            .arg(self.port.to_string())
            .args(["-d", database, "-c", sql])
            .output()
            .unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    }
}

/// The address of a database on the shared server that nothing is in yet.
pub(crate) fn database() -> String {
    Server::shared().database()
}

/// Runs SQL on the shared server as another program would.
pub(crate) fn tamper(url: &str, sql: &str) -> String {
    let (_, name) = url.rsplit_once('/').unwrap();
    Server::shared().psql(name, &format!("SET search_path = placet; {sql}"))
}

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

/// Debian keeps each version in a folder of its own.
fn installed() -> PathBuf {
    let missing = "PostgreSQL is missing: `apt-get install postgresql`, or `cargo xtask test` installs it";
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let newest = versions.map(|entry| entry.unwrap().path()).max();
    assert!(newest.is_some(), "{missing}");
    newest.unwrap().join("bin")
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
