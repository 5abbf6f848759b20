//! Ask, answer, resume: durable, with 1, 100 and 1,000 calls in flight; and calls that policy allows at once.
//!
//! Ours and the sketch take turns, each try on a fresh file, with the disk's own rate measured before each pair: all three
//! see the same noise, and the ratio means something even where the rates do not.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use placet_core::interaction::CallKey;
use placet_core::journal::CallResult;
use placet_engine::{Engine, Proposed};
use tokio::runtime::Runtime;

use crate::sample::{Sample, millis, per_second, quantile};
use crate::sketch::Sketch;
use crate::table::{Bar, Row, Table};
use crate::{Plan, disk, world};

/// What one try came to.
struct Try {
    rate: f64,
    p50: f64,
    p99: f64,
}

pub(crate) fn run(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let runtime = Runtime::new()?;
    for in_flight in plan.pick([1, 100, 1000], [1, 10, 50]) {
        let (mut ours, mut sketches, mut syncs) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..plan.pick(5, 1) {
            syncs.push(disk::syncs(plan)?.median);
            let folder = tempfile::tempdir_in(&plan.dir)?;
            ours.push(runtime.block_on(our_try(plan, folder.path(), in_flight))?);
            let folder = tempfile::tempdir_in(&plan.dir)?;
            sketches.push(runtime.block_on(sketch_try(plan, folder.path(), in_flight))?);
        }
        let syncs = Sample::of(syncs);
        let row = |name: &str, unit, tries: &[Try], of: fn(&Try) -> f64| {
            Row::new(
                format!("{name}, {in_flight} in flight"),
                unit,
                Sample::of(tries.iter().map(of)),
            )
            .beside(syncs)
        };
        let rate = row("ask→answer→resume", "/s", &ours, |one| one.rate);
        // Against Restate (56 and 171 a second) and LangGraph with SQLite (49 and 50) on such a machine.
        table.add(match in_flight {
            1 => rate.bar(Bar::AtLeast(300.0)),
            1000 => rate.bar(Bar::AtLeast(5000.0)),
            _ => rate,
        });
        table.add(row("resume p50", "ms", &ours, |one| one.p50));
        table.add(row("resume p99", "ms", &ours, |one| one.p99));
        table.add(row("the bare sketch", "/s", &sketches, |one| one.rate));
        let ratios = ours
            .iter()
            .zip(&sketches)
            .map(|(our, sketch)| our.rate / sketch.rate);
        table.add(Row::new(
            format!("ours against the sketch, {in_flight} in flight"),
            "×",
            Sample::of(ratios),
        ));
    }
    Ok(())
}

/// Calls that policy allows: decided, stored, claimed and finished, without approval.
pub(crate) fn allowed(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let runtime = Runtime::new()?;
    for in_flight in plan.pick([1, 100], [1, 10]) {
        let (mut rates, mut syncs) = (Vec::new(), Vec::new());
        for _ in 0..plan.pick(5, 1) {
            syncs.push(disk::syncs(plan)?.median);
            let folder = tempfile::tempdir_in(&plan.dir)?;
            let tried = runtime.block_on(async {
                let engine = world::engine(folder.path()).await?;
                let worker = engine.clone();
                let tried = keep_busy(plan, in_flight, move |agent, number| {
                    allowed_call(worker.clone(), agent, number)
                })
                .await?;
                engine.shutdown().await?;
                anyhow::Ok(tried)
            })?;
            rates.push(tried.rate);
        }
        table.add(
            Row::new(
                format!("allowed calls, {in_flight} in flight"),
                "/s",
                Sample::of(rates),
            )
            .beside(Sample::of(syncs)),
        );
    }
    Ok(())
}

async fn our_try(plan: &Plan, folder: &Path, in_flight: usize) -> anyhow::Result<Try> {
    let engine = world::engine(folder).await?;
    let worker = engine.clone();
    let tried = keep_busy(plan, in_flight, move |agent, number| {
        our_cycle(worker.clone(), agent, number)
    })
    .await?;
    engine.shutdown().await?;
    Ok(tried)
}

