//! The command line of `placet serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `placet serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Where to listen; else `[server] listen`, else 127.0.0.1:7319. Port 0 takes a free one
    #[arg(long, value_name = "ADDR", env = "PLACET_LISTEN", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// The data folder; else `$XDG_DATA_HOME/placet` or `~/.local/share/placet`
    #[arg(long, value_name = "DIR", env = "PLACET_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// The store: `postgres://user@host/database`, or `env:NAME` or `file:PATH` where that is kept; else `[store] url`, else a
    /// SQLite file in the data folder
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The configuration; else ./placet.toml, else the one in your config folder, else built-in defaults
    #[arg(long, value_name = "FILE", env = "PLACET_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print where it listens as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// What the log says: `warn`, `info`, `debug`, or a filter such as `placet_server=debug`
    #[arg(
        long,
        value_name = "FILTER",
        env = "PLACET_LOG",
        default_value = "warn,placet=info,placet_server=info"
    )]
    pub(crate) log: String,
    /// How the log, on standard error, is written
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "PLACET_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    /// Send spans of requests to an OpenTelemetry collector, over OTLP and HTTP: `http://localhost:4318`. Only in programs
    /// built with `--features otel`
    #[arg(long, value_name = "URL", env = "PLACET_OTLP")]
    pub(crate) otlp: Option<String>,
    /// Serve the inbox from this folder instead of the built-in one, while working on it
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) web: Option<PathBuf>,
}

/// An address with a port. What people write instead is mended in the refusal, not silently.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        let port = text.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
        let port = port.unwrap_or(7319);
        format!("not an address and a port such as `127.0.0.1:{port}`, or `0.0.0.0:{port}` for every network of this machine")
    })
}

const EXAMPLES: &str = "\
Examples:
  placet serve
  placet serve --listen 127.0.0.1:8000 --data ./data --config placet.toml
  placet serve --store postgres://placet@db.example.com/placet
  placet serve --log-format json 2>placet.log

Without tokens in the configuration, one for each role is made in DIR/tokens.toml.
SIGHUP loads the configuration again; SIGTERM and Ctrl-C stop without losing anything acknowledged.";

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
