//! A provider on this machine that speaks the chat-completions protocol. It remembers nothing: which turn is next follows from
//! what it is shown, as with a real one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

pub(crate) struct ModelServer {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// No new work: the next thing it says is its last.
    over: AtomicBool,
    /// How many turns with calls there were when it said so.
    turns: AtomicUsize,
}

impl ModelServer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let shared = Arc::new(Shared::default());
        let kept = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || answer(stream, &shared));
            }
        });
        Self { url, shared: kept }
    }

    /// From now on there is nothing more to do.
    pub(crate) fn wind_up(&self) {
        self.shared.over.store(true, Ordering::SeqCst);
    }

    /// How many turns with calls there were.
    pub(crate) fn turns(&self) -> usize {
        self.shared.turns.load(Ordering::SeqCst)
    }
}

/// What turn number `turn` wants done.
fn calls(turn: usize) -> Vec<(&'static str, Value)> {
    let append = |word: &str, file: &str| {
        (
            "bash",
            json!({ "command": format!("echo {word}-{turn} >> {file}") }),
        )
    };
    match turn % 4 {
        0 => vec![(
            "write",
            json!({ "path": format!("note-{turn}"), "content": format!("note {turn}\n") }),
        )],
        1 => vec![append("a", "ledger"), ("ls", json!({}))],
        2 => vec![(
            "data_modify",
            json!({ "database": "books", "sql": format!("INSERT INTO entries VALUES ({turn})") }),
        )],
        _ => vec![append("b", "ledger"), append("c", "other")],
    }
}

/// The rows there must be after so many turns.
pub(crate) fn rows(turns: usize) -> Vec<usize> {
    (0..turns).filter(|turn| turn % 4 == 2).collect()
}

/// The files there must be after so many turns, and their sorted lines.
pub(crate) fn effects(turns: usize) -> BTreeMap<String, Vec<String>> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for turn in 0..turns {
        for (tool, args) in calls(turn) {
            let (file, line) = match tool {
                "write" => (args["path"].as_str().unwrap(), format!("note {turn}")),
                "bash" => {
                    let (word, file) = args["command"].as_str().unwrap().split_once(" >> ").unwrap();
                    (file, word.strip_prefix("echo ").unwrap().to_owned())
                }
                _ => continue,
            };
            files.entry(file.to_owned()).or_default().push(line);
        }
    }
    for lines in files.values_mut() {
        lines.sort();
    }
    files
}

/// A client that was killed is not the provider's business.
fn answer(stream: TcpStream, shared: &Shared) {
    let Some(request) = read(&stream) else { return };
    let messages = request["messages"].as_array().unwrap();
    let turn = messages
        .iter()
        .filter(|message| message["role"] == "assistant")
        .count();
    let body = if shared.over.load(Ordering::SeqCst) {
        shared.turns.store(turn, Ordering::SeqCst);
        events(&[json!({ "content": "Everything is done." })], "stop")
    } else {
        let wanted: Vec<Value> = calls(turn)
            .into_iter()
            .enumerate()
            .map(|(index, (tool, args))| {
                let function = json!({ "name": tool, "arguments": args.to_string() });
                json!({ "tool_calls": [{ "index": index, "id": format!("t{turn}-{index}"), "type": "function", "function": function }] })
            })
            .collect();
        events(&wanted, "tool_calls")
    };
    let mut stream = stream;
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

fn events(deltas: &[Value], reason: &str) -> String {
    let mut body = String::new();
    let mut event = |choice: Value| {
        let chunk = json!({ "object": "chat.completion.chunk", "model": "plan", "choices": [choice] });
        writeln!(body, "data: {chunk}\n").unwrap();
    };
    for delta in deltas {
        event(json!({ "index": 0, "delta": delta, "finish_reason": null }));
    }
    event(json!({ "index": 0, "delta": {}, "finish_reason": reason }));
    body.push_str("data: [DONE]\n\n");
    body
}

fn read(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
