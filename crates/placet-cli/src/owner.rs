//! The owner of a store: another process that offers its socket, or this one.
//!
//! One process owns a SQLite store: it keeps the time, delivers, and runs calls. Every command is a client of it. When no
//! process is the owner, the command becomes it, offers the socket to others, and is its own client: there is one way to do
//! things. Of a store on a database server there is one such process per data folder; leases keep them from each other's work.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use placet_agent::configured;
use placet_client::socket::{self, Bound};
use placet_client::{Client, Error};
use placet_core::config::Config;
use placet_core::ids::PersonId;
use placet_core::messages::{Message, cannot, refused};
use placet_core::wire::local::OwnerBody;
use placet_engine::StartError;
use placet_server::{Listen, Server};
use placet_store::{Location, OpenError, StoreError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::wiring::{Plan, Work};
use crate::{locale, output, wiring};

/// How long a process that has the store open may take until its socket answers.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// How to reach the owner of a store, and how to become it.
#[derive(Clone)]
pub(crate) struct Reach {
    pub(crate) config: Config,
    pub(crate) place: Place,
    /// What this process does when it becomes the owner.
    pub(crate) work: Work,
    /// The person at the terminal.
    pub(crate) person: PersonId,
}

/// A store, and where this machine works on it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) store: Location,
    /// The data folder.
    pub(crate) data: PathBuf,
    /// The socket of the process that works on it there.
    pub(crate) socket: PathBuf,
}

/// The right to offer the socket of a place, which one process has at a time.
#[derive(Debug)]
pub(crate) struct Claim {
    /// A store in a file has a lock of its own.
    _lock: Option<File>,
}

impl Place {
    /// Where a store is worked on from a data folder. What belongs to a file is beside it.
    pub(crate) fn new(store: Location, data: &Path, config: &Config) -> Self {
        match &store {
            Location::File(path) => Self {
                socket: socket::path(path),
                data: folder_of(path),
                store,
            },
            Location::Server(_) => Self {
                socket: socket::path(&data.join(&config.store.path)),
                data: data.to_owned(),
                store,
            },
        }
    }

    /// A store in a file.
    pub(crate) fn file(path: &Path) -> Self {
        Self {
            socket: socket::path(path),
            data: folder_of(path),
            store: Location::from(path),
        }
    }

    /// Claims the socket before the store is opened. Only one process can open a file; a database any number can.
    pub(crate) fn claim(&self) -> anyhow::Result<Claim> {
        if let Location::File(_) = self.store {
            return Ok(Claim { _lock: None });
        }
        let path = self.socket.with_extension("lock");
        let failed = || locale::say(&cannot::lock(path.display()));
        std::fs::create_dir_all(&self.data).with_context(failed)?;
        let lock = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Claim { _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => {
                Err(StartError::Open(OpenError::InUse(self.data.clone())).into())
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(failed),
        }
    }
}

/// The owner, as its client sees it.
pub(crate) struct Owner {
    pub(crate) client: Client,
    pub(crate) body: OwnerBody,
    here: Option<Hosted>,
}

/// This process is the owner.
pub(crate) struct Hosted {
    stop: CancellationToken,
    running: JoinHandle<anyhow::Result<()>>,
}

impl Reach {
    /// Finds the owner, or becomes it.
    pub(crate) async fn owner(&self) -> anyhow::Result<Owner> {
        let client = Client::socket(&self.place.socket)
            .as_person(&self.person)
            .speaking(locale::current());
        let since = Instant::now();
        let mut here = None;
        loop {
            match tokio::time::timeout(PATIENCE, client.owner()).await {
                Ok(Ok(body)) => return Ok(Owner { client, body, here }),
                Ok(Err(Error::NotRunning { .. } | Error::Lost(_))) if here.is_none() => {}
                Ok(Err(error)) => return Err(error.into()),
                Err(_) => bail!(locale::error(&refused::owner_silent())),
            }
            match self.become_owner().await {
                Ok(hosted) => here = Some(hosted),
                // Another process was faster, or is about to end.
                Err(error) if is_in_use(&error) && since.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) if is_in_use(&error) => {
                    bail!(locale::error(&refused::store_in_use(&self.place.store)))
                }
                Err(error) => {
                    return Err(error).with_context(|| locale::say(&cannot::open_store(&self.place.store)));
                }
            }
        }
    }

