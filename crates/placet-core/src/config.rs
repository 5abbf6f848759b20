//! Configuration: `placet.toml` and the environment in, checked types out.
//!
//! Text becomes a tree (aliases renamed, variables laid over), the tree becomes a `ConfigFile` (every key known),
//! and that becomes a [`Config`] (complete, every promise checked) or a [`ConfigError`] that says where and why. There is no
//! half-accepted configuration: what is refused changes nothing. Files and variables are read by the program, not here.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_spanned::Spanned;
use toml::de::DeTable;

use crate::analysis::Inspect;
use crate::call::ToolCall;
use crate::canonical;
use crate::ids::{AgentId, ChannelName, PersonId, ToolName};
use crate::interaction::Locale;
use crate::people::Directory;
use crate::policy::Policy;
use crate::time::Millis;
use crate::tool::{Declared, Tool};

mod channels;
mod databases;
mod dead;
mod duration;
mod error;
mod file;
mod locale;
mod mcp;
mod mistake;
mod models;
mod programs;
mod push;
mod rules;
mod sandbox;
mod secret;
mod secrets;
mod sections;
#[cfg(test)]
mod tests;
mod tree;
mod workflow;

use channels::Channels;
pub use channels::{Channel, ChannelKind};
pub use databases::{Database, DatabaseUrl, PasswordInUrl, dialect_of};
pub use dead::{Dead, DeadRule};
use error::Checker;
pub use error::{ConfigError, Place, Problem};
use file::ConfigFile;
pub use locale::LANGUAGE_VARIABLES;
pub use mcp::{EnvValue, McpServer, McpTransport};
pub use models::{Agent, Model, Protocol};
pub use push::{Gist, Push};
pub use sandbox::Sandbox;
pub use secret::Secret;
pub use workflow::Workflow;

/// The default `placet.toml`: every key with its default, explained. It is the manual.
pub const DEFAULT_FILE: &str = include_str!("config/default.toml");

/// A complete, checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// `[approval]`, apart from what decides.
    pub approval: Approval,
    /// `[approval]` and `[[rules]]`: what decides.
    pub policy: Policy,
    /// `[tools.NAME]`: what the operator says about tools.
    pub tools: BTreeMap<ToolName, Declared>,
    /// What inspects calls; it knows `[programs.NAME]` beside what is built in.
    pub inspect: Arc<dyn Inspect>,
    /// `[[people]]` and `[groups]`.
    pub people: Directory,
    /// `[channels.NAME]`.
    pub channels: BTreeMap<ChannelName, Channel>,
    /// `[server]`.
    pub server: Server,
    /// `[push]`: notifications of browsers.
    pub push: Push,
    /// `[store]`.
    pub store: Store,
    /// `[workspace]`.
    pub workspace: Workspace,
    /// `[agent]`.
    pub agent: Agent,
    /// `[models.NAME]`.
    pub models: BTreeMap<String, Model>,
    /// `[databases.NAME]`.
    pub databases: BTreeMap<String, Database>,
    /// `[workflows]`: their files, by name.
    pub workflows: BTreeMap<String, String>,
    /// `[mcp.servers.NAME]`.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Lists that the file empties on purpose: `rules = []`, `people = []`.
    emptied: BTreeSet<&'static str>,
}

/// How questions are asked and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// How long approvers have, unless a rule, a workflow or a channel says otherwise. Absent: the usual time of the channel.
    pub timeout: Option<Millis>,
    /// How long an approval of the same call counts again in the same chat. Zero: never.
    pub memory: Millis,
    /// What a reply is that neither approves nor refuses.
    pub on_other_reply: OtherReply,
    /// The language of questions.
    pub locale: Locale,
    /// How many questions of one session may be open at once.
    pub open_questions_max: u32,
    /// How many questions of one agent may be open at once.
    pub agent_open_questions_max: u32,
    /// How many open questions may name one person as approver at once.
    pub person_open_questions_max: u32,
    /// After how many rejections in a row the person is asked how to go on.
    pub rejections_max: u32,
    /// Who may say "don't ask again" for a whole project, or as a rule.
    pub wide_grants: WideGrants,
}

/// Who may say "don't ask again" beyond one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WideGrants {
    /// Admins.
    Admins,
    /// Everyone who may answer the question.
    Approvers,
}

