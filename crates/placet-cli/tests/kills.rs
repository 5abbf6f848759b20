//! A long run of the real program, killed hundreds of times while people answer over HTTP. At the end every effect is there
//! exactly once: nothing was lost, nothing ran twice, and what could not be known was asked.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "kills/model.rs"]
mod model;
#[path = "serve/process.rs"]
#[expect(dead_code, reason = "shared with the tests of the server")]
mod process;

use std::hash::{BuildHasher as _, RandomState};
use std::io::Read as _;
use std::path::Path;

use model::{ModelServer, effects, rows};
use process::{Process, World, say};
use serde_json::{Value, json};

/// How often the program is killed.
const KILLS: usize = 200;
/// How many rows it writes at most before it is.
const ROWS_MAX: u64 = 16;

#[test]
fn a_run_killed_hundreds_of_times_does_everything_exactly_once_or_asks() {
    let world = World::new();
    let model = ModelServer::start();
    let config = format!(
        "[workspace]\nroot = \".\"\n[agent]\nturns_max = 100000\n[approval]\ntimeout = \"1h\"\nopen_questions_max = 1000\nagent_open_questions_max = 1000\nperson_open_questions_max = 1000\n\
         [databases.books]\nurl = \"sqlite:books.db\"\n[models.main]\nprovider = \"openai\"\nmodel = \"plan\"\nbase_url = \"{}\"\n",
        model.url
    );
    books(world.folder.path())
        .execute_batch("CREATE TABLE entries (turn INTEGER NOT NULL)")
        .unwrap();
    let server = world.serve(&config);
    let person = Person::new(&world);
    person.begin(&server);
    server.kill();

    let (mut unknown, admin) = (0, world.token("admin"));
    for _ in 0..KILLS {
        let server = world.serve(&config);
        unknown += person.answer_until_killed(server, &admin);
    }
    model.wind_up();
    let server = world.serve(&config);
    let mut journal = server.stream(&admin, "0");
    std::thread::scope(|scope| {
        let ended = scope.spawn(|| journal.until("runEnded"));
        while !ended.is_finished() {
            person.answer_all(&server.address);
        }
    });
    drop(journal);
    assert_eq!(server.terminate().code(), Some(0));

    let turns = model.turns();
    assert!(turns > 20, "only {turns} turns between {KILLS} kills");
    assert!(unknown > 0, "no kill ever hit a running call");
    for (file, lines) in effects(turns) {
        let mut there: Vec<String> = read(&person.folder, &file).lines().map(str::to_owned).collect();
        there.sort();
        assert_eq!(there, lines, "{file}");
    }
    let there = entries(&person.folder, "SELECT turn FROM entries ORDER BY turn");
    assert_eq!(there, rows(turns), "rows");
    let proof = world.run(&["audit", "verify", "--data", "data"]);
    assert!(!proof.is_empty());
}

fn books(folder: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.join("books.db")).unwrap()
}

fn entries(folder: &Path, sql: &str) -> Vec<usize> {
    let books = books(folder);
    let mut statement = books.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap_or_default()
}

/// Approves everything; and looks for themselves before saying whether something happened.
struct Person {
    token: String,
    folder: std::path::PathBuf,
}

impl Person {
    fn new(world: &World) -> Self {
        Self {
            token: world.token("approver"),
            folder: world.folder.path().to_owned(),
        }
    }

    /// Gives the task.
    fn begin(&self, server: &Process) {
        let task = json!({ "message": "work through the plan" }).to_string();
        let mut events = server.open(&self.token, "POST", "/api/agent/chat/react/stream", &task);
        let (mut text, mut buffer) = (String::new(), [0; 4096]);
        while !text.contains("STARTED") {
            let read = events.read(&mut buffer).unwrap();
            assert_ne!(read, 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }

    /// Answers until the program dies of a kill, right after some row it wrote; how many questions were about what may have
    /// happened.
    fn answer_until_killed(&self, server: Process, admin: &str) -> usize {
        let rows = RandomState::new().hash_one(0) % ROWS_MAX;
        let (address, mut journal) = (server.address.clone(), server.stream(admin, "head"));
        let killer = std::thread::spawn(move || {
            for _ in 0..rows {
                journal.next();
            }
            server.kill();
        });
        let mut unknown = 0;
        while let Some(answered) = self.try_answer_all(&address) {
            unknown += answered;
        }
        killer.join().unwrap();
        unknown
    }

    fn answer_all(&self, address: &str) {
        self.try_answer_all(address).unwrap();
    }

    /// `None` when the listener is gone.
    fn try_answer_all(&self, address: &str) -> Option<usize> {
        let (_, page) = say(address, &self.token, "GET", "/v1/interactions", "")?;
        let mut unknown = 0;
        for question in page["items"].as_array()? {
            let option = if question["type"] == "USER_CHOICE" {
                unknown += 1;
                self.look(&question["call"])
            } else {
                "approve"
            };
            let path = format!("/v1/interactions/{}/answer", question["requestId"].as_str()?);
            let answer = json!({ "selectedOptionId": option }).to_string();
            let (status, said) = say(address, &self.token, "POST", &path, &answer)?;
            // Answered before: the kill came between the commit and our hearing of it.
            assert!(status == 200 || status == 409, "{status} {said}");
        }
        Some(unknown)
    }

    /// Whether a call that may have happened has.
    fn look(&self, call: &Value) -> &'static str {
        let args = &call["args"];
        let happened = match call["tool"].as_str().unwrap() {
            "write" => {
                read(&self.folder, args["path"].as_str().unwrap()) == args["content"].as_str().unwrap()
            }
            "bash" => {
                let (word, file) = args["command"].as_str().unwrap().split_once(" >> ").unwrap();
                let word = word.strip_prefix("echo ").unwrap();
                read(&self.folder, file).lines().any(|line| line == word)
            }
            "data_modify" => {
                let (_, turn) = args["sql"].as_str().unwrap().split_once("VALUES (").unwrap();
                let turn = turn.trim_end_matches(')');
                let sql = format!("SELECT turn FROM entries WHERE turn = {turn}");
                !entries(&self.folder, &sql).is_empty()
            }
            other => panic!("`{other}` only looks: it runs again without a question"),
        };
        if happened { "treat_as_done" } else { "run_again" }
    }
}
