//! One event to many streams: until the last of them has it. The listeners are a process of their own, because every connection
//! has two ends and a process only so many files.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use axum::body::{Body, Bytes};
use axum::routing::get;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdout, Command};
use tokio::runtime::Runtime;
use tokio::sync::{Barrier, broadcast};
use tokio::task::{JoinHandle, JoinSet};

use super::client::Client;
use super::{House, allowed_call};
use crate::Plan;
use crate::parked::resident_bytes;
use crate::sample::{Sample, millis};
use crate::table::{Row, Table};

/// The first argument of a process that listens.
pub(crate) const CHILD: &str = "--listen";

pub(super) async fn fan_out(plan: &Plan, table: &mut Table, count: usize) -> anyhow::Result<()> {
    let rounds = plan.pick(20, 2);
    enough_files(count)?;
    let folder = tempfile::tempdir_in(&plan.dir)?;
    let house = House::open(folder.path())?;
    let mut agent = Client::connect(house.address).await?;
    let before = resident_bytes(house.process.id())?;
    let mut streams = Streams::open(house.address, &house.admin, "/v1/events", count, rounds).await?;
    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 bytes")]
    let resident = resident_bytes(house.process.id())?.saturating_sub(before) as f64 / count as f64 / 1024.0;
    let mut times = Vec::new();
    for number in 0..rounds {
        let sent = Instant::now();
        agent
            .send(&house.agent, "POST", "/v1/calls", &allowed_call(number))
            .await?;
        streams.heard().await?;
        times.push(millis(sent.elapsed()));
        agent.answer().await?;
    }
    streams.close().await?;
    drop(house);
    table.add(Row::new(
        format!("SSE, one event to {count} streams"),
        "ms",
        Sample::of(times),
    ));
    table.add(Row::new(
        format!("SSE, resident per idle stream at {count}"),
        "KiB",
        Sample::of([resident]),
    ));
    table.add(Row::new(
        format!("SSE, bare axum to {count} streams"),
        "ms",
        bare(count, rounds).await?,
    ));
    Ok(())
}

async fn bare(count: usize, rounds: usize) -> anyhow::Result<Sample> {
    let (address, sender, serving) = broadcasting().await?;
    let mut streams = Streams::open(address, "none", "/events", count, rounds).await?;
    let mut times = Vec::new();
    for number in 0..rounds {
        // As long as an event of ours.
        let event = format!(
            "id: {number}\nevent: callReceived\ndata: {{{},\"pad\":\"{}\"}}\n\n",
            marker(number),
            "x".repeat(500)
        );
        let sent = Instant::now();
        sender.send(Bytes::from(event))?;
        streams.heard().await?;
        times.push(millis(sent.elapsed()));
    }
    streams.close().await?;
    serving.abort();
    Ok(Sample::of(times))
}

/// What every listener waits for, one after the other.
fn marker(number: usize) -> String {
    format!("\"id\":\"a{number}\"")
}

/// The listening process, seen from here.
struct Streams {
    process: Child,
    says: Lines<BufReader<ChildStdout>>,
}

impl Streams {
    /// Starts it, and waits until all its streams are open.
    async fn open(
        address: SocketAddr,
        token: &str,
        path: &str,
        count: usize,
        rounds: usize,
    ) -> anyhow::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args([CHILD, &address.to_string(), token, path])
            .args([count.to_string(), rounds.to_string()])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().context("the listeners have no output")?;
        let mut streams = Self {
            process,
            says: BufReader::new(output).lines(),
        };
        streams.heard().await?;
        Ok(streams)
    }

    /// Waits until every stream has the next event.
    async fn heard(&mut self) -> anyhow::Result<()> {
        let line = self.says.next_line().await?;
        ensure!(line.is_some(), "the listening process ended early");
        Ok(())
    }

    async fn close(mut self) -> anyhow::Result<()> {
        let status = self.process.wait().await?;
        ensure!(status.success(), "the listening process failed: {status}");
        Ok(())
    }
}

/// The listening process: `--listen ADDRESS TOKEN PATH COUNT ROUNDS`. Says a line when all streams are open, and one for each
/// event that all have heard.
pub(crate) fn child(args: &[String]) -> anyhow::Result<()> {
    let [_, address, token, path, count, rounds] = args else {
        bail!("`{CHILD}` is for this program itself")
    };
    let (address, count, rounds) = (address.parse()?, count.parse()?, rounds.parse()?);
    enough_files(count)?;
    Runtime::new()?.block_on(async {
        let together = Arc::new(Barrier::new(count + 1));
        let mut listening = JoinSet::new();
        for _ in 0..count {
            let mut client = Client::connect(address).await?;
            client.send(token, "GET", path, "").await?;
            client.until(b"retry: ").await?;
            let together = Arc::clone(&together);
            listening.spawn(async move {
                for number in 0..rounds {
                    client.until(marker(number).as_bytes()).await?;
                    together.wait().await;
                }
                anyhow::Ok(())
            });
        }
        println!("open");
        for _ in 0..rounds {
            together.wait().await;
            println!("heard");
        }
        for listened in listening.join_all().await {
            listened?;
        }
        Ok(())
    })
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

fn enough_files(streams: usize) -> anyhow::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = u64::try_from(streams)? + 1000;
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
