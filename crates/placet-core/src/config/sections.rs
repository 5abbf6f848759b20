//! The other sections of `placet.toml`, from what is written to what is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_spanned::Spanned;

use super::channels::USUAL_NAMES;
use super::duration::ConfigDuration;
use super::error::{Checker, did_you_mean};
use super::file::{ApprovalFile, SafetyFile, ServerFile, ToolFile};
use super::secret::NOT_A_SECRET;
use super::{Approval, Channels, Host, OtherReply, Scheme, Secret, Server, Store, Tokens, WideGrants};
use crate::ids::{AgentId, ChannelName, PersonId, ToolName};
use crate::interaction::Locale;
use crate::people::{Directory, Person};
use crate::policy::{Mode, Override, Settings};
use crate::time::Millis;
use crate::tool::{ArgNames, Declared, Lens, SqlAccess, Tool};

/// `[store] lease`.
pub(super) fn lease(given: &Spanned<ConfigDuration>, checker: &mut Checker<'_>) -> Option<Millis> {
    let ConfigDuration(length) = *given.get_ref();
    if length < Store::LEASE_MIN {
        let help = "the usual lease is \"20s\"".to_owned();
        checker.refuse(given.span(), "a lease lasts at least one second", Some(help));
        return None;
    }
    Some(length)
}

/// A length of time that is not zero.
pub(super) fn positive(given: &Spanned<ConfigDuration>, checker: &mut Checker<'_>) -> Option<Millis> {
    let ConfigDuration(length) = *given.get_ref();
    if length == Millis::ZERO {
        checker.refuse(given.span(), "a timeout of zero leaves no time to answer", None);
        return None;
    }
    Some(length)
}

fn at_least_one(given: Option<&Spanned<u32>>, default: u32, checker: &mut Checker<'_>) -> u32 {
    match given {
        Some(number) if *number.get_ref() == 0 => {
            checker.refuse(number.span(), "this must be at least 1", None);
            default
        }
        Some(number) => *number.get_ref(),
        None => default,
    }
}

pub(super) fn approval(file: &ApprovalFile, checker: &mut Checker<'_>) -> Approval {
    Approval {
        timeout: file.timeout.as_ref().and_then(|given| positive(given, checker)),
        memory: file
            .memory
            .map_or(Approval::MEMORY, |ConfigDuration(length)| length),
        on_other_reply: file.on_other_reply.unwrap_or(OtherReply::Refuse),
        locale: file.locale.unwrap_or(Locale::English),
        open_questions_max: at_least_one(
            file.open_questions_max.as_ref(),
            Approval::OPEN_QUESTIONS_MAX,
            checker,
        ),
        agent_open_questions_max: at_least_one(
            file.agent_open_questions_max.as_ref(),
            Approval::AGENT_OPEN_QUESTIONS_MAX,
            checker,
        ),
        person_open_questions_max: at_least_one(
            file.person_open_questions_max.as_ref(),
            Approval::PERSON_OPEN_QUESTIONS_MAX,
            checker,
        ),
        rejections_max: at_least_one(file.rejections_max.as_ref(), Approval::REJECTIONS_MAX, checker),
        wide_grants: file.wide_grants.unwrap_or(WideGrants::Admins),
    }
}

pub(super) fn settings(file: ApprovalFile, safety: &SafetyFile) -> Settings {
    let word = |asks| if asks { Override::Ask } else { Override::Allow };
    Settings {
        enabled: file.enabled.unwrap_or(true),
        mode: file.mode.unwrap_or(Mode::Default),
        strict: file.strict.unwrap_or(false),
        tool_overrides: file
            .tool_overrides
            .into_iter()
            .map(|(tool, asks)| (tool, word(asks)))
            .collect(),
        auto_approved_tools: file.auto_approved_tools.into_iter().collect(),
        confirm_data_changes: safety.require_confirmation.unwrap_or(false),
    }
}

