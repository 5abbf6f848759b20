//! The built-in agent: what a parked run costs, what the gate costs per tool call, and how soon a run goes on.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use async_trait::async_trait;
use placet_agent::model::{Ended, Heard, Model, ModelError, Prompt, Spoken, SpokenCall};
use placet_agent::{Agent, Tool, Tools};
use placet_core::call::ToolCall;
use placet_core::confine::{Confinement, Level};
use placet_core::evidence::Evidence;
use placet_core::ids::{AgentId, InteractionId, PersonId, SessionId};
use placet_core::journal::Event;
use placet_core::run::{Limits, Message, RunEnd, Usage};
use placet_core::tool::{Category, Risk};
use placet_engine::Engine;
use placet_engine::events::Subscription;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::parked::resident_bytes;
use crate::sample::{Sample, millis, per_second, quantile};
use crate::table::{Row, Table};
use crate::{Plan, disk, world};

/// What the model wants, turn after turn, before it is done.
const ASKED: &str = "deploy";
const ALLOWED: &str = "look";

pub(crate) fn run(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let runtime = Runtime::new()?;
    runtime.block_on(parked(plan, table))?;
    runtime.block_on(turns(plan, table))?;
    runtime.block_on(going_on(plan, table))?;
    runtime.block_on(commands(plan, table))?;
    runtime.block_on(from_cold(plan, table))
}

/// Wants one call a turn, as often as the first message says, and tells when it is asked to speak. Not a model: a clock.
struct Clockwork {
    asked: mpsc::UnboundedSender<Instant>,
}

#[async_trait]
impl Model for Clockwork {
    fn name(&self) -> &'static str {
        "clockwork"
    }

    async fn speak(&self, prompt: Prompt<'_>, _: &Heard<'_>) -> Result<Spoken, ModelError> {
        // The counter may be gone.
        let _ = self.asked.send(Instant::now());
        let task = prompt.transcript.iter().find_map(|message| match message {
            Message::User { text } => text.split_once(' '),
            _ => None,
        });
        let (tool, turns) = task.ok_or_else(|| ModelError::never("say `TOOL TURNS`"))?;
        let said = prompt
            .transcript
            .iter()
            .filter(|message| matches!(message, Message::Model { .. }))
            .count();
        let more = said < turns.parse().unwrap_or(0);
        let calls = more.then(|| SpokenCall {
            tool: tool.to_owned(),
            args: json!({ "revision": said }).to_string(),
        });
        Ok(Spoken {
            text: "done".into(),
            thinking: None,
            calls: calls.into_iter().collect(),
            usage: Usage::default(),
            ended: Ended::Whole,
        })
    }
}

