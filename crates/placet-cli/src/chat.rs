//! `placet chat`: a conversation with the built-in agent at a terminal. Its questions appear in the conversation, and are answered
//! there with the same sheet and the same keys as everywhere else. The agent works in the owner of the store: another process, or
//! this one.
//!
//! | file | part |
//! |---|---|
//! | `talk.rs` | the conversation: keys and events in, lines out |
//! | `run_command.rs`, `command.rs` | what begins with a slash |
//! | `speech.rs`, `markdown.rs` | what the model is saying, as lines |
//! | `feed.rs`, `questions.rs` | events on their way to the screen, and answers on their way back |
//! | `show.rs` | calls and results, as short lines |
//! | `entry.rs`, `keys.rs` | the line being typed, and where keys come from |
//! | `words.rs` | what the program says itself |
//!
//! The line is edited by the field that questions use, not by a line-editing library. `reedline` and `rustyline` read keys in a
//! call of their own: a question could not break in without losing what is typed, and keys meant for the line could reach the
//! question. They would also be a second way to edit a text in this program.

use anyhow::{Context as _, bail};
use placet_channels::terminal::{self, Colours, Inline, TerminalUser};
use placet_client::Client;
use placet_core::config::Config;
use placet_core::ids::SessionId;
use placet_core::messages::{self, refused};
use tokio::runtime::Runtime;

use crate::args::{ChatArgs, Color, Resume};
use crate::exit::Exit;
use crate::owner::Reach;
use crate::wiring::Work;
use crate::{config_file, locale, output, store};

mod command;
mod entry;
mod feed;
mod keys;
mod markdown;
mod questions;
mod run_command;
mod show;
mod speech;
mod talk;
mod words;

use entry::{Entry, History};
use talk::{Seated, Talk};

/// Where lines typed before are kept, beside the store.
const HISTORY: &str = "chat-history.jsonl";

/// Runs the command.
pub(crate) fn run(args: &ChatArgs, color: Color) -> anyhow::Result<Exit> {
    let config = config_file::load(args.store.config.as_deref())?.config;
    let colours = match color {
        Color::Auto => Colours::Auto,
        Color::Always => Colours::Always,
        Color::Never => Colours::Never,
    };
    let locale = config.locale(None);
    let inline = Inline::find(locale, colours).with_context(|| locale::say(&refused::no_terminal_chat()))?;
    #[cfg(unix)]
    terminal::restore_on_signals()?;
    Runtime::new()?.block_on(converse(args, config, colours, inline))
}

async fn converse(args: &ChatArgs, config: Config, colours: Colours, inline: Inline) -> anyhow::Result<Exit> {
    let locale = config.locale(None);
    let seat = TerminalUser::of_user(&config.people)?;
    let reach = Reach {
        place: store::place(&args.store, &config)?,
        person: seat.person.clone(),
        work: Work::Asked {
            model: args.model.clone(),
        },
        config,
    };
    let (_, attendant) = terminal::open(seat, locale, colours)?;
    let owner = reach.owner_with_agent(args.model.as_deref()).await?;
    owner.warn_of_missing_sandbox(&reach.config);
    let history = reach.place.data.join(HISTORY);
    let seated = Seated {
        reach,
        owner,
        model: args.model.clone(),
        locale,
    };
    let entry = Entry::new(History::of(&history));
    let session = match resumed(args, &seated.owner.client).await {
        Ok(session) => session,
        Err(error) => {
            seated.owner.close().await?;
            return Err(error);
        }
    };
    if let Some(left) = Talk::new(seated, attendant, inline, entry)?.run(session).await? {
        output::print(&messages::talk::left(&left).say(locale))?;
    }
    Ok(Exit::Success)
}

/// The conversation to continue, if one was asked for.
async fn resumed(args: &ChatArgs, client: &Client) -> anyhow::Result<Option<SessionId>> {
    let session = match &args.resume {
        None => return Ok(None),
        Some(Resume::Newest) => match client.conversations().await?.into_iter().next() {
            Some(newest) => newest.session_id,
            None => bail!(locale::error(&refused::no_chat())),
        },
        Some(Resume::Session(session)) => session.clone(),
    };
    match client.resume_run(&session).await {
        Ok(_) => Ok(Some(session)),
        Err(error) if error.code() == Some("no-such-session") => {
            bail!(locale::error(&refused::not_your_chat(session)))
        }
        Err(error) => Err(error.into()),
    }
}
