//! Records: what the journal comes to, per call and per session. The store keeps them as projections.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::call::{CallDigest, ToolCall};
use crate::findings::StoredFindings;
use crate::ids::{AgentId, InteractionId, SessionId, ToolName};
use crate::interaction::CallKey;
use crate::journal::{CallResult, SYSTEM_SESSION};
use crate::outcome::{CallStatus, Outcome};
use crate::policy::Mode;
use crate::run::RunStarted;
use crate::time::Timestamp;
use crate::variables::Variables;
use crate::verdict::Verdict;

/// One call, as far as it has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    /// The call as proposed.
    pub call: ToolCall,
    /// Its digest.
    pub digest: CallDigest,
    /// What policy said.
    pub verdict: Verdict,
    /// What it was found to do. Absent in rows of versions that did not store it.
    pub findings: Option<StoredFindings>,
    /// How many grants it has been given so far.
    pub grants: u32,
    /// How far it has come.
    pub state: CallState,
}

/// One call without the call itself: how far it has come.
#[derive(Debug, Clone, PartialEq)]
pub struct CallHead {
    /// Its full name.
    pub key: CallKey,
    /// Its session.
    pub session: SessionId,
    /// Whether something may begin in that session.
    pub begins: Begins,
    /// Whether the question that settled it has been answered without the asker knowing yet.
    pub untold: bool,
    /// Its digest.
    pub digest: CallDigest,
    /// Whether an approval of it is remembered for a while.
    pub memorable: bool,
    /// How many grants it has been given so far.
    pub grants: u32,
    /// How far it has come.
    pub state: CallState,
}

/// Whether something may begin in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// Yes.
    Yes,
    /// No: a person has stopped its run.
    RunStopped,
    /// No: it was ended.
    SessionOver,
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallState {
    /// It waits for people.
    Parked {
        /// The question it waits for.
        on: InteractionId,
    },
    /// It is the same call as another one, and shares that one's fate and grant.
    SameAs(CallKey),
    /// It may run, at most once per grant.
    Granted {
        /// Why it may run.
        outcome: Outcome,
        /// The right to run it.
        grant: Grant,
        /// The question that settled it, if there was one.
        question: Option<InteractionId>,
    },
    /// It will not run.
    Refused {
        /// Why not.
        outcome: Outcome,
        /// The question that settled it, if there was one.
        question: Option<InteractionId>,
    },
}

/// The single-use right to execute one exact call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Counted from 1. A later one exists only because a person said "run again".
    pub number: u32,
    /// How far it has come.
    pub state: GrantState,
}

/// How far a grant has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GrantState {
    /// Not claimed yet.
    Issued,
    /// The call is running.
    Claimed {
        /// Until when a result is promised; bound to the process when absent.
        lease: Option<Timestamp>,
        /// The process it is bound to, as far as it is known.
        process: Option<String>,
    },
    /// The call ran.
    Done(CallResult),
    /// It may have run.
    Unknown,
}

/// One session, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its id.
    pub id: SessionId,
    /// Whether it was ended.
    pub ended: bool,
    /// How many rejections in a row.
    pub rejections: u32,
    /// How many questions are open.
    pub open_questions: u32,
    /// Tools it may use without asking.
    pub allow_list: BTreeSet<ToolName>,
    /// Its own mode, when it has one.
    pub mode: Option<Mode>,
    /// The agent that started it. No other agent acts in it.
    pub agent: Option<AgentId>,
    /// How many journal rows it has.
    pub rows: u64,
}

impl CallRecord {
    /// Its full name.
    pub fn key(&self) -> CallKey {
        CallKey::of(&self.call)
    }

    /// Its status on the wire. A call that shares another's fate reads as pending here; follow [`CallState::SameAs`].
    pub fn status(&self) -> CallStatus {
        match &self.state {
            CallState::Parked { .. } | CallState::SameAs(_) => CallStatus::Pending,
            CallState::Granted { outcome, .. } | CallState::Refused { outcome, .. } => outcome.status(),
        }
    }
}

impl SessionRecord {
    /// A session nothing has happened in yet.
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            ended: false,
            rejections: 0,
            open_questions: 0,
            allow_list: BTreeSet::new(),
            mode: None,
            agent: None,
            rows: 0,
        }
    }

    /// Whether nothing has happened in it yet.
    pub fn is_new(&self) -> bool {
        self.rows == 0
    }

    /// Whether an agent may act in it: in its own, and in one without an owner. Placet's own is closed to all.
    pub fn is_open_to(&self, agent: &AgentId) -> bool {
        self.id.as_str() != SYSTEM_SESSION && self.agent.as_ref().is_none_or(|owner| owner == agent)
    }
}

/// One run of the built-in agent, as far as it has come.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The journal row that began it.
    pub row: u64,
    /// How often the model has spoken.
    pub turns: u32,
    /// How many messages came in meanwhile.
    pub said: u32,
    /// Whether it has ended.
    pub ended: bool,
    /// Whether a person stopped it.
    pub interrupted: bool,
    /// How it began.
    pub started: RunStarted,
    /// The variables of its workflow, as they are now.
    pub variables: Variables,
}

impl RunRecord {
    /// Whether it goes on: it has not ended, and no person has stopped it.
    pub fn goes_on(&self) -> bool {
        !self.ended && !self.interrupted
    }
}