impl Approval {
    const MEMORY: Millis = Millis::from_secs(300);
    const OPEN_QUESTIONS_MAX: u32 = 20;
    const AGENT_OPEN_QUESTIONS_MAX: u32 = 500;
    const PERSON_OPEN_QUESTIONS_MAX: u32 = 100;
    const REJECTIONS_MAX: u32 = 3;
}

/// What to make of a reply that neither approves nor refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherReply {
    /// A refusal, with the reply as its reason.
    Refuse,
    /// A message for the agent; the question stays open.
    Queue,
}

/// How long approvers have where nothing is configured: people sit at a terminal, look at a chat now and then, at the inbox
/// within the hour, and at mail once a day.
fn usual_timeout(channel: Option<&ChannelName>) -> Millis {
    Millis::from_secs(match channel.map(ChannelName::as_str) {
        None => 60 * 60,
        Some("terminal") => 60,
        Some("email") => 24 * 60 * 60,
        Some(_) => 300,
    })
}

/// The HTTP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Where it listens.
    pub listen: SocketAddr,
    /// What else it is called in a browser's address line.
    pub hosts: Vec<Host>,
    /// People whose own token lets them do everything.
    pub admins: BTreeSet<PersonId>,
    /// Agents with a token of their own.
    pub agents: BTreeMap<AgentId, Secret>,
    /// How many connections may be open at once.
    pub connections_max: u32,
    /// How many requests one token may make in a second.
    pub requests_per_second: u32,
    /// How many names of tools, rules and people that no configuration mentions have metrics of their own.
    pub metrics_names_max: u32,
    /// What callers prove their role with.
    pub tokens: Tokens,
}

/// A name the server is reached by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Name and, where it is not the usual one, port; in small letters.
    pub authority: String,
    /// Whether a proxy in front of it terminates TLS.
    pub scheme: Scheme,
}

/// How browsers speak to a [`Host`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Through a proxy that speaks TLS; cookies are for it alone.
    Https,
}

impl Server {
    /// This machine only.
    const LISTEN: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7319));
    /// How many connections may be open at once, unless the file says otherwise.
    pub const CONNECTIONS_MAX: u32 = 20_000;
    const REQUESTS_PER_SECOND: u32 = 50_000;
    /// Enough to see what is common.
    const METRICS_NAMES_MAX: u32 = 50;
}

/// A token for each role; those that are absent are made and kept beside the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Agents: may call, never answer.
    pub agent: Option<Secret>,
    /// People: may answer.
    pub approver: Option<Secret>,
    /// Operators: may see and do everything.
    pub admin: Option<Secret>,
}

/// Where the journal is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// The database file; relative to the data folder.
    pub path: String,
    /// A PostgreSQL database instead of the file.
    pub url: Option<DatabaseUrl>,
    /// The key that seals secrets; left out, `seal.key` in the data folder.
    pub seal_key: Option<Secret>,
    /// How long a process that no longer responds keeps what only one may do at a time.
    pub lease: Millis,
}

impl Store {
    const LEASE: Millis = Millis::from_secs(20);
    /// A shorter lease is lost in the pauses that any server has now and then.
    const LEASE_MIN: Millis = Millis::from_secs(1);
}

/// What agents may touch without it counting as outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its root; relative to where the program was started.
    pub root: String,
}

impl Config {
    /// What holds when nothing is configured.
    pub fn builtin(inspect: Arc<dyn Inspect>) -> Self {
        Self::check(
            ConfigFile::default(),
            Channels::new(),
            Canonical::default(),
            inspect,
            &mut Checker::new("", &[]),
        )
    }

    /// Reads a file's text, under the environment's variables `PLACET_SECTION__KEY`. Its [`LANGUAGE_VARIABLES`] say the language of a
    /// file that names none.
    pub fn parse(
        text: &str,
        file_name: &str,
        environment: impl Iterator<Item = (String, String)>,
        inspect: Arc<dyn Inspect>,
    ) -> Result<Self, ConfigError> {
        let environment: Vec<_> = environment.collect();
        let variables = tree::settings_in(environment.iter().cloned(), &file::SECTIONS);
        let mut checker = Checker::new(text, &variables);
        let config = tree::read(text, &variables, &mut checker).and_then(|tree| {
            let canonical = Canonical::of(&tree);
            let channels = channels::read(tree.get_ref(), &mut checker);
            let mut file: ConfigFile = deserialize(tree, &mut checker)?;
            file.approval
                .locale
                .get_or_insert_with(|| locale::of_environment(&environment));
            Some(Self::check(file, channels, canonical, inspect, &mut checker))
        });
        checker.finish(file_name, config)
    }

