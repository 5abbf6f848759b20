//! Who sits at a terminal: the user of this machine, and the person they are in the configuration.

use placet_core::call::Chat;
use placet_core::ids::{ChannelName, ChatId, IdError, PersonId};
use placet_core::people::Directory;

/// The user of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalUser {
    /// Who they are.
    pub person: PersonId,
    /// The chat that is their terminal.
    pub chat: Chat,
}

/// Why the user is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TerminalUserError {
    /// The system does not say.
    #[error("the user's name is not known; set `USER`")]
    NoUser,
    /// The user's name cannot be a person's.
    #[error(transparent)]
    Name(#[from] IdError),
}

impl TerminalUser {
    /// The user this process runs for.
    pub fn of_user(people: &Directory) -> Result<Self, TerminalUserError> {
        let user = ["USER", "LOGNAME", "USERNAME"]
            .into_iter()
            .filter_map(|name| std::env::var(name).ok())
            .find(|name| !name.trim().is_empty())
            // Containers and services often set none of them, but the system knows.
            .or_else(|| whoami::username().ok())
            .ok_or(TerminalUserError::NoUser)?;
        Self::of(people, &user)
    }

    /// The user named `user`: the person with that `terminal` account, else the person of that name, else a person not
    /// has configured.
    pub fn of(people: &Directory, user: &str) -> Result<Self, TerminalUserError> {
        let channel = ChannelName::new(super::NAME)?;
        let linked = people.person_for(&channel, user)?;
        let person = match (linked.is_configured(), people.person(user)) {
            (true, _) => linked,
            (false, Some(person)) => person.name.clone(),
            (false, None) => PersonId::new(user)?,
        };
        let id = ChatId::new(user)?;
        Ok(Self {
            person,
            chat: Chat { channel, id },
        })
    }
}

#[cfg(test)]
mod tests {
    use placet_core::config::Config;

    use super::*;

    #[test]
    fn the_user_is_the_person_with_that_account_then_with_that_name_then_nobody_known() {
        let text = "[[people]]\nname = \"lin\"\nterminal = \"l.wang\"\n[[people]]\nname = \"wei\"\n";
        let config =
            Config::parse(text, "placet.toml", std::iter::empty(), placet_inspect::builtin()).unwrap();
        let person = |user| TerminalUser::of(&config.people, user).unwrap().person.to_string();
        assert_eq!(person("l.wang"), "lin");
        assert_eq!(person("wei"), "wei");
        assert_eq!(person("eve"), "eve");
        assert!(TerminalUser::of(&config.people, "").is_err());
    }
}
