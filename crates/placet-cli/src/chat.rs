//! `placet chat`: a conversation with the built-in agent at a terminal. Its questions appear in the conversation, and are answered
//! there by the terminal channel: the same sheet and the same keys as everywhere else.
//!
//! | file | part |
//! |---|---|
//! | `talk.rs` | the conversation: keys and events in, lines out |
//! | `obey.rs`, `command.rs` | what begins with a slash |
//! | `speech.rs`, `markdown.rs` | what the model is saying, as lines |
//! | `feed.rs` | events on their way to the screen |
//! | `show.rs` | calls and results, as short lines |
//! | `entry.rs`, `keys.rs` | the line being typed, and where keys come from |
//! | `words.rs` | what the program says itself |
//!
//! The line is edited by the field that questions use, not by a line-editing library. `reedline` and `rustyline` read keys in a
//! call of their own: a question could not break in without losing what is typed, and keys meant for the line could reach the
//! question. They would also be a second way to edit a text in this program.

use std::path::Path;

use anyhow::{Context as _, bail};
use placet_agent::Agent;
use placet_agent::chat::ChatError;
use placet_channels::terminal::{self, Colours, Inline, Seat};
use placet_core::config::Config;
use placet_core::ids::{AgentId, SessionId};
use placet_engine::Engine;
use placet_server::builtin;
use tokio::runtime::Runtime;

use crate::args::{ChatArgs, Color, Resume};
use crate::exit::Exit;
use crate::{config_file, output, store};

mod command;
mod entry;
mod feed;
mod keys;
mod markdown;
mod obey;
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
    let inline = Inline::find(locale, colours)
        .context("`placet chat` is for a person at a terminal; `placet run` is for scripts")?;
    #[cfg(unix)]
    terminal::restore_on_signals()?;
    Runtime::new()?.block_on(converse(args, config, colours, inline))
}

async fn converse(args: &ChatArgs, config: Config, colours: Colours, inline: Inline) -> anyhow::Result<Exit> {
    let locale = config.locale(None);
    let model = builtin::model(&config, args.model.as_deref())?;
    let model_name = model.name().to_owned();
    let seat = Seat::of_user(&config.people)?;
    let person = seat.person.clone();
    let path = store::path(&args.store)?;
    let data = path.parent().unwrap_or(Path::new("."));
    if let Some(warning) = builtin::sandbox(&config).warning() {
        output::warn(&warning);
    }
    let (tools, limits) = (builtin::all_tools(&config, data).await?, config.agent.limits);
    // A conversation that is resumed may have begun with another one.
    let others = builtin::other_models(&config, model.name());
    let usual_mode = config.policy.settings().mode;
    let (channel, attendant) = terminal::open(seat, locale, colours)?;
    let elsewhere: Vec<_> = builtin::channels_elsewhere(&config).collect();
    let engine = Engine::builder(config)
        .channels_elsewhere(elsewhere)
        .channel(channel.clone())
        .toolbox(AgentId::built_in(), tools.clone())
        .start(&path)
        .await
        .with_context(|| {
            format!(
                "the store `{}` cannot be opened; while `placet serve` runs on it, talk to its agent over HTTP",
                path.display()
            )
        })?;
    let builder = Agent::builder(engine.clone(), tools.clone())
        .model(model)
        .limits(limits)
        .resuming_nothing();
    let builder = others.into_iter().fold(builder, placet_agent::Builder::model);
    let agent = builder.start().await?;
    let seated = Seated {
        agent: agent.clone(),
        tools,
        person,
        place: channel.chat().clone(),
        locale,
        model: model_name,
        usual_mode,
    };
    let entry = Entry::new(History::of(&path.with_file_name(HISTORY)));
    let session = resumed(args, &seated).await;
    let talked = match session {
        Ok(session) => Talk::new(seated, attendant, inline, entry)?.run(session).await,
        Err(error) => Err(error),
    };
    agent.shutdown().await;
    engine.shutdown().await?;
    if let Some(left) = talked? {
        output::print(&words::left(&left, locale))?;
    }
    Ok(Exit::Success)
}

/// The conversation to go on with, if one was asked for.
async fn resumed(args: &ChatArgs, seated: &Seated) -> anyhow::Result<Option<SessionId>> {
    let session = match &args.resume {
        None => return Ok(None),
        Some(Resume::Newest) => match seated.agent.chat().newest(&seated.person).await {
            Ok(session) => session,
            Err(ChatError::NoneYet) => {
                bail!("you have had no conversation here yet; `placet chat` begins one")
            }
            Err(error) => return Err(error.into()),
        },
        Some(Resume::Session(session)) => match seated.agent.owner(session).await? {
            Some(owner) if owner == seated.person => session.clone(),
            _ => bail!("there is no conversation `{session}` of yours"),
        },
    };
    seated.agent.resume(&session).await?;
    Ok(Some(session))
}
