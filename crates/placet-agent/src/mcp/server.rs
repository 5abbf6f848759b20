//! One MCP server: its process or connection, its list of tools, its calls.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use placet_core::confine::Confinement;
use reqwest::{Client, Url};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock,
    Implementation, JsonObject,
};
use rmcp::service::{NotificationContext, Peer, RoleClient, RunningService, ServiceError, ServiceExt as _};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{ChildStderr, Command};

use super::definition::Definition;
use super::pins::Pins;
use super::{Access, Transport};
use crate::model::is_loopback;
use crate::sandbox::Cell;
use crate::tls;

/// How often a server is started within [`START_WINDOW`]: one that dies at once is not worth more.
const STARTS_MAX: usize = 3;
const START_WINDOW: Duration = Duration::from_mins(1);
/// More tools than this are more than a model can read.
const TOOLS_MAX: usize = 200;
/// How long a server may take to go in peace.
const GOODBYE: Duration = Duration::from_secs(5);
/// What any program needs. Everything else in our environment is ours: keys of models are in there.
const HANDED_DOWN: [&str; 9] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR",
];

/// One server.
pub(super) struct Server {
    access: Access,
    pins: Arc<Pins>,
    /// One caller at a time may start it; the others wait for that.
    link: tokio::sync::Mutex<Link>,
    /// What it said it can do when it was last asked.
    definitions: Mutex<Vec<Definition>>,
    /// How often it has said so.
    lists: AtomicU64,
    /// It may say something else now.
    stale: Arc<AtomicBool>,
}

#[derive(Default)]
struct Link {
    running: Option<RunningService<RoleClient, Listener>>,
    /// Where it runs, when it is confined.
    cell: Option<Cell>,
    starts: VecDeque<Instant>,
}

/// Hears that the list has changed. Whatever else a server asks of us is refused.
struct Listener {
    stale: Arc<AtomicBool>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let placet = Implementation::new("placet", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), placet)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.stale.store(true, Ordering::Release);
    }
}

