//! Up again after kill -9, with 100,000 questions pending.

use std::time::Instant;

use tokio::runtime::Runtime;

use crate::sample::{Sample, millis};
use crate::table::{Bar, Row, Table};
use crate::{Plan, parked, world};

/// How many questions each later process adds before it is killed, so that each leaves a log to recover from.
const MORE: usize = 200;

pub(crate) fn run(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let questions = plan.pick(100_000, 400);
    let folder = tempfile::tempdir_in(&plan.dir)?;
    let runtime = Runtime::new()?;
    let (mut started, mut listed) = (Vec::new(), Vec::new());
    let mut from = 0;
    for turn in 0..plan.pick(5, 2) {
        let to = questions + turn * MORE;
        let (mut child, _) = parked::park(folder.path(), from, to)?;
        // SIGKILL: nothing is flushed, closed or said goodbye to.
        child.kill()?;
        child.wait()?;
        from = to;
        let start = Instant::now();
        runtime.block_on(async {
            let engine = world::engine(folder.path()).await?;
            started.push(millis(start.elapsed()));
            let page = engine.broker().pending(None, 50).await?;
            listed.push(millis(start.elapsed()));
            let counts = engine.store().look(|stored| stored.counts(&()).copied()).await?;
            anyhow::ensure!(
                counts.pending == to as u64,
                "{} of {to} questions are left",
                counts.pending
            );
            anyhow::ensure!(page.len() == 50, "a page of {}", page.len());
            engine.shutdown().await?;
            anyhow::Ok(())
        })?;
    }
    let name = |what: &str| format!("{what} after kill -9, {questions} pending");
    table.add(Row::new(name("engine started"), "ms", Sample::of(started)).bar(Bar::AtMost(1000.0)));
    table.add(Row::new(name("first page"), "ms", Sample::of(listed)).bar(Bar::AtMost(1000.0)));
    Ok(())
}
