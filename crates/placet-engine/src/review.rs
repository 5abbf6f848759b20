//! Looking back: what the journal's calls would come to under another policy, and which questions a rule could spare.
//!
//! Nothing is asked, run or stored. Past calls are inspected again, by the present inspection and with the workspace as it
//! is now, so a difference may also come from a better inspection; every report says so.

use std::collections::{BTreeMap, BTreeSet};

use placet_core::analysis::{Analysis, Places as _};
use placet_core::call::{CallDigest, ToolCall};
use placet_core::config::Config;
use placet_core::findings::StoredFindings;
use placet_core::ids::{PersonId, SessionId};
use placet_core::journal::Event;
use placet_core::listing::{Before, CallsSince, JournalPage};
use placet_core::outcome::Outcome;
use placet_core::policy::{Context, Mode};
use placet_core::record::{CallRecord, CallState};
use placet_core::time::Timestamp;
use placet_core::tool::{OwnOpinion, Tool};
use placet_core::verdict::{Reason, Step, Verdict};
use placet_store::{Store, StoreError};

use crate::engine::CALLBACK;
use crate::places::DiskPlaces;

mod preview;
mod replay;
mod suggest;

pub use preview::GrantPreview;
pub use replay::{Change, ChangedCall, Replay, Word, replay};
pub use suggest::{Covered, Suggestion, covered, suggest};

/// The most calls one report looks at; the newest count.
pub const CALLS_MAX: usize = 20_000;
/// How many calls are read at once.
const PAGE_CALLS: usize = 256;

/// A call of the journal, and what became of its question.
#[derive(Debug, Clone, PartialEq)]
pub struct PastCall {
    /// The journal row that received it.
    pub row: u64,
    /// When.
    pub at: Timestamp,
    /// The call as proposed.
    pub call: ToolCall,
    /// Its digest.
    pub digest: CallDigest,
    /// What policy said then.
    pub verdict: Verdict,
    /// What was found then.
    pub findings: Option<StoredFindings>,
    /// What people decided.
    pub fate: Fate,
    /// The session's own mode then.
    pub mode: Option<Mode>,
}

/// What people decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// No person decided: policy, a callback or the clock did, or the question is open.
    NotDecided,
    /// People approved exactly this call.
    Approved {
        /// Who.
        by: Vec<PersonId>,
    },
    /// A person approved it with other arguments.
    Edited,
    /// A person said no: rejected, asked for something else, skipped, or ended the run.
    Refused {
        /// Who.
        by: PersonId,
    },
}

impl From<&Outcome> for Fate {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Approved { by, .. } if by.iter().any(|by| by.as_str() == CALLBACK) => Self::NotDecided,
            Outcome::Approved { edited: Some(_), .. } => Self::Edited,
            Outcome::Approved { by, .. } => Self::Approved { by: by.clone() },
            Outcome::Rejected { by, .. }
            | Outcome::Retry { by, .. }
            | Outcome::Skipped { by, .. }
            | Outcome::Terminated { by, .. }
                if by.as_str() != CALLBACK =>
            {
                Self::Refused { by: by.clone() }
            }
            _ => Self::NotDecided,
        }
    }
}

/// The newest calls since a moment, oldest first.
pub async fn past_calls(store: &Store, since: Timestamp) -> Result<Vec<PastCall>, StoreError> {
    let mut modes = Modes::default();
    let mut calls = Vec::new();
    let mut cursor = None;
    while calls.len() < CALLS_MAX {
        let part = Before {
            cursor,
            limit: PAGE_CALLS.min(CALLS_MAX - calls.len()),
        };
        let wanted = CallsSince { since, part };
        let page = store.look(|stored| stored.calls_since(&wanted).cloned()).await?;
        let Some((row, ..)) = page.last() else { break };
        cursor = Some(*row);
        for (row, at, record) in page {
            let mode = modes.at(store, &record.call.session, row).await?;
            calls.push(past(row, at, record, mode));
        }
    }
    calls.reverse();
    Ok(calls)
}

