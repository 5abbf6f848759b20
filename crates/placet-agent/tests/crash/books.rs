//! The books: the journal, the files and the transcript of a finished run must agree.

use std::collections::BTreeMap;
use std::path::Path;

use placet_core::ids::{CallId, SessionId};
use placet_core::journal::Event;
use placet_core::listing::{Committed, JournalPage};
use placet_core::run::{Message, RequestedCall, Run, Stage};
use placet_store::{Store, verify_file};

use crate::Failure;
use crate::worker::{SESSION, TURNS};

/// What the histories met.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) kills: u32,
    pub(crate) effects: usize,
    pub(crate) lost: usize,
    run_again: usize,
    pub(crate) children: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.kills += other.kills;
        self.effects += other.effects;
        self.lost += other.lost;
        self.run_again += other.run_again;
        self.children += other.children;
    }
}

/// What is wrong, if anything, and what was met.
pub(crate) struct Books {
    pub(crate) findings: Vec<String>,
    pub(crate) tally: Tally,
}

/// One call, as the journal tells it.
#[derive(Default)]
struct Told {
    line: Option<String>,
    received: usize,
    claims: usize,
    finished: usize,
    lost: usize,
    handed_on: bool,
}

/// Every row.
fn journal(path: &Path) -> Result<Vec<Committed>, Failure> {
    let store = Store::open_read_only(path)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let all = JournalPage::of_all(0, 1_000_000);
    Ok(runtime.block_on(store.look(|stored| stored.journal(&all).cloned()))?)
}

impl Books {
    pub(crate) fn of(dir: &Path, kills: u32) -> Result<Self, Failure> {
        let store = dir.join("placet.db");
        let rows = journal(&store)?;
        let mut books = Self {
            findings: Vec::new(),
            tally: Tally {
                kills,
                ..Tally::default()
            },
        };
        let mut runs: BTreeMap<SessionId, Run> = BTreeMap::new();
        let mut calls: BTreeMap<CallId, Told> = BTreeMap::new();
        for row in &rows {
            let begun = || Run::new(row.session.clone());
            runs.entry(row.session.clone())
                .or_insert_with(begun)
                .evolve(&row.event)?;
            follow(&mut calls, &row.event);
        }
        runs.retain(|_, run| run.started().is_some());
        for run in runs.values() {
            books.check_transcript(run);
        }
        books.tally.children = runs.len().saturating_sub(1);
        let log = std::fs::read_to_string(dir.join("work/log.txt")).unwrap_or_default();
        books.check_effects(&calls, &log);
        let verified = verify_file(&store, None)?;
        books
            .findings
            .extend(verified.findings.iter().map(|finding| format!("{finding:?}")));
        Ok(books)
    }

    /// The run came to its end, and every call has exactly one result.
    fn check_transcript(&mut self, run: &Run) {
        if !matches!(run.stage(), Stage::Ended(_)) {
            self.findings
                .push(format!("the run has not ended: {:?}", run.stage()));
        }
        let (mut wanted, mut results) = (Vec::new(), Vec::new());
        for message in run.transcript() {
            match message {
                Message::Model { calls, .. } => wanted.extend(calls.iter().map(|call| call.id.clone())),
                Message::Result { call, .. } => results.push(call.clone()),
                Message::User { .. } => {}
            }
        }
        if wanted != results {
            self.findings.push("calls and results do not match".into());
        }
        let expected = if run.session().as_str() == SESSION {
            TURNS + 1
        } else {
            2
        };
        if run.turns() != expected {
            self.findings.push(format!(
                "in {} the model spoke {} times",
                run.session(),
                run.turns()
            ));
        }
    }

    /// A line is in the file as often as its calls ran to their end, and never more often than they were let run.
    fn check_effects(&mut self, calls: &BTreeMap<CallId, Told>, log: &str) {
        for (id, told) in calls {
            if told.received > 1 {
                self.findings
                    .push(format!("{id} was proposed {} times", told.received));
            }
            if told.claims != told.finished + told.lost {
                self.findings
                    .push(format!("{id} was claimed and neither finished nor lost"));
            }
            if told.handed_on && told.lost > 0 {
                self.findings.push(format!("{id} was handed on and asked about"));
            }
            self.tally.lost += told.lost;
            self.tally.run_again += told.claims.saturating_sub(1);
        }
        let mut lines: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for told in calls.values() {
            if let Some(line) = &told.line {
                let (finished, claims) = lines.entry(line).or_default();
                *finished += told.finished;
                *claims += told.claims;
            }
        }
        for (line, (finished, claims)) in lines {
            let times = log.lines().filter(|found| *found == line).count();
            self.tally.effects += times;
            if times < finished || times > claims {
                self.findings.push(format!(
                    "`{line}` is there {times} times; it finished {finished} times and was let run {claims} times"
                ));
            }
        }
    }
}

fn follow(calls: &mut BTreeMap<CallId, Told>, event: &Event) {
    match event {
        Event::ModelTurn(turn) => {
            for call in &turn.calls {
                let line = match &call.wanted {
                    RequestedCall::Call { args, .. } => args.text("command").and_then(appended),
                    RequestedCall::Nonsense { .. } => None,
                };
                let told = calls.entry(call.id.clone()).or_default();
                told.line = line;
                told.handed_on = call.tool() == "task";
            }
        }
        Event::CallReceived { call, .. } => calls.entry(call.id.clone()).or_default().received += 1,
        Event::Claimed { call, .. } => calls.entry(call.call.clone()).or_default().claims += 1,
        Event::Finished { call, .. } => calls.entry(call.call.clone()).or_default().finished += 1,
        Event::LostTrack { call, .. } => calls.entry(call.call.clone()).or_default().lost += 1,
        _ => {}
    }
}

/// The line a command appends.
fn appended(command: &str) -> Option<String> {
    let line = command.strip_prefix("echo ")?.strip_suffix(" >> log.txt")?;
    Some(line.to_owned())
}