    /// The language of a file, even of one that is refused for what else it says; else that of the environment.
    pub fn language(text: &str, environment: impl Iterator<Item = (String, String)>) -> Locale {
        let environment: Vec<_> = environment.collect();
        let variables = tree::settings_in(environment.iter().cloned(), &file::SECTIONS);
        let mut checker = Checker::new(text, &variables);
        let own = tree::read(text, &variables, &mut checker).and_then(|tree| {
            let value = Value::deserialize(toml::de::Deserializer::from(tree)).ok()?;
            serde_json::from_value(value.pointer("/approval/locale")?.clone()).ok()
        });
        own.unwrap_or_else(|| locale::of_environment(&environment))
    }

    /// What is known about a tool of any agent but the built-in one: what the operator says, else what is assumed of
    /// every tool. A built-in tool's name means nothing here.
    pub fn tool(&self, name: &ToolName) -> Tool {
        declared(&self.tools, Tool::unknown(name.clone()))
    }

    /// What is known about a tool of the built-in agent: what the operator says, else what is built in.
    pub fn builtin_tool(&self, name: &ToolName) -> Tool {
        builtin(&self.tools, &self.databases, name)
    }

    /// What is known about the tool of a call. Built-in names mean something only for the built-in agent.
    pub fn tool_of(&self, call: &ToolCall) -> Tool {
        if call.origin.agent == AgentId::built_in() {
            self.builtin_tool(&call.tool)
        } else {
            self.tool(&call.tool)
        }
    }

    /// How long approvers have: the most specific setting, else the usual time of the channel.
    pub fn timeout(
        &self,
        rule: Option<Millis>,
        workflow: Option<&Workflow>,
        channel: Option<&ChannelName>,
    ) -> Millis {
        let configured = channel.and_then(|name| self.channels.get(name));
        rule.or(workflow.map(|workflow| workflow.approval_timeout))
            .or(configured.and_then(|channel| channel.timeout))
            .or(self.approval.timeout)
            .unwrap_or_else(|| usual_timeout(channel))
    }

    /// The language people are asked in on a channel.
    pub fn locale(&self, channel: Option<&ChannelName>) -> Locale {
        let of_channel = channel.and_then(|channel| self.channels.get(channel)?.locale);
        of_channel.unwrap_or(self.approval.locale)
    }

    /// Whether this may replace `before` in a running process. A file that was cut off while it was saved can still be
    /// valid, so losing all rules or all people at once has to be written down: `rules = []`.
    pub fn may_replace(&self, before: &Self) -> Result<(), LostError> {
        let lost = |what, before: usize, now: usize| {
            let silent = before > 0 && now == 0 && !self.emptied.contains(what);
            if silent {
                return Err(LostError { what, before });
            }
            Ok(())
        };
        let rules = |config: &Self| config.policy.rules().count();
        let people = |config: &Self| config.people.people().count();
        lost("rules", rules(before), rules(self))?;
        lost("people", people(before), people(self))
    }

