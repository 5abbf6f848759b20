//! Who sits here: the person `--as` names, else the user of this machine.

use anyhow::{Context as _, bail};
use placet_channels::terminal::TerminalUser;
use placet_core::ids::PersonId;
use placet_core::messages::refused;
use placet_core::people::Directory;

use crate::locale;

/// The person whose name goes into the journal.
pub(crate) fn is_here(named: Option<&PersonId>, people: &Directory) -> anyhow::Result<PersonId> {
    match named {
        Some(name) => known(name, people),
        None => Ok(TerminalUser::of_user(people)
            .with_context(|| locale::say(&refused::no_identity()))?
            .person),
    }
}

/// Where people are configured, a name must be one of theirs.
fn known(name: &PersonId, people: &Directory) -> anyhow::Result<PersonId> {
    if people.people().next().is_some() && people.person(name.as_str()).is_none() {
        let known: Vec<_> = people.people().map(|person| person.name.as_str()).collect();
        bail!(locale::error(&refused::unknown_person(known, name)));
    }
    Ok(name.clone())
}
