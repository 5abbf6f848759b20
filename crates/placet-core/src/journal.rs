//! The journal: everything that happened, in order, chained.
//!
//! Truth, audit trail and replay source in one. Each session has its own chain of rows: a row's hash covers the row before
//! it, so a changed, removed or reordered row is found. A second chain of checkpoints covers the heads of all sessions,
//! so that a session cut short or removed whole is found too.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{CallDigest, ToolCall};
use crate::digest::Digest;
use crate::findings::StoredFindings;
use crate::ids::{ChannelName, ChatId, InteractionId, PersonId, SessionId, StandingGrantId, ToolName};
use crate::interaction::{Asked, Ballot, CallKey, Resolution};
use crate::outcome::Outcome;
use crate::policy::Mode;
use crate::run::{ModelTurn, RunEnd, RunStarted};
use crate::standing::StandingGrant;
use crate::time::{Millis, Timestamp};
use crate::variables::Variables;
use crate::verdict::Verdict;

/// The session of events that concern no session in particular.
pub const SYSTEM_SESSION: &str = "placet";

/// Something that happened. Only events are stored; everything else is derived from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// An agent proposed a call, and policy judged it.
    CallReceived {
        /// The call.
        call: Box<ToolCall>,
        /// Its digest.
        digest: CallDigest,
        /// The judgement.
        verdict: Box<Verdict>,
        /// What it was found to do. Absent in rows of versions that did not store it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        findings: Option<StoredFindings>,
        /// Under which version of the policy.
        policy: Digest,
        /// What became of it, unless a question follows in the same step. If it permits the call, grant 1 is issued.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<Box<Outcome>>,
    },
    /// A question was asked.
    Asked(Box<Asked>),
    /// A call was found to be the same as one already asked about: one question, two waiters, one grant.
    Joined {
        /// The call that joined.
        call: CallKey,
        /// The call it is the same as.
        same_as: CallKey,
        /// The question both wait for.
        interaction: InteractionId,
    },
    /// A question was escalated to more people.
    Escalated {
        /// Which question.
        interaction: InteractionId,
        /// Whom.
        to: BTreeSet<PersonId>,
    },
    /// One person approved; more are needed.
    Voted {
        /// Which question.
        interaction: InteractionId,
        /// Their vote.
        ballot: Ballot,
    },
    /// A person said something about a question to the other people. No agent sees it.
    Commented {
        /// Which question.
        interaction: InteractionId,
        /// Who.
        by: PersonId,
        /// What.
        text: String,
    },
    /// A question was settled.
    Resolved {
        /// Which question.
        interaction: InteractionId,
        /// How.
        resolution: Resolution,
    },
    /// The asker has been told.
    Processed {
        /// Which question.
        interaction: InteractionId,
    },
    /// A call that had to wait has its outcome. If that permits it, a grant is issued.
    Settled {
        /// Which call.
        call: CallKey,
        /// What became of it.
        outcome: Box<Outcome>,
        /// The number of the grant, counted from 1, when one is issued.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<u32>,
    },
    /// A grant was claimed: the call is about to run.
    Claimed {
        /// Which call.
        call: CallKey,
        /// Which of its grants.
        grant: u32,
        /// Until when the claimant promised a result; bound to the process when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease: Option<Timestamp>,
        /// The process it is bound to. Absent with a lease, where a run does the call, and in rows of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<String>,
        /// The session of the run that does it; it began in the same step and ends with the call's result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<SessionId>,
    },
    /// The call ran.
    Finished {
        /// Which call.
        call: CallKey,
        /// Which of its grants.
        grant: u32,
        /// Its result.
        result: CallResult,
    },
    /// It is unknown whether the call ran.
    LostTrack {
        /// Which call.
        call: CallKey,
        /// Which of its grants.
        grant: u32,
    },
    /// A person said "don't ask again".
    StandingGiven(Box<StandingGrant>),
    /// A standing grant let a call run.
    StandingUsed {
        /// Which grant.
        id: StandingGrantId,
        /// Which call.
        call: CallKey,
    },
    /// A standing grant was revoked.
    StandingRevoked {
        /// Which grant.
        id: StandingGrantId,
        /// By whom.
        by: PersonId,
    },
    /// A tool was put on the session's allow-list.
    ToolAllowed {
        /// Which tool.
        tool: ToolName,
        /// By whom.
        by: PersonId,
    },
    /// The session's mode was changed.
    ModeSet {
        /// To what.
        mode: Mode,
        /// By whom.
        by: PersonId,
    },
    /// The session was ended. Nothing runs in it any more.
    SessionEnded {
        /// By whom.
        by: String,
    },
    /// A message that answers no question waits for the agent.
    MessageQueued(Box<InboundMessage>),
    /// The built-in agent began to work on a task.
    RunStarted(Box<RunStarted>),
    /// A user wrote to the built-in agent while it worked. The model reads it after the turn.
    UserSaid {
        /// What.
        text: String,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<PersonId>,
    },
    /// The built-in agent's model spoke.
    ModelTurn(Box<ModelTurn>),
    /// A person stopped what the built-in agent is doing. What runs is stopped, nothing is begun, and the run ends.
    RunInterrupted {
        /// Who.
        by: PersonId,
    },
    /// A person changed variables of the workflow that the built-in agent works on, in an answer.
    VariablesChanged {
        /// The question that was answered.
        interaction: InteractionId,
        /// Who.
        by: PersonId,
        /// The variables as they were.
        before: Variables,
        /// The variables as they are from here on.
        after: Variables,
    },
    /// The built-in agent stopped working.
    RunEnded {
        /// How.
        #[serde(flatten)]
        how: RunEnd,
    },
    /// A copy of a question, or of its outcome, reached a surface.
    Delivered {
        /// Which question.
        interaction: InteractionId,
        /// On which channel.
        channel: ChannelName,
        /// In which chat.
        chat: ChatId,
        /// The surface's own reference, for updating the copy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipt: Option<String>,
    },
    /// Time passed in which approvers could not be served: nothing was running, or the clock was set. Moves every pending
    /// deadline by its length; back, if the clock was set back. Stored in the system session.
    Outage {
        /// The last moment before it, on the clock of that time.
        from: Timestamp,
        /// The first moment after it.
        until: Timestamp,
    },
    /// Placet started. Stored in the system session.
    Started {
        /// How long nothing was running. Only in rows of older versions; an `Outage` says it now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        down_for: Option<Millis>,
        /// Under which version of the policy.
        policy: Digest,
        /// The folder agents work in: a process that joins judges paths by it too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The checkpoints so far. The chain of the journal holds this, so removed checkpoints are missed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkpoints: Option<Checkpoints>,
    },
}

