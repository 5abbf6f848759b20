//! A seeded world of agents, people, crashes and clocks around the engine's steps, the core and the store.
//!
//! One seed is one history: agents propose, people (and strangers, bots and agents) answer, clocks tick and jump, processes die
//! before and after commits. After every step the promises of design §7 are checked by an [`oracle`] that keeps its own
//! books and shares no code with what it checks. A failure names its seed, and the seed replays.

pub mod oracle;
pub mod sabotage;
pub mod scene;
pub mod world;

use crate::sabotage::Sabotage;
use crate::world::World;

/// A broken promise, and how to see it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Which history.
    pub seed: u64,
    /// Which of its steps, counted from 1.
    pub step: usize,
    /// Which promise, and how.
    pub promise: String,
    /// What happened until then.
    pub story: Vec<String>,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for line in &self.story {
            writeln!(f, "  {line}")?;
        }
        writeln!(
            f,
            "seed {} broke a promise at step {}: {}",
            self.seed, self.step, self.promise
        )?;
        write!(
            f,
            "replay: cargo xtask sim --from {} --seeds 1 --verbose",
            self.seed
        )
    }
}

/// How much happened in a history; so that a run that tested nothing is seen to have tested nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Steps taken.
    pub steps: u64,
    /// Questions asked.
    pub asked: u64,
    /// Questions settled by people.
    pub decided: u64,
    /// Calls that ran.
    pub ran: u64,
    /// Crashes.
    pub crashes: u64,
    /// Grants that became unknown.
    pub unknown: u64,
    /// Commits that were decided on an old state.
    pub conflicts: u64,
    /// Outages: restarts, and clocks that were set.
    pub outages: u64,
    /// Leases taken.
    pub leases: u64,
    /// Commits refused because another process had taken their lease.
    pub fenced: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.asked += other.asked;
        self.decided += other.decided;
        self.ran += other.ran;
        self.crashes += other.crashes;
        self.unknown += other.unknown;
        self.conflicts += other.conflicts;
        self.outages += other.outages;
        self.leases += other.leases;
        self.fenced += other.fenced;
    }
}

/// Runs one history.
pub fn run(seed: u64, sabotage: Sabotage) -> Result<Tally, Box<Broken>> {
    World::new(seed, sabotage).run()
}

/// Runs many histories on as many threads as the machine has cores; the first broken promise by seed, if any.
pub fn run_many(from: u64, seeds: u64, sabotage: Sabotage) -> Result<Tally, Box<Broken>> {
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let results: Vec<Result<Tally, Box<Broken>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    for seed in (from..from + seeds)
                        .skip(usize::try_from(worker).unwrap_or(0))
                        .step_by(usize::try_from(threads).unwrap_or(1))
                    {
                        tally += run(seed, sabotage)?;
                    }
                    Ok(tally)
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    let mut tally = Tally::default();
    for result in results {
        tally += result?;
    }
    Ok(tally)
}
