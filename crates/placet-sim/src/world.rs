//! One history: what happens next is drawn from the seed, done through the engine's steps, and checked by the oracle.

use std::collections::BTreeSet;

use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::ids::{ChannelName, InteractionId};
use placet_core::lease::Fence;
use placet_core::snapshot::{Snapshot, Undecided};
use placet_core::step::{Decided, Turn, turn};
use placet_core::steps::{self, Fresh, Permit, Reach, Rules};
use placet_core::time::{Outage, Timestamp};
use placet_store::inline::{CommitFault, Image, InlineStore};
use placet_store::{StepError, StoreError};

use crate::oracle::Oracle;
use crate::sabotage::Sabotage;
use crate::scene;
use crate::{Broken, Tally};

mod agents;
mod cast;
mod clocks;
mod dice;
mod leases;
mod people;
mod reader;

use dice::Dice;
use leases::Process;
use reader::Reader;

const STEPS: usize = 60;
const SESSIONS: usize = 3;
/// Where the workspace of every history is.
const WORKSPACE: &str = "/workspace";

/// One history in the making.
pub struct World {
    seed: u64,
    dice: Dice,
    sabotage: Sabotage,
    config: Config,
    reach: Reach,
    store: InlineStore,
    oracle: Oracle,
    /// How long processes have truly run: what the promises are about.
    live: i64,
    /// What the store's clock shows.
    clock: i64,
    /// What the machine's clock shows. The two differ after a jump, until the timers notice it.
    wall: i64,
    /// One, two or three. One that is taken for dead may only be paused.
    processes: Vec<Process>,
    /// The one that acts.
    acting: usize,
    /// The leases of processes that are paused.
    paused: Vec<Fence>,
    reader: Reader,
    calls: Vec<ToolCall>,
    running: Vec<Permit>,
    delivered_whole: BTreeSet<(InteractionId, String)>,
    /// What a disk that lies has really kept.
    synced: Option<Image>,
    messages: u64,
    made: u64,
    story: Vec<String>,
    narrate: bool,
    /// Whether another process is acting between the load and the commit of a step.
    interfering: bool,
    /// The rows that other processes wrote in between.
    written_by_others: u64,
    /// A promise that broke while it did.
    broken: Option<String>,
    tally: Tally,
}

type Check = Result<(), String>;

impl World {
    /// The history of a seed.
    ///
    /// # Panics
    /// When the scene itself is broken: that is a defect of the simulator, not a broken promise.
    #[expect(clippy::expect_used, reason = "the scene is a constant of this program")]
    pub fn new(seed: u64, sabotage: Sabotage) -> Self {
        let config = scene::config().expect("the scene's configuration is valid");
        let ops = ChannelName::new("ops").expect("a valid name");
        let reach = Reach {
            channels: BTreeSet::from([ops]),
            chats_of: config.people.own_chats(),
            ..Reach::default()
        };
        let mut world = Self {
            seed,
            dice: Dice::new(seed),
            sabotage,
            config,
            reach,
            store: InlineStore::new().expect("a store in memory opens"),
            oracle: Oracle::default(),
            live: 1_000_000,
            clock: 1_700_000_000_000,
            wall: 1_700_000_000_000,
            processes: Vec::new(),
            acting: 0,
            paused: Vec::new(),
            reader: Reader::default(),
            calls: Vec::new(),
            running: Vec::new(),
            delivered_whole: BTreeSet::new(),
            synced: None,
            messages: 0,
            made: 0,
            story: Vec::new(),
            narrate: false,
            interfering: false,
            written_by_others: 0,
            broken: None,
            tally: Tally::default(),
        };
        world.start_processes();
        world
    }

    /// Prints each line of the story as it happens.
    #[must_use]
    pub fn narrated(mut self) -> Self {
        self.narrate = true;
        self
    }

    /// Lives through the history.
    pub fn run(mut self) -> Result<Tally, Box<Broken>> {
        for step in 1..=STEPS {
            self.tally.steps += 1;
            if let Err(promise) = self.turn() {
                return Err(Box::new(Broken {
                    seed: self.seed,
                    step,
                    promise,
                    story: self.story,
                }));
            }
        }
        match self.end() {
            Ok(()) => Ok(self.tally),
            Err(promise) => Err(Box::new(Broken {
                seed: self.seed,
                step: STEPS + 1,
                promise,
                story: self.story,
            })),
        }
    }

