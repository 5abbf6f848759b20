//! The command line of `placet serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use placet_core::messages::usage;

use crate::locale;

/// `placet serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    #[arg(long, value_name = "ADDR", env = "PLACET_LISTEN", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    #[arg(long, value_name = "DIR", env = "PLACET_DATA")]
    pub(crate) data: Option<PathBuf>,
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    #[arg(long, value_name = "FILE", env = "PLACET_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(
        long,
        value_name = "FILTER",
        env = "PLACET_LOG",
        default_value = "warn,placet=info,placet_server=info"
    )]
    pub(crate) log: String,
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "PLACET_LOG_FORMAT")]
    pub(crate) log_format: LogFormat,
    #[arg(long, value_name = "URL", env = "PLACET_OTLP")]
    pub(crate) otlp: Option<String>,
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) web: Option<PathBuf>,
}

/// An address with a port. What people write instead is mended in the refusal, not silently.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        let port = text.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
        locale::say(&usage::address(port.unwrap_or(7319)))
    })
}

const EXAMPLES: &str = "\
placet serve
placet serve --listen 127.0.0.1:8000 --data ./data --config placet.toml
placet serve --store postgres://placet@db.example.com/placet
placet serve --log-format json 2>placet.log";

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}
