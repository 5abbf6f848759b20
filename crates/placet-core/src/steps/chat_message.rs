//! A message from a chat that answered no question: the built-in agent takes it from the queue.
//!
//! The chat's session is `channel:chatId`. The message leaves the queue in the step that gives it to the run, so it is read
//! once, whatever happens to the process. In a group every known person may write; who may approve is the same as elsewhere: the person a
//! run works for, and those that rules name. When the open run cannot go on here, the sender does not wait for it: if only its
//! model is missing, the run fails and another one begins; otherwise the sender is told why nothing happens.

use std::collections::BTreeSet;

use crate::call::Chat;
use crate::config::Config;
use crate::ids::{PersonId, SessionId};
use crate::interaction::Locale;
use crate::journal::{Author, InboundMessage};
use crate::messages::{Message, chat};
use crate::outgoing::Change;
use crate::snapshot::{Activity, Snapshot, Undecided};
use crate::step::{Decided, Step};
use crate::time::Timestamp;

use super::host::{ResumeRefusal, RunHost};
use super::interrupt::fail_family;
use super::user_message::UserMessage;
use super::{Draft, open_run, say, words};

/// A queued message, and what the configuration says about its sender and its chat.
#[derive(Debug, Clone)]
pub struct ChatMessage {
    session: SessionId,
    row: u64,
    message: InboundMessage,
    chat: Chat,
    sender: Sender,
    members: Members,
    locale: Locale,
}

#[derive(Debug, Clone)]
enum Sender {
    Known(PersonId),
    /// An account that is linked to no person.
    Unknown,
    Bot,
}

/// Who is in a chat, as far as the configuration knows.
#[derive(Debug, Clone)]
enum Members {
    /// One person: the chat is their account on the channel.
    Only(PersonId),
    /// Several: every known person may talk to the agent, and each message says who wrote it.
    Group,
}

/// What became of a queued message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It has left the queue, in this step or in an earlier one.
    Gone,
    /// It stays queued for another agent.
    Left,
}

impl ChatMessage {
    /// The message in a row of the queue of a session.
    pub fn new(config: &Config, session: SessionId, row: u64, message: InboundMessage) -> Self {
        let chat = Chat {
            channel: message.channel.clone(),
            id: message.chat_id.clone(),
        };
        let person = config.people.person_for(&chat.channel, &message.sender_id);
        let sender = match (message.author, person) {
            (Author::Bot, _) => Sender::Bot,
            (Author::Human, Ok(person)) if person.is_configured() => Sender::Known(person),
            (Author::Human, _) => Sender::Unknown,
        };
        let own = config.people.person_for(&chat.channel, chat.id.as_str());
        let members = match own {
            Ok(person) if person.is_configured() => Members::Only(person),
            _ => Members::Group,
        };
        Self {
            members,
            locale: config.locale(Some(&chat.channel)),
            session,
            row,
            message,
            chat,
            sender,
        }
    }
}

/// Takes the oldest message of a chat's queue. Messages of chats that are another agent's stay there.
pub fn take_chat_message(
    snapshot: &Snapshot,
    now: Timestamp,
    host: &RunHost,
    queued: &ChatMessage,
) -> Decided<Taken> {
    let session = &queued.session;
    let next = snapshot.next_queued(session)?.as_ref();
    if next.is_none_or(|(row, _)| *row != queued.row) {
        return Ok(Step::nothing(Taken::Gone));
    }
    if !snapshot.session(session)?.is_open_to(&host.agent) {
        return Ok(Step::nothing(Taken::Left));
    }
    let owner = snapshot.run_owner(session)?.as_ref();
    let listens = host.channels.contains(&queued.chat.channel);
    // Once another agent made calls in this session, its messages are for that agent.
    let untouched = matches!(snapshot.activity(session)?, Activity::None | Activity::Messages);
    if owner.is_none() && !(listens && untouched) {
        return Ok(Step::nothing(Taken::Left));
    }
    let mut draft = match (&queued.sender, &queued.members) {
        // Two bots would never stop.
        (Sender::Bot, _) => Draft::new(session),
        (Sender::Unknown, _) => queued.reply(&chat::unknown_sender()),
        (Sender::Known(person), Members::Only(own)) if own != person => {
            queued.reply(&chat::works_for_another())
        }
        (Sender::Known(person), _) => queued.tell(snapshot, now, host, person)?,
    };
    draft.change(Change::Took { queue_id: queued.row });
    Ok(draft.finish(Taken::Gone))
}

impl ChatMessage {
    fn tell(
        &self,
        snapshot: &Snapshot,
        now: Timestamp,
        host: &RunHost,
        by: &PersonId,
    ) -> Result<Draft, Undecided> {
        let session = &self.session;
        let open = open_run(snapshot, session)?;
        let refusal = open.and_then(|run| host.resumes(session, &run.started).err());
        if let Some(why @ (ResumeRefusal::Elsewhere { .. } | ResumeRefusal::NotYours(_))) = &refusal {
            return Ok(self.reply(&words::not_delivered(why)));
        }
        if snapshot.session(session)?.ended {
            return Ok(self.reply(&chat::session_ended()));
        }
        let message = UserMessage {
            session: session.clone(),
            text: self.text(by),
            by: by.clone(),
            chat: Some(self.chat.clone()),
            model: None,
            workflow: None,
            allowed: BTreeSet::new(),
        };
        let (mut draft, open) = match refusal {
            // People in a chat cannot bring a model back.
            Some(no_model) => (fail_family(snapshot, session, &no_model.to_string())?, None),
            None => (Draft::new(session), open),
        };
        message.put(&mut draft, now, host, open);
        Ok(draft)
    }

    /// What the agent reads. In a group it reads who wrote it; further lines are indented, so that none passes for another message.
    fn text(&self, by: &PersonId) -> String {
        let content = &self.message.content;
        match &self.members {
            Members::Only(_) => content.clone(),
            Members::Group => format!("{by}: {}", content.replace('\n', "\n  ")),
        }
    }

    fn reply(&self, message: &Message) -> Draft {
        let text = message.say(self.locale);
        let mut draft = Draft::new(&self.session);
        let key = format!("letter:{}:{}", self.message.channel, self.message.message_id);
        say(&mut draft, key, &self.chat, text);
        draft
    }
}

#[cfg(test)]
mod tests;
