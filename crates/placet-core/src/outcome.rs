//! What became of a call: the one result every call gets, and what the model reads.
//!
//! Each way of not running has a name of its own. "Expired" is not "the user refused", and neither can be read as success.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::call::{Args, CallDigest};
use crate::findings::Judgement;
use crate::ids::{ChannelName, PersonId};
use crate::messages::{Explain, Message, text};
use crate::time::{Millis, Timestamp};
use crate::verdict::Reason;

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// Policy lets it run.
    Allowed,
    /// People let it run.
    Approved {
        /// All whose approval it took.
        by: Vec<PersonId>,
        /// Exactly what may run.
        digest: CallDigest,
        /// The arguments they changed it to, if they did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<Args>,
        /// What policy said about those arguments, and what was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judgement: Option<Box<Judgement>>,
        /// Something they add.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
        /// Until when the same call in this chat need not be asked again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remembered_until: Option<Timestamp>,
    },
    /// It must not run; no approver was asked.
    Denied {
        /// Why.
        denial: Denial,
    },
    /// A person said no.
    Rejected {
        /// Who.
        by: PersonId,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Something they add.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
    },
    /// A person wants something else.
    Retry {
        /// Who.
        by: PersonId,
        /// What.
        feedback: String,
        /// Something they add.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
    },
    /// A person gave information instead.
    Info {
        /// Who.
        by: PersonId,
        /// In words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
        /// As data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Map<String, Value>>,
        /// Something they add.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
    },
    /// A person left it out.
    Skipped {
        /// Who.
        by: PersonId,
        /// Something they add.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
    },
    /// A person ended the run.
    Terminated {
        /// Who.
        by: PersonId,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The deadline passed without a decision.
    Expired {
        /// How long they had.
        after: Millis,
        /// What silence stands for, when the question said so; in the words of the asker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<Map<String, Value>>,
    },
    /// The question was withdrawn.
    Cancelled {
        /// Why, in a sentence.
        why: String,
    },
    /// It was allowed to run once, and it is unknown whether it did. It does not run again.
    MayHaveRun {
        /// What became of the question about it.
        then: Box<Outcome>,
    },
}

/// Why a call was refused without asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Denial {
    /// Policy says no.
    Policy {
        /// Why.
        reason: Reason,
    },
    /// A person would have to agree, and no approver can be reached.
    NobodyToAsk {
        /// Why not.
        why: Nobody,
    },
    /// Too many questions are open already.
    TooManyOpen {
        /// How many are allowed.
        max: u32,
        /// Whose they are.
        #[serde(default, skip_serializing_if = "OpenOf::is_session")]
        of: OpenOf,
    },
    /// The same call was rejected in this session before.
    RejectedBefore {
        /// By whom.
        by: PersonId,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The session has been ended.
    SessionOver,
}

/// Why no one can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "nobody", rename_all = "snake_case")]
pub enum Nobody {
    /// A chat without a user.
    UnknownUser,
    /// A chat account that the operator has not linked to a person.
    Unlinked {
        /// The account.
        user: PersonId,
    },
    /// An account that is asked nowhere: its channel is not connected, and it cannot sign in to the inbox.
    NoAccount {
        /// The account.
        user: PersonId,
    },
    /// A chat that cannot be reached.
    NoChannel {
        /// Its channel.
        channel: ChannelName,
    },
    /// Neither chat nor inbox.
    NoInbox,
    /// A quorum that can never be reached.
    TooFew {
        /// How many are needed.
        quorum: u32,
        /// How many there are.
        able: u32,
    },
    /// The question could not be delivered.
    Undeliverable {
        /// The channel's error.
        error: String,
    },
    /// A sentence, in rows of versions that stored sentences.
    #[serde(untagged)]
    Written(String),
}

impl Explain for Nobody {
    fn message(&self) -> Message {
        match self {
            Self::Written(text) => text::as_written(text),
            coded => Message::of("nobody", coded),
        }
    }
}

crate::display_in_english!(Nobody);

/// Whose open questions are counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OpenOf {
    /// The session's.
    #[default]
    Session,
    /// The agent's, in all its sessions.
    Agent,
    /// Those that name this person as approver.
    Person(PersonId),
}

impl OpenOf {
    fn is_session(&self) -> bool {
        *self == Self::Session
    }
}

impl std::fmt::Display for OpenOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Session => f.write_str("in this session"),
            Self::Agent => f.write_str("for this agent"),
            Self::Person(person) => write!(f, "for {person}"),
        }
    }
}

/// The status of a call, as on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are those of design §6")]
pub enum CallStatus {
    Allowed,
    Denied,
    Pending,
    Approved,
    Rejected,
    Retry,
    Info,
    Skipped,
    Terminated,
    Expired,
    Cancelled,
}

