//! An interaction: one question to people, from asked to processed.
//!
//! The middle of the flow: policy said "ask", and a call is parked until people answer or time runs out.
//!
//! Two halves, on purpose. *Deciding* ([`Pending::answer`], [`Pending::expire`], [`Pending::escalate`]) looks at what
//! a caller wants and says what happened, or why not. *Evolving* ([`Interaction::evolve`]) applies what happened. Only
//! events are stored, so recovery evolves and never decides: a rule changed in a new release cannot rewrite an old answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::call::{Args, CallDigest, Chat, ToolCall};
use crate::evidence::Evidence;
use crate::findings::Judgement;
use crate::ids::{AgentId, CallId, GroupId, InteractionId, PersonId, SessionId};
use crate::principal::{Principal, Via};
use crate::time::{Millis, Shift, Timestamp};
use crate::tool::Risk;
use crate::verdict::Answers;

mod answer;
mod asking;
mod code;
mod evolve;
mod options;
mod request;
#[cfg(test)]
mod story;

pub use crate::messages::Locale;
pub use answer::{Accepted, Answer, AnswerError, Ballot, Remember, Shown};
pub use asking::{question_in, question_of};
pub use code::Code;
pub use evolve::EvolveError;
pub use options::tool_approval_options;
pub use request::{
    Action, InteractionKind, InteractionOption, InteractionRequest, OPTIONS_MAX, REQUEST_BYTES_MAX,
    RequestError,
};

/// A call's full name: ids are unique per agent credential only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallKey {
    /// The agent's credential.
    pub agent: AgentId,
    /// The agent's id for the call.
    pub call: CallId,
}

impl CallKey {
    /// The full name of a call.
    pub fn of(call: &ToolCall) -> Self {
        Self {
            agent: call.origin.agent.clone(),
            call: call.id.clone(),
        }
    }
}

/// A question as it was asked. Only its times change afterwards, when an outage moves them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// Its id.
    pub id: InteractionId,
    /// In which session.
    pub session: SessionId,
    /// What it is about.
    pub subject: Subject,
    /// Who may answer.
    pub audience: Audience,
    /// No rule names the approvers, so an admin of the inbox may answer, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub admins: bool,
    /// How many different people must approve.
    pub quorum: u32,
    /// The person the agent works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<PersonId>,
    /// The requester may not approve.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_requester: bool,
    /// Since when people are asked.
    pub since: Timestamp,
    /// From this moment on no answer counts.
    pub deadline: Timestamp,
    /// Who else is asked, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Escalating>,
    /// The short name for typed replies.
    pub code: Code,
    /// The risk of the call.
    pub risk: Risk,
    /// The turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// The chat it is asked in; the inbox when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<Chat>,
    /// What the tool can show of the effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// What the definition of the call's tool says about it: text of another party.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_description: Option<String>,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Subject {
    /// May this call run?
    Call {
        /// Which call.
        call: CallKey,
        /// Exactly which call.
        digest: CallDigest,
        /// The answers offered.
        answers: Answers,
        /// The arguments an approver changed the call to, when others must agree to the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<Box<Edited>>,
    },
    /// The process died between claim and result: it may have happened.
    UnknownOutcome {
        /// Which call.
        call: CallKey,
        /// Exactly which call.
        digest: CallDigest,
        /// The arguments it ran with, when people had changed them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<Box<Args>>,
        /// What policy said about these arguments, and what was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judgement: Option<Box<Judgement>>,
    },
    /// Too many rejections in a row: how should the agent go on?
    Breaker {
        /// How many.
        rejections: u32,
        /// The call that waits for the answer.
        call: CallKey,
    },
    /// An agent's own question.
    Request {
        /// Who asks.
        agent: AgentId,
        /// The question.
        request: Box<InteractionRequest>,
        /// The call that puts it, when a tool does: the answer is that call's result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallKey>,
    },
}

/// A person's change to a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edited {
    /// Who changed it.
    pub by: PersonId,
    /// The new arguments.
    pub args: Args,
    /// What policy said about them, and what was found. Absent in rows of versions that did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Box<Judgement>>,
}

/// Who may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Audience {
    /// Any approver of the inbox.
    Inbox,
    /// Only these people.
    People(BTreeSet<PersonId>),
}

/// Who else is asked, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Escalating {
    /// When.
    pub at: Timestamp,
    /// Whom.
    pub to: BTreeSet<PersonId>,
}

/// One question to people, in exactly one of its states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Interaction {
    /// People may still answer; the call is parked.
    Pending(Pending),
    /// Settled, but the asker has not been told yet.
    Resolved(Resolved),
    /// The asker has been told. Nothing can happen any more.
    Processed(Resolved),
}

/// A question people may still answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The question.
    pub asked: Asked,
    /// Approvals so far, by person.
    pub votes: BTreeMap<PersonId, Ballot>,
    /// Whether the escalation has happened.
    pub escalated: bool,
}

/// A settled question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    /// The question.
    pub asked: Asked,
    /// What it came to.
    pub resolution: Resolution,
    /// When.
    pub at: Timestamp,
}

/// What all answers came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "resolution", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Resolution {
    /// People decided.
    Answered {
        /// The ballot that completed it.
        ballot: Box<Ballot>,
        /// What it means.
        action: Action,
        /// All whose approval it took, in order of name.
        by: Vec<PersonId>,
    },
    /// Time ran out.
    Expired {
        /// The default option, when the question has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
    },
    /// The question was withdrawn.
    Cancelled {
        /// Why.
        why: Cancellation,
    },
    /// Another question took its place.
    Superseded {
        /// Which one.
        by: InteractionId,
    },
}

