//! The server over real sockets on loopback: calls a second, waking a waiting agent, and fan-out of events.
//!
//! Client and server share the machine's cores, so each rate stands beside that of a bare axum handler under the same client:
//! what is left between the two is ours.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use placet_core::config::Config;
use placet_server::{Options, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::Plan;
use crate::sample::{Sample, millis, per_second, quantile};
use crate::table::{Bar, Row, Table};

pub(crate) fn run(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let runtime = Runtime::new()?;
    runtime.block_on(calls(plan, table))?;
    runtime.block_on(wake_ups(plan, table))?;
    for streams in plan.pick([1000, 10_000], [10, 50]) {
        runtime.block_on(fan_out(plan, table, streams))?;
    }
    Ok(())
}

/// A server of ours, and its tokens.
struct House {
    address: SocketAddr,
    agent: String,
    admin: String,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl House {
    async fn open(folder: &Path) -> anyhow::Result<Self> {
        let text = "[approval]\ntimeout = \"24h\"\nopen_questions_max = 100000\n\
                    [server]\nconnections_max = 40000\nrequests_per_second = 10000000\n";
        let options = Options {
            config: Config::parse(text, "bench", std::iter::empty())?,
            source: "bench".into(),
            data: folder.to_owned(),
            listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
            web: None,
        };
        let server = Server::bind(options).await?;
        let tokens = std::fs::read_to_string(folder.join("tokens.toml"))?;
        let token = |role: &str| {
            let line = tokens.lines().find(|line| line.starts_with(role));
            let token = line.and_then(|line| line.split('"').nth(1));
            token.map(str::to_owned).context("a role has no token")
        };
        let (agent, admin) = (token("agent")?, token("admin")?);
        let (address, stop) = (server.address(), CancellationToken::new());
        let stopped = stop.clone();
        let running = tokio::spawn(async move {
            // A bench that cannot close its store has measured something else; it shows as a missing row.
            let _ = server.run(stopped).await;
        });
        Ok(Self {
            address,
            agent,
            admin,
            stop,
            running,
        })
    }

    async fn close(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.running.await?)
    }
}

/// A connection that is kept, and what it has read.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    address: SocketAddr,
}

impl Client {
    async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::new(),
            address,
        })
    }

    async fn send(&mut self, token: &str, method: &str, path: &str, body: &str) -> anyhow::Result<()> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        Ok(self.stream.write_all(request.as_bytes()).await?)
    }

    /// The body of the next answer, which must be a success.
    async fn answer(&mut self) -> anyhow::Result<Vec<u8>> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let head = String::from_utf8_lossy(self.buffer.get(..end).unwrap_or_default()).into_owned();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.context("an answer has no length")?.parse()?;
                let body = end + 4;
                if self.buffer.len() >= body + length {
                    ensure!(head.starts_with("HTTP/1.1 2"), "{head}");
                    let answer = self.buffer.get(body..body + length).unwrap_or_default().to_vec();
                    self.buffer.drain(..body + length);
                    return Ok(answer);
                }
            }
            self.read().await?;
        }
    }

    /// Reads until what was read holds `words`.
    async fn until(&mut self, words: &[u8]) -> anyhow::Result<()> {
        while find(&self.buffer, words).is_none() {
            self.read().await?;
        }
        self.buffer.clear();
        Ok(())
    }

    async fn read(&mut self) -> anyhow::Result<()> {
        ensure!(
            self.stream.read_buf(&mut self.buffer).await? > 0,
            "the server hung up"
        );
        Ok(())
    }
}

fn find(text: &[u8], words: &[u8]) -> Option<usize> {
    text.windows(words.len()).position(|window| window == words)
}