impl CallStatus {
    /// As on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Retry => "retry",
            Self::Info => "info",
            Self::Skipped => "skipped",
            Self::Terminated => "terminated",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Outcome {
    /// Its status on the wire.
    pub const fn status(&self) -> CallStatus {
        match self {
            Self::Allowed => CallStatus::Allowed,
            Self::Approved { .. } => CallStatus::Approved,
            Self::Denied { .. } => CallStatus::Denied,
            Self::Rejected { .. } => CallStatus::Rejected,
            Self::Retry { .. } => CallStatus::Retry,
            Self::Info { .. } => CallStatus::Info,
            Self::Skipped { .. } => CallStatus::Skipped,
            Self::Terminated { .. } => CallStatus::Terminated,
            Self::Expired { .. } => CallStatus::Expired,
            Self::Cancelled { .. } => CallStatus::Cancelled,
            Self::MayHaveRun { then } => then.status(),
        }
    }

    /// Whether the call may run.
    pub const fn permits(&self) -> bool {
        matches!(self, Self::Allowed | Self::Approved { .. })
    }

    /// What policy said about the arguments that a person changed the call to, and what was found.
    pub fn judgement(&self) -> Option<&Judgement> {
        match self {
            Self::Approved { judgement, .. } => judgement.as_deref(),
            _ => None,
        }
    }

    /// What a person added for the agent, to follow the results as a user message.
    pub fn instruction(&self) -> Option<&str> {
        match self {
            Self::Approved { instruction, .. }
            | Self::Rejected { instruction, .. }
            | Self::Retry { instruction, .. }
            | Self::Info { instruction, .. }
            | Self::Skipped { instruction, .. } => instruction.as_deref(),
            Self::MayHaveRun { then } => then.instruction(),
            Self::Allowed
            | Self::Denied { .. }
            | Self::Terminated { .. }
            | Self::Expired { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// What the model reads as the call's result when there is no output to read; `None` when it may run.
    pub fn result_for_model(&self) -> Option<Value> {
        let (reason, mut said) = match self {
            Self::Allowed | Self::Approved { .. } => return None,
            Self::Denied { denial } => (denial.code(), json!({ "explanation": denial.to_string() })),
            Self::Rejected { reason, .. } => ("rejected_by_person", json!({ "reason": reason })),
            Self::Retry { feedback, .. } => ("try_again_with_feedback", json!({ "feedback": feedback })),
            Self::Info { feedback, data, .. } => (
                "information_provided",
                json!({ "feedback": feedback, "data": data }),
            ),
            Self::Skipped { .. } => ("skipped_by_person", json!({})),
            Self::Terminated { reason, .. } => ("run_terminated_by_person", json!({ "reason": reason })),
            Self::Expired { after, default: None } => (
                "expired",
                json!({ "explanation": format!("no approver answered within {after}; this is not a rejection by a person") }),
            ),
            Self::Expired { after, default } => (
                "expired",
                json!({
                    "explanation": format!("no approver answered within {after}; your default is taken"),
                    "data": default,
                }),
            ),
            Self::Cancelled { why } => ("cancelled", json!({ "explanation": why })),
            Self::MayHaveRun { then } => return then.result_after_a_lost_run(),
        };
        if let Some(fields) = said.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
            fields.insert("executed".into(), Value::Bool(false));
            fields.insert("outcome".into(), Value::from(reason));
        }
        Some(said)
    }

    /// The same after a run whose end was not recorded: to say "not executed" would be a lie, and the model would try again.
    fn result_after_a_lost_run(&self) -> Option<Value> {
        let mut said = self.result_for_model()?;
        let (executed, explanation) = match self {
            Self::Info { .. } => (
                Value::Bool(true),
                "the run of this call was interrupted; a person says to treat it as done; its output is lost",
            ),
            _ => (
                Value::from("unknown"),
                "the run of this call was interrupted; it may or may not have happened, and it is not run again",
            ),
        };
        if let Some(fields) = said.as_object_mut() {
            fields.insert("executed".into(), executed);
            fields.insert("explanation".into(), Value::from(explanation));
        }
        Some(said)
    }
}

impl Denial {
    /// A stable name for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Policy { .. } => "denied_by_policy",
            Self::NobodyToAsk { .. } => "nobody_to_ask",
            Self::TooManyOpen { .. } => "too_many_open_questions",
            Self::RejectedBefore { .. } => "rejected_before",
            Self::SessionOver => "session_over",
        }
    }
}

impl std::fmt::Display for Denial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Policy { reason } => write!(f, "policy does not allow this: {reason}"),
            Self::NobodyToAsk { why } => {
                write!(f, "a person must approve, and no approver is available: {why}")
            }
            Self::TooManyOpen { max, of } => {
                write!(
                    f,
                    "{max} requests are pending {of} already; wait for their decisions"
                )
            }
            Self::RejectedBefore {
                by,
                reason: Some(reason),
            } => {
                write!(f, "{by} rejected exactly this call before: {reason}")
            }
            Self::RejectedBefore { by, reason: None } => write!(f, "{by} rejected exactly this call before"),
            Self::SessionOver => f.write_str("this session has been ended"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::tests::{check, table};

    /// The key of its sentence. A new variant does not compile until it has one.
    fn key(nobody: &Nobody) -> &'static str {
        match nobody {
            Nobody::UnknownUser => "unknown_user",
            Nobody::Unlinked { .. } => "unlinked",
            Nobody::NoAccount { .. } => "no_account",
            Nobody::NoChannel { .. } => "no_channel",
            Nobody::NoInbox => "no_inbox",
            Nobody::TooFew { .. } => "too_few",
            Nobody::Undeliverable { .. } => "undeliverable",
            Nobody::Written(_) => "written",
        }
    }