/// Why a question was withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Cancellation {
    /// A person or the agent withdrew it.
    Withdrawn {
        /// Who.
        by: String,
    },
    /// The run was ended.
    Terminated,
    /// It could not be delivered.
    Undeliverable {
        /// What the channel said.
        error: String,
    },
    /// The result it asked about has arrived after all.
    ResultArrived,
}

impl Interaction {
    /// A question just asked.
    pub fn new(asked: Asked) -> Self {
        Self::Pending(Pending {
            asked,
            votes: BTreeMap::new(),
            escalated: false,
        })
    }

    /// The question, whatever its state.
    pub fn asked(&self) -> &Asked {
        match self {
            Self::Pending(pending) => &pending.asked,
            Self::Resolved(resolved) | Self::Processed(resolved) => &resolved.asked,
        }
    }
}

impl Asked {
    /// The call it is about, if it is about one.
    pub fn call(&self) -> Option<&CallKey> {
        match &self.subject {
            Subject::Call { call, .. }
            | Subject::UnknownOutcome { call, .. }
            | Subject::Breaker { call, .. } => Some(call),
            Subject::Request { call, .. } => call.as_ref(),
        }
    }

    /// The arguments a person changed the call to, if the question is about those.
    pub fn edited_args(&self) -> Option<&Args> {
        match &self.subject {
            Subject::Call { edited, .. } => edited.as_ref().map(|edited| &edited.args),
            Subject::UnknownOutcome { edited, .. } => edited.as_deref(),
            Subject::Breaker { .. } | Subject::Request { .. } => None,
        }
    }

    /// What policy said about those arguments, and what was found.
    pub fn judgement(&self) -> Option<&Judgement> {
        match &self.subject {
            Subject::Call { edited, .. } => edited.as_ref()?.judgement.as_deref(),
            Subject::UnknownOutcome { judgement, .. } => judgement.as_deref(),
            Subject::Breaker { .. } | Subject::Request { .. } => None,
        }
    }

    /// The agent that asks.
    pub fn agent(&self) -> &AgentId {
        match &self.subject {
            Subject::Call { call, .. }
            | Subject::UnknownOutcome { call, .. }
            | Subject::Breaker { call, .. } => &call.agent,
            Subject::Request { agent, .. } => agent,
        }
    }

    /// The risk to show: of a call what was found, of an agent's own question what the agent says, or nothing.
    pub fn stated_risk(&self) -> Option<Risk> {
        match &self.subject {
            Subject::Request { request, .. } => request.risk,
            Subject::Call { .. } | Subject::UnknownOutcome { .. } | Subject::Breaker { .. } => {
                Some(self.risk)
            }
        }
    }

    /// Which of the six kinds it is.
    pub fn kind(&self) -> InteractionKind {
        match &self.subject {
            Subject::Call { .. } => InteractionKind::ToolApproval,
            Subject::UnknownOutcome { .. } | Subject::Breaker { .. } => InteractionKind::UserChoice,
            Subject::Request { request, .. } => request.kind,
        }
    }

    /// Whether `principal` is among those asked, before or after escalation.
    pub fn concerns(&self, principal: &Principal, escalated: bool) -> bool {
        let Principal::Person { person, via } = principal else {
            return false;
        };
        let escalated_to = self.escalation.as_ref().filter(|_| escalated);
        self.audience.includes(person, via)
            || (self.admins && *via == Via::Admin)
            || escalated_to.is_some_and(|escalation| escalation.to.contains(person))
    }

    /// The same question after outages: what is left of its time is what was left before them.
    #[must_use]
    pub fn moved(mut self, by: Shift) -> Self {
        self.since = self.since + by;
        self.deadline = self.deadline + by;
        if let Some(escalation) = &mut self.escalation {
            escalation.at = escalation.at + by;
        }
        self
    }

    /// How long people have, from first to last.
    pub fn allowance(&self) -> Millis {
        self.deadline.remaining_from(self.since)
    }

    /// The digest it is bound to, if it is about a call.
    pub fn digest(&self) -> Option<CallDigest> {
        match &self.subject {
            Subject::Call { digest, .. } | Subject::UnknownOutcome { digest, .. } => Some(*digest),
            Subject::Breaker { .. } | Subject::Request { .. } => None,
        }
    }
}

impl Audience {
    fn includes(&self, person: &PersonId, via: &Via) -> bool {
        match (self, via) {
            (Self::People(people), _) => people.contains(person),
            (Self::Inbox, Via::Inbox | Via::Admin | Via::Callback) => true,
            // A chat account counts as an approver of the inbox only when the operator linked it to a name.
            (Self::Inbox, Via::Chat(_)) => person.is_configured(),
        }
    }
}

impl Pending {
    /// Whether `principal` is among those asked, escalation included.
    pub fn asks(&self, principal: &Principal) -> bool {
        self.asked.concerns(principal, self.escalated)
    }

    /// Whether time has run out. At the deadline it has.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.asked.deadline <= now
    }

    /// What happens when time runs out: the default option is taken; a call's default is always "no".
    pub fn expire(&self, now: Timestamp) -> Option<Resolution> {
        let option = match &self.asked.subject {
            Subject::Request { request, .. } => request.default_option_id.clone(),
            Subject::Call { .. } | Subject::UnknownOutcome { .. } | Subject::Breaker { .. } => None,
        };
        self.is_due(now).then_some(Resolution::Expired { option })
    }

    /// Who is asked as well from now on, if that moment has come.
    pub fn escalate(&self, now: Timestamp) -> Option<&BTreeSet<PersonId>> {
        let escalation = self.asked.escalation.as_ref()?;
        (!self.escalated && escalation.at <= now && !self.is_due(now)).then_some(&escalation.to)
    }
}