impl Server {
    pub(super) fn new(access: Access, pins: Arc<Pins>) -> Self {
        Self {
            access,
            pins,
            link: tokio::sync::Mutex::default(),
            definitions: Mutex::default(),
            lists: AtomicU64::new(0),
            stale: Arc::new(AtomicBool::new(true)),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.access.name
    }

    pub(super) fn pins(&self) -> &Pins {
        &self.pins
    }

    /// How often it has said what it can do.
    pub(super) fn lists(&self) -> u64 {
        self.lists.load(Ordering::Acquire)
    }

    /// Whether it may say something else than when it was last asked.
    fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Acquire)
    }

    pub(super) fn definitions(&self) -> Vec<Definition> {
        self.definitions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Asks what it can do, if that may have changed. What it said last counts when it cannot be asked.
    pub(super) async fn list_again(&self) {
        if !self.is_stale() {
            return;
        }
        let listed = match self.peer().await {
            Ok(peer) => self.list(&peer).await,
            Err(why) => Err(why),
        };
        if let Err(why) = listed {
            tracing::warn!(server = self.name(), %why, "an MCP server does not say what it can do");
        }
    }

    async fn list(&self, peer: &Peer<RoleClient>) -> Result<(), String> {
        // What changes while it answers is news again.
        self.stale.store(false, Ordering::Release);
        let listed = tokio::time::timeout(self.access.start_timeout, peer.list_all_tools()).await;
        let tools = match listed {
            Ok(Ok(tools)) => tools,
            failed => {
                self.stale.store(true, Ordering::Release);
                return Err(match failed {
                    Ok(Err(error)) => error.to_string(),
                    _ => format!(
                        "it did not say what it can do within {:?}",
                        self.access.start_timeout
                    ),
                });
            }
        };
        let wanted = |name: &str| {
            self.access
                .tools
                .as_ref()
                .is_none_or(|tools| tools.contains(name))
        };
        let mut definitions = Vec::new();
        for tool in tools.iter().filter(|tool| wanted(&tool.name)).take(TOOLS_MAX) {
            match Definition::read(self.name(), tool) {
                Ok(definition) => {
                    let pinned = self.pins.first_seen(&definition.name, &definition.text).await;
                    if let Err(error) = pinned {
                        // Unpinned, a later change of it would not be noticed.
                        self.stale.store(true, Ordering::Release);
                        return Err(format!("how its tools look cannot be stored: {error}"));
                    }
                    definitions.push(definition);
                }
                Err(why) => {
                    tracing::warn!(server = self.name(), tool = %tool.name, %why, "a tool of an MCP server is left out");
                }
            }
        }
        *self.definitions.lock().unwrap_or_else(PoisonError::into_inner) = definitions;
        self.lists.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Calls a tool, once. A server that died is started first; one that describes the tool differently by now is not called.
    pub(super) async fn call(&self, tool: &Definition, arguments: JsonObject) -> Result<String, String> {
        let peer = self.peer().await?;
        if self.is_stale() {
            self.list(&peer).await?;
        }
        if !self.definitions().contains(tool) {
            return Err(format!(
                "the MCP server `{}` has changed or removed this tool since the run began; nothing ran",
                self.name()
            ));
        }
        let params = CallToolRequestParams::new(tool.remote.clone()).with_arguments(arguments);
        // Dropping it tells the server that the call is cancelled.
        let called = peer.call_tool_once(params);
        let answer = match self.access.call_timeout {
            Some(limit) => tokio::time::timeout(limit, called).await.map_err(|_| {
                let seconds = limit.as_secs_f32();
                format!("the MCP server did not answer within {seconds} seconds; it may have happened")
            })?,
            None => called.await,
        };
        match answer {
            Ok(CallToolResponse::Complete(result)) => read(&result),
            Ok(_) => Err("the MCP server wants more than the arguments, which is not supported".into()),
            Err(ServiceError::McpError(error)) => Err(error.message.into_owned()),
            Err(error) => Err(format!("the MCP server went away: {error}; it may have happened")),
        }
    }

    /// Takes leave.
    pub(super) async fn stop(&self) {
        let running = self.link.lock().await.running.take();
        if let Some(running) = running {
            // A server that does not end is killed when it is dropped.
            let _ = tokio::time::timeout(GOODBYE, running.cancel()).await;
        }
    }

    /// The connection, made anew if the last one is gone.
    async fn peer(&self) -> Result<Peer<RoleClient>, String> {
        let mut link = self.link.lock().await;
        if let Some(running) = &link.running
            && !running.is_closed()
            && !running.is_transport_closed()
        {
            return Ok(running.peer().clone());
        }
        link.running = None;
        link.cell = None;
        let now = Instant::now();
        link.starts
            .retain(|start| now.duration_since(*start) < START_WINDOW);
        if link.starts.len() >= STARTS_MAX {
            return Err(format!(
                "the MCP server `{}` was started {STARTS_MAX} times within a minute and did not stay; nothing ran",
                self.name()
            ));
        }
        link.starts.push_back(now);
        let running = match tokio::time::timeout(self.access.start_timeout, self.connect()).await {
            Ok(connected) => connected,
            Err(_) => Err(format!(
                "it did not answer within {:?}",
                self.access.start_timeout
            )),
        };
        let (running, cell) = running.map_err(|why| {
            format!(
                "the MCP server `{}` cannot be reached: {why}; nothing ran",
                self.name()
            )
        })?;
        // Another process may have other tools.
        self.stale.store(true, Ordering::Release);
        let peer = running.peer().clone();
        link.running = Some(running);
        link.cell = cell;
        Ok(peer)
    }

    /// What confines its calls.
    pub(super) fn confinement(&self) -> Option<Confinement> {
        let (sandbox, level) = self.access.sandbox.as_ref()?;
        sandbox.is_supported().then(|| Confinement::whole(*level))
    }

    fn cell(&self) -> Result<Option<Cell>, String> {
        match &self.access.sandbox {
            Some((sandbox, level)) => sandbox.cell(&Confinement::whole(*level)),
            None => Ok(None),
        }
    }

    async fn connect(&self) -> Result<(RunningService<RoleClient, Listener>, Option<Cell>), String> {
        let listener = Listener {
            stale: Arc::clone(&self.stale),
        };
        match &self.access.transport {
            Transport::Command { program, args, env } => {
                let mut command = Command::new(program);
                command.args(args).env_clear();
                command.envs(
                    HANDED_DOWN
                        .iter()
                        .filter_map(|name| Some((*name, std::env::var_os(name)?))),
                );
                let cell = self.cell()?;
                for (name, value) in cell.iter().flat_map(Cell::environment) {
                    match value {
                        Some(value) => command.env(name, value),
                        None => command.env_remove(name),
                    };
                }
                command.envs(env);
                let builder = TokioChildProcess::builder(command).stderr(Stdio::piped());
                let (process, complaints) = match &cell {
                    Some(cell) => cell.spawn(|| builder.spawn())?,
                    None => builder.spawn().map_err(|error| error.to_string())?,
                };
                if let Some(complaints) = complaints {
                    tokio::spawn(pass_on(self.name().to_owned(), complaints));
                }
                let running = listener.serve(process).await;
                Ok((running.map_err(|error| error.to_string())?, cell))
            }
            Transport::Url { url, bearer } => {
                let client = client(url)?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                if let Some(bearer) = bearer {
                    config = config.auth_header(bearer);
                }
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let running = listener.serve(transport).await;
                Ok((running.map_err(|error| error.to_string())?, None))
            }
        }
    }
}

/// A client for streams that may be silent for long.
fn client(url: &str) -> Result<Client, String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    let builder = tls::http(&url).map_err(|error| error.to_string())?;
    // No proxy of the environment knows this machine's own services.
    let builder = if is_loopback(&url) {
        builder.no_proxy()
    } else {
        builder
    };
    builder.build().map_err(tls::explained)
}

/// What a server complains of on its standard error goes to our log, and no further.
async fn pass_on(server: String, complaints: ChildStderr) {
    let mut lines = BufReader::new(complaints).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        tracing::debug!(%server, %line, "an MCP server says");
    }
}

/// What a call returned, as text. What is no text is named.
fn read(result: &CallToolResult) -> Result<String, String> {
    let mut parts: Vec<String> = result.content.iter().map(part).collect();
    if parts.is_empty()
        && let Some(structured) = &result.structured_content
    {
        parts.push(structured.to_string());
    }
    let text = parts.join("\n");
    if result.is_error == Some(true) {
        Err(text)
    } else {
        Ok(text)
    }
}

fn part(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[an image of type {}, not shown]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[a sound of type {}, not played]", audio.mime_type),
        ContentBlock::ResourceLink(link) => format!("[a resource: {}]", link.uri),
        other => serde_json::to_string(other).unwrap_or_else(|_| "[not a text]".to_owned()),
    }
}
