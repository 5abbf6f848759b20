//! The database and the three servers, and what is done to them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use rand::rngs::StdRng;

use crate::database::Server;
use crate::history::History;
use crate::process::{Process, World, say_within};
use crate::scene::{self, AGENTS, PEOPLE};

/// How long a lease lasts here: a paused server is given up after so long.
const LEASE: &str = "1s";
/// How long a client waits for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);
/// How many servers there are.
const SERVERS: usize = 3;
/// How many acknowledgements there are between two faults.
const PROGRESS: usize = 30;
/// What takes this long will never come.
const NEVER: Duration = Duration::from_mins(2);
/// How many tasks the built-in agent knows.
pub(crate) const TASKS: usize = 2000;

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A server is killed, and started again.
    Kill,
    /// A server is stopped past its lease, and then goes on.
    Pause,
    /// Every connection to the database is cut.
    Cut,
    /// The database crashes and is started again.
    Crash,
}

impl Fault {
    pub(crate) const ALL: [Self; 4] = [Self::Kill, Self::Pause, Self::Cut, Self::Crash];
}

/// A server, and the name under which it takes leases.
struct Member {
    world: World,
    process: Option<Process>,
    lease: String,
}

pub(crate) struct Cluster {
    database: Server,
    pub(crate) url: String,
    config: String,
    members: Mutex<Vec<Member>>,
    /// Where the servers listen, as far as they run.
    addresses: Mutex<Vec<Option<String>>>,
}

/// The credential of an agent or a person.
pub(crate) fn token(name: &str) -> String {
    format!("token-of-{name}-0123456789")
}

/// The name of a task, which no other one contains.
pub(crate) fn task(number: usize) -> String {
    format!("task-{number:05}")
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let database = Server::start("", &[]);
        let url = database.database();
        let first = World::new();
        let config = configured(&first);
        let worlds = std::iter::once(first).chain((1..SERVERS).map(|_| World::new()));
        let members = worlds.map(|world| Member {
            world,
            process: None,
            lease: String::new(),
        });
        let cluster = Self {
            database,
            url,
            config,
            members: Mutex::new(members.collect()),
            addresses: Mutex::new(vec![None; SERVERS]),
        };
        for at in 0..SERVERS {
            cluster.start_server(at);
        }
        cluster
    }

    fn start_server(&self, at: usize) {
        let mut members = self.members.lock().unwrap();
        // The first one makes the tables.
        let before = if members.iter().all(|member| member.lease.is_empty()) {
            BTreeSet::new()
        } else {
            self.processes("")
        };
        let process = members[at]
            .world
            .serve_with(&self.config, &["--store", &self.url]);
        self.addresses.lock().unwrap()[at] = Some(process.address.clone());
        members[at].process = Some(process);
        let taken = self.processes("").into_iter().find(|name| !before.contains(name));
        members[at].lease = taken.unwrap();
    }

    /// The leases of processes, as far as a condition holds.
    fn processes(&self, condition: &str) -> BTreeSet<String> {
        let sql = format!("SELECT name FROM leases WHERE name LIKE 'process/%' {condition}");
        self.sql(&sql).lines().map(str::to_owned).collect()
    }

    fn sql(&self, sql: &str) -> String {
        let (_, name) = self.url.rsplit_once('/').unwrap();
        self.database
            .psql(name, &format!("SET search_path = placet; {sql}"))
    }

    /// One of the servers that run, or are thought to.
    pub(crate) fn any(&self, rng: &mut StdRng) -> String {
        loop {
            let address = self.addresses.lock().unwrap()[rng.random_range(0..SERVERS)].clone();
            if let Some(address) = address {
                return address;
            }
        }
    }

    /// Does something to the servers, and waits until the clients get on again.
    pub(crate) fn suffer(&self, fault: Fault, rng: &mut StdRng, history: &History) {
        let at = rng.random_range(0..SERVERS);
        history.note(format!("{fault:?} {at}"));
        match fault {
            Fault::Kill => {
                self.addresses.lock().unwrap()[at] = None;
                self.members.lock().unwrap()[at].process.take().unwrap().kill();
                progress(history);
                self.start_server(at);
            }
            Fault::Pause => {
                let members = self.members.lock().unwrap();
                let (process, lease) = (members[at].process.as_ref().unwrap(), &members[at].lease);
                process.signal("STOP");
                let over = "AND until + coalesce((SELECT max(shift) FROM outages), 0) \
                            < extract(epoch FROM clock_timestamp()) * 1000";
                until("the lease of a paused server is over", || {
                    self.processes(over).contains(lease)
                });
                progress(history);
                process.signal("CONT");
            }
            Fault::Cut => {
                self.sql(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                     WHERE datname = current_database() AND pid <> pg_backend_pid()",
                );
            }
            Fault::Crash => {
                self.database.stop("immediate");
                self.database.start_again();
            }
        }
        progress(history);
        self.all_ready();
    }

    fn all_ready(&self) {
        for address in self.addresses.lock().unwrap().iter().flatten() {
            until("a server is ready", || {
                say_within(PATIENCE, address, "", "GET", "/readyz", "")
                    .is_some_and(|(status, _)| status == 200)
            });
        }
    }

    /// Ends the servers as an operator would.
    pub(crate) fn stop(&self) {
        for member in self.members.lock().unwrap().iter_mut() {
            let ended = member.process.take().unwrap().terminate();
            assert_eq!(ended.code(), Some(0));
        }
    }

    /// What the commands of the built-in agent wrote.
    pub(crate) fn written(&self) -> String {
        let folder = self.members.lock().unwrap()[0]
            .world
            .folder
            .path()
            .join("runs.log");
        std::fs::read_to_string(folder).unwrap_or_default()
    }

    /// Takes the servers' folders away.
    pub(crate) fn tidy_up(&self) {
        self.members.lock().unwrap().clear();
    }

    /// Every row of the journal: its number, its session and its body.
    pub(crate) fn journal(&self) -> Vec<(u64, String, String)> {
        let sql = "SELECT json_build_array(journal.id, name, body) FROM journal \
                   JOIN sessions ON sessions.id = journal.session ORDER BY journal.id";
        let rows = self.sql(sql);
        rows.lines()
            .map(|row| serde_json::from_str(row).unwrap())
            .collect()
    }

    /// A copy of the database.
    pub(crate) fn copy(&self, spoiled_by: &str) -> String {
        let (place, name) = self.url.rsplit_once('/').unwrap();
        let copy = format!("{name}_copy");
        self.database
            .psql("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {name}"));
        self.database
            .psql(&copy, &format!("SET search_path = placet; {spoiled_by}"));
        format!("{place}/{copy}")
    }
}

