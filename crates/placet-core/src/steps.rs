//! The steps: everything Placet can do, each as one pure function from what is stored to what happened.
//!
//! A step reads a [`Snapshot`] and returns events, or a refusal that changes nothing. The engine and the simulator call
//! the same functions; loading the snapshot and committing the events is theirs.

use crate::call::{CallDigest, Chat, ToolCall};
use crate::config::Config;
use crate::findings::{Findings, FindingsError, StoredFindings};
use crate::ids::{ChannelName, InteractionId, SessionId};
use crate::interaction::{Asked, CallKey, Interaction, Pending, Resolution};
use crate::journal::Event;
use crate::outcome::Outcome;
use crate::outgoing::{Change, OutKind, Outgoing};
use crate::record::{CallHead, CallRecord, CallState, RunRecord};
use crate::snapshot::{Snapshot, Undecided};
use crate::step::Step;

mod answer;
mod ask;
mod chat_message;
mod claim;
mod comment;
mod expire;
mod host;
mod inbound;
mod interrupt;
mod lease;
mod outage;
mod propose;
mod recover;
mod remember;
mod run;
mod session;
mod settle;
mod share;
mod sign_in;
mod terms;
#[cfg(test)]
mod tests;
mod user_message;
mod words;

pub use answer::{AnswerRefusal, Answered, Edit, EditDenial, How, Reply, answer};
pub use ask::{AskRefusal, Decides, Elsewhere, Fresh, InboxReach, Reach, ask_request};
pub use chat_message::{ChatMessage, Taken, take_chat_message};
pub use claim::{
    ClaimRefusal, Claiming, FinishRefusal, Permit, Promise, claim, delegate, finish, told, told_question,
};
pub use comment::{CommentRefusal, comment};
pub use expire::{escalate, expire, lose_lease};
pub use host::{ResumeRefusal, RunHost};
pub use inbound::{Choice, Inbound, InboundOutcome, Patience, Reaction, SaidTo, chat_member, receive};
pub use interrupt::interrupt_run;
pub use lease::{LeaseHeld, take_lease};
pub use outage::record_outage;
pub use propose::{Proposal, ProposeRefusal, Proposed, judge, propose, propose_together};
pub use recover::{disown, recover};
pub use remember::Authority;
pub use run::{Ending, RunRefusal, end_run, take_turn};
pub use session::{
    RevokeRefusal, SettingRefusal, allow_tool, cancel_question, end_session, revoke_standing, set_mode,
};
pub use share::{share_first, share_instead};
pub use sign_in::{
    Challenge, CodeRefusal, ProofRefusal, current_challenge, give_code, sign_out, use_code, use_proof,
};
pub use terms::RunTerms;
pub use user_message::{MessageOutcome, TellRefusal, UserMessage, may_tell, tell};

/// What every step may look at besides the store: the configuration in force and the surfaces that exist.
pub struct Rules<'a> {
    /// The configuration, policy included.
    pub config: &'a Config,
    /// Where questions can be brought.
    pub reach: &'a Reach,
    /// The workspace's root, as the analysis saw it.
    pub workspace: &'a str,
}

/// Events in the making. A thin cover over [`Step`] that knows which session it is about.
pub(crate) struct Draft {
    session: SessionId,
    events: Vec<(SessionId, Event)>,
    changes: Vec<Change>,
}

impl Draft {
    pub(crate) fn new(session: &SessionId) -> Self {
        Self {
            session: session.clone(),
            events: Vec::new(),
            changes: Vec::new(),
        }
    }

    pub(crate) fn event(&mut self, event: Event) {
        self.events.push((self.session.clone(), event));
    }

    pub(crate) fn change(&mut self, change: Change) {
        self.changes.push(change);
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.events.extend(other.events);
        self.changes.extend(other.changes);
    }

    pub(crate) fn finish<T>(self, value: T) -> Step<T> {
        Step {
            events: self.events,
            changes: self.changes,
            value,
        }
    }
}

