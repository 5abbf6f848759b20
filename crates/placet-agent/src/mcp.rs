//! MCP servers as sources of tools: programs we start, and addresses we talk to.
//!
//! Their tools are called `mcp__SERVER__tool` and go through the gate like any other. What a server says of its own tools may
//! raise their risk, never lower it. A server that died is started again at the next call. Which tools there are is looked at
//! when a run begins and holds for that run; a tool that is not what it was when it was first seen is HIGH, and people are
//! shown what changed.
//!
//! | file | part |
//! |---|---|
//! | `server.rs` | one server: its process or connection, its list of tools, its calls |
//! | `definition.rs` | what a server says of a tool, made safe to pass on |
//! | `tool.rs` | one of its tools |
//! | `pins.rs` | how every tool looked when it was first seen |

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use futures_util::future::join_all;
use placet_core::confine::Level;
use placet_engine::Engine;

use crate::sandbox::Sandbox;
use crate::tools::Tool;

mod definition;
mod pins;
mod server;
mod tool;

pub use pins::{Pins, PinsError};

use server::Server;

/// How a server is reached, with every secret looked up.
#[derive(Clone)]
pub struct Access {
    /// Its configured name.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// The only tools that are used, by the server's own names.
    pub tools: Option<BTreeSet<String>>,
    /// How long it may take to start and to say what it can do.
    pub start_timeout: Duration,
    /// How long one call may take.
    pub call_timeout: Option<Duration>,
    /// What confines it, when it is a program: it runs confined or not at all.
    pub sandbox: Option<(Sandbox, Level)>,
}

/// How a server is reached. Holds secrets, and so prints nothing.
#[derive(Clone)]
pub enum Transport {
    /// As a program, over its standard input and output.
    Command {
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment, besides the few variables any program needs.
        env: BTreeMap<String, String>,
    },
    /// Over HTTP.
    Url {
        /// Where.
        url: String,
        /// What it knows us by.
        bearer: Option<String>,
    },
}

/// The servers of an agent. Cheap to clone.
#[derive(Clone)]
pub struct Servers(Arc<Shared>);

struct Shared {
    servers: Vec<Arc<Server>>,
    pins: Arc<Pins>,
    listed: RwLock<Listed>,
}

/// The tools, and of which lists of the servers they were made.
#[derive(Default)]
struct Listed {
    lists: Vec<u64>,
    listing: Arc<Listing>,
}

/// All tools of all servers, by our names.
pub(crate) type Listing = BTreeMap<String, Arc<dyn Tool>>;

impl Servers {
    /// Starts the servers and asks what they can do. One that cannot be started has no tools until it can.
    pub async fn start(servers: impl IntoIterator<Item = Access>, pins: Pins) -> Self {
        let pins = Arc::new(pins);
        let server = |access| Arc::new(Server::new(access, Arc::clone(&pins)));
        let servers = Self(Arc::new(Shared {
            servers: servers.into_iter().map(server).collect(),
            pins: Arc::clone(&pins),
            listed: RwLock::default(),
        }));
        servers.refresh().await;
        servers
    }

    /// From here on how their tools first looked is in the store of this engine.
    pub(crate) async fn keep_pins_in(&self, engine: &Engine) -> Result<(), PinsError> {
        self.0.pins.keep_in(engine).await?;
        for definition in self.0.servers.iter().flat_map(|server| server.definitions()) {
            self.0.pins.first_seen(&definition.name, &definition.text).await?;
        }
        Ok(())
    }

    /// Asks those servers what they can do that have said it changed or were started since. The listing stays the same one for
    /// as long as none has said anything new, for all callers.
    pub async fn refresh(&self) {
        if let Err(error) = self.0.pins.look_again().await {
            tracing::warn!(%error, "what other processes know of MCP tools cannot be read");
        }
        join_all(self.0.servers.iter().map(|server| server.list_again())).await;
        // Looked at before the definitions: a list that comes in between is met again next time.
        let lists: Vec<u64> = self.0.servers.iter().map(|server| server.lists()).collect();
        if self.read().lists == lists {
            return;
        }
        let mut listing = Listing::new();
        for tool in self.0.servers.iter().flat_map(tool::of) {
            let name = tool.name().to_owned();
            if listing.contains_key(&name) {
                tracing::warn!(%name, "two tools of MCP servers have the same name; the second is left out");
                continue;
            }
            listing.insert(name, tool);
        }
        let listing = Arc::new(listing);
        *self.0.listed.write().unwrap_or_else(PoisonError::into_inner) = Listed { lists, listing };
    }

    /// The tools there are now.
    pub(crate) fn listing(&self) -> Arc<Listing> {
        Arc::clone(&self.read().listing)
    }

    fn read(&self) -> RwLockReadGuard<'_, Listed> {
        self.0.listed.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the servers that are programs and takes leave of the others.
    pub async fn stop(&self) {
        join_all(self.0.servers.iter().map(|server| server.stop())).await;
        self.0.pins.close();
    }
}