/// Waits until the clients have got on.
fn progress(history: &History) {
    let wanted = history.acks() + PROGRESS;
    until("the clients get on", || {
        history.wait_for_news();
        history.acks() >= wanted
    });
}

/// Looks until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < NEVER, "it never came: {what}");
    }
}

/// The scene of the crash test with tokens, and an agent that works in one folder at every server.
fn configured(shared: &World) -> String {
    let folder = shared.folder.path();
    let secret = |name: &str| {
        let path = folder.join(format!("{name}.token"));
        std::fs::write(&path, token(name)).unwrap();
        format!("file:{}", path.display())
    };
    let mut config = scene::CONFIG.to_owned();
    for person in PEOPLE {
        let name = format!("name = \"{person}\"\n");
        config = config.replace(&name, &format!("{name}token = \"{}\"\n", secret(person)));
    }
    config.push_str("[server.agents]\n");
    for agent in 0..AGENTS {
        let name = scene::agent_id(agent).unwrap();
        writeln!(config, "{name} = \"{}\"", secret(name.as_str())).unwrap();
    }
    let (script, seal_key) = (folder.join("script.toml"), folder.join("seal.key"));
    std::fs::write(&seal_key, "5".repeat(64)).unwrap();
    write!(
        config,
        "[store]\nseal_key = \"file:{}\"\nlease = \"{LEASE}\"\n[workspace]\nroot = \"{}\"\n[models.main]\nprovider = \"scripted\"\nscript = \"{}\"\n",
        seal_key.display(),
        folder.display(),
        script.display()
    )
    .unwrap();
    let mut turns = "[[turns]]\ntext = \"Done.\"\n".to_owned();
    for task in (0..TASKS).map(task) {
        let call = format!("{{ tool = \"bash\", args = {{ command = \"echo {task} >> runs.log\" }} }}");
        writeln!(turns, "[[turns]]\non = \"do {task}\"\ncalls = [{call}]").unwrap();
    }
    std::fs::write(script, turns).unwrap();
    config
}