/// The call a key really stands for: a call found to be the same as another one shares that one's record.
pub(crate) fn real_call<'s>(
    snapshot: &'s Snapshot,
    key: &CallKey,
) -> Result<Option<&'s CallHead>, Undecided> {
    let Some(head) = snapshot.call_head(key)? else {
        return Ok(None);
    };
    match &head.state {
        // One hop is enough: a call only ever joins one that is parked itself.
        CallState::SameAs(other) => Ok(snapshot.call_head(other)?.as_ref()),
        CallState::Parked { .. } | CallState::Granted { .. } | CallState::Refused { .. } => Ok(Some(head)),
    }
}

/// The call parked on a question, if there is one: only the call a question names can be. Calls that joined it share its
/// fate.
pub(crate) fn waiting_on<'s>(
    snapshot: &'s Snapshot,
    asked: &Asked,
) -> Result<Option<&'s CallHead>, Undecided> {
    let Some(key) = asked.call() else { return Ok(None) };
    let head = snapshot.call_head(key)?.as_ref();
    Ok(head.filter(|head| matches!(&head.state, CallState::Parked { on } if *on == asked.id)))
}

/// The run of a session that has not ended.
pub(crate) fn open_run<'s>(
    snapshot: &'s Snapshot,
    session: &SessionId,
) -> Result<Option<&'s RunRecord>, Undecided> {
    Ok(snapshot.run(session)?.as_ref().filter(|run| !run.ended))
}

/// Settles a question: the event, and an update for every copy of it that was sent.
pub(crate) fn resolve(
    draft: &mut Draft,
    snapshot: &Snapshot,
    asked: &Asked,
    resolution: Resolution,
) -> Result<(), Undecided> {
    draft.event(Event::Resolved {
        interaction: asked.id.clone(),
        resolution,
    });
    for copy in snapshot.copies(&asked.id)? {
        if copy.kind != OutKind::Question {
            continue;
        }
        draft.change(Change::Enqueue(Outgoing {
            key: format!("{}:decided:{}:{}", asked.id, copy.channel, copy.chat),
            channel: copy.channel.clone(),
            chat: copy.chat.clone(),
            interaction: Some(asked.id.clone()),
            kind: OutKind::Decided,
            body: String::new(),
        }));
    }
    Ok(())
}

/// Says something in a chat.
pub(crate) fn say(draft: &mut Draft, key: String, chat: &Chat, text: String) {
    draft.change(Change::Enqueue(Outgoing {
        key,
        channel: chat.channel.clone(),
        chat: chat.id.clone(),
        interaction: None,
        kind: OutKind::Message,
        body: text,
    }));
}

/// A pending question by id, or nothing.
pub(crate) fn pending<'s>(
    snapshot: &'s Snapshot,
    id: &InteractionId,
) -> Result<Option<&'s Pending>, Undecided> {
    Ok(match snapshot.interaction(id)? {
        Some(Interaction::Pending(pending)) => Some(pending),
        Some(Interaction::Resolved(_) | Interaction::Processed(_)) | None => None,
    })
}

/// The channel a call works on, if any.
pub(crate) fn channel_of(call: &ToolCall) -> Option<&ChannelName> {
    call.origin.chat.as_ref().map(|chat| &chat.channel)
}

/// The digest a grant is bound to: the edited call's when a person edited it.
pub(crate) fn granted_digest(received: CallDigest, outcome: &Outcome) -> CallDigest {
    match outcome {
        Outcome::Approved { digest, .. } => *digest,
        _ => received,
    }
}

/// What a call was found to do when it was proposed. None in rows of versions that did not store it; what cannot be read is damage, and
/// never passes for nothing found.
pub fn findings(record: &CallRecord) -> Result<Option<Findings>, Undecided> {
    let read = |stored: &StoredFindings| stored.read(&record.call.args);
    let damaged = |error: FindingsError| Undecided::Corrupt {
        what: format!("call `{}`: {error}", record.call.id),
    };
    record.findings.as_ref().map(read).transpose().map_err(damaged)
}
