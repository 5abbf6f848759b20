//! The worker: a process with an agent at work and a person who answers, until it is killed or the run has ended.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use placet_agent::model::{Script, Scripted};
use placet_agent::{Agent, Tools};
use placet_core::config::Config;
use placet_core::digest::Digest;
use placet_core::ids::{AgentId, InteractionId, PersonId, SessionId};
use placet_core::interaction::{Answer, Interaction, Shown, Subject};
use placet_core::journal::Event;
use placet_core::principal::{Principal, Via};
use placet_core::steps::AnswerRefusal;
use placet_engine::Engine;
use placet_store::StepError;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::Failure;

/// Names the worker's folder, and makes a worker of this test program.
pub(crate) const DIR: &str = "PLACET_AGENT_CRASH_WORKER";
/// What the person's choices are drawn from.
pub(crate) const SEED: &str = "PLACET_AGENT_CRASH_WORKER_SEED";
/// One mark of progress on the standard output.
pub(crate) const MARK: u8 = b'#';
/// The session of the run.
pub(crate) const SESSION: &str = "long";
/// Turns of the run with calls.
pub(crate) const TURNS: u32 = 10;
/// Lines appended in one turn.
pub(crate) const LINES: u32 = 3;

/// In a file that children read: whatever became of their other call, they know that they are done.
const OVER: &str = "PART-OVER";

const CONFIG: &str = "[approval]\ntimeout = '1h'\nmemory = '0s'\nrejections_max = 1000\n";

/// Works in the folder the environment names. `None` when it names none.
pub(crate) fn from_environment() -> Option<Result<(), Failure>> {
    let dir = PathBuf::from(std::env::var_os(DIR)?);
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    Some(run(&dir, seed.unwrap_or(0)))
}

fn run(dir: &Path, seed: u64) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(work(dir, StdRng::seed_from_u64(seed)))
}

async fn work(dir: &Path, rng: StdRng) -> Result<(), Failure> {
    let work = dir.join("work");
    std::fs::create_dir_all(&work)?;
    std::fs::write(work.join("over.txt"), OVER)?;
    let tools = Tools::builtin(&work);
    let engine = Engine::builder(Config::parse(
        CONFIG,
        "crash.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )?)
    .workspace(&work)
    .toolbox(AgentId::built_in(), tools.clone())
    .start(&dir.join("placet.db"))
    .await?;
    mark()?;
    let script = Scripted::new("scripted", Script::from_json(json!({ "turns": turns() }))?);
    let agent = Agent::builder(engine.clone(), tools)
        .model(Arc::new(script))
        .start()
        .await?;
    let (session, ana) = (SessionId::new(SESSION)?, PersonId::new("ana")?);
    if agent.owner(&session).await?.is_none() {
        agent.tell(&session, "do all of it", &ana, None).await?;
    }
    answer_everything(&engine, &ana, rng).await?;
    agent.shutdown().await;
    Ok(engine.shutdown().await?)
}

/// Every turn appends lines, each of its own; one call is made twice, one reads, one writes, and one is delegated to a run of
/// its own, which appends a line too.
fn turns() -> Vec<Value> {
    let turn = |n: u32| {
        let append = |line: u32| json!({ "tool": "bash", "args": { "command": format!("echo {n}-{line} >> log.txt") } });
        let mut calls: Vec<Value> = (0..LINES).map(append).collect();
        calls.push(append(0));
        calls.push(json!({ "tool": "read", "args": { "path": "log.txt" } }));
        calls.push(
            json!({ "tool": "write", "args": { "path": format!("{n}.txt"), "content": n.to_string() } }),
        );
        calls.push(
            json!({ "tool": "task", "args": { "description": "one part", "prompt": format!("PART-{n}.") } }),
        );
        json!({ "text": format!("turn {n}"), "calls": calls })
    };
    let part = |n: u32| {
        let append = json!({ "command": format!("echo {n}-part >> log.txt") });
        json!({ "on": format!("PART-{n}."), "calls": [
            { "tool": "bash", "args": append },
            { "tool": "read", "args": { "path": "over.txt" } },
        ] })
    };
    let mut turns: Vec<Value> = (0..TURNS).map(turn).collect();
    turns.push(json!({ "text": "all done" }));
    turns.extend((0..TURNS).map(part));
    turns.push(json!({ "on": OVER, "text": "my part is done" }));
    turns
}

/// One mark of progress. A killer that is gone ends the worker.
fn mark() -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(&[MARK])?;
    Ok(out.flush()?)
}

/// Ana: answers every question, also those of earlier lives, until the run has ended. One mark for every row.
async fn answer_everything(engine: &Engine, ana: &PersonId, mut rng: StdRng) -> Result<(), Failure> {
    for row in engine.broker().pending(None, 1000).await? {
        answer(engine, &row.id, ana, &mut rng).await?;
    }
    let mut journal = engine.subscribe(0, None);
    let head = engine.head().await?;
    loop {
        let row = journal.next().await?;
        if row.id > head {
            mark()?;
        }
        match &row.event {
            Event::Asked(asked) => answer(engine, &asked.id, ana, &mut rng).await?,
            Event::RunEnded { .. } if row.session.as_str() == SESSION => return Ok(()),
            _ => {}
        }
    }
}

async fn answer(
    engine: &Engine,
    id: &InteractionId,
    ana: &PersonId,
    rng: &mut StdRng,
) -> Result<(), Failure> {
    let question = engine.broker().question(id).await?.ok_or("a question is gone")?;
    let Interaction::Pending(pending) = question.interaction else {
        return Ok(());
    };
    let choices: &[&str] = match pending.asked.subject {
        Subject::UnknownOutcome { .. } => &["run_again", "treat_as_done", "skip"],
        _ => &["approve", "approve", "approve", "reject"],
    };
    let option = choices
        .get(rng.random_range(0..choices.len()))
        .ok_or("no choice")?;
    let answer = Answer {
        by: Principal::Person {
            person: ana.clone(),
            via: Via::Inbox,
        },
        option: (*option).into(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Whole(Digest::of("test", &[])),
    };
    match engine.broker().answer(id, answer).await {
        Ok(_) | Err(StepError::Refused(AnswerRefusal::AlreadyDecided { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
