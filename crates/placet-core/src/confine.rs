//! What confines a call while it runs, and what it asks to be freed of.
//!
//! Pure data: the built-in agent promises a confinement with the call, policy judges the call by it, the journal keeps it with
//! the verdict, and the call runs under exactly this confinement or not at all.

use serde::{Deserialize, Serialize};

use crate::interaction::Locale;
use crate::messages::{self, Message, confine};
use crate::tool::Category;

/// How tightly a command is confined when it asks for nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It writes only inside the workspace.
    Workspace,
    /// It writes nowhere.
    ReadOnly,
}

/// Something a command asks for beyond its confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Need {
    /// To talk to other machines.
    #[serde(rename = "network")]
    Network,
    /// To read files outside the workspace and the system's folders.
    #[serde(rename = "read outside")]
    ReadOutside,
    /// To write files in the workspace, where that is not allowed anyway.
    #[serde(rename = "write inside")]
    WriteInside,
    /// To read and write files anywhere.
    #[serde(rename = "write outside")]
    WriteOutside,
    /// To run although the workspace has too many files for the guarded ones to be put back. No command asks for it itself.
    #[serde(rename = "unguarded")]
    Unguarded,
}

/// Where a command can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Nowhere.
    Nothing,
    /// In the workspace.
    Workspace,
    /// Wherever the user can.
    Anywhere,
}

/// What confines a call while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Confinement {
    /// How tightly.
    pub level: Level,
    /// What it asks for beyond that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// What for, in the agent's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
}

impl Need {
    /// Those that a command can ask for.
    pub const ALL: [Self; 4] = [
        Self::Network,
        Self::ReadOutside,
        Self::WriteInside,
        Self::WriteOutside,
    ];

    /// As written in a call's arguments.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::ReadOutside => "read outside",
            Self::WriteInside => "write inside",
            Self::WriteOutside => "write outside",
            Self::Unguarded => "unguarded",
        }
    }

    fn message(self) -> Message {
        match self {
            Self::Network => confine::network(),
            Self::ReadOutside => confine::read_outside(),
            Self::WriteInside => confine::write_inside(),
            Self::WriteOutside => confine::write_outside(),
            Self::Unguarded => confine::unguarded(),
        }
    }
}

impl Confinement {
    /// This tightly, and nothing more is asked for.
    pub const fn whole(level: Level) -> Self {
        Self {
            level,
            needs: Vec::new(),
            purpose: None,
        }
    }

    /// Whether the command asks for anything beyond its confinement.
    pub(crate) fn asks(&self) -> bool {
        self.needs.iter().any(|need| *need != Need::Unguarded)
    }

    /// Whether it may talk to other machines.
    pub fn has_network(&self) -> bool {
        self.needs.contains(&Need::Network)
    }

    /// Where it can write.
    pub fn writes(&self) -> Writes {
        if self.needs.contains(&Need::WriteOutside) {
            Writes::Anywhere
        } else if self.level == Level::Workspace || self.needs.contains(&Need::WriteInside) {
            Writes::Workspace
        } else {
            Writes::Nothing
        }
    }

    /// Whether it can read files outside the workspace that are not the system's.
    pub fn reads_anywhere(&self) -> bool {
        self.needs.contains(&Need::ReadOutside) || self.writes() == Writes::Anywhere
    }

    /// The category of a command under it. Confined, its worst effect is a write inside the workspace.
    pub(crate) fn category(&self) -> Category {
        if self.needs.is_empty() {
            Category::Write
        } else if self.has_network() {
            Category::Network
        } else {
            Category::Command
        }
    }

    /// What confines it, in words without a full stop; `None` when nothing does.
    pub fn words(&self, locale: Locale) -> Option<String> {
        let files = match self.writes() {
            Writes::Nothing => Some(confine::writes_nothing()),
            Writes::Workspace => Some(confine::writes_workspace()),
            Writes::Anywhere => None,
        };
        let home = (!self.reads_anywhere()).then(confine::no_home);
        let network = (!self.has_network()).then(confine::no_network);
        listed(locale, [files, home, network].into_iter().flatten())
    }

    /// What it asks for, and what for; `None` when it asks for nothing.
    pub fn wants(&self, locale: Locale) -> Option<String> {
        let needs = listed(locale, self.needs.iter().map(|need| need.message()))?;
        Some(match &self.purpose {
            Some(purpose) => confine::for_purpose(needs, purpose).say(locale),
            None => needs,
        })
    }
}

fn listed(locale: Locale, messages: impl Iterator<Item = Message>) -> Option<String> {
    let said: Vec<String> = messages.map(|message| message.say(locale)).collect();
    (!said.is_empty()).then(|| messages::enumerated(locale, &said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::assert_chinese::assert_chinese;

    fn needing(needs: &[Need]) -> Confinement {
        Confinement {
            needs: needs.to_vec(),
            ..Confinement::whole(Level::Workspace)
        }
    }

    #[test]
    fn a_confined_command_is_a_write_and_one_that_asks_for_more_is_not() {
        assert_eq!(needing(&[]).category(), Category::Write);
        assert_eq!(needing(&[Need::WriteOutside]).category(), Category::Command);
        assert_eq!(needing(&[Need::Unguarded]).category(), Category::Command);
        assert_eq!(
            needing(&[Need::WriteOutside, Need::Network]).category(),
            Category::Network
        );
    }

    #[test]
    fn what_confines_a_command_and_what_it_asks_for_is_said_in_both_languages() {
        let whole = needing(&[]);
        assert_eq!(
            whole.words(Locale::English).unwrap(),
            "writes only inside the workspace, reads nothing of the home folder, no network"
        );
        assert_eq!(whole.wants(Locale::English), None);
        let registry = Confinement {
            purpose: Some("registry".into()),
            ..needing(&[Need::Network])
        };
        assert_eq!(registry.wants(Locale::English).unwrap(), "network: registry");
        assert_eq!(
            needing(&[Need::Network, Need::WriteOutside]).words(Locale::English),
            None
        );
        let all = needing(&Need::ALL);
        for text in [whole.words(Locale::Chinese), all.wants(Locale::Chinese)] {
            assert_chinese(&text.unwrap());
        }
        let read_only = Confinement::whole(Level::ReadOnly);
        assert_eq!(read_only.writes(), Writes::Nothing);
        assert_chinese(&read_only.words(Locale::Chinese).unwrap());
    }

    #[test]
    fn a_confinement_is_stored_in_the_words_of_the_configuration_and_of_the_call() {
        let stored = serde_json::to_string(&needing(&Need::ALL)).unwrap();
        assert_eq!(
            stored,
            r#"{"level":"workspace","needs":["network","read outside","write inside","write outside"]}"#
        );
        assert_eq!(
            serde_json::from_str::<Confinement>(&stored).unwrap(),
            needing(&Need::ALL)
        );
        for need in Need::ALL {
            assert_eq!(serde_json::to_value(need).unwrap(), need.as_str());
        }
    }
}
