//! The server over real sockets on loopback: calls a second, waking a waiting agent, and fan-out of events.
//!
//! The server is the program itself, built beside this one. Client and server share the machine's cores, so each rate stands
//! beside that of a bare axum handler under the same client: what is left between the two is ours.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use axum::body::Bytes;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::Plan;
use crate::sample::{Sample, millis, per_second, quantile};
use crate::table::{Bar, Row, Table};

mod client;
pub(crate) mod streams;

use client::{Client, find};

pub(crate) fn run(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let runtime = Runtime::new()?;
    runtime.block_on(calls(plan, table))?;
    runtime.block_on(wake_ups(plan, table))?;
    for count in plan.pick([1000, 10_000], [10, 50]) {
        runtime.block_on(streams::fan_out(plan, table, count))?;
    }
    Ok(())
}

/// `placet serve` as people run it, and its tokens.
struct House {
    process: Child,
    address: SocketAddr,
    agent: String,
    admin: String,
}

impl House {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?.with_file_name("placet");
        ensure!(
            program.exists(),
            "`{}` is not there; `cargo build --release` makes it",
            program.display()
        );
        let config = folder.join("placet.toml");
        std::fs::write(
            &config,
            "[tools.read]\ncategory = \"read\"\n[approval]\ntimeout = \"24h\"\nopen_questions_max = 100000\nagent_open_questions_max = 100000\n\
             [server]\nconnections_max = 40000\nrequests_per_second = 10000000\n",
        )?;
        let mut process = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--json", "--config"])
            .arg(&config)
            .arg("--data")
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = process.stdout.take().context("the server has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line).context("the server does not start")?;
        let address = said.get("listen").and_then(Value::as_str);
        let address = address.context("the server does not say where it is")?.parse()?;
        let tokens = std::fs::read_to_string(folder.join("tokens.toml"))?;
        let token = |role: &str| {
            let line = tokens.lines().find(|line| line.starts_with(role));
            let token = line.and_then(|line| line.split('"').nth(1));
            token.map(str::to_owned).context("a role has no token")
        };
        Ok(Self {
            address,
            agent: token("agent")?,
            admin: token("admin")?,
            process,
        })
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // What it leaves behind is in a temporary folder.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
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
        let house = House::open(folder.path())?;
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
    let house = House::open(folder.path())?;
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
    times.sort_by(f64::total_cmp);
    let row = |name: &str, q| {
        let name = format!("HTTP, answer to waiting agent {name}, {waiting} wait");
        Row::new(name, "ms", Sample::of([quantile(&times, q)]))
    };
    table.add(row("p50", 0.5));
    table.add(row("p99", 0.99).bar(Bar::AtMost(5.0)));
    Ok(())
}
