//! `placet inbox`: pending requests, on the whole screen or line by line for scripts.
//!
//! | file | part |
//! |---|---|
//! | `waiting.rs` | pending requests, looked up and summed up |
//! | `list.rs`, `show.rs`, `answer.rs` | the plain commands |
//! | `page.rs` | a question as text |
//! | `app.rs`, `together.rs`, `filter.rs` | the whole screen: keys in, effects out |
//! | `view.rs` | the whole screen: state in, picture out |
//! | `live.rs` | the real terminal, the owner of the store |

use anyhow::bail;
use placet_agent::configured;
use placet_client::Client;
use placet_core::ids::PersonId;
use placet_core::interaction::Locale;
use placet_core::messages::{self, refused};
use placet_core::principal::{Principal, Via};
use tokio::runtime::Runtime;

use crate::args::{Color, InboxCommand, StoreArgs};
use crate::exit::Exit;
use crate::wiring::Work;
use crate::{config_file, locale, output, store, who};

mod answer;
mod app;
mod filter;
mod list;
mod live;
mod page;
mod show;
#[cfg(test)]
mod tests;
mod together;
mod view;
mod waiting;

pub(crate) use answer::goes_on;
pub(crate) use waiting::preview;

/// The open inbox, and who looks at it.
struct Inbox {
    runtime: Runtime,
    client: Client,
    by: Principal,
    locale: Locale,
}

/// Runs the command.
pub(crate) fn run(
    args: &StoreArgs,
    person: Option<&PersonId>,
    command: Option<&InboxCommand>,
    color: Color,
) -> anyhow::Result<Exit> {
    let config = config_file::load(args.config.as_deref())?.config;
    let place = store::place(args, &config)?;
    let locale = config.locale(None);
    if let Some(path) = store::missing_file(&place.store) {
        match command {
            // No line for a program to read.
            Some(InboxCommand::List(list)) if list.json && store::is_newcomers(args, path) => {
                return Ok(Exit::Success);
            }
            None | Some(InboxCommand::List(_)) if store::is_newcomers(args, path) => {
                output::print(&messages::inbox::empty(path.display()).say(locale))?;
                return Ok(Exit::Success);
            }
            _ => {}
        }
        bail!(locale::error(&refused::no_store(path.display())));
    }
    let person = who::is_here(person, &config.people)?;
    let runtime = Runtime::new()?;
    // A person who keeps the inbox open lets others talk to the agent meanwhile; a single command is over in a moment.
    let work = match command {
        None if configured::model(&config, None).is_ok() => Work::Asked { model: None },
        _ => Work::Answers,
    };
    let owner = runtime.block_on(store::answering(config, place, &person, work))?;
    let by = Principal::Person {
        person,
        via: Via::Inbox,
    };
    let inbox = Inbox {
        client: owner.client.clone(),
        by,
        locale,
        runtime,
    };
    let done = match command {
        None => live::run(&inbox, color),
        Some(InboxCommand::List(args)) => list::run(&inbox, args),
        Some(InboxCommand::Show { question, json }) => show::run(&inbox, question, *json),
        Some(InboxCommand::Answer(args)) => answer::run(&inbox, args),
    };
    let closed = inbox.runtime.block_on(owner.close());
    let exit = done?;
    closed?;
    Ok(exit)
}
