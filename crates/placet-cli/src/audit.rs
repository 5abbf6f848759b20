//! `placet audit`: who decided what, whether the journal still says so, and how to take it elsewhere.
//!
//! Everything here only reads, through connections of its own, so it works while a placet has the store open.

use crate::args::{AuditCommand, StoreArgs};
use crate::exit::Exit;
use crate::store;

mod export;
mod list;
mod pages;
mod related;
mod row;
mod show;
mod verify;
mod words;

/// Runs the command.
pub(crate) fn run(args: &StoreArgs, command: &AuditCommand) -> anyhow::Result<Exit> {
    let path = store::path(args)?;
    let found = store::read_only(&path)?;
    match command {
        AuditCommand::List(list) => list::run(&found, list),
        AuditCommand::Show { id, json } => show::run(&found, id, *json),
        AuditCommand::Verify { anchor, json } => verify::run(&path, anchor.as_ref(), *json),
        AuditCommand::Export(export) => export::run(&found, export),
    }
}