    /// The same for working with the built-in agent: in this folder, and with this model if one is named.
    pub(crate) async fn owner_with_agent(&self, model: Option<&str>) -> anyhow::Result<Owner> {
        // Only this process's own trouble if it becomes the owner, so it is looked at then; but found out before anything starts.
        let usable = configured::model(&self.config, model).map(drop);
        if let Err(error) = usable
            && Client::socket(&self.place.socket).owner().await.is_err()
        {
            return Err(error.into());
        }
        let owner = self.owner().await?;
        match owner.refusal(model, workspace(&self.config).as_deref()) {
            None => Ok(owner),
            Some(why) => {
                owner.close().await?;
                bail!(locale::error(&why))
            }
        }
    }

    async fn become_owner(&self) -> anyhow::Result<Hosted> {
        let claim = self.place.claim()?;
        let plan = Plan {
            config: self.config.clone(),
            source: "this command".to_owned(),
            data: self.place.data.clone(),
            store: self.place.store.clone(),
            listen: Listen::Nowhere,
            work: self.work.clone(),
            web: None,
        };
        Hosted::start(wiring::start(plan).await?, &self.place, claim)
    }
}

impl Hosted {
    /// Serves beside the caller, on the socket of the store.
    pub(crate) fn start(server: Server, place: &Place, claim: Claim) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        let offered = Offered::new(server, place, claim)?;
        let running = tokio::spawn({
            let stop = stop.clone();
            async move { Ok(offered.run(stop).await?) }
        });
        Ok(Self { stop, running })
    }

    /// Stops, and closes the store.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        self.stop.cancel();
        self.running.await?
    }
}

/// The folder the agent of a configuration works in, with every link resolved.
pub(crate) fn workspace(config: &Config) -> Option<String> {
    let folder = std::fs::canonicalize(&config.workspace.root).ok()?;
    Some(folder.to_string_lossy().into_owned())
}

/// The folder of a store's file.
fn folder_of(store: &Path) -> PathBuf {
    match store.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn is_in_use(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StartError::Open(OpenError::InUse(_))))
}

impl Owner {
    /// Why it does not work with this model or in this folder.
    fn refusal(&self, model: Option<&str>, workspace: Option<&str>) -> Option<Message> {
        let Some(agent) = &self.body.agent else {
            return Some(refused::owner_without_model());
        };
        if let Some(workspace) = workspace.filter(|folder| *folder != self.body.workspace) {
            return Some(refused::other_workspace(workspace, &self.body.workspace));
        }
        let model = model.filter(|model| *model != agent.model)?;
        Some(refused::other_model(model, &agent.model))
    }

    /// Says that commands are not confined, where they run in this process.
    pub(crate) fn warn_of_missing_sandbox(&self, config: &Config) {
        if self.here.is_some()
            && let Some(warning) = configured::sandbox(config).warning()
        {
            output::warn(&warning);
        }
    }

    /// Stops being the owner, if this process is it.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        match self.here {
            Some(hosted) => hosted.close().await,
            None => Ok(()),
        }
    }
}

/// A server that offers the socket beside its store.
pub(crate) struct Offered {
    server: Server,
    socket: Bound,
    claim: Claim,
}

impl Offered {
    /// Binds the socket. The place is this process's, so no other owner has one.
    pub(crate) fn new(mut server: Server, place: &Place, claim: Claim) -> anyhow::Result<Self> {
        let path = &place.socket;
        let (socket, listener) =
            Bound::bind(path).with_context(|| locale::say(&cannot::offer_socket(path.display())))?;
        server.offer(listener);
        Ok(Self {
            server,
            socket,
            claim,
        })
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Serves until `stop`. The socket goes first: a command that comes now waits for the store and becomes the next owner.
    pub(crate) async fn run(self, stop: CancellationToken) -> Result<(), StoreError> {
        let Self {
            server,
            socket,
            claim,
        } = self;
        let withdrawn = async {
            stop.cancelled().await;
            drop(socket);
        };
        let (ended, ()) = tokio::join!(server.run(stop.clone()), withdrawn);
        drop(claim);
        ended
    }
}