    fn turn(&mut self) -> Check {
        let fault = match self.roll(50) {
            0 => CommitFault::LoseBeforeCommit,
            1 => CommitFault::CommitButLoseAck,
            _ => CommitFault::None,
        };
        if self.sabotage == Sabotage::DroppedSync && self.roll(3) == 0 {
            self.synced = self.store.image().ok();
        }
        self.change_process();
        self.store.fail_next_commit(fault);
        self.act()?;
        if let Some(promise) = self.broken.take() {
            return Err(promise);
        }
        self.store.fail_next_commit(CommitFault::None);
        // Only a crash can lose what was acknowledged, so that is when all of it is looked up again.
        if fault != CommitFault::None || self.roll(50) == 0 {
            self.crash()?;
            self.oracle.remembers(&self.store)?;
        }
        self.oracle.reads(&self.store, self.live)
    }

    fn act(&mut self) -> Check {
        match self.roll(100) {
            0..18 => self.propose(),
            18..24 => self.propose_again(),
            24..46 => self.answer(),
            46..56 => self.write_in_chat(),
            // A commit follows its decision at once; time passes between steps.
            56..59 if self.interfering => self.read_on(),
            59..62 if self.interfering => self.tick(),
            56..62 => self.let_time_pass(),
            62..66 => self.tick(),
            66..81 => self.claim(),
            81..90 => {
                self.finish();
                Ok(())
            }
            90 => self.read_on(),
            91 if self.roll(3) == 0 && !self.interfering => {
                self.process_dies();
                Ok(())
            }
            91 => {
                self.renew();
                Ok(())
            }
            92..97 => self.deliver(),
            97 if self.roll(2) == 0 => self.paused_process_goes_on(),
            97 => self.end_session(),
            98 => self
                .store
                .checkpoint(self.now())
                .map_err(|error| error.to_string()),
            // Costly, and done at the end of every history anyway.
            _ if self.seed.is_multiple_of(16) => self.verify(),
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> Check {
        self.read_all()?;
        self.store
            .checkpoint(self.now())
            .map_err(|error| error.to_string())?;
        if self.sabotage == Sabotage::EditsJournal {
            let edit = "UPDATE journal SET body = replace(body, 'a', 'b') WHERE id = 1 + (SELECT max(id) FROM journal) / 2";
            self.store.tamper(edit).map_err(|error| error.to_string())?;
        }
        self.verify()
    }

    fn verify(&mut self) -> Check {
        let verified = self.store.verify(None).map_err(|error| error.to_string())?;
        match verified.findings.first() {
            None => Ok(()),
            Some(finding) => Err(format!("promise 6: {finding:?}")),
        }
    }

    /// The process dies, and another one starts.
    fn crash(&mut self) -> Check {
        self.tally.crashes += 1;
        self.tell(|_| "the process dies".into());
        let running = std::mem::take(&mut self.running);
        self.processes_die();
        if self.sabotage == Sabotage::DroppedSync
            && let Some(kept) = self.synced.take()
        {
            self.store.restore(&kept).map_err(|error| error.to_string())?;
        }
        // The time since the last sign of life is part of the outage.
        let alive = self.store.last_alive().map_err(|error| error.to_string())?;
        let alive = alive.map_or(self.clock, Timestamp::as_millis);
        self.live -= self.clock - alive;
        self.wall += i64::from(self.roll(5_000_000));
        self.clock = self.wall;
        let head = self.head()?;
        self.oracle.rewinds(head);
        self.rewind_reader(head);
        self.oracle.reads(&self.store, self.live)?;
        if self.sabotage == Sabotage::RunsAgainAfterCrash {
            for permit in running {
                self.oracle
                    .runs(permit.key(), permit.grant(), &permit.call().args)?;
            }
        }
        // Nothing else ran, and nothing runs before the outage is recorded.
        self.interfering = true;
        let recorded = self.record_outage(alive, self.wall);
        self.interfering = false;
        recorded?;
        let now = self.now();
        let lost = self.look(|stored| stored.claimed_by_process(&now).cloned())?;
        for key in lost {
            let fresh = self.fresh();
            let done = self.step(|rules, snapshot, now| steps::recover(rules, snapshot, now, &key, &fresh));
            done.map_err(|error| format!("recovery failed: {error}"))?;
            self.tally.unknown += 1;
        }
        Ok(())
    }

    fn step<T, E>(
        &mut self,
        decide: impl Fn(&Rules<'_>, &Snapshot, Timestamp) -> Decided<T, E>,
    ) -> Result<T, StepError<E>> {
        self.step_at(self.now(), decide)
    }

    fn step_at<T, E>(
        &mut self,
        now: Timestamp,
        decide: impl Fn(&Rules<'_>, &Snapshot, Timestamp) -> Decided<T, E>,
    ) -> Result<T, StepError<E>> {
        self.step_fenced(now, &[], decide)
    }

    /// Loads, decides and commits. Now and then another process acts in between, and the step has to decide again.
    fn step_fenced<T, E>(
        &mut self,
        mut now: Timestamp,
        fences: &[Fence],
        decide: impl Fn(&Rules<'_>, &Snapshot, Timestamp) -> Decided<T, E>,
    ) -> Result<T, StepError<E>> {
        let mut snapshot = Snapshot::default();
        loop {
            let rules = Rules {
                config: &self.config,
                reach: &self.reach,
                workspace: WORKSPACE,
            };
            let decided = turn(&mut snapshot, now, |snapshot, now| decide(&rules, snapshot, now));
            let (mut commit, value) = match decided {
                Turn::Load(needs) => {
                    snapshot = self.store.load(needs)?;
                    continue;
                }
                Turn::Commit(commit, value) => (commit, value),
                Turn::Answer(value) => return Ok(value),
                Turn::Refused(refusal) => return Err(StepError::Refused(refusal)),
                Turn::Corrupt(what) => return Err(StoreError::Corrupt { what }.into()),
            };
            if !self.interfering && self.roll(6) == 0 {
                self.interfere();
            }
            if self.sabotage == Sabotage::IgnoresVersions {
                commit.versions.clear();
            }
            if self.sabotage == Sabotage::IgnoresEpoch {
                commit.epoch = None;
            }
            commit.fences = fences.to_vec();
            match self.store.commit(commit) {
                Ok(()) => return Ok(value),
                Err(StoreError::Conflict { what }) => {
                    self.tally.conflicts += 1;
                    let newer = self.store.load(snapshot.needs())?;
                    if newer == snapshot {
                        return Err(StoreError::Corrupt { what }.into());
                    }
                    snapshot = newer;
                    now = self.now();
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What a process does that starts, or notices that the clock was set.
    fn record_outage(&mut self, from: i64, until: i64) -> Check {
        if self.sabotage == Sabotage::ForgetsOutages {
            return Ok(());
        }
        self.tell(|_| format!("an outage from {from} until {until}"));
        self.tally.outages += 1;
        let known = self
            .store
            .load(BTreeSet::new())
            .map_err(|error| error.to_string())?;
        let outage = Outage {
            from: Timestamp::from_millis(from),
            until: Timestamp::from_millis(until),
            after: known.epoch().map_or(0, |epoch| epoch.row),
        };
        let recorded = self.step(|_, snapshot, _| steps::record_outage(snapshot, outage));
        recorded.map_err(|error| format!("an outage was not recorded: {error}"))
    }

    /// Another process does something on the same store.
    fn interfere(&mut self) {
        self.interfering = true;
        self.tell(|_| "meanwhile".into());
        let (before, acting) = (self.head(), self.acting);
        self.change_process();
        let acted = self.act();
        self.acting = acting;
        match (before, self.head()) {
            (Ok(before), Ok(after)) => self.written_by_others += after - before,
            (Err(error), _) | (_, Err(error)) => drop(self.broken.get_or_insert(error)),
        }
        if let Err(promise) = acted {
            self.broken.get_or_insert(promise);
        }
        self.interfering = false;
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock)
    }

    /// How many rows this process wrote.
    fn own_rows(&self) -> Result<u64, String> {
        Ok(self.head()? - self.written_by_others)
    }

    /// Looks at what is stored.
    fn look<T>(&self, read: impl Fn(&Snapshot) -> Result<T, Undecided>) -> Result<T, String> {
        self.store.look(read).map_err(|error| error.to_string())
    }

    fn head(&self) -> Result<u64, String> {
        self.look(|stored| stored.head(&()).copied())
    }

    fn fresh(&mut self) -> Fresh {
        self.made += 1;
        let id =
            InteractionId::new(format!("int_{}", self.made)).unwrap_or_else(|_| unreachable!("a valid id"));
        Fresh {
            id,
            random: self.dice.next(),
        }
    }

    fn tell(&mut self, line: impl FnOnce(&Self) -> String) {
        let line = line(self);
        if self.narrate {
            println!("{line}");
        }
        self.story.push(line);
    }

    fn roll(&mut self, sides: u32) -> u32 {
        self.dice.roll(sides)
    }
}