/// What the operator says about a tool.
pub(super) fn tool(
    name: &Spanned<String>,
    file: ToolFile,
    checker: &mut Checker<'_>,
) -> Option<(ToolName, Declared)> {
    let tool_name = checker.accept(name.span(), ToolName::new(name.get_ref()))?;
    let dialect = file.dialect.as_ref().map(|dialect| *dialect.get_ref());
    let shell = file.shell.0.into_iter().map(|arg| Lens::Shell { arg });
    let read_only = file.read_only.as_ref().is_some_and(|said| *said.get_ref());
    let access = if read_only {
        SqlAccess::ReadOnly
    } else {
        SqlAccess::Unrestricted
    };
    let sql = file
        .sql
        .0
        .into_iter()
        .map(|arg| Lens::Sql { arg, dialect, access });
    let reads = file.read_path.0.into_iter().map(|arg| Lens::PathRead { arg });
    let writes = file.write_path.0.into_iter().map(|arg| Lens::PathWrite { arg });
    let urls = file.url.0.into_iter().map(|arg| Lens::Url { arg });
    let lenses: Vec<Lens> = shell.chain(sql).chain(reads).chain(writes).chain(urls).collect();
    let otherwise = Tool::builtin(&tool_name).map_or_else(Vec::new, |tool| tool.lenses);
    let looked_into = if lenses.is_empty() { &otherwise } else { &lenses };
    if let (Some(dialect), false) = (&file.dialect, looked_into.iter().any(Lens::is_sql)) {
        let help = Some("say with `sql = \"ARGUMENT\"` where the SQL is".to_owned());
        checker.refuse(dialect.span(), "a dialect without an SQL argument", help);
    }
    // The built-in agent's own connections are read-only already, so it is about lenses that stand here.
    if let (Some(read_only), false) = (&file.read_only, lenses.iter().any(Lens::is_sql)) {
        let help = Some("say with `sql = \"ARGUMENT\"` where the SQL is".to_owned());
        checker.refuse(read_only.span(), "`read_only` without an SQL argument", help);
    }
    let schema = match file.schema {
        Some(schema) => {
            let span = schema.span();
            let schema = schema.into_inner();
            let compiled = jsonschema::validator_for(&schema)
                .map_err(|error| format!("the schema cannot be used: {error}"));
            checker.accept(span, compiled)?;
            Some(schema)
        }
        None => None,
    };
    let declared = Declared {
        category: file.category,
        risk: file.risk,
        // A category, or a place to look, describes all arguments.
        args: match (file.category, lenses.is_empty()) {
            (None, true) => ArgNames::Unknown,
            _ => ArgNames::Any,
        },
        lenses,
        dialect,
        schema,
    };
    Some((tool_name, declared))
}

pub(super) fn server(file: ServerFile, people: &Directory, checker: &mut Checker<'_>) -> Server {
    let listen = match &file.listen {
        None => Some(Server::LISTEN),
        Some(given) => {
            let refusal = |_| format!("`{}` is not an address such as `127.0.0.1:7319`", given.get_ref());
            checker.accept(given.span(), given.get_ref().parse().map_err(refusal))
        }
    };
    let mut admins = BTreeSet::new();
    for who in &file.admins {
        admins.extend(
            checker
                .accept(who.span(), people.resolve(who.get_ref()))
                .into_iter()
                .flatten(),
        );
    }
    let mut agents = BTreeMap::new();
    for (name, secret) in file.agents {
        let Some(agent) = checker.accept(name.span(), AgentId::new(name.get_ref())) else {
            continue;
        };
        if agent == AgentId::built_in() {
            let help = Some("its tools are known by their names; give this agent another name".to_owned());
            checker.refuse(name.span(), format_args!("`{agent}` is the built-in agent"), help);
        }
        agents.insert(agent, secret);
    }
    let hosts = file
        .hosts
        .iter()
        .filter_map(|given| host(given, checker))
        .collect();
    Server {
        listen: listen.unwrap_or(Server::LISTEN),
        hosts,
        admins,
        agents,
        connections_max: at_least_one(file.connections_max.as_ref(), Server::CONNECTIONS_MAX, checker),
        requests_per_second: at_least_one(
            file.requests_per_second.as_ref(),
            Server::REQUESTS_PER_SECOND,
            checker,
        ),
        metrics_names_max: file.metrics_names_max.unwrap_or(Server::METRICS_NAMES_MAX),
        tokens: Tokens {
            agent: file.tokens.agent,
            approver: file.tokens.approver,
            admin: file.tokens.admin,
        },
    }
}

