//! `placet audit`: who decided what, whether the journal still says so, and how to take it elsewhere.
//!
//! Everything here only reads, through connections of its own, so it works while a placet has the store open.

use std::path::PathBuf;

use anyhow::Context as _;
use placet_store::ReadOnly;

use crate::args::{AuditCommand, StoreArgs};
use crate::config_file;
use crate::exit::Exit;

mod export;
mod list;
mod pages;
mod related;
mod row;
mod show;
mod verify;
mod words;

/// Runs the command.
pub(crate) fn run(store: &StoreArgs, command: &AuditCommand) -> anyhow::Result<Exit> {
    let path = path(store)?;
    let found = ReadOnly::open(&path)
        .context("the journal cannot be read (--db names its file, --data its folder)")?;
    match command {
        AuditCommand::List(args) => list::run(&found, args),
        AuditCommand::Show { id, json } => show::run(&found, id, *json),
        AuditCommand::Verify { anchor, json } => verify::run(&path, anchor.as_ref(), *json),
        AuditCommand::Export(args) => export::run(&found, args),
    }
}

/// The database file meant by the options.
pub(crate) fn path(store: &StoreArgs) -> anyhow::Result<PathBuf> {
    if let Some(db) = &store.db {
        return Ok(db.clone());
    }
    let config = config_file::load(store.config.as_deref())?.config;
    let folder = store
        .data
        .clone()
        .or_else(|| config_file::user_folder("XDG_DATA_HOME", ".local/share"));
    let folder = folder.context("there is no home folder; name the data folder with --data")?;
    Ok(folder.join(config.store.path))
}
