//! Names of things: typed, so that a call's id cannot be passed where a session's is wanted.
//!
//! Ids that Placet makes are prefixed when shown (`int_…`, `call_…`, `sg_…`). Ids that others give us (a session's
//! name, an agent's own call id) are kept as they came, after one check at the edge: not empty, not too long, no
//! control characters.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// The longest id we take from outside, in bytes.
pub const ID_BYTES_MAX: usize = 256;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Nothing was given.
    #[error("{what} is empty")]
    Empty {
        /// Which id.
        what: &'static str,
    },
    /// More than [`ID_BYTES_MAX`].
    #[error("{what} has {bytes} bytes; at most {ID_BYTES_MAX} are accepted")]
    TooLong {
        /// Which id.
        what: &'static str,
        /// How long it was.
        bytes: usize,
    },
    /// A control character, which would disturb logs and screens.
    #[error("{what} contains the control character U+{code:04X}")]
    Control {
        /// Which id.
        what: &'static str,
        /// The character's code point.
        code: u32,
    },
}

fn checked(what: &'static str, text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty { what });
    }
    if text.len() > ID_BYTES_MAX {
        return Err(IdError::TooLong {
            what,
            bytes: text.len(),
        });
    }
    match text.chars().find(|c| c.is_control()) {
        Some(c) => Err(IdError::Control {
            what,
            code: u32::from(c),
        }),
        None => Ok(()),
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks a text once; afterwards the type says it is fine.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                checked($what, &text)?;
                Ok(Self(text.into_boxed_str()))
            }

            /// The text as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    };
}

id!(
    /// One conversation or job of one agent; `channel:chatId` on chat channels.
    SessionId,
    "the session id"
);
id!(
    /// One tool call, named by the agent that makes it. Unique per agent credential.
    CallId,
    "the call id"
);
id!(
    /// One question to people: `int_…`.
    InteractionId,
    "the request id"
);
id!(
    /// Calls of one turn that are shown together and decided one by one.
    GroupId,
    "the group id"
);
id!(
    /// "Don't ask again": `sg_…`.
    StandingGrantId,
    "the standing grant id"
);
id!(
    /// A tool's name.
    ToolName,
    "the tool name"
);
id!(
    /// A configured channel's name, such as `cli`, `feishu` or `ops`.
    ChannelName,
    "the channel name"
);
id!(
    /// A chat on a channel.
    ChatId,
    "the chat id"
);
id!(
    /// The credential an agent came with, as the transport established it.
    AgentId,
    "the agent id"
);
id!(
    /// A human: a configured name (`lin`), or `channel:user` for an account not linked to a name.
    /// Configured names hold no colon, so the two cannot be confused.
    PersonId,
    "the person"
);

impl AgentId {
    /// The built-in agent. No credential carries this name, so its calls come from inside this program.
    pub fn built_in() -> Self {
        Self("placet".into())
    }
}

impl PersonId {
    /// The person behind an account that is not linked to a configured name.
    pub fn unlinked(channel: &ChannelName, user: &str) -> Result<Self, IdError> {
        Self::new(format!("{channel}:{user}"))
    }

    /// Whether this is a configured name rather than a bare account.
    pub fn is_configured(&self) -> bool {
        !self.0.contains(':')
    }
}

impl SessionId {
    /// The session of a chat: `channel:chatId`.
    pub fn of_chat(channel: &ChannelName, chat: &ChatId) -> Result<Self, IdError> {
        Self::new(format!("{channel}:{chat}"))
    }

    /// The session of the run that does a call. It follows from the call, so a call cannot be begun twice.
    pub fn of_task(call: &CallId) -> Result<Self, IdError> {
        let name = call.as_str();
        Self::new(format!("task_{}", name.strip_prefix("call_").unwrap_or(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_not_empty_not_long_and_has_no_control_characters() {
        assert_eq!(CallId::new("").unwrap_err().to_string(), "the call id is empty");
        assert!(matches!(
            CallId::new("x".repeat(257)),
            Err(IdError::TooLong { bytes: 257, .. })
        ));
        assert!(matches!(
            SessionId::new("a\u{1b}[2J"),
            Err(IdError::Control { code: 0x1b, .. })
        ));
        assert_eq!(CallId::new("c-1").unwrap().as_str(), "c-1");
    }

    #[test]
    fn a_linked_person_is_never_mistaken_for_an_account() {
        let account = PersonId::unlinked(&ChannelName::new("feishu").unwrap(), "lin").unwrap();
        assert!(!account.is_configured());
        assert_ne!(account, PersonId::new("lin").unwrap());
    }
}
