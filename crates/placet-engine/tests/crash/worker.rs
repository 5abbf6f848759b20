//! The worker: a real process with a real engine on a real file, in which agents work and people answer until it is killed.
//!
//! It starts again on whatever the last one left behind. Everything acknowledged to it goes to `acks.log` afterwards; every
//! call it runs goes to `effects.log` while it runs.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use placet_core::ids::ToolName;
use placet_core::interaction::CallKey;
use placet_core::journal::{CallResult, Event};
use placet_core::listing::JournalPage;
use placet_core::record::{CallState, GrantState};
use placet_core::snapshot::{Snapshot, Undecided};
use placet_core::steps::ClaimRefusal;
use placet_engine::{Engine, Gate, GateError, Permit, Proposed};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::task::JoinSet;

use crate::Failure;
use crate::logs::{ACKS, Ack, DATABASE, EFFECTS, Log, SideEffect};
use crate::people::{self, PENDING_MAX};
use crate::scene::{self, AGENTS, PEOPLE};

/// Names the worker's folder, and makes a worker of this test program.
pub(crate) const DIR: &str = "PLACET_CRASH_WORKER";
/// What people's choices are drawn from.
pub(crate) const SEED: &str = "PLACET_CRASH_WORKER_SEED";
/// What to work for.
pub(crate) const GOAL: &str = "PLACET_CRASH_WORKER_GOAL";
/// One mark of progress on the standard output.
pub(crate) const MARK: u8 = b'#';

/// Calls an agent has under way at once.
const CALLS_AT_ONCE: usize = 6;
/// New calls of an agent in one life: more than the killer lets it make, and an end if the killer is gone.
const CALLS_IN_A_LIFE: u32 = 500;
/// Far longer than a worker lives: one that is still there waits for what will never come.
const LIFE: Duration = Duration::from_mins(5);
/// Each person has two devices, and answers on both: only one of the answers may count.
const DEVICES: usize = 2;
/// Journal rows looked at together.
const PAGE: usize = 1000;

/// What a worker works for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// To be killed at it.
    Work,
    /// To finish what was begun, and then to end.
    Finish,
}

impl Goal {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Finish => "finish",
        }
    }
}

/// What all tasks of a worker share.
pub(crate) struct Worker {
    pub(crate) engine: Engine,
    acks: Log,
    effects: Log,
}

/// Works in the folder the environment names. `None` when it names none.
pub(crate) fn from_environment() -> Option<Result<(), Failure>> {
    let dir = PathBuf::from(std::env::var_os(DIR)?);
    let variable = |name| std::env::var(name).map_err(Failure::from);
    let seed = variable(SEED).and_then(|seed| Ok(seed.parse()?));
    let goal = variable(GOAL).map(|goal| {
        if goal == Goal::Finish.as_str() {
            Goal::Finish
        } else {
            Goal::Work
        }
    });
    Some(seed.and_then(|seed| run(&dir, seed, goal?)))
}

fn run(dir: &Path, seed: u64, goal: Goal) -> Result<(), Failure> {
    mark()?;
    // More threads than cores: appending to a log blocks one.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let engine = Engine::builder(scene::config()?)
            .workspace(dir)
            .start(&dir.join(DATABASE))
            .await?;
        let acks = Log::open(&dir.join(ACKS))?;
        let worker = Arc::new(Worker {
            engine,
            acks,
            effects: Log::open(&dir.join(EFFECTS))?,
        });
        mark()?;
        let mut people = JoinSet::new();
        let mut rng = StdRng::seed_from_u64(seed);
        for person in PEOPLE.into_iter().flat_map(|person| [person; DEVICES]) {
            people.spawn(people::answer_everything(Arc::clone(&worker), person, rng.fork()));
        }
        tokio::select! {
            done = agents(&worker, goal) => done?,
            Some(ended) = people.join_next() => return Err(format!("a person went away: {ended:?}").into()),
            () = tokio::time::sleep(LIFE) => return Err(waits_for_ever(&worker.engine).await?.into()),
        }
        people.shutdown().await;
        Ok(worker.engine.clone().shutdown().await?)
    })
}

/// What a worker says that did not come to an end.
async fn waits_for_ever(engine: &Engine) -> Result<String, Failure> {
    let open = engine.broker().pending(None, PENDING_MAX).await?;
    Ok(format!("not done after {LIFE:?}; open questions: {open:?}"))
}

impl Worker {
    /// Writes down what was acknowledged, and says so.
    pub(crate) fn acked(&self, ack: &Ack) -> Result<(), Failure> {
        self.acks.append(ack)?;
        mark()
    }
}

