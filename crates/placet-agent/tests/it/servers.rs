//! Real database servers, started once for all tests of this program, each in a folder of its own. They end with this program,
//! however it ends: a shell waits for its input to be closed, stops the server and takes the folder away.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// A server that runs.
struct Server {
    url: String,
    /// Holds its input open.
    _shell: Child,
}

const POSTGRES: &str = r#"
bin=$1 dir=$2 port=$3
"$bin/initdb" -D "$dir/data" -U placet -A trust -E UTF8 --no-sync >"$dir/log" 2>&1 &&
"$bin/pg_ctl" -D "$dir/data" -w -t 120 -l "$dir/log" \
  -o "-p $port -k $dir -c listen_addresses=127.0.0.1 -c fsync=off" start >>"$dir/log" 2>&1 && echo ready || tail "$dir/log"
read -r _
"$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1
rm -rf "$dir"
"#;

const MARIADB: &str = r#"
bin=$1 dir=$2 port=$3
mariadb-install-db --no-defaults --datadir="$dir/data" --auth-root-authentication-method=normal --skip-test-db >"$dir/log" 2>&1 &&
{ "$bin/mariadbd" --no-defaults --datadir="$dir/data" --socket="$dir/socket" --pid-file="$dir/pid" --port="$port" \
    --bind-address=127.0.0.1 --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=16M >>"$dir/log" 2>&1 & } &&
mariadb-admin --no-defaults --socket="$dir/socket" -u root --wait=120 ping >>"$dir/log" 2>&1 && echo ready || tail "$dir/log"
read -r _
kill -KILL "$(cat "$dir/pid")"
rm -rf "$dir"
"#;

/// The address of a PostgreSQL server.
pub(crate) fn postgres() -> &'static str {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        start(POSTGRES, "postgres", &installed("/usr/lib/postgresql"), |port| {
            format!("postgresql://placet@127.0.0.1:{port}/postgres")
        })
    });
    &server.url
}

/// The address of a MariaDB server.
pub(crate) fn mariadb() -> &'static str {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        start(MARIADB, "mysql", Path::new("/usr/sbin"), |port| {
            format!("mysql://root@127.0.0.1:{port}/mysql")
        })
    });
    &server.url
}

/// Debian keeps each version in a folder of its own.
fn installed(folder: &str) -> PathBuf {
    let versions = std::fs::read_dir(folder).unwrap_or_else(|_| panic!("install `postgresql`"));
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.unwrap().path()).collect();
    versions.sort();
    versions
        .pop()
        .unwrap_or_else(|| panic!("install `postgresql`"))
        .join("bin")
}

fn start(script: &str, user: &str, bin: &Path, url: impl Fn(u16) -> String) -> Server {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let dir = tempfile::tempdir().unwrap().keep();
    // Servers refuse to run as root; the user their package made may not look into a folder of root's.
    let root = rustix::process::geteuid().is_root();
    let mut command = if root {
        let owned = Command::new("chown").arg(user).arg(&dir).status().unwrap();
        assert!(
            owned.success(),
            "there is no user `{user}`; is the server installed?"
        );
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups", "sh"]);
        command
    } else {
        Command::new("sh")
    };
    command
        .args(["-c", script, "server"])
        .arg(bin)
        .arg(&dir)
        .arg(port.to_string());
    let command = command
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut shell = command.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(shell.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    assert_eq!(said, "ready\n", "the server does not start");
    Server {
        url: url(port),
        _shell: shell,
    }
}
