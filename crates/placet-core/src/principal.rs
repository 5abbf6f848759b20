//! Who is speaking. Established by the transport (a token, a signed callback, a terminal); a message's body never says it.

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, ChannelName, PersonId};

/// Who is speaking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Principal {
    /// A human.
    Person {
        /// Which one.
        person: PersonId,
        /// How they were recognised.
        via: Via,
    },
    /// An agent's credential. Can never answer.
    Agent {
        /// Which one.
        agent: AgentId,
    },
    /// An automatic account in a chat. Can never answer.
    Bot {
        /// Where.
        channel: ChannelName,
        /// Its account there.
        user: String,
    },
}

/// How a human was recognised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Via {
    /// As an approver of the inbox: a terminal on this machine, or an approver's token.
    Inbox,
    /// As an admin of the inbox, who may answer what no rule puts to named people.
    Admin,
    /// As a member of a chat.
    Chat(ChannelName),
    /// Through an `on_tool_approve` callback of the embedding program.
    Callback,
}

impl Principal {
    /// The human, if it is one.
    pub fn person(&self) -> Option<&PersonId> {
        match self {
            Self::Person { person, .. } => Some(person),
            Self::Agent { .. } | Self::Bot { .. } => None,
        }
    }
}

impl std::fmt::Display for Principal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Person { person, .. } => person.fmt(f),
            Self::Agent { agent } => write!(f, "agent {agent}"),
            Self::Bot { channel, user } => write!(f, "bot {channel}:{user}"),
        }
    }
}