async fn sketch_try(plan: &Plan, folder: &Path, in_flight: usize) -> anyhow::Result<Try> {
    let sketch = Arc::new(Sketch::open(&folder.join("sketch.db"))?);
    let worker = Arc::clone(&sketch);
    let tried = keep_busy(plan, in_flight, move |_, number| {
        sketch_cycle(Arc::clone(&worker), number)
    })
    .await?;
    if let Some(sketch) = Arc::into_inner(sketch) {
        sketch.close()?;
    }
    Ok(tried)
}

/// Propose, wait while a person answers, claim, finish. Returns how long the waiting agent took to receive the answer.
async fn our_cycle(engine: Engine, agent: usize, number: usize) -> anyhow::Result<Duration> {
    let (key, question) = world::park(&engine, agent, number).await?;
    let (gate, broker) = (engine.gate(), engine.broker());
    let approval = world::approval()?;
    let sent = Instant::now();
    let (outcome, answered) = tokio::join!(
        async { gate.wait(&key).await.map(|outcome| (outcome, sent.elapsed())) },
        broker.answer(&question, approval)
    );
    answered?;
    let (_, resumed) = outcome?;
    run_once(&engine, &key).await?;
    Ok(resumed)
}

async fn allowed_call(engine: Engine, agent: usize, number: usize) -> anyhow::Result<Duration> {
    let mut args = world::args(number);
    if let Some(args) = args.as_object_mut() {
        args.insert("path".to_owned(), "src/main.rs".into());
    }
    let call = world::call("read", args, agent, &format!("call-{number}"))?;
    let key = CallKey {
        agent: call.origin.agent.clone(),
        call: call.id.clone(),
    };
    let start = Instant::now();
    match engine.gate().propose(call).await? {
        Proposed::Settled { outcome, .. } if outcome.permits() => run_once(&engine, &key).await?,
        other => anyhow::bail!("a call that should be allowed was {other:?}"),
    }
    Ok(start.elapsed())
}

async fn run_once(engine: &Engine, key: &CallKey) -> anyhow::Result<()> {
    let gate = engine.gate();
    let permit = gate.claim(key, None).await?;
    Ok(gate.finish(permit.key(), CallResult::new(true, "done")).await?)
}

async fn sketch_cycle(sketch: Arc<Sketch>, number: usize) -> anyhow::Result<Duration> {
    let waiting = sketch.ask(number, world::args(number).to_string()).await?;
    let sent = Instant::now();
    let (resumed, answered) = tokio::join!(
        async { waiting.await.map(|()| sent.elapsed()) },
        sketch.answer(number)
    );
    answered?;
    sketch.finish(number).await?;
    Ok(resumed?)
}

/// Lets `in_flight` agents go through cycles for a while; each cycle is told its agent and a number of its own.
async fn keep_busy<F, Cycle>(plan: &Plan, in_flight: usize, cycle: F) -> anyhow::Result<Try>
where
    F: Fn(usize, usize) -> Cycle + Clone + Send + 'static,
    Cycle: Future<Output = anyhow::Result<Duration>> + Send,
{
    let long_enough = plan.pick(Duration::from_secs(2), Duration::from_millis(30));
    let numbers = Arc::new(AtomicUsize::new(1));
    let start = Instant::now();
    let mut agents = tokio::task::JoinSet::new();
    for agent in 0..in_flight {
        let (cycle, numbers) = (cycle.clone(), Arc::clone(&numbers));
        agents.spawn(async move {
            let mut resumed = Vec::new();
            while resumed.is_empty() || start.elapsed() < long_enough {
                resumed.push(cycle(agent, numbers.fetch_add(1, Ordering::Relaxed)).await?);
            }
            anyhow::Ok(resumed)
        });
    }
    let mut resumed = Vec::new();
    while let Some(agent) = agents.join_next().await {
        resumed.extend(agent??.into_iter().map(millis));
    }
    let took = start.elapsed();
    resumed.sort_by(f64::total_cmp);
    Ok(Try {
        rate: per_second(resumed.len(), took),
        p50: quantile(&resumed, 0.5),
        p99: quantile(&resumed, 0.99),
    })
}