    fn check(
        file: ConfigFile,
        channels: Channels,
        canonical: Canonical,
        inspect: Arc<dyn Inspect>,
        checker: &mut Checker<'_>,
    ) -> Self {
        let (rules, people) = (file.rules.as_deref(), file.people.as_deref());
        let is_empty = [
            ("rules", rules.map(<[_]>::is_empty)),
            ("people", people.map(<[_]>::is_empty)),
        ];
        let emptied = is_empty.into_iter().filter(|(_, empty)| *empty == Some(true));
        let emptied = emptied.map(|(name, _)| name).collect();
        let approval = sections::approval(&file.approval, checker);
        let tools = file
            .tools
            .into_iter()
            .filter_map(|(name, tool)| sections::tool(&name, tool, checker))
            .collect::<BTreeMap<_, _>>();
        let databases = file
            .databases
            .iter()
            .filter_map(|(name, database)| databases::database(name, database, checker))
            .collect::<BTreeMap<_, _>>();
        let people = sections::directory(people.unwrap_or_default(), &file.groups, &channels, checker);
        let inspect = programs::check(file.programs, inspect, checker);
        let rules = rules::check(
            rules.unwrap_or_default(),
            canonical.rules,
            &people,
            |name| builtin(&tools, &databases, &name),
            &*inspect,
            checker,
        );
        let server = sections::server(file.server, &people, checker);
        let models = file
            .models
            .iter()
            .filter_map(|(name, model)| models::model(name, model, checker))
            .collect();
        let mcp_servers = file
            .mcp
            .servers
            .iter()
            .filter_map(|(name, server)| mcp::server(name, server, checker))
            .collect();
        let workflows = file.workflows.into_iter();
        let workflows = workflows.map(|(name, path)| (name, sections::place(Some(path), "", checker)));
        Self {
            emptied,
            workflows: workflows.collect(),
            mcp_servers,
            agent: models::agent(&file.agent, &models, &channels, checker),
            models,
            databases,
            approval,
            policy: Policy::new(
                sections::settings(file.approval, &file.safety),
                rules,
                canonical.knowledge,
            ),
            tools,
            inspect,
            people,
            channels: channels
                .into_iter()
                .filter_map(|(name, channel)| Some((name, channel?)))
                .collect(),
            server,
            push: push::push(file.push, checker),
            store: Store {
                path: sections::place(file.store.path, "placet.db", checker),
                url: file.store.url.and_then(|url| databases::store_url(&url, checker)),
                seal_key: file.store.seal_key,
                lease: file
                    .store
                    .lease
                    .and_then(|lease| sections::lease(&lease, checker))
                    .unwrap_or(Store::LEASE),
            },
            workspace: Workspace {
                root: sections::place(file.workspace.root, ".", checker),
            },
        }
    }
}

/// A reload that would drop everything of a kind without saying so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "all {before} {what} are gone, as if the file had been cut off; to remove them, write `{what} = []` at its top"
)]
pub struct LostError {
    /// `rules` or `people`.
    pub what: &'static str,
    /// How many there were.
    pub before: usize,
}

fn declared(tools: &BTreeMap<ToolName, Declared>, base: Tool) -> Tool {
    match tools.get(&base.name) {
        Some(declared) => declared.over(base),
        None => base,
    }
}

fn builtin(
    tools: &BTreeMap<ToolName, Declared>,
    databases: &BTreeMap<String, Database>,
    name: &ToolName,
) -> Tool {
    let Some(base) = Tool::builtin(name) else {
        return declared(tools, Tool::unknown(name.clone()));
    };
    databases::judged_by_name(databases, declared(tools, base))
}

/// The parts of a file that make the policy's version, in canonical JSON.
#[derive(Default)]
struct Canonical {
    /// Each rule.
    rules: Vec<String>,
    /// `[tools]` and `[programs]`; empty where neither is there.
    knowledge: String,
}

impl Canonical {
    fn of(tree: &Spanned<DeTable<'_>>) -> Self {
        let value = Value::deserialize(toml::de::Deserializer::from(tree.clone())).unwrap_or(Value::Null);
        let rules = value.get("rules").and_then(Value::as_array);
        let sections = ["programs", "tools"].into_iter();
        let known: Map<String, Value> = sections
            .filter_map(|name| Some((name.to_owned(), value.get(name)?.clone())))
            .collect();
        Self {
            rules: rules.into_iter().flatten().map(canonical::to_string).collect(),
            knowledge: if known.is_empty() {
                String::new()
            } else {
                canonical::to_string(&Value::Object(known))
            },
        }
    }
}

/// Reads the tree as a `T`.
fn deserialize<T: DeserializeOwned>(tree: Spanned<DeTable<'_>>, checker: &mut Checker<'_>) -> Option<T> {
    match T::deserialize(toml::de::Deserializer::from(tree)) {
        Ok(value) => Some(value),
        Err(error) => {
            mistake::refuse_type(&error, checker);
            None
        }
    }
}
