//! A provider on this machine that speaks both protocols over real HTTP: it checks requests as the vendors do, and answers with
//! what it was told to, in pieces of any size.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// One answer.
pub(crate) enum Reply {
    /// A whole stream, torn into pieces of so many bytes.
    Stream { body: String, piece_bytes: usize },
    /// The beginning of a stream; then the connection is gone.
    CutOff { body: String },
    /// The beginning of a stream; then nothing, until the client hangs up.
    Silence { body: String },
    /// No stream at all.
    Status {
        code: u16,
        headers: &'static str,
        body: Value,
    },
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A running provider.
pub(crate) struct Provider {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Provider {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut replies = VecDeque::from(replies);
            while let Ok((stream, _)) = listener.accept().await {
                // One request a connection: who answers next is never in doubt.
                serve(stream, &mut replies, &heard).await;
            }
        });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, replies: &mut VecDeque<Reply>, heard: &Mutex<Vec<Asked>>) {
    let Some(asked) = read_request(&mut stream).await else {
        return;
    };
    let complaint = faults(&asked);
    heard.lock().unwrap().push(asked);
    let reply = match complaint {
        Some(fault) => Reply::Status {
            code: 400,
            headers: "",
            body: json!({ "error": { "type": "invalid_request_error", "message": fault } }),
        },
        None => replies.pop_front().unwrap_or(Reply::Status {
            code: 418,
            headers: "",
            body: json!({ "error": { "message": "nothing is left to say" } }),
        }),
    };
    match reply {
        Reply::Status { code, headers, body } => {
            let body = body.to_string();
            let answer = format!(
                "HTTP/1.1 {code} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n",
                body.len()
            );
            send(&mut stream, answer.as_bytes()).await;
            send(&mut stream, body.as_bytes()).await;
        }
        Reply::Stream { body, piece_bytes } => {
            begin(&mut stream).await;
            for piece in body.as_bytes().chunks(piece_bytes) {
                chunk(&mut stream, piece).await;
            }
            send(&mut stream, b"0\r\n\r\n").await;
        }
        Reply::Silence { body } => {
            begin(&mut stream).await;
            chunk(&mut stream, body.as_bytes()).await;
            let _ = stream.read(&mut [0; 1]).await;
        }
        Reply::CutOff { body } => {
            begin(&mut stream).await;
            chunk(&mut stream, body.as_bytes()).await;
        }
    }
}

async fn begin(stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    send(stream, head.as_bytes()).await;
}

async fn chunk(stream: &mut TcpStream, piece: &[u8]) {
    send(stream, format!("{:x}\r\n", piece.len()).as_bytes()).await;
    send(stream, piece).await;
    send(stream, b"\r\n").await;
}

/// A client that hung up is not the provider's business.
async fn send(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes).await;
    let _ = stream.flush().await;
}

async fn read_request(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, _)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().ok())?
        })?;
        let start = head.len() + 4;
        if bytes.len() >= start + length {
            let body = serde_json::from_slice(&bytes[start..start + length]).ok()?;
            return Some(Asked {
                head: head.to_owned(),
                body,
            });
        }
    }
}

/// What a vendor would refuse.
fn faults(asked: &Asked) -> Option<String> {
    let messages = asked.body["messages"].as_array()?;
    if asked.head.starts_with("POST /v1/messages") {
        anthropic_faults(messages)
    } else {
        openai_faults(messages)
    }
}

fn named_well(name: &Value) -> bool {
    let name = name.as_str().unwrap_or_default();
    (1..=64).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// Every call is followed by its results, and by nothing else before them.
fn openai_faults(messages: &[Value]) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(at) = open.iter().position(|call| call == id) else {
                return Some(format!("a result for `{id}`, which was not called"));
            };
            open.remove(at);
            continue;
        }
        if !open.is_empty() {
            return Some(format!("`{}` has no result", open.join("`, `")));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            if !named_well(&call["function"]["name"]) || serde_json::from_str::<Value>(arguments).is_err() {
                return Some(format!("not a call: {call}"));
            }
            open.push(call["id"].as_str()?.to_owned());
        }
    }
    (!open.is_empty()).then(|| "the last calls have no results".to_owned())
}

/// Roles take turns, texts are not empty, and every use of a tool has its result first thing in the next message.
fn anthropic_faults(messages: &[Value]) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let expected = if n % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            return Some(format!("message {n} should be by the {expected}"));
        }
        let mut used = Vec::new();
        for block in message["content"].as_array()? {
            match block["type"].as_str()? {
                "text" if block["text"].as_str()?.trim().is_empty() => return Some("text is empty".into()),
                "text" if !open.is_empty() => return Some("text before the results".into()),
                "tool_result" => open.retain(|id| block["tool_use_id"] != *id),
                "tool_use" if !named_well(&block["name"]) || !block["input"].is_object() => {
                    return Some(format!("not a use of a tool: {block}"));
                }
                "tool_use" => used.push(block["id"].as_str()?.to_owned()),
                _ => {}
            }
        }
        if !open.is_empty() {
            return Some(format!("`{}` has no result", open.join("`, `")));
        }
        open = used;
    }
    None
}

/// A stream of chat completions, as recorded: the call's arguments come in three pieces.
pub(crate) fn openai(text: &str, calls: &[(&str, &str)]) -> String {
    let mut chunks = vec![json!({ "role": "assistant", "content": "" })];
    chunks.extend(text.split_inclusive(' ').map(|piece| json!({ "content": piece })));
    for (index, (name, args)) in calls.iter().enumerate() {
        chunks.push(
            json!({ "tool_calls": [{ "index": index, "id": format!("call_{index}"), "type": "function",
            "function": { "name": name, "arguments": "" } }] }),
        );
        for piece in thirds(args) {
            chunks.push(json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }));
        }
    }
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let mut stream = String::from(": keep-alive\n\n");
    for delta in chunks {
        let chunk = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
        let _ = write!(stream, "data: {chunk}\n\n");
    }
    let last = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18 } });
    let _ = write!(stream, "data: {last}\n\ndata: {usage}\n\ndata: [DONE]\n\n");
    stream
}

/// A stream of the messages protocol, as recorded.
pub(crate) fn anthropic(text: &str, calls: &[(&str, &str)]) -> String {
    let mut events = vec![
        json!({ "type": "message_start", "message": { "id": "msg_1", "role": "assistant", "content": [],
            "usage": { "input_tokens": 11, "output_tokens": 1 } } }),
        json!({ "type": "ping" }),
    ];
    let mut block = |index: usize, start: Value, deltas: Vec<Value>| {
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        for delta in deltas {
            events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        events.push(json!({ "type": "content_block_stop", "index": index }));
    };
    let words = text
        .split_inclusive(' ')
        .map(|piece| json!({ "type": "text_delta", "text": piece }));
    block(0, json!({ "type": "text", "text": "" }), words.collect());
    for (n, (name, args)) in calls.iter().enumerate() {
        let start = json!({ "type": "tool_use", "id": format!("toolu_{n}"), "name": name, "input": {} });
        let pieces = thirds(args).map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        block(n + 1, start, pieces.collect());
    }
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    events.push(
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "output_tokens": 7 } }),
    );
    events.push(json!({ "type": "message_stop" }));
    let mut stream = String::new();
    for event in events {
        let kind = event["type"].as_str().unwrap();
        let _ = write!(stream, "event: {kind}\ndata: {event}\n\n");
    }
    stream
}

fn thirds(text: &str) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    let size = chars.len().div_ceil(3).max(1);
    let pieces: Vec<String> = chars.chunks(size).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}
