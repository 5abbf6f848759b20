//! What the model reads: the task, its own words, one result per call, and what people say.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Answer, ModelCall, RequestedCall, Slot};
use crate::call::Args;
use crate::ids::{CallId, PersonId};
use crate::journal::CallResult;
use crate::outcome::Outcome;

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Message {
    /// What a person said.
    User {
        /// In their words.
        text: String,
    },
    /// What the model said and wanted.
    Model {
        /// In its words.
        text: String,
        /// Its calls.
        calls: Vec<ModelCall>,
    },
    /// What became of one call.
    Result {
        /// Which call.
        call: CallId,
        /// Whether it ran and succeeded.
        ok: bool,
        /// What it returned, or a typed reason why it did not run.
        text: String,
    },
}

impl Message {
    /// What a user said during a run. The model must not take it for the answer to a question that was open.
    pub(super) fn said(text: &str, by: Option<&PersonId>, waiting: &[&str]) -> Self {
        let text = if waiting.is_empty() {
            text.to_owned()
        } else {
            let who = by.map_or("the user", PersonId::as_str);
            let calls = waiting.join("`, `");
            format!(
                "[{who} wrote this while your call of `{calls}` was still waiting for a person's decision. \
                 It is not that decision; the result above is.]\n{text}"
            )
        };
        Self::User { text }
    }

    /// Why the model was not let go on. It would otherwise take the next message for an answer to what it meant to say.
    pub(super) fn interrupted(by: &str) -> Self {
        Self::User {
            text: format!("[{by} interrupted you here. What you were doing has been stopped.]"),
        }
    }

    /// The one result of a call.
    pub(super) fn result(slot: &Slot, answer: &Answer) -> Self {
        let (ok, text) = match answer {
            Answer::Ran { result, outcome } => (result.ok, ran(slot, result, outcome)),
            Answer::NotRun(outcome) => (false, not_run(outcome)),
            Answer::Nonsense(why) => (false, reason("not_a_call", why)),
            Answer::Undecided => (
                false,
                reason("undecided", "the run ended before this call was decided"),
            ),
        };
        Self::Result {
            call: slot.call.id.clone(),
            ok,
            text,
        }
    }

    /// What a person added for the agent.
    pub(super) fn instruction(answer: &Answer) -> Option<Self> {
        let outcome = match answer {
            Answer::Ran { outcome, .. } | Answer::NotRun(outcome) => outcome,
            Answer::Nonsense(_) | Answer::Undecided => return None,
        };
        outcome.instruction().map(|text| Self::User {
            text: text.to_owned(),
        })
    }
}

/// The output; and that a person changed the arguments, old and new.
fn ran(slot: &Slot, result: &CallResult, outcome: &Outcome) -> String {
    let mut text = String::new();
    if let (
        Outcome::Approved {
            edited: Some(new),
            by,
            ..
        },
        RequestedCall::Call { args: old, .. },
    ) = (outcome, &slot.call.wanted)
    {
        let who: Vec<&str> = by.iter().map(PersonId::as_str).collect();
        text = changed(&who.join(", "), old, new);
    }
    if slot.same_as.is_some() {
        text.push_str("[you made the same call twice; it ran once, and this is its result]\n");
    }
    text.push_str(&result.output);
    let kept = u64::try_from(result.output.len()).unwrap_or(u64::MAX);
    if kept < result.bytes {
        let bytes = result.bytes;
        let _ = write!(
            text,
            "\n[{kept} of {bytes} bytes are shown; the rest was not kept]"
        );
    }
    text
}

fn changed(who: &str, old: &Args, new: &Args) -> String {
    format!(
        "[{who} changed the arguments before it ran. You proposed {}; it ran with {}]\n",
        old.canonical(),
        new.canonical()
    )
}

fn not_run(outcome: &Outcome) -> String {
    let said = outcome.result_for_model();
    said.map_or_else(
        || reason("undecided", "the run ended before this call ran"),
        |said| said.to_string(),
    )
}

fn reason(outcome: &str, explanation: &str) -> String {
    let said: Value = json!({ "executed": false, "outcome": outcome, "explanation": explanation });
    said.to_string()
}
