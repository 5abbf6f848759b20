//! Where the store is, and opening it beside or instead of a running placet.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use placet_store::{Options, ReadOnly, Store};

use crate::args::StoreArgs;
use crate::config_file;

/// The file `--db` names, else the configured one in the data folder.
pub(crate) fn path(args: &StoreArgs) -> anyhow::Result<PathBuf> {
    if let Some(db) = &args.db {
        return Ok(db.clone());
    }
    let config = config_file::load(args.config.as_deref())?.config;
    let folder = args
        .data
        .clone()
        .or_else(|| config_file::user_folder("XDG_DATA_HOME", ".local/share"));
    let folder = folder.context("there is no home folder; name the data folder with --data")?;
    Ok(folder.join(config.store.path))
}

/// For looking; a running placet is not disturbed.
pub(crate) fn read_only(path: &Path) -> anyhow::Result<ReadOnly> {
    ReadOnly::open(path).context("the journal cannot be read (--db names its file, --data its folder)")
}

/// For changing. Only the store, none of an engine's services: nothing is delivered, expired or recovered on the side.
pub(crate) fn open_beside(path: &Path) -> anyhow::Result<Store> {
    // Opening would make the file; a mistyped path must not.
    read_only(path)?;
    Store::open(path, Options::default()).context("the store cannot be changed")
}
