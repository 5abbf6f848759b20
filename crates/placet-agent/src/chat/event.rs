//! The eight events of a conversation, with the names of the interaction document.

use std::fmt;
use std::str::FromStr;

use placet_core::ids::{CallId, InteractionId, SessionId};
use placet_core::interaction::{InteractionRequest, Resolution};
use placet_core::journal::Event;
use placet_core::listing::Committed;
use placet_core::outcome::Outcome;
use placet_core::run::{RequestedCall, RunEnd, Usage};
use placet_core::time::Timestamp;
use serde_json::{Map, Value, json};

/// One event of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatEvent {
    /// Where the conversation goes on after it. Absent for what is not stored.
    pub id: Option<EventId>,
    /// In which session.
    pub session: SessionId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A user wrote, and the agent begins; or a run is going on, and it is read after the turn.
    Started {
        /// What was said.
        message: String,
        /// By whom.
        by: Option<String>,
        /// Whether a run began with it.
        begins: bool,
    },
    /// The model has spoken.
    Thinking {
        /// Which turn.
        iteration: u32,
        /// Its words.
        text: String,
        /// Its thoughts, when it shows them.
        thinking: Option<String>,
        /// What it cost.
        usage: Usage,
    },
    /// A piece of what the model is saying. Not stored; the whole follows.
    Saying {
        /// In which turn.
        iteration: u32,
        /// The piece.
        delta: String,
        /// Whether it is a thought.
        thought: bool,
    },
    /// The model could not be heard to the end, and is asked again: what it was saying does not count. Not stored.
    BeginsAgain {
        /// In which turn.
        iteration: u32,
        /// What went wrong.
        why: String,
    },
    /// The model wants a call made.
    Action {
        /// In which turn.
        iteration: u32,
        /// Our name for it.
        call: CallId,
        /// Which tool.
        tool: String,
        /// With what.
        args: Value,
    },
    /// A call has its result.
    Observation {
        /// Which call.
        call: CallId,
        /// Whether it ran and succeeded.
        ok: bool,
        /// Its output, or the typed reason why it did not run.
        output: Value,
    },
    /// People are asked.
    Interaction {
        /// The question.
        request: Box<InteractionRequest>,
    },
    /// They have answered, or time did.
    InteractionResolved {
        /// Which question.
        request: InteractionId,
        /// How.
        resolution: Resolution,
    },
    /// The run has ended, as it should or because a person ended it.
    Completed {
        /// How.
        how: RunEnd,
        /// The model's last words.
        text: String,
    },
    /// The run has ended because it could not go on.
    Error {
        /// Why.
        how: RunEnd,
    },
}

impl What {
    /// Its name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "STARTED",
            Self::Thinking { .. } | Self::Saying { .. } | Self::BeginsAgain { .. } => "THINKING",
            Self::Action { .. } => "ACTION",
            Self::Observation { .. } => "OBSERVATION",
            Self::Interaction { .. } => "INTERACTION",
            Self::InteractionResolved { .. } => "INTERACTION_RESOLVED",
            Self::Completed { .. } => "COMPLETED",
            Self::Error { .. } => "ERROR",
        }
    }

    /// Whether the run ends with it.
    pub const fn is_last(&self) -> bool {
        matches!(self, Self::Completed { .. } | Self::Error { .. })
    }

    /// What it carries on the wire.
    pub fn data(&self) -> Value {
        let data = match self {
            Self::Started { message, by, begins } => {
                json!({ "message": message, "by": by, "queued": !begins })
            }
            Self::Thinking {
                iteration,
                text,
                thinking,
                usage,
            } => json!({ "iteration": iteration, "text": text, "thinking": thinking, "usage": usage }),
            Self::Saying {
                iteration,
                delta,
                thought,
            } => {
                let kind = if *thought { "thinkingDelta" } else { "delta" };
                json!({ "iteration": iteration, kind: delta })
            }
            Self::BeginsAgain { iteration, why } => {
                json!({ "iteration": iteration, "again": true, "why": why })
            }
            Self::Action {
                iteration,
                call,
                tool,
                args,
            } => json!({ "iteration": iteration, "callId": call, "tool": tool, "args": args }),
            Self::Observation { call, ok, output } => json!({ "callId": call, "ok": ok, "output": output }),
            Self::Interaction { request } => json!(request),
            Self::InteractionResolved { request, resolution } => resolved(request, resolution),
            Self::Completed { how, text } => {
                json!({ "how": how.name(), "text": text, "message": how.to_string(), "end": how })
            }
            Self::Error { how } => json!({ "how": how.name(), "message": how.to_string(), "end": how }),
        };
        without_nulls(data)
    }
}

impl ChatEvent {
    /// The body of the event on the wire.
    pub fn to_json(&self) -> Value {
        json!({
            "type": self.what.name(),
            "sessionId": self.session,
            "timestamp": self.at.to_string(),
            "data": self.what.data(),
        })
    }
}

