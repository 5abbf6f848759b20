//! Where the store is, and opening it beside or instead of a running placet.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use placet_core::config::Config;
use placet_engine::{Beside, Engine};
use placet_store::ReadOnly;

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

/// Whether nobody said where to look and nothing is there: a newcomer's store is simply empty, a mistyped one is an error.
pub(crate) fn is_newcomers(args: &StoreArgs, path: &Path) -> bool {
    args.db.is_none() && args.data.is_none() && !path.exists()
}

/// For looking; a running placet is not disturbed.
pub(crate) fn read_only(path: &Path) -> anyhow::Result<ReadOnly> {
    ReadOnly::open(path).context("the journal cannot be read (--db names its file, --data its folder)")
}

/// For answering and taking back, beside a running placet or without one.
pub(crate) async fn join(config: Config, path: &Path) -> anyhow::Result<Beside> {
    // Says what is wrong with a path better than joining would.
    read_only(path)?;
    let joined = Engine::builder(config).join(path).await;
    joined.with_context(|| format!("the store `{}` cannot be opened", path.display()))
}
