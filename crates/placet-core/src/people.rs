//! The directory of people: who is behind an account, and who is meant by `lin` or `group:ops`.
//!
//! Quorum counts people and not accounts, so one account must never belong to two people, and no two people may share
//! a name.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::Chat;
use crate::config::Secret;
use crate::ids::{ChannelName, ChatId, IdError, PersonId};

/// What a group is called where people are named.
const GROUP_PREFIX: &str = "group:";

/// A configured human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Their name.
    pub name: PersonId,
    /// What they prove themselves with over HTTP.
    pub token: Option<Secret>,
    /// Their account on each channel.
    pub accounts: BTreeMap<ChannelName, String>,
}

/// All people, and the groups they are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    people: BTreeMap<PersonId, Person>,
    groups: BTreeMap<String, Vec<PersonId>>,
    by_account: BTreeMap<(ChannelName, String), PersonId>,
}

/// Why a person is not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PersonError {
    /// A colon marks accounts and groups.
    #[error("the name `{0}` holds a colon")]
    Colon(String),
    /// The name is taken.
    #[error("there are two people named `{0}`")]
    Duplicate(PersonId),
    /// Two people, one account: who has answered?
    #[error("`{name}` and `{other}` share the account `{account}` on `{channel}`")]
    SharedAccount {
        /// The person to be added.
        name: PersonId,
        /// Who has the account already.
        other: PersonId,
        /// The account.
        account: String,
        /// Its channel.
        channel: ChannelName,
    },
    /// An account without a name would match every user.
    #[error("the account of `{name}` on `{channel}` is empty or holds control characters")]
    BadAccount {
        /// The person to be added.
        name: PersonId,
        /// The channel.
        channel: ChannelName,
    },
}

/// Why a group is not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// Not a name.
    #[error("the group name `{0}` is empty, or holds a colon or a control character")]
    Name(String),
    /// A person has that name.
    #[error("`{0}` is both a group and a person")]
    IsPerson(String),
    /// It is empty: a question to it could never be answered.
    #[error("the group `{0}` is empty")]
    Empty(String),
    /// A member who is not in `[[people]]`.
    #[error("the group `{group}` names `{member}`, who is not in `[[people]]`")]
    UnknownMember {
        /// The group.
        group: String,
        /// The member.
        member: String,
    },
}

/// An unknown name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhoError {
    /// Not a person.
    #[error("no person is named `{0}` in `[[people]]`")]
    Person(String),
    /// Not a group.
    #[error("no group is named `{0}` in `[groups]`")]
    Group(String),
}

impl Directory {
    /// No people yet.
    pub const fn empty() -> Self {
        Self {
            people: BTreeMap::new(),
            groups: BTreeMap::new(),
            by_account: BTreeMap::new(),
        }
    }

    /// Adds a person.
    pub fn add_person(&mut self, person: Person) -> Result<(), PersonError> {
        let name = &person.name;
        if !name.is_configured() {
            return Err(PersonError::Colon(name.to_string()));
        }
        if self.people.contains_key(name) {
            return Err(PersonError::Duplicate(name.clone()));
        }
        for (channel, account) in &person.accounts {
            if account.trim().is_empty() || account.contains(char::is_control) {
                return Err(PersonError::BadAccount {
                    name: name.clone(),
                    channel: channel.clone(),
                });
            }
            if let Some(other) = self.by_account.get(&(channel.clone(), account.clone())) {
                return Err(PersonError::SharedAccount {
                    name: name.clone(),
                    other: other.clone(),
                    account: account.clone(),
                    channel: channel.clone(),
                });
            }
        }
        for (channel, account) in &person.accounts {
            self.by_account
                .insert((channel.clone(), account.clone()), name.clone());
        }
        self.people.insert(name.clone(), person);
        Ok(())
    }

    /// Adds a group of people who have been added before.
    pub fn add_group(&mut self, group: &str, members: &[String]) -> Result<(), GroupError> {
        if group.trim().is_empty() || group.contains(|c: char| c == ':' || c.is_control()) {
            return Err(GroupError::Name(group.to_owned()));
        }
        if self.people.keys().any(|person| person.as_str() == group) {
            return Err(GroupError::IsPerson(group.to_owned()));
        }
        if members.is_empty() {
            return Err(GroupError::Empty(group.to_owned()));
        }
        let known = |member: &String| {
            self.person(member)
                .map(|person| person.name.clone())
                .ok_or_else(|| GroupError::UnknownMember {
                    group: group.to_owned(),
                    member: member.clone(),
                })
        };
        let members = members.iter().map(known).collect::<Result<BTreeSet<_>, _>>()?;
        self.groups
            .insert(group.to_owned(), members.into_iter().collect());
        Ok(())
    }

    /// All people.
    pub fn people(&self) -> impl Iterator<Item = &Person> {
        self.people.values()
    }

    /// A person by name.
    pub fn person(&self, name: &str) -> Option<&Person> {
        PersonId::new(name).ok().and_then(|name| self.people.get(&name))
    }

