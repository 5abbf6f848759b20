//! Who and what there is to choose from.

use placet_core::call::{Chat, ToolCall};
use placet_core::ids::{AgentId, ChannelName, ChatId, PersonId, SessionId};
use placet_core::interaction::{Asked, CallKey, Subject};
use placet_core::listing::{After, PendingRow};
use placet_core::principal::{Principal, Via};

use super::World;

impl World {
    pub(super) fn some_chat(&mut self) -> Chat {
        let ids = ["room", "lobby", "u-ana", "u-bo", "u-cy"];
        let id = *self.dice.choose(&ids);
        let ops = self.reach.channels.iter().next().cloned();
        // Both names are constants that are valid ids.
        match (ops, ChatId::new(id)) {
            (Some(channel), Ok(id)) => Chat { channel, id },
            _ => unreachable!("the scene has a channel"),
        }
    }

    /// The oldest open questions.
    pub(super) fn pending(&self, limit: usize) -> Result<Vec<PendingRow>, String> {
        let first = After { cursor: None, limit };
        Ok(self.look(|stored| stored.pending(&first).cloned())?.rows)
    }

    pub(super) fn some_question(&mut self) -> Result<Option<Asked>, String> {
        let page = self.pending(16)?;
        if page.is_empty() {
            return Ok(None);
        }
        let id = self.dice.choose(&page).id.clone();
        let interaction = self.look(|stored| stored.interaction(&id).cloned())?;
        Ok(interaction
            .map(|interaction| interaction.asked().clone())
            .filter(|asked| !matches!(asked.subject, Subject::Request { .. })))
    }

    /// A person, and who they say they are: the same, unless sabotaged.
    pub(super) fn somebody(&mut self) -> (Principal, Principal) {
        let names = ["ana", "bo", "cy"];
        let person = match self.roll(10) {
            0..6 => {
                let name = *self.dice.choose(&names);
                inbox(name)
            }
            6 => chat_account("u-x"),
            7 => chat_account("u-eve"),
            8 => Principal::Agent {
                agent: AgentId::new("agent").unwrap_or_else(|_| unreachable!("a valid id")),
            },
            _ => {
                let name = *self.dice.choose(&names);
                chat_person(name)
            }
        };
        (person.clone(), person)
    }
}

/// Three places: the inbox, a chat of ana's, and a chat of an account without a name.
pub(super) fn session_of(number: usize) -> Result<(SessionId, Option<Chat>, Option<PersonId>), String> {
    let bad = |error: placet_core::ids::IdError| error.to_string();
    let chat = |id: &str| {
        let chat = Chat {
            channel: ChannelName::new("ops").map_err(bad)?,
            id: ChatId::new(id).map_err(bad)?,
        };
        let session = SessionId::of_chat(&chat.channel, &chat.id).map_err(bad)?;
        Ok::<_, String>((session, chat))
    };
    match number {
        0 => Ok((SessionId::new("inbox").map_err(bad)?, None, None)),
        1 => chat("room")
            .and_then(|(session, chat)| Ok((session, Some(chat), Some(PersonId::new("ana").map_err(bad)?)))),
        _ => chat("lobby").and_then(|(session, chat)| {
            Ok((session, Some(chat), Some(PersonId::new("ops:u-x").map_err(bad)?)))
        }),
    }
}

pub(super) fn key_of(call: &ToolCall) -> CallKey {
    CallKey {
        agent: call.origin.agent.clone(),
        call: call.id.clone(),
    }
}

pub(super) fn place_of(chat: &Chat) -> String {
    format!("{}:{}", chat.channel, chat.id)
}

pub(super) fn person(name: &str) -> PersonId {
    PersonId::new(name).unwrap_or_else(|_| unreachable!("a valid name"))
}

pub(super) fn inbox(name: &str) -> Principal {
    Principal::Person {
        person: person(name),
        via: Via::Inbox,
    }
}

pub(super) fn chat_via() -> Via {
    Via::Chat(ChannelName::new("ops").unwrap_or_else(|_| unreachable!("a valid name")))
}

pub(super) fn chat_account(user: &str) -> Principal {
    Principal::Person {
        person: person(&format!("ops:{user}")),
        via: chat_via(),
    }
}

pub(super) fn chat_person(name: &str) -> Principal {
    Principal::Person {
        person: person(name),
        via: chat_via(),
    }
}
