//! Where the store is, reading it beside a running placet, and `placet store`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use placet_client::socket;
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
use crate::owner::{Owner, Reach};
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

/// The socket of the process that works on a store. Servers that share a database server's store offer one in their own data folder.
pub(crate) fn socket_of(args: &StoreArgs, location: &Location, config: &Config) -> anyhow::Result<PathBuf> {
    Ok(match location {
        Location::File(path) => socket::path(path),
        Location::Server(_) => socket::path(&data_folder(args)?.join(&config.store.path)),
    })
}

/// The same for a command that works on a file.
pub(crate) fn path(args: &StoreArgs) -> anyhow::Result<PathBuf> {
    match at(args)? {
        Location::File(path) => Ok(path),
        server @ Location::Server(_) => {
            anyhow::bail!(locale::error(&refused::needs_file(server)))
        }
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
    path: &Path,
    person: &PersonId,
    work: Work,
) -> anyhow::Result<Owner> {
    // Says what is wrong with a path better than starting would.
    let store = read_only(&Location::from(path)).await?;
    if let Some(workspace) = store.look(|stored| stored.workspace(&()).cloned()).await? {
        config.workspace.root = workspace;
    }
    drop(store);
    let reach = Reach {
        config,
        store: path.to_owned(),
        work,
        person: person.clone(),
    };
    reach.owner().await
}