fn past(row: u64, at: Timestamp, record: CallRecord, mode: Option<Mode>) -> PastCall {
    let fate = match &record.state {
        CallState::Granted { outcome, .. } | CallState::Refused { outcome, .. } => Fate::from(outcome),
        CallState::Parked { .. } | CallState::SameAs(_) => Fate::NotDecided,
    };
    PastCall {
        row,
        at,
        digest: record.digest,
        call: record.call,
        verdict: record.verdict,
        findings: record.findings,
        fate,
        mode,
    }
}

/// The modes that people gave sessions, read once per session that has one.
#[derive(Default)]
struct Modes(BTreeMap<SessionId, Vec<(u64, Mode)>>);

impl Modes {
    async fn at(&mut self, store: &Store, session: &SessionId, row: u64) -> Result<Option<Mode>, StoreError> {
        if !self.0.contains_key(session) {
            let set = match store.look(|stored| Ok(stored.session(session)?.mode)).await? {
                Some(_) => modes_set(store, session).await?,
                None => Vec::new(),
            };
            self.0.insert(session.clone(), set);
        }
        let set = self.0.get(session).into_iter().flatten();
        Ok(set.take_while(|(at, _)| *at < row).last().map(|(_, mode)| *mode))
    }
}

async fn modes_set(store: &Store, session: &SessionId) -> Result<Vec<(u64, Mode)>, StoreError> {
    let mut set = Vec::new();
    let mut after = 0;
    loop {
        let page = JournalPage::of(session, after, PAGE_CALLS);
        let page = store.look(|stored| stored.journal(&page).cloned()).await?;
        let Some(last) = page.last() else { return Ok(set) };
        after = last.id;
        set.extend(page.into_iter().filter_map(|row| match row.event {
            Event::ModeSet { mode, .. } => Some((row.id, mode)),
            _ => None,
        }));
    }
}

/// A past call as the present inspection sees it.
struct Inspected {
    tool: Tool,
    analysis: Analysis,
}

impl Inspected {
    fn new(config: &Config, places: &DiskPlaces, call: &ToolCall) -> Self {
        let tool = config.tool_of(call);
        let analysis = config.inspect.inspect(&tool, &call.args, places).analysis;
        Self { tool, analysis }
    }

    /// As it was seen then. What no row says is inspected now.
    fn then(config: &Config, places: &DiskPlaces, past: &PastCall) -> Self {
        let stored = past.findings.as_ref();
        match stored.and_then(|stored| stored.read(&past.call.args).ok()) {
            Some(found) => Self {
                tool: config.tool_of(&past.call),
                analysis: Analysis {
                    home: places.home().map(str::to_owned),
                    ..found.analysis
                },
            },
            None => Self::new(config, places, &past.call),
        }
    }
}

/// What a policy says about a past call. What helped the call then (a list, a grant, memory, its tool's word) helps again.
fn judge(config: &Config, places: &DiskPlaces, past: &PastCall, seen: &Inspected) -> Verdict {
    let then = &past.verdict;
    let by_config = matches!(then.reason, Reason::AutoApproved { .. });
    let was_listed = then.step == Step::AllowList && !by_config;
    let list: BTreeSet<_> = was_listed.then(|| past.call.tool.clone()).into_iter().collect();
    let context = Context {
        mode: past.mode,
        session_allow_list: &list,
        own_opinion: match then.reason {
            Reason::OwnOpinion => OwnOpinion::NotNeeded,
            Reason::OwnNeed => OwnOpinion::Needed,
            _ => OwnOpinion::Silent,
        },
        remembered: then.step == Step::Memory,
        confinement: then.confinement.as_ref(),
        ..Context::alone(past.digest, places.workspace())
    };
    config
        .policy
        .decide(&past.call, &seen.tool, &seen.analysis, &context)
}