/// `placet.example.com`, `placet.example.com:8443` or `https://placet.example.com`.
fn host(given: &Spanned<String>, checker: &mut Checker<'_>) -> Option<Host> {
    let text = given.get_ref();
    let (scheme, authority) = match text.split_once("://") {
        None => (Scheme::Http, text.as_str()),
        Some(("http", rest)) => (Scheme::Http, rest),
        Some(("https", rest)) => (Scheme::Https, rest),
        Some(_) => (Scheme::Http, ""),
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    if authority.is_empty() || !authority.chars().all(allowed) {
        let help = Some("write `placet.example.com`, or `https://placet.example.com` behind TLS".to_owned());
        checker.refuse(given.span(), format_args!("`{text}` is not a host"), help);
        return None;
    }
    Some(Host {
        authority: authority.to_ascii_lowercase(),
        scheme,
    })
}

/// A path that says something.
pub(super) fn place(given: Option<Spanned<String>>, default: &str, checker: &mut Checker<'_>) -> String {
    match given {
        Some(path) if path.get_ref().trim().is_empty() => {
            checker.refuse(path.span(), "an empty path", None);
            default.to_owned()
        }
        Some(path) => path.into_inner(),
        None => default.to_owned(),
    }
}

/// People and groups. Keys of a person other than `name` and `token` are channels.
pub(super) fn directory(
    people: &[Spanned<BTreeMap<Spanned<String>, Spanned<String>>>],
    groups: &BTreeMap<Spanned<String>, Vec<String>>,
    channels: &Channels,
    checker: &mut Checker<'_>,
) -> Directory {
    let mut directory = Directory::empty();
    for file in people {
        let Some((span, person)) = person(file, channels, checker) else {
            continue;
        };
        checker.accept(span, directory.add_person(person));
    }
    for (name, members) in groups {
        checker.accept(name.span(), directory.add_group(name.get_ref(), members));
    }
    directory
}

fn person(
    file: &Spanned<BTreeMap<Spanned<String>, Spanned<String>>>,
    channels: &Channels,
    checker: &mut Checker<'_>,
) -> Option<(Range<usize>, Person)> {
    let mut name = None;
    let mut token = None;
    let mut accounts = BTreeMap::new();
    for (key, value) in file.get_ref() {
        match key.get_ref().as_str() {
            "name" => name = Some(value),
            "token" => {
                let secret = Secret::parse(value.get_ref()).ok_or(NOT_A_SECRET);
                token = Some(checker.accept(value.span(), secret)?);
            }
            channel => {
                let known = || {
                    USUAL_NAMES
                        .into_iter()
                        .chain(channels.keys().map(ChannelName::as_str))
                };
                if !known().any(|known| known == channel) {
                    let help = did_you_mean(channel, known().chain(["name", "token"]));
                    checker.refuse(
                        key.span(),
                        format_args!("unknown key `{channel}`: not a channel"),
                        help,
                    );
                    continue;
                }
                let channel = checker.accept(key.span(), ChannelName::new(channel))?;
                accounts.insert(channel, value.get_ref().clone());
            }
        }
    }
    let Some(name) = name else {
        checker.refuse(file.span(), "a person without a `name`", None);
        return None;
    };
    let id = checker.accept(name.span(), PersonId::new(name.get_ref()))?;
    Some((
        name.span(),
        Person {
            name: id,
            token,
            accounts,
        },
    ))
}