/// How many checkpoints there are, and the hash of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Checkpoints {
    /// How many.
    pub count: u64,
    /// The last one's hash; [`genesis`] before the first.
    pub head: Digest,
}

/// A message from a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InboundMessage {
    /// The channel.
    pub channel: ChannelName,
    /// The chat.
    pub chat_id: ChatId,
    /// The sender's account there.
    pub sender_id: String,
    /// The channel's id of the message. The same message twice is one message.
    pub message_id: String,
    /// What they wrote.
    pub content: String,
    /// Who wrote it, as far as the channel can tell.
    #[serde(default, skip_serializing_if = "Author::is_human")]
    pub author: Author,
}

/// Who wrote a message, as far as the channel can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Author {
    /// A human's account.
    #[default]
    Human,
    /// An automatic account; it never answers anything.
    Bot,
}

impl Author {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_human(&self) -> bool {
        *self == Self::Human
    }
}

/// What a call returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallResult {
    /// Whether it succeeded.
    pub ok: bool,
    /// What it returned, as text; the first [`OUTPUT_BYTES_KEPT`] bytes of it.
    pub output: String,
    /// The digest of all of it.
    pub digest: Digest,
    /// How long all of it was.
    pub bytes: u64,
}

/// How much of a call's output the journal keeps. The digest covers all of it.
pub const OUTPUT_BYTES_KEPT: usize = 64 * 1024;

impl CallResult {
    /// Keeps what the journal keeps of an output.
    pub fn new(ok: bool, output: &str) -> Self {
        let kept = output.floor_char_boundary(OUTPUT_BYTES_KEPT);
        Self {
            ok,
            output: output.get(..kept).unwrap_or_default().to_owned(),
            digest: Digest::of("placet/output/1", &[output.as_bytes()]),
            bytes: output.len() as u64,
        }
    }
}

