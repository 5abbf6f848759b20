//! `placet inbox`: what waits for a person, on the whole screen or line by line for scripts.
//!
//! | file | part |
//! |---|---|
//! | `waiting.rs` | what waits, looked up and summed up |
//! | `list.rs`, `show.rs`, `answer.rs` | the plain commands |
//! | `page.rs` | a question as text |
//! | `app.rs`, `together.rs`, `filter.rs` | the whole screen: keys in, effects out |
//! | `view.rs` | the whole screen: state in, picture out |
//! | `live.rs` | the real terminal, the real store |

use std::path::Path;

use anyhow::{Context as _, bail};
use placet_channels::terminal::Seat;
use placet_core::config::Config;
use placet_core::ids::PersonId;
use placet_core::interaction::Locale;
use placet_core::principal::{Principal, Via};
use placet_engine::Engine;
use placet_engine::broker::Broker;
use tokio::runtime::Runtime;

use crate::args::{Color, InboxCommand, StoreArgs};
use crate::audit;
use crate::config_file;
use crate::exit::Exit;

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

/// The open inbox, and who looks at it.
struct Inbox {
    runtime: Runtime,
    broker: Broker,
    by: Principal,
    locale: Locale,
}

/// Runs the command.
pub(crate) fn run(
    store: &StoreArgs,
    person: Option<PersonId>,
    command: Option<&InboxCommand>,
    color: Color,
) -> anyhow::Result<Exit> {
    let path = audit::path(store)?;
    if !path.exists() {
        bail!(
            "there is no store at `{}` (--db names its file, --data its folder); nothing has been asked there",
            path.display()
        );
    }
    let config = config_file::load(store.config.as_deref())?.config;
    let person = match person {
        Some(person) => person,
        None => {
            Seat::of_user(&config.people)
                .context("who answers? --as names the person")?
                .person
        }
    };
    let locale = config.locale(None);
    let runtime = Runtime::new()?;
    let engine = runtime.block_on(open_beside(config, &path))?;
    let inbox = Inbox {
        broker: engine.broker(),
        by: Principal::Person {
            person,
            via: Via::Inbox,
        },
        locale,
        runtime,
    };
    let done = match command {
        None => live::run(&inbox, color),
        Some(InboxCommand::List(args)) => list::run(&inbox, args),
        Some(InboxCommand::Show { question, json }) => show::run(&inbox, question, *json),
        Some(InboxCommand::Answer(args)) => answer::run(&inbox, args),
    };
    let closed = inbox.runtime.block_on(engine.shutdown());
    let exit = done?;
    closed?;
    Ok(exit)
}

/// An engine beside whatever else has the store open.
async fn open_beside(config: Config, path: &Path) -> anyhow::Result<Engine> {
    let engine = Engine::builder(config).start(path).await;
    engine.with_context(|| format!("the store `{}` cannot be opened", path.display()))
}
