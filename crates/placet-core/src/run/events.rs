//! What the journal says about runs.

use serde::{Deserialize, Serialize};

use crate::call::{Args, Origin};
use crate::config::Workflow;
use crate::ids::{CallId, SessionId, ToolName};
use crate::interaction::CallKey;
use crate::messages::{Explain, Message, run_end};
use crate::time::{Millis, Timestamp};

/// A run began: a user gave the built-in agent a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStarted {
    /// What it is to do.
    pub task: String,
    /// The model, by its configured name.
    pub model: String,
    /// How far it may go.
    pub limits: Limits,
    /// Where its calls come from; the person it works for is in here.
    pub origin: Origin,
    /// The folder it works in. It goes on only there: a path means something else in another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The call of another run that it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// When it has to be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The workflow it began with, whole: what becomes of the file later does not change a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Box<Workflow>>,
}

/// Whose work a run does: a call of another run. The run's end is that call's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// The session of the run that made the call.
    pub session: SessionId,
    /// The call.
    pub call: CallKey,
}

/// How far a run may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// How often the model may speak.
    pub turns_max: u32,
    /// How long it may take to speak once.
    pub turn_timeout: Millis,
    /// How long one call may run.
    pub call_timeout: Millis,
}

impl Limits {
    /// Enough for a long task; short enough that a loop is noticed.
    pub const USUAL: Self = Self {
        turns_max: 50,
        turn_timeout: Millis::from_secs(300),
        call_timeout: Millis::from_secs(600),
    };
}

/// The model spoke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelTurn {
    /// Which turn of the run, counted from 1.
    pub turn: u32,
    /// What it said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What it thought, when it shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// What it wants done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// What it cost.
    pub usage: Usage,
    /// Why it had not said all of it, when it was stopped; its calls are dropped then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

/// One call of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCall {
    /// Our name for it. A model's own names repeat from turn to turn.
    pub id: CallId,
    /// What it wants.
    #[serde(flatten)]
    pub wanted: RequestedCall,
}

/// What a model wants with one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "wanted", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RequestedCall {
    /// A call that can be judged.
    Call {
        /// Which tool.
        tool: ToolName,
        /// With what.
        args: Args,
    },
    /// Not a call: no such tool, or arguments that are none. Never judged and never run; the model is told why.
    Nonsense {
        /// The tool it named.
        tool: String,
        /// What it wrote as arguments.
        args: String,
        /// What is wrong with it.
        why: String,
    },
}

/// What a turn cost, as the provider counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RunEnd {
    /// The model has said its last word.
    Completed,
    /// A person ended it.
    Terminated {
        /// Who.
        by: String,
    },
    /// A person stopped it and continues the conversation.
    Interrupted {
        /// Who.
        by: String,
    },
    /// It cannot go on.
    Failed {
        /// Why, in a sentence.
        why: String,
    },
    /// It went as far as it may.
    LimitReached {
        /// How often the model spoke.
        turns: u32,
    },
    /// It took as long as it may.
    TimedOut,
}

impl ModelCall {
    /// The tool it names, whether there is one or not.
    pub fn tool(&self) -> &str {
        match &self.wanted {
            RequestedCall::Call { tool, .. } => tool.as_str(),
            RequestedCall::Nonsense { tool, .. } => tool,
        }
    }
}

impl RunEnd {
    /// Its name, as stored and as shown.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Terminated { .. } => "terminated",
            Self::Interrupted { .. } => "interrupted",
            Self::Failed { .. } => "failed",
            Self::LimitReached { .. } => "limitReached",
            Self::TimedOut => "timedOut",
        }
    }

    /// Whether its session has ended with it. After any other end a run begins with the messages that came after people interrupted
    /// this one.
    pub const fn ends_the_session(&self) -> bool {
        matches!(self, Self::Terminated { .. })
    }
}

impl Explain for RunEnd {
    fn message(&self) -> Message {
        match self {
            Self::Completed => run_end::completed(),
            Self::Terminated { by } => run_end::terminated(by),
            Self::Interrupted { by } => run_end::interrupted(by),
            Self::Failed { why } => run_end::failed(why),
            Self::LimitReached { turns } => run_end::limit_reached(*turns),
            Self::TimedOut => run_end::timed_out(),
        }
    }
}

crate::display_in_english!(RunEnd);