fn resolved(request: &InteractionId, resolution: &Resolution) -> Value {
    let mut data = Map::new();
    data.insert("requestId".into(), json!(request));
    data.insert("resolution".into(), resolution.name().into());
    if let Resolution::Answered { ballot, action, by } = resolution {
        data.insert("selectedOptionId".into(), ballot.option.clone().into());
        data.insert("action".into(), json!(action));
        data.insert("by".into(), json!(by));
        data.insert("feedback".into(), json!(ballot.feedback));
    }
    Value::Object(data)
}

fn without_nulls(mut data: Value) -> Value {
    if let Some(fields) = data.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    data
}

/// What a row is in a conversation. The question of an `asked` row is not in here: showing it takes a look at the store.
pub(super) fn of_row(row: &Committed, agent: &str, last_words: &str) -> Vec<What> {
    match &row.event {
        Event::RunStarted(run) => vec![What::Started {
            message: run.task.clone(),
            by: run.origin.user.as_ref().map(ToString::to_string),
            begins: true,
        }],
        Event::UserSaid { text, by } => vec![What::Started {
            message: text.clone(),
            by: by.as_ref().map(ToString::to_string),
            begins: false,
        }],
        Event::ModelTurn(turn) => {
            let thinking = What::Thinking {
                iteration: turn.turn,
                text: turn.text.clone(),
                thinking: turn.thinking.clone(),
                usage: turn.usage,
            };
            let wanted = turn
                .calls
                .iter()
                .flat_map(|call| wanted(turn.turn, &call.id, &call.wanted));
            std::iter::once(thinking).chain(wanted).collect()
        }
        Event::CallReceived {
            call,
            outcome: Some(outcome),
            ..
        } if call.origin.agent.as_str() == agent => observed(&call.id, outcome),
        Event::Settled { call, outcome, .. } if call.agent.as_str() == agent => observed(&call.call, outcome),
        Event::Finished { call, result, .. } if call.agent.as_str() == agent => vec![What::Observation {
            call: call.call.clone(),
            ok: result.ok,
            output: result.output.clone().into(),
        }],
        Event::Resolved {
            interaction,
            resolution,
        } => vec![What::InteractionResolved {
            request: interaction.clone(),
            resolution: resolution.clone(),
        }],
        Event::RunEnded { how } => vec![match how {
            RunEnd::Completed | RunEnd::Terminated { .. } | RunEnd::Interrupted { .. } => What::Completed {
                how: how.clone(),
                text: last_words.to_owned(),
            },
            RunEnd::Failed { .. } | RunEnd::LimitReached { .. } | RunEnd::TimedOut => {
                What::Error { how: how.clone() }
            }
        }],
        _ => Vec::new(),
    }
}

/// A call, and at once its result when it is invalid.
fn wanted(iteration: u32, id: &CallId, wanted: &RequestedCall) -> Vec<What> {
    let (tool, args, why) = match wanted {
        RequestedCall::Call { tool, args } => (tool.as_str(), args.as_value().clone(), None),
        RequestedCall::Nonsense { tool, args, why } => (tool.as_str(), args.clone().into(), Some(why)),
    };
    let action = What::Action {
        iteration,
        call: id.clone(),
        tool: tool.to_owned(),
        args,
    };
    let observation = why.map(|why| What::Observation {
        call: id.clone(),
        ok: false,
        output: json!({ "executed": false, "outcome": "not_a_call", "explanation": why }),
    });
    std::iter::once(action).chain(observation).collect()
}

fn observed(call: &CallId, outcome: &Outcome) -> Vec<What> {
    let observation = outcome.result_for_model().map(|output| What::Observation {
        call: call.clone(),
        // An answer is what a question wanted.
        ok: matches!(outcome, Outcome::Info { .. }),
        output,
    });
    observation.into_iter().collect()
}

/// Where a conversation goes on: after this part of this row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId {
    row: u64,
    part: u32,
}

impl EventId {
    /// After everything of a row.
    pub const fn after_row(row: u64) -> Self {
        Self { row, part: u32::MAX }
    }

    pub(super) const fn new(row: u64, part: u32) -> Self {
        Self { row, part }
    }

    /// The journal row.
    pub const fn row(self) -> u64 {
        self.row
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.row, self.part)
    }
}

/// Not the id of an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of an event")]
pub struct EventIdError(String);

impl FromStr for EventId {
    type Err = EventIdError;

    fn from_str(text: &str) -> Result<Self, EventIdError> {
        let (row, part) = text
            .split_once('.')
            .ok_or_else(|| EventIdError(text.to_owned()))?;
        match (row.parse(), part.parse()) {
            (Ok(row), Ok(part)) => Ok(Self { row, part }),
            _ => Err(EventIdError(text.to_owned())),
        }
    }
}