/// Requests a second and the 99th percentile, with so many connections that are always busy.
async fn load(
    address: SocketAddr,
    token: &str,
    path: &'static str,
    in_flight: usize,
    lasts: Duration,
    body: fn(usize) -> String,
) -> anyhow::Result<(f64, f64)> {
    let number = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let mut workers = Vec::new();
    for _ in 0..in_flight {
        let (number, token) = (Arc::clone(&number), token.to_owned());
        let mut client = Client::connect(address).await?;
        workers.push(tokio::spawn(async move {
            let mut times = Vec::new();
            while began.elapsed() < lasts {
                let body = body(number.fetch_add(1, Ordering::Relaxed));
                let sent = Instant::now();
                client.send(&token, "POST", path, &body).await?;
                client.answer().await?;
                times.push(millis(sent.elapsed()));
            }
            anyhow::Ok(times)
        }));
    }
    let mut times = Vec::new();
    for worker in workers {
        times.extend(worker.await??);
    }
    let rate = per_second(times.len(), began.elapsed());
    times.sort_by(f64::total_cmp);
    Ok((rate, quantile(&times, 0.99)))
}

fn allowed_call(number: usize) -> String {
    json!({"sessionId": format!("job-{}", number % 100), "callId": format!("a{number}"), "tool": "read",
           "args": {"path": format!("src/file-{number}.rs")}})
    .to_string()
}

fn asked_call(number: usize) -> String {
    json!({"sessionId": format!("job-{}", number % 100), "callId": format!("q{number}"), "tool": "deploy",
           "args": {"to": "staging", "revision": number}})
    .to_string()
}