    #[test]
    fn every_reason_not_to_ask_has_a_sentence_and_those_of_older_rows_are_read_as_written() {
        check::<Nobody>("nobody");
        for sentence in table("nobody") {
            let json = json!({"nobody": sentence, "user": "u", "channel": "c", "quorum": 2, "able": 1, "error": "e"});
            assert_eq!(key(&serde_json::from_value(json).unwrap()), sentence);
        }
        assert_eq!(table("nobody").len(), 7);
        let old: Denial =
            serde_json::from_value(json!({"because": "nobodyToAsk", "why": "no channel"})).unwrap();
        assert_eq!(
            old,
            Denial::NobodyToAsk {
                why: Nobody::Written("no channel".into())
            }
        );
        assert!(old.to_string().ends_with(": no channel"), "{old}");
    }

    #[test]
    fn a_call_that_did_not_run_can_never_be_read_as_success() {
        let by = PersonId::new("lin").unwrap();
        for outcome in [
            Outcome::Denied {
                denial: Denial::SessionOver,
            },
            Outcome::Rejected {
                by: by.clone(),
                reason: Some("no".into()),
                instruction: None,
            },
            Outcome::Retry {
                by: by.clone(),
                feedback: "use mv".into(),
                instruction: None,
            },
            Outcome::Info {
                by: by.clone(),
                feedback: None,
                data: None,
                instruction: None,
            },
            Outcome::Skipped {
                by: by.clone(),
                instruction: None,
            },
            Outcome::Terminated { by, reason: None },
            Outcome::Expired {
                after: Millis::from_secs(60),
                default: None,
            },
            Outcome::Cancelled {
                why: "withdrawn".into(),
            },
        ] {
            let result = outcome.result_for_model().unwrap();
            assert_eq!(result.get("executed"), Some(&Value::Bool(false)), "{outcome:?}");
            assert!(result.get("outcome").is_some_and(Value::is_string), "{outcome:?}");
        }
        assert_eq!(Outcome::Allowed.result_for_model(), None);
    }

    #[test]
    fn a_call_that_may_have_run_is_never_said_not_to_have() {
        let by = PersonId::new("lin").unwrap();
        let skipped = Outcome::Skipped {
            by: by.clone(),
            instruction: Some("look first".into()),
        };
        let lost = |then| Outcome::MayHaveRun { then: Box::new(then) };
        let result = lost(skipped.clone()).result_for_model().unwrap();
        assert_eq!(
            (result.get("executed"), result.get("outcome")),
            (
                Some(&Value::from("unknown")),
                Some(&Value::from("skipped_by_person"))
            )
        );
        assert!(!lost(skipped.clone()).permits());
        assert_eq!(lost(skipped.clone()).status(), CallStatus::Skipped);
        assert_eq!(lost(skipped).instruction(), Some("look first"));
        let treated_as_done = lost(Outcome::Info {
            by,
            feedback: None,
            data: None,
            instruction: None,
        });
        let result = treated_as_done.result_for_model().unwrap();
        assert_eq!(result.get("executed"), Some(&Value::Bool(true)));
    }

    #[test]
    fn expiry_is_reported_as_expiry_and_never_as_a_refusal() {
        let text = Outcome::Expired {
            after: Millis::from_secs(60),
            default: None,
        }
        .result_for_model()
        .unwrap()
        .to_string();
        assert!(
            text.contains("\"expired\"") && text.contains("not a rejection"),
            "{text}"
        );
    }
}
