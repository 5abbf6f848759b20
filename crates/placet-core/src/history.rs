//! History: how questions ended, which of them a reader looks for, and how many there were of each kind.
//!
//! The store answers both from columns beside the questions, so that a search or a count reads no bodies.

use serde::{Deserialize, Serialize};

use crate::ids::{PersonId, ToolName};
use crate::interaction::{Action, Resolution};
use crate::listing::Before;
use crate::time::{Millis, Timestamp};
use crate::tool::Risk;

/// How a question ended, as history lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// People let the call run.
    Approved,
    /// A person said no.
    Rejected,
    /// A person sent it back with feedback.
    Retry,
    /// A person gave the information asked for.
    Info,
    /// A person left the call out.
    Skipped,
    /// A person ended the run.
    Terminated,
    /// A person chose an option of the asker's own.
    Answered,
    /// Time ran out.
    Expired,
    /// The question was withdrawn.
    Cancelled,
    /// Another question took its place.
    Superseded,
}

impl Ending {
    /// Each of them: first what people decided.
    pub const ALL: [Self; 10] = [
        Self::Approved,
        Self::Rejected,
        Self::Retry,
        Self::Info,
        Self::Skipped,
        Self::Terminated,
        Self::Answered,
        Self::Expired,
        Self::Cancelled,
        Self::Superseded,
    ];

    /// How a question with this resolution ended.
    pub const fn of(resolution: &Resolution) -> Self {
        match resolution {
            Resolution::Answered { action, .. } => match action {
                Action::ApproveAndExecute => Self::Approved,
                Action::RejectWithReason => Self::Rejected,
                Action::RetryWithFeedback => Self::Retry,
                Action::ProvideInfo => Self::Info,
                Action::Skip => Self::Skipped,
                Action::Terminate => Self::Terminated,
                Action::Custom => Self::Answered,
            },
            Resolution::Expired { .. } => Self::Expired,
            Resolution::Cancelled { .. } => Self::Cancelled,
            Resolution::Superseded { .. } => Self::Superseded,
        }
    }

    /// As stored and as written on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Retry => "retry",
            Self::Info => "info",
            Self::Skipped => "skipped",
            Self::Terminated => "terminated",
            Self::Answered => "answered",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
        }
    }

    /// Reads what [`Ending::as_str`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.as_str() == text)
    }

    /// Whether a person decided.
    pub const fn is_decision(self) -> bool {
        !matches!(self, Self::Expired | Self::Cancelled | Self::Superseded)
    }
}

/// Which closed questions are wanted. Everything that is given must fit.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryFilter {
    /// Decided by this person, alone or with others.
    pub person: Option<PersonId>,
    /// About a call of this tool.
    pub tool: Option<ToolName>,
    /// Asked because of this rule.
    pub rule: Option<String>,
    /// Of this risk.
    pub risk: Option<Risk>,
    /// That ended like this.
    pub outcome: Option<Ending>,
    /// Only those whose arguments a person changed.
    pub edited: Edits,
    /// Closed at this moment or later.
    pub from: Option<Timestamp>,
    /// Closed before this moment.
    pub to: Option<Timestamp>,
}

/// Whether changed arguments matter to a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edits {
    /// They do not.
    #[default]
    Any,
    /// Only questions with changed arguments are wanted.
    Only,
}

/// A part of history, newest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryPage {
    /// What is wanted.
    pub filter: HistoryFilter,
    /// Which part.
    pub part: Before,
}

/// Under what a question is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    /// The tool of its call.
    pub tool: Option<String>,
    /// The rule that asked.
    pub rule: Option<String>,
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InsightsOf {
    /// Questions closed at this moment or later.
    pub since: Timestamp,
    /// Questions closed before this moment.
    pub until: Timestamp,
    /// How far the reader's clock is ahead of UTC: where days begin.
    pub ahead_minutes: i32,
    /// How many tools, rules and people are named.
    pub names_max: usize,
}

/// A decision faster than this was hardly read.
pub const HASTY: Millis = Millis::from_secs(3);

/// The upper bounds of the classes that times to decision are counted in; the last class is open.
pub const TOOK_MAX: [Millis; 9] = [
    HASTY,
    Millis::from_secs(10),
    Millis::from_secs(30),
    Millis::from_secs(60),
    Millis::from_secs(5 * 60),
    Millis::from_secs(15 * 60),
    Millis::from_secs(3600),
    Millis::from_secs(4 * 3600),
    Millis::from_secs(24 * 3600),
];

/// What was asked and decided in a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insights {
    /// How many ended how on which day, counted in days since 1970 on the reader's clock; in order.
    pub days: Vec<(i64, Ending, u64)>,
    /// How many decisions took how long, by class of [`TOOK_MAX`].
    pub took: Vec<u64>,
    /// Half of all decisions were faster than this.
    pub median: Option<Millis>,
    /// Nine of ten decisions were faster than this.
    pub ninetieth: Option<Millis>,
    /// All questions.
    pub all: Tally,
    /// By tool, most first. Questions without a call have none.
    pub tools: Vec<(Option<String>, Tally)>,
    /// By rule, most first. Nothing: no rule asked, but a step of policy.
    pub rules: Vec<(Option<String>, Tally)>,
    /// By person who decided, most first.
    pub people: Vec<(Option<String>, Tally)>,
}

/// How many questions of one kind there were, and what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// All that closed.
    pub requests: u64,
    /// People decided.
    pub decided: u64,
    /// People let the call run.
    pub approved: u64,
    /// A person said no.
    pub rejected: u64,
    /// Time ran out.
    pub expired: u64,
    /// A person changed the arguments.
    pub edited: u64,
    /// Decided in less than [`HASTY`].
    pub hasty: u64,
    /// How long decisions took, added up.
    pub took: Millis,
}

impl Tally {
    /// No questions at all.
    pub const NONE: Self = Self {
        requests: 0,
        decided: 0,
        approved: 0,
        rejected: 0,
        expired: 0,
        edited: 0,
        hasty: 0,
        took: Millis::ZERO,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_is_read_as_it_was_written() {
        for ending in Ending::ALL {
            assert_eq!(Ending::parse(ending.as_str()), Some(ending));
        }
        assert_eq!(Ending::parse("pending"), None);
    }
}