async fn calls(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let (in_flight, lasts) = plan.pick((128, Duration::from_secs(4)), (8, Duration::from_millis(200)));
    let (mut bare, mut allowed, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.pick(3, 1) {
        let (echo, serving) = echo().await?;
        bare.push(load(echo, "none", "/echo", in_flight, lasts, allowed_call).await?);
        serving.abort();
        let folder = tempfile::tempdir_in(&plan.dir)?;
        let house = House::open(folder.path()).await?;
        allowed.push(
            load(
                house.address,
                &house.agent,
                "/v1/calls",
                in_flight,
                lasts,
                allowed_call,
            )
            .await?,
        );
        asked.push(
            load(
                house.address,
                &house.agent,
                "/v1/calls",
                in_flight,
                lasts,
                asked_call,
            )
            .await?,
        );
        house.close().await?;
    }
    let rate = |tries: &[(f64, f64)]| Sample::of(tries.iter().map(|(rate, _)| *rate));
    let p99 = |tries: &[(f64, f64)]| Sample::of(tries.iter().map(|(_, p99)| *p99));
    table.add(Row::new("HTTP, a bare axum echo", "/s", rate(&bare)));
    table.add(Row::new("HTTP, allowed calls", "/s", rate(&allowed)).bar(Bar::AtLeast(20_000.0)));
    table.add(Row::new("HTTP, allowed calls p99", "ms", p99(&allowed)));
    table.add(Row::new("HTTP, asked calls", "/s", rate(&asked)));
    table.add(Row::new("HTTP, asked calls p99", "ms", p99(&asked)));
    Ok(())
}

async fn echo() -> anyhow::Result<(SocketAddr, JoinHandle<()>)> {
    let router = axum::Router::new().route("/echo", post(async |body: Bytes| body));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    Ok((address, serving))
}

/// Agents that wait, each for its own answer; from the answer being sent to its agent having heard.
async fn wake_ups(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let waiting = plan.pick(1000, 20);
    let folder = tempfile::tempdir_in(&plan.dir)?;
    let house = House::open(folder.path()).await?;
    let mut agents = Vec::new();
    for number in 0..waiting {
        let mut client = Client::connect(house.address).await?;
        client
            .send(&house.agent, "POST", "/v1/calls", &asked_call(number))
            .await?;
        let call: Value = serde_json::from_slice(&client.answer().await?)?;
        let id = call
            .get("requestId")
            .and_then(Value::as_str)
            .context("it was not asked")?
            .to_owned();
        let path = format!("/v1/calls/q{number}?wait=60");
        client.send(&house.agent, "GET", &path, "").await?;
        agents.push((id, client));
    }
    let mut person = Client::connect(house.address).await?;
    let mut times = Vec::new();
    for (id, client) in &mut agents {
        let path = format!("/v1/interactions/{id}/answer");
        let sent = Instant::now();
        person
            .send(&house.admin, "POST", &path, "{\"selectedOptionId\":\"approve\"}")
            .await?;
        let heard = client.answer().await?;
        times.push(millis(sent.elapsed()));
        ensure!(
            find(&heard, b"\"status\":\"approved\"").is_some(),
            "an agent heard something else"
        );
        person.answer().await?;
    }
    house.close().await?;
    times.sort_by(f64::total_cmp);
    let row = |name: &str, q| {
        let name = format!("HTTP, answer to waiting agent {name}, {waiting} wait");
        Row::new(name, "ms", Sample::of([quantile(&times, q)]))
    };
    table.add(row("p50", 0.5));
    table.add(row("p99", 0.99).bar(Bar::AtMost(5.0)));
    Ok(())
}

/// One event to so many streams: until the last of them has it.
async fn fan_out(plan: &Plan, table: &mut Table, streams: usize) -> anyhow::Result<()> {
    let rounds = plan.pick(20, 2);
    enough_files(streams)?;
    let folder = tempfile::tempdir_in(&plan.dir)?;
    let house = House::open(folder.path()).await?;
    let mut agent = Client::connect(house.address).await?;
    let ours = listeners(house.address, &house.admin, "/v1/events", streams).await?;
    let mut times = Vec::new();
    let mut ours = ours;
    for number in 0..rounds {
        let marker = format!("\"id\":\"a{number}\"");
        let sent = Instant::now();
        agent
            .send(&house.agent, "POST", "/v1/calls", &allowed_call(number))
            .await?;
        ours = heard(ours, &marker).await?;
        times.push(millis(sent.elapsed()));
        agent.answer().await?;
    }
    drop(ours);
    house.close().await?;
    table.add(Row::new(
        format!("SSE, one event to {streams} streams"),
        "ms",
        Sample::of(times),
    ));

    let (address, sender, serving) = broadcasting().await?;
    let mut bare = listeners(address, "none", "/events", streams).await?;
    let mut times = Vec::new();
    for number in 0..rounds {
        let marker = format!("\"id\":\"a{number}\"");
        // As long as an event of ours.
        let event = format!(
            "id: {number}\nevent: callReceived\ndata: {{{marker},\"pad\":\"{}\"}}\n\n",
            "x".repeat(500)
        );
        let sent = Instant::now();
        sender.send(Bytes::from(event))?;
        bare = heard(bare, &marker).await?;
        times.push(millis(sent.elapsed()));
    }
    serving.abort();
    table.add(Row::new(
        format!("SSE, bare axum to {streams} streams"),
        "ms",
        Sample::of(times),
    ));
    Ok(())
}

async fn listeners(
    address: SocketAddr,
    token: &str,
    path: &str,
    count: usize,
) -> anyhow::Result<Vec<Client>> {
    let mut clients = Vec::new();
    for _ in 0..count {
        let mut client = Client::connect(address).await?;
        client.send(token, "GET", path, "").await?;
        client.until(b"retry: ").await?;
        clients.push(client);
    }
    Ok(clients)
}

/// Waits until every listener has the event.
async fn heard(clients: Vec<Client>, marker: &str) -> anyhow::Result<Vec<Client>> {
    let waiting: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            let marker = marker.to_owned();
            tokio::spawn(async move { client.until(marker.as_bytes()).await.map(|()| client) })
        })
        .collect();
    let mut clients = Vec::new();
    for client in waiting {
        clients.push(client.await??);
    }
    Ok(clients)
}

type Broadcasting = (SocketAddr, broadcast::Sender<Bytes>, JoinHandle<()>);

async fn broadcasting() -> anyhow::Result<Broadcasting> {
    let (sender, _) = broadcast::channel::<Bytes>(64);
    let subscribe = sender.clone();
    let events = async move || {
        let receiver = subscribe.subscribe();
        let first = Some(Bytes::from_static(b"retry: 1000\n\n"));
        Body::from_stream(futures_util::stream::unfold(
            (first, receiver),
            async |(first, mut receiver)| {
                let chunk = match first {
                    Some(first) => first,
                    None => receiver.recv().await.ok()?,
                };
                Some((Ok::<_, std::convert::Infallible>(chunk), (None, receiver)))
            },
        ))
    };
    let router = axum::Router::new().route("/events", get(events));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    Ok((address, sender, serving))
}

/// Both ends of every connection are in this process.
fn enough_files(streams: usize) -> anyhow::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = u64::try_from(streams)? * 2 + 1000;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).with_context(|| format!("{wanted} open files are needed"))
}