    /// Who is behind an account: a configured person, or the bare account when it is not linked.
    pub fn person_for(&self, channel: &ChannelName, user: &str) -> Result<PersonId, IdError> {
        match self.by_account.get(&(channel.clone(), user.to_owned())) {
            Some(person) => Ok(person.clone()),
            None => PersonId::unlinked(channel, user),
        }
    }

    /// For each person, the chats with them alone: their account on each channel.
    pub fn own_chats(&self) -> BTreeMap<PersonId, Vec<Chat>> {
        let own = |person: &Person| {
            let chats = person.accounts.iter().filter_map(|(channel, account)| {
                let id = ChatId::new(account.as_str()).ok()?;
                Some(Chat {
                    channel: channel.clone(),
                    id,
                })
            });
            (person.name.clone(), chats.collect())
        };
        self.people().map(own).collect()
    }

    /// The people meant by `lin` or `group:ops`.
    pub fn resolve(&self, who: &str) -> Result<Vec<PersonId>, WhoError> {
        match who.strip_prefix(GROUP_PREFIX) {
            Some(group) => self
                .groups
                .get(group)
                .cloned()
                .ok_or_else(|| WhoError::Group(group.to_owned())),
            None => match self.person(who) {
                Some(person) => Ok(vec![person.name.clone()]),
                None => Err(WhoError::Person(who.to_owned())),
            },
        }
    }

    /// Every name that [`Directory::resolve`] knows, for suggestions.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> + '_ {
        let groups = self.groups.keys().map(|group| format!("{GROUP_PREFIX}{group}"));
        self.people.keys().map(ToString::to_string).chain(groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(name: &str) -> ChannelName {
        ChannelName::new(name).unwrap()
    }

    fn person(name: &str, accounts: &[(&str, &str)]) -> Person {
        Person {
            name: PersonId::new(name).unwrap(),
            token: None,
            accounts: accounts
                .iter()
                .map(|(on, account)| (channel(on), (*account).to_owned()))
                .collect(),
        }
    }

    fn directory() -> Directory {
        let mut directory = Directory::empty();
        directory
            .add_person(person("lin", &[("feishu", "ou_1"), ("email", "lin@example.com")]))
            .unwrap();
        directory
            .add_person(person("wei", &[("feishu", "ou_2")]))
            .unwrap();
        directory
            .add_group("ops", &["wei".into(), "lin".into(), "wei".into()])
            .unwrap();
        directory
    }

    #[test]
    fn one_person_is_found_behind_each_of_their_accounts() {
        let directory = directory();
        let who = |on: &str, user: &str| directory.person_for(&channel(on), user).unwrap().to_string();
        assert_eq!(who("feishu", "ou_1"), "lin");
        assert_eq!(who("email", "lin@example.com"), "lin");
        assert_eq!(who("feishu", "ou_9"), "feishu:ou_9");
        assert_eq!(who("dingtalk", "ou_1"), "dingtalk:ou_1");
        assert!(directory.person_for(&channel("feishu"), "a\u{7}").is_err());
    }

    #[test]
    fn a_group_is_its_distinct_people() {
        let directory = directory();
        let ops: Vec<_> = directory
            .resolve("group:ops")
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(ops, ["lin", "wei"]);
        assert_eq!(directory.resolve("lin").unwrap().len(), 1);
        assert_eq!(directory.resolve("ops"), Err(WhoError::Person("ops".into())));
        assert_eq!(directory.resolve("group:dev"), Err(WhoError::Group("dev".into())));
        assert_eq!(
            directory.resolve("feishu:ou_1"),
            Err(WhoError::Person("feishu:ou_1".into()))
        );
    }

    #[test]
    fn a_person_who_could_be_mistaken_for_another_is_refused() {
        let mut directory = directory();
        let refused =
            |directory: &mut Directory, person| directory.add_person(person).unwrap_err().to_string();
        assert_eq!(
            refused(&mut directory, person("lin", &[])),
            "there are two people named `lin`"
        );
        assert_eq!(
            refused(&mut directory, person("feishu:x", &[])),
            "the name `feishu:x` holds a colon"
        );
        assert_eq!(
            refused(&mut directory, person("ana", &[("feishu", "ou_1")])),
            "`ana` and `lin` share the account `ou_1` on `feishu`"
        );
        assert!(matches!(
            directory.add_person(person("bo", &[("email", " ")])),
            Err(PersonError::BadAccount { .. })
        ));
        assert!(directory.person("ana").is_none());
    }

    /// cadis#1101: an empty allow-list meant everyone.
    #[test]
    fn an_empty_group_or_one_with_strangers_is_refused() {
        let mut directory = directory();
        assert_eq!(
            directory.add_group("none", &[]),
            Err(GroupError::Empty("none".into()))
        );
        assert_eq!(
            directory.add_group("lin", &["wei".into()]),
            Err(GroupError::IsPerson("lin".into()))
        );
        assert!(matches!(
            directory.add_group("x", &["eve".into()]),
            Err(GroupError::UnknownMember { .. })
        ));
        assert!(matches!(
            directory.add_group("x", &["group:ops".into()]),
            Err(GroupError::UnknownMember { .. })
        ));
        assert!(matches!(
            directory.add_group("a:b", &["wei".into()]),
            Err(GroupError::Name(_))
        ));
    }
}
