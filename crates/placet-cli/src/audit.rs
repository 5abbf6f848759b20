//! `placet audit`: who decided what, whether the journal still says so, and how to take it elsewhere.
//!
//! Everything here only reads, through connections of its own, so it works while a placet has the store open.

use placet_core::interaction::Locale;
use placet_core::messages;
use placet_store::Location;

use crate::args::{AuditCommand, StoreArgs};
use crate::exit::Exit;
use crate::{config_file, locale, output, store};

mod export;
mod list;
mod pages;
mod related;
mod row;
mod show;
mod verify;
mod words;

/// Runs the command, in the configured language.
pub(crate) fn run(args: &StoreArgs, command: &AuditCommand) -> anyhow::Result<Exit> {
    tell(args, command, locale(args)?)
}

/// Runs the command in a language.
pub(crate) fn tell(args: &StoreArgs, command: &AuditCommand, locale: Locale) -> anyhow::Result<Exit> {
    let location = store::at(args)?;
    if let (AuditCommand::List(list), Location::File(path)) = (command, &location)
        && store::is_newcomers(args, path)
    {
        // No line for a program to read.
        if !list.json {
            output::print(&messages::audit::empty(path.display()).say(locale))?;
        }
        return Ok(Exit::Success);
    }
    store::block_on(async {
        let found = store::read_only(&location).await?;
        match command {
            AuditCommand::List(list) => list::run(&found, list, locale).await,
            AuditCommand::Show { id, json } => show::run(&found, id, *json, locale).await,
            AuditCommand::Verify { anchor, json } => {
                verify::run(&location, &found, *anchor, *json, locale).await
            }
            AuditCommand::Export(export) => export::run(&found, export).await,
        }
    })?
}

/// A file named by `--db` is looked at whatever becomes of the configuration, so a broken one only costs its language.
fn locale(args: &StoreArgs) -> anyhow::Result<Locale> {
    match config_file::load(args.config.as_deref()) {
        Ok(loaded) => Ok(loaded.config.locale(None)),
        Err(_) if args.db.is_some() => Ok(locale::current()),
        Err(error) => Err(error),
    }
}