/// Does nothing, so that only what stands around it is measured.
struct Nothing(&'static str, Category);

#[async_trait]
impl Tool for Nothing {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &'static str {
        "Does nothing."
    }

    fn category(&self) -> Category {
        self.1
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn run(&self, _: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        Ok("nothing".into())
    }
}

/// An agent on a real disk.
struct Office {
    engine: Engine,
    agent: Agent,
    /// When the model was asked to speak.
    asked: mpsc::UnboundedReceiver<Instant>,
    journal: Subscription,
}

impl Office {
    async fn open(folder: &Path) -> anyhow::Result<Self> {
        let tools = Tools::new([
            Arc::new(Nothing(ASKED, Category::Command)) as Arc<dyn Tool>,
            Arc::new(Nothing(ALLOWED, Category::Read)),
        ]);
        let text = format!("[approval]\ntimeout = \"24h\"\n[tools.{ALLOWED}]\ncategory = \"read\"\n");
        let config = placet_core::config::Config::parse(
            &text,
            "bench",
            std::iter::empty(),
            placet_inspect::builtin(),
        )?;
        let engine = Engine::builder(config)
            .workspace(folder)
            .toolbox(AgentId::built_in(), tools.clone())
            .start(&folder.join("placet.db"))
            .await?;
        let (sender, asked) = mpsc::unbounded_channel();
        let journal = engine.subscribe(engine.head().await?, None);
        let agent = Agent::builder(engine.clone(), tools)
            .model(Arc::new(Clockwork { asked: sender }))
            .limits(Limits {
                turns_max: 100_000,
                ..Limits::USUAL
            })
            .start()
            .await?;
        Ok(Self {
            engine,
            agent,
            asked,
            journal,
        })
    }

    async fn tell(&self, number: usize, task: &str) -> anyhow::Result<()> {
        let session = SessionId::new(format!("run-{number}"))?;
        let person = PersonId::new("ana")?;
        self.agent.tell(&session, task, &person, None).await?;
        Ok(())
    }

    /// Waits for so many questions.
    async fn questions(&mut self, count: usize) -> anyhow::Result<Vec<InteractionId>> {
        let mut found = Vec::with_capacity(count);
        while found.len() < count {
            if let Event::Asked(asked) = self.journal.next().await?.event {
                found.push(asked.id.clone());
            }
        }
        Ok(found)
    }

    /// Waits until so many runs have ended, all of them well.
    async fn ends(&mut self, count: usize) -> anyhow::Result<()> {
        let mut ended = 0;
        while ended < count {
            if let Event::RunEnded { how } = self.journal.next().await?.event {
                ensure!(how == RunEnd::Completed, "a run ended otherwise: {how}");
                ended += 1;
            }
        }
        Ok(())
    }

    async fn approve(&self, question: &InteractionId) -> anyhow::Result<()> {
        self.engine.broker().answer(question, world::approval()?).await?;
        Ok(())
    }

    async fn close(self) -> anyhow::Result<()> {
        self.agent.shutdown().await;
        Ok(self.engine.shutdown().await?)
    }
}

/// Runs that wait for people, thousands in one process; and all of them going on.
async fn parked(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let runs = plan.pick(10_000, 100);
    let folder = tempfile::tempdir_in(&plan.dir)?;
    let mut office = Office::open(folder.path()).await?;
    // The first few fill caches and buffers, which do not grow with the number of runs.
    let warm = runs / 10;
    let mut open = park(&mut office, 0, warm).await?;
    let before = resident_bytes(std::process::id())?;
    let began = Instant::now();
    open.extend(park(&mut office, warm, runs).await?);
    let parking = per_second(runs - warm, began.elapsed());
    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 bytes")]
    let resident =
        resident_bytes(std::process::id())?.saturating_sub(before).max(1) as f64 / (runs - warm) as f64;
    let began = Instant::now();
    for question in &open {
        office.approve(question).await?;
    }
    office.ends(runs).await?;
    let resumed = per_second(runs, began.elapsed());
    office.close().await?;
    let row = |what: &str, unit, value| Row::new(format!("{what}, {runs} runs"), unit, Sample::of([value]));
    table.add(row("told to parked", "/s", parking));
    table.add(row("resident per parked run", "B", resident));
    table.add(row("approved one by one, to their ends", "/s", resumed));
    Ok(())
}

async fn park(office: &mut Office, from: usize, to: usize) -> anyhow::Result<Vec<InteractionId>> {
    for number in from..to {
        office.tell(number, &format!("{ASKED} 1")).await?;
    }
    office.questions(to - from).await
}

/// A run of many turns with one allowed call each: four commits a turn, and nothing else.
async fn turns(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let turns = plan.pick(500, 20);
    let folder = tempfile::tempdir_in(&plan.dir)?;
    let mut office = Office::open(folder.path()).await?;
    let mut times = Vec::new();
    for number in 0..plan.pick(5, 1) {
        let began = Instant::now();
        office.tell(number, &format!("{ALLOWED} {turns}")).await?;
        office.ends(1).await?;
        times.push(millis(began.elapsed()) / f64::from(turns));
    }
    office.close().await?;
    table.add(Row::new("fsyncs beside it", "/s", disk::syncs(plan)?));
    table.add(Row::new(
        "a turn with one allowed call: said, judged, claimed, finished",
        "ms",
        Sample::of(times),
    ));
    Ok(())
}

/// What the sandbox adds to a command that does nothing.
async fn commands(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir_in(&plan.dir)?;
    let tools = Tools::builtin(folder.path());
    let bash = tools.get("bash").context("there is no shell")?;
    let call = world::call("bash", json!({ "command": "true" }), 1, "nothing")?;
    let confinement = Confinement::whole(Level::Workspace);
    let (mut free, mut confined) = (Vec::new(), Vec::new());
    for _ in 0..plan.pick(200, 5) {
        let began = Instant::now();
        bash.run(&call, &[]).await.map_err(anyhow::Error::msg)?;
        free.push(millis(began.elapsed()));
        let began = Instant::now();
        // A kernel that cannot confine has nothing to measure.
        if bash
            .run_within(&call, &[], &confinement, Risk::Medium)
            .await
            .is_ok()
        {
            confined.push(millis(began.elapsed()));
        }
    }
    table.add(Row::new(
        "`bash` with a command that does nothing",
        "ms",
        Sample::of(free),
    ));
    if !confined.is_empty() {
        table.add(Row::new("the same, confined", "ms", Sample::of(confined)));
    }
    Ok(())
}

/// From a person's answer to the model being asked again: the call is claimed, run and recorded in between.
async fn going_on(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let runs = plan.pick(500, 20);
    let folder = tempfile::tempdir_in(&plan.dir)?;
    let mut office = Office::open(folder.path()).await?;
    let mut times = Vec::new();
    for number in 0..runs {
        office.tell(number, &format!("{ASKED} 1")).await?;
        let open = office.questions(1).await?;
        office.asked.recv().await.context("the model is gone")?;
        let answered = Instant::now();
        office.approve(open.first().context("nothing was asked")?).await?;
        let asked = office.asked.recv().await.context("the model is gone")?;
        times.push(millis(asked.duration_since(answered)));
        office.ends(1).await?;
    }
    office.close().await?;
    times.sort_by(f64::total_cmp);
    for (name, q) in [("p50", 0.5), ("p99", 0.99)] {
        let name = format!("answer to the next request of the model, {name}");
        table.add(Row::new(name, "ms", Sample::of([quantile(&times, q)])));
    }
    Ok(())
}

/// A run of many turns, parked; its process ends, an approver answers, another process continues it.
async fn from_cold(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let turns = plan.pick(200, 10);
    let mut times = Vec::new();
    for _ in 0..plan.pick(5, 1) {
        let folder = tempfile::tempdir_in(&plan.dir)?;
        let mut office = Office::open(folder.path()).await?;
        office.tell(0, &format!("{ASKED} {turns}")).await?;
        for _ in 1..turns {
            let open = office.questions(1).await?;
            office.approve(open.first().context("nothing was asked")?).await?;
        }
        let open = office.questions(1).await?;
        let Office { engine, agent, .. } = office;
        agent.shutdown().await;
        let question = open.first().context("nothing was asked")?;
        engine.broker().answer(question, world::approval()?).await?;
        engine.shutdown().await?;

        let began = Instant::now();
        let mut office = Office::open(folder.path()).await?;
        let asked = office.asked.recv().await.context("the model is gone")?;
        times.push(millis(asked.duration_since(began)));
        office.close().await?;
    }
    table.add(Row::new(
        format!("from a closed store to the next request of the model, {turns} turns"),
        "ms",
        Sample::of(times),
    ));
    Ok(())
}
