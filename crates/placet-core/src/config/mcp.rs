//! `[mcp.servers.NAME]`: programs and addresses whose tools the built-in agent may use.

use std::collections::{BTreeMap, BTreeSet};

use serde_spanned::Spanned;

use super::Secret;
use super::error::Checker;
use super::file::McpServerFile;
use super::sections::positive;
use crate::confine::Level;
use crate::time::Millis;

/// The longest name of a server: tools are called `mcp__NAME__tool`, and models take no long names.
const NAME_BYTES_MAX: usize = 24;

/// `[mcp.servers.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// How it is reached.
    pub transport: McpTransport,
    /// The only tools that are used, by the server's own names; all when absent.
    pub tools: Option<BTreeSet<String>>,
    /// How long it may take to start and to say what it can do.
    pub start_timeout: Millis,
    /// How long one call may take; the agent's limit holds as well.
    pub call_timeout: Option<Millis>,
    /// How tightly its program is confined; `None` when it is not.
    pub sandbox: Option<Level>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// As a program that is started, over its standard input and output.
    Command {
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment, besides the few variables any program needs. Nothing else is handed down.
        env: BTreeMap<String, EnvValue>,
    },
    /// Over HTTP.
    Url {
        /// Where.
        url: String,
        /// What it knows us by.
        bearer: Option<Secret>,
    },
}

/// The value of a variable of a server's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvValue {
    /// As written.
    Plain(String),
    /// Kept elsewhere.
    Secret(Secret),
}

impl McpServer {
    /// What the names of a server's tools begin with.
    pub fn tool_prefix(server: &str) -> String {
        format!("mcp__{server}__")
    }

    const START_TIMEOUT: Millis = Millis::from_secs(30);
}

pub(super) fn server(
    name: &Spanned<String>,
    file: &McpServerFile,
    checker: &mut Checker<'_>,
) -> Option<(String, McpServer)> {
    let fits = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(plain)
    };
    if !fits(name.get_ref()) {
        let message = format!("`{}` cannot be the name of a server", name.get_ref());
        let help = format!(
            "letters, digits and dashes, at most {NAME_BYTES_MAX}: it becomes part of its tools' names"
        );
        checker.refuse(name.span(), message, Some(help));
        return None;
    }
    let mut lasting = |given: Option<&Spanned<_>>| given.and_then(|given| positive(given, checker));
    let start_timeout = lasting(file.start_timeout.as_ref()).unwrap_or(McpServer::START_TIMEOUT);
    let call_timeout = lasting(file.call_timeout.as_ref());
    let server = McpServer {
        transport: transport(name, file, checker)?,
        tools: file.tools.clone().map(|tools| tools.into_iter().collect()),
        start_timeout,
        call_timeout,
        sandbox: file.sandbox.as_ref().and_then(|mode| mode.get_ref().level()),
    };
    Some((name.get_ref().clone(), server))
}

fn transport(
    name: &Spanned<String>,
    file: &McpServerFile,
    checker: &mut Checker<'_>,
) -> Option<McpTransport> {
    match (&file.command, &file.url) {
        (Some(command), None) => {
            if file.bearer.is_some() {
                checker.refuse(
                    command.span(),
                    "`bearer` is for a `url`; a program has an `env`",
                    None,
                );
            }
            let Some((program, args)) = command
                .get_ref()
                .split_first()
                .filter(|(first, _)| !first.is_empty())
            else {
                checker.refuse(command.span(), "the command is empty", None);
                return None;
            };
            let value = |text: &String| match Secret::parse(text) {
                Some(secret) => EnvValue::Secret(secret),
                None => EnvValue::Plain(text.clone()),
            };
            Some(McpTransport::Command {
                program: program.clone(),
                args: args.to_vec(),
                env: file
                    .env
                    .iter()
                    .map(|(name, text)| (name.clone(), value(text)))
                    .collect(),
            })
        }
        (None, Some(url)) => {
            if let Some(mode) = &file.sandbox {
                checker.refuse(
                    mode.span(),
                    "`sandbox` is for a `command`; a `url` is not confined",
                    None,
                );
            }
            if !file.env.is_empty() {
                checker.refuse(
                    url.span(),
                    "`env` is for a `command`; a `url` has a `bearer`",
                    None,
                );
            }
            let known =
                url::Url::parse(url.get_ref()).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
            if !known {
                let message = format!("`{}` is not an http or https URL", url.get_ref());
                checker.refuse(url.span(), message, None);
            }
            Some(McpTransport::Url {
                url: url.get_ref().clone(),
                bearer: file.bearer.clone(),
            })
        }
        (Some(_), Some(_)) | (None, None) => {
            let message = format!(
                "the server `{}` needs either a `command` or a `url`",
                name.get_ref()
            );
            checker.refuse(name.span(), message, None);
            None
        }
    }
}