impl Event {
    /// Whether it changes what decisions about other calls of its session look at. Such an event makes a new version of the
    /// session. What only concerns one call is compared and set in that call's own row instead, so that calls of one session
    /// do not hold each other up.
    pub const fn changes_session(&self) -> bool {
        match self {
            Self::CallReceived { outcome, .. } => outcome.is_none(),
            Self::Claimed { child, .. } => child.is_some(),
            Self::Joined { .. }
            | Self::Finished { .. }
            | Self::LostTrack { .. }
            | Self::Processed { .. }
            | Self::Commented { .. }
            | Self::Delivered { .. }
            | Self::StandingGiven(_)
            | Self::StandingUsed { .. }
            | Self::StandingRevoked { .. }
            | Self::MessageQueued(_)
            | Self::Outage { .. }
            | Self::Started { .. } => false,
            Self::Asked(_)
            | Self::Escalated { .. }
            | Self::Voted { .. }
            | Self::Resolved { .. }
            | Self::Settled { .. }
            | Self::ToolAllowed { .. }
            | Self::ModeSet { .. }
            | Self::SessionEnded { .. }
            | Self::RunStarted(_)
            | Self::UserSaid { .. }
            | Self::ModelTurn(_)
            | Self::RunInterrupted { .. }
            | Self::VariablesChanged { .. }
            | Self::RunEnded { .. } => true,
        }
    }

    /// As JSON for readers: as stored, with the texts of the findings in their places.
    pub fn readable(&self) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        if let (
            Self::CallReceived {
                call,
                findings: Some(findings),
                ..
            },
            Value::Object(fields),
        ) = (self, &mut json)
        {
            fields.insert("findings".to_owned(), findings.readable(&call.args));
        }
        json
    }

    /// Its name, as stored and as shown.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CallReceived { .. } => "callReceived",
            Self::Asked(_) => "asked",
            Self::Joined { .. } => "joined",
            Self::Escalated { .. } => "escalated",
            Self::Voted { .. } => "voted",
            Self::Commented { .. } => "commented",
            Self::Resolved { .. } => "resolved",
            Self::Processed { .. } => "processed",
            Self::Settled { .. } => "settled",
            Self::Claimed { .. } => "claimed",
            Self::Finished { .. } => "finished",
            Self::LostTrack { .. } => "lostTrack",
            Self::StandingGiven(_) => "standingGiven",
            Self::StandingUsed { .. } => "standingUsed",
            Self::StandingRevoked { .. } => "standingRevoked",
            Self::ToolAllowed { .. } => "toolAllowed",
            Self::ModeSet { .. } => "modeSet",
            Self::SessionEnded { .. } => "sessionEnded",
            Self::MessageQueued(_) => "messageQueued",
            Self::RunStarted(_) => "runStarted",
            Self::UserSaid { .. } => "userSaid",
            Self::ModelTurn(_) => "modelTurn",
            Self::RunInterrupted { .. } => "runInterrupted",
            Self::VariablesChanged { .. } => "variablesChanged",
            Self::RunEnded { .. } => "runEnded",
            Self::Delivered { .. } => "delivered",
            Self::Outage { .. } => "outage",
            Self::Started { .. } => "started",
        }
    }
}

/// The hash of a session's row: over the row before it and everything in this one.
pub fn row_hash(previous: &Digest, session: &SessionId, seq: u64, at: Timestamp, body: &[u8]) -> Digest {
    Digest::of(
        "placet/journal/1",
        &[
            previous.as_bytes(),
            session.as_str().as_bytes(),
            &seq.to_be_bytes(),
            &at.as_millis().to_be_bytes(),
            body,
        ],
    )
}

/// What stands before the first row of a session, and before the first checkpoint.
pub fn genesis() -> Digest {
    Digest::of("placet/genesis/1", &[])
}

/// The hash of a checkpoint: over the one before it, how many rows there are, and the heads it covers.
pub fn checkpoint_hash(previous: &Digest, rows: u64, at: Timestamp, heads: &[u8]) -> Digest {
    Digest::of(
        "placet/checkpoint/1",
        &[
            previous.as_bytes(),
            &rows.to_be_bytes(),
            &at.as_millis().to_be_bytes(),
            heads,
        ],
    )
}
