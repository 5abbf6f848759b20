//! Where the store is, reading it beside a running placet, and `placet store`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use placet_core::config::{Config, DatabaseUrl};
use placet_core::ids::PersonId;
use placet_core::messages::{cannot, refused, stored};
use placet_core::render::SafeText;
use placet_core::snapshot::{Snapshot, Undecided};
use placet_engine::secret;
use placet_store::{Location, Store, Verified};
use serde_json::json;

use crate::args::{StoreArgs, StoreCommand};
use crate::exit::Exit;
use crate::owner::{Owner, Place, Reach};
use crate::wiring::Work;
use crate::{config_file, locale, output};

/// Runs `placet store`.
pub(crate) fn run(command: &StoreCommand) -> anyhow::Result<Exit> {
    let StoreCommand::Copy { from, to, json } = command;
    let (from, to) = (parse(from)?, parse(to)?);
    let copied = block_on(placet_store::copy(from, to.clone()))??;
    let Verified {
        rows,
        sessions,
        checkpoints,
        anchor,
        ..
    } = copied;
    output::print(&if *json {
        let object = json!({
            "to": to.to_string(),
            "rows": rows,
            "sessions": sessions,
            "checkpoints": checkpoints,
            "anchor": anchor.to_string(),
        });
        format!("{object}\n")
    } else {
        let to = SafeText::line(&to.to_string());
        locale::say(&stored::copied(anchor, rows, sessions, to))
    })?;
    Ok(Exit::Success)
}

/// The store that a flag names, else the configured one: on a server, or a file in the data folder.
pub(crate) fn location(named: Option<&str>, config: &Config, data: &Path) -> anyhow::Result<Location> {
    match (named, &config.store.url) {
        (Some(url), _) => parse(url),
        (None, Some(url)) => configured(url),
        (None, None) => Ok(Location::File(data.join(&config.store.path))),
    }
}

/// A store as people write it on a command line, where others can read it.
fn parse(text: &str) -> anyhow::Result<Location> {
    found(&DatabaseUrl::parse(text)?)
}

fn found(url: &DatabaseUrl) -> anyhow::Result<Location> {
    Ok(match url {
        DatabaseUrl::Plain(url) => Location::parse(url)?,
        DatabaseUrl::Kept(place) => Location::parse(secret::resolve(place)?.expose())?,
    })
}

/// `[store] url`.
fn configured(url: &DatabaseUrl) -> anyhow::Result<Location> {
    match found(url)? {
        server @ Location::Server(_) => Ok(server),
        Location::File(_) => anyhow::bail!(locale::error(&refused::store_url())),
    }
}

/// The store that `--store` or `--db` names, else the configured one.
pub(crate) fn at(args: &StoreArgs) -> anyhow::Result<Location> {
    if let Some(db) = &args.db {
        return Ok(Location::File(db.clone()));
    }
    if let Some(url) = &args.store {
        return parse(url);
    }
    let config = config_file::load(args.config.as_deref())?.config;
    if let Some(url) = &config.store.url {
        return configured(url);
    }
    Ok(Location::File(data_folder(args)?.join(config.store.path)))
}

fn data_folder(args: &StoreArgs) -> anyhow::Result<PathBuf> {
    let folder = args.data.clone();
    let folder = folder.or_else(|| config_file::user_folder("XDG_DATA_HOME", ".local/share"));
    folder.with_context(|| locale::say(&cannot::find_home()))
}

/// The store that the flags name, and where it is worked on from this data folder.
pub(crate) fn place(args: &StoreArgs, config: &Config) -> anyhow::Result<Place> {
    Ok(match at(args)? {
        Location::File(path) => Place::file(&path),
        server @ Location::Server(_) => Place::new(server, &data_folder(args)?, config),
    })
}

/// The file of a store, if it is one that is missing.
pub(crate) fn missing_file(location: &Location) -> Option<&Path> {
    match location {
        Location::File(path) if !path.exists() => Some(path),
        Location::File(_) | Location::Server(_) => None,
    }
}

/// Whether no flag names a store and the usual one is missing: a newcomer's store is simply empty, a mistyped one is an error.
pub(crate) fn is_newcomers(args: &StoreArgs, path: &Path) -> bool {
    args.db.is_none() && args.data.is_none() && !path.exists()
}

/// For looking; a running placet is not disturbed.
pub(crate) async fn read_only(location: &Location) -> anyhow::Result<Store> {
    Store::look_at(location)
        .await
        .with_context(|| locale::say(&cannot::read_log()))
}

/// Looks at a store once; see [`Store::look`].
pub(crate) fn look<T>(
    location: &Location,
    read: impl Fn(&Snapshot) -> Result<T, Undecided>,
) -> anyhow::Result<T> {
    block_on(async {
        let store = read_only(location).await?;
        Ok(store.look(read).await?)
    })?
}

/// Runs what reads a store to its end, in a command that does nothing else.
pub(crate) fn block_on<T>(reading: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    Ok(runtime.block_on(reading))
}

/// The owner of a store for looking and answering: its paths are judged where the agent works, not where the person sits.
pub(crate) async fn answering(
    mut config: Config,
    place: Place,
    person: &PersonId,
    work: Work,
) -> anyhow::Result<Owner> {
    // Says what is wrong with a path better than starting would.
    let store = read_only(&place.store).await?;
    let workspace = store.look(|stored| stored.workspace(&()).cloned()).await?;
    drop(store);
    // The agent of a database may work on another machine.
    let is_here = |folder: &String| matches!(place.store, Location::File(_)) || Path::new(folder).is_dir();
    if let Some(workspace) = workspace.filter(is_here) {
        config.workspace.root = workspace;
    }
    let reach = Reach {
        config,
        place,
        work,
        person: person.clone(),
    };
    reach.owner().await
}