/// One mark of progress. A killer that is gone ends the worker.
pub(crate) fn mark() -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(&[MARK])?;
    Ok(out.flush()?)
}

async fn agents(worker: &Arc<Worker>, goal: Goal) -> Result<(), Failure> {
    let mut agents = JoinSet::new();
    for agent in 0..AGENTS {
        agents.spawn(work(Arc::clone(worker), agent, goal));
    }
    while let Some(done) = agents.join_next().await {
        done??;
    }
    Ok(())
}

/// One agent: takes up what is not finished, then makes new calls.
async fn work(worker: Arc<Worker>, agent: u32, goal: Goal) -> Result<(), Failure> {
    let (unfinished, next) = left_behind(&worker.engine, agent).await?;
    let new = match goal {
        Goal::Work => next..next + CALLS_IN_A_LIFE,
        Goal::Finish => next..next,
    };
    let mut calls = unfinished.into_iter().chain(new);
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < CALLS_AT_ONCE
            && let Some(n) = calls.next()
        {
            under_way.spawn(carry_out(Arc::clone(&worker), agent, n));
        }
        match under_way.join_next().await {
            Some(done) => done??,
            None => return Ok(()),
        }
    }
}

/// The numbers of an agent's calls that have no end yet, and the number of its next call.
async fn left_behind(engine: &Engine, agent: u32) -> Result<(Vec<u32>, u32), Failure> {
    let me = scene::agent_id(agent)?;
    let store = engine.store();
    let (mut unfinished, mut next, mut after) = (Vec::new(), 0, 0);
    loop {
        let page = JournalPage::of_all(after, PAGE);
        let page = store.look(|stored| stored.journal(&page).cloned()).await?;
        let Some(last) = page.last() else {
            return Ok((unfinished, next));
        };
        after = last.id;
        for row in page {
            let Event::CallReceived { call, .. } = row.event else {
                continue;
            };
            let Some(n) = call
                .id
                .as_str()
                .parse::<u32>()
                .ok()
                .filter(|_| call.origin.agent == me)
            else {
                continue;
            };
            next = next.max(n + 1);
            let key = CallKey {
                agent: me.clone(),
                call: call.id,
            };
            if store.look(|stored| goes_on(stored, &key)).await? {
                unfinished.push(n);
            }
        }
    }
}

fn goes_on(stored: &Snapshot, key: &CallKey) -> Result<bool, Undecided> {
    let Some(record) = stored.call(key)? else {
        return Ok(true);
    };
    match &record.state {
        CallState::Parked { .. } => Ok(true),
        CallState::Granted { grant, .. } => Ok(!matches!(grant.state, GrantState::Done(_))),
        CallState::Refused { .. } => Ok(false),
        CallState::SameAs(other) => goes_on(stored, other),
    }
}

/// One call, from proposal to result, with a mark on both sides of everything that is stored.
async fn carry_out(worker: Arc<Worker>, agent: u32, n: u32) -> Result<(), Failure> {
    let gate = worker.engine.gate();
    let call = scene::call(agent, n)?;
    let key = CallKey {
        agent: call.origin.agent.clone(),
        call: call.id.clone(),
    };
    mark()?;
    match gate.propose(call).await? {
        Proposed::Parked { on, .. } => worker.acked(&Ack::Parked {
            call: key.clone(),
            question: on,
        })?,
        Proposed::Settled { outcome, .. } => {
            worker.acked(&Ack::Settled {
                call: key.clone(),
                status: outcome.status(),
            })?;
        }
        Proposed::Known(_) => {}
    }
    let outcome = gate.wait(&key).await?;
    if !outcome.permits() {
        gate.acknowledge(&key).await?;
        return worker.acked(&Ack::Told {
            call: key,
            status: outcome.status(),
        });
    }
    match gate.claim(&key, None).await {
        Ok(permit) => execute(&worker, &gate, &permit).await,
        // Its twin was faster, or the run was ended: it is not this one's to run.
        Err(GateError::Claim(ClaimRefusal::AlreadyClaimed(_) | ClaimRefusal::SessionOver(_))) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The call itself. Its effect is a line in a file.
async fn execute(worker: &Worker, gate: &Gate, permit: &Permit) -> Result<(), Failure> {
    let (call, grant) = (permit.key().clone(), permit.grant());
    worker.acked(&Ack::Claimed {
        call: call.clone(),
        grant,
    })?;
    let tool: ToolName = permit.call().tool.clone();
    worker.effects.append(&SideEffect {
        call: call.clone(),
        tool,
        grant,
        digest: permit.call().digest(),
    })?;
    mark()?;
    gate.finish(&call, CallResult::new(true, &format!("grant {grant}")))
        .await?;
    worker.acked(&Ack::Finished { call, grant })
}
