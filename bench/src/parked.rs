//! What a parked question costs in memory and on disk, with 100,000 of them; and the inbox's first page then.
//!
//! Questions are parked by a process of their own, so that its memory holds nothing else, and so that it can be killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use placet_engine::Engine;
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use crate::sample::{Sample, millis};
use crate::table::{Bar, Row, Table};
use crate::{Plan, world};

/// The first argument of a process that parks.
pub(crate) const CHILD: &str = "--park";

/// Below the number of questions a session may have open.
const PER_SESSION: usize = 10;
const AT_ONCE: usize = 256;
const PAGE: usize = 50;

/// What a parking process says when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Parked {
    /// Resident bytes that each question after the first few added.
    resident: f64,
    /// Milliseconds for the first page of the inbox, several times.
    pages: Vec<f64>,
}

pub(crate) fn run(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let questions = plan.pick(100_000, 400);
    let folder = tempfile::tempdir_in(&plan.dir)?;
    let empty = disk_bytes(folder.path())?;
    let (mut child, parked) = park(folder.path(), 0, questions)?;
    // Asked to end by the end of its input: it closes the store, which folds the write-ahead log back.
    drop(child.stdin.take());
    child.wait()?;
    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 bytes")]
    let on_disk = disk_bytes(folder.path())?.saturating_sub(empty) as f64 / questions as f64;
    let name = |what: &str| format!("{what} at {questions}");
    table.add(
        Row::new(
            name("resident per parked question"),
            "B",
            Sample::of([parked.resident]),
        )
        .bar(Bar::AtMost(200.0)),
    );
    table.add(
        Row::new(name("on disk per parked question"), "B", Sample::of([on_disk])).bar(Bar::AtMost(4096.0)),
    );
    table.add(
        Row::new(name("first page of the inbox"), "ms", Sample::of(parked.pages)).bar(Bar::AtMost(50.0)),
    );
    Ok(())
}

/// Starts a process that parks questions `from..to`, and waits until it has. It then idles until its input ends.
pub(crate) fn park(folder: &Path, from: usize, to: usize) -> anyhow::Result<(Child, Parked)> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(CHILD)
        .arg(folder)
        .args([from.to_string(), to.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let output = child.stdout.take().context("the parking process has no output")?;
    BufReader::new(output).read_line(&mut line)?;
    if let Ok(parked) = serde_json::from_str(&line) {
        return Ok((child, parked));
    }
    child.kill()?;
    child.wait()?;
    bail!("the parking process ended early")
}

/// The parking process: `--park FOLDER FROM TO`.
pub(crate) fn child(args: &[String]) -> anyhow::Result<()> {
    let [_, folder, from, to] = args else {
        bail!("`{CHILD}` is for this program itself")
    };
    let (from, to) = (from.parse()?, to.parse()?);
    Runtime::new()?.block_on(async {
        let engine = world::engine(Path::new(folder)).await?;
        // The first few fill caches and buffers, which do not grow with the number of questions.
        let warm = from + (to - from) / 20;
        park_all(&engine, from, warm).await?;
        let before = resident_bytes(std::process::id())?;
        park_all(&engine, warm, to).await?;
        #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 bytes")]
        let resident = resident_bytes(std::process::id())?.saturating_sub(before).max(1) as f64
            / (to - warm).max(1) as f64;
        let mut pages = Vec::new();
        for _ in 0..9 {
            let start = Instant::now();
            let page = engine.broker().pending(None, PAGE).await?;
            anyhow::ensure!(page.len() == PAGE.min(to), "a page of {}", page.len());
            pages.push(millis(start.elapsed()));
        }
        println!("{}", serde_json::to_string(&Parked { resident, pages })?);
        tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await??;
        engine.shutdown().await?;
        Ok(())
    })
}

async fn park_all(engine: &Engine, from: usize, to: usize) -> anyhow::Result<()> {
    let mut parking = tokio::task::JoinSet::new();
    for number in from..to {
        if parking.len() >= AT_ONCE
            && let Some(parked) = parking.join_next().await
        {
            parked??;
        }
        let engine = engine.clone();
        parking.spawn(async move {
            world::park(&engine, number / PER_SESSION, number)
                .await
                .map(|_| ())
        });
    }
    while let Some(parked) = parking.join_next().await {
        parked??;
    }
    Ok(())
}

/// The memory of a process that is really there.
pub(crate) fn resident_bytes(process: u32) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))
        .context("only Linux tells a process its memory")?;
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    Ok(kib.context("no VmRSS in /proc/self/status")?.parse::<u64>()? * 1024)
}

fn disk_bytes(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
