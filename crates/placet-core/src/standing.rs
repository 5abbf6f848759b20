//! Standing grants: "don't ask again", within an exact scope and for a limited time.
//!
//! A standing grant names one tool and says which arguments it covers. For a shell tool it always names commands: "any
//! bash" cannot be said. It ends at a moment, can be revoked, and each use is counted.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::{Analysis, FactKind};
use crate::call::{CallDigest, ToolCall};
use crate::digest::Digest;
use crate::ids::{PersonId, SessionId, StandingGrantId, ToolName};
use crate::interaction::Locale;
use crate::messages::{self, scope};
use crate::policy::pattern::CommandPattern;
use crate::policy::{Command, PathGlob, Roots};
use crate::render::mask;
use crate::time::{Millis, Timestamp};
use crate::tool::Risk;

mod rule;
mod suggest;

pub use rule::ProposedRule;

/// A person's "don't ask again".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StandingGrant {
    /// Its id.
    pub id: StandingGrantId,
    /// What it covers.
    pub scope: Scope,
    /// Who gave it.
    pub by: PersonId,
    /// When.
    pub given_at: Timestamp,
    /// When it ends. There is always an end.
    pub ends_at: Timestamp,
    /// How often it may be used at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses_max: Option<u32>,
    /// The calls it was given for, when it is a rule: its examples in `placet.toml`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
}

/// How far a standing grant reaches. Ordered: the wider is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GrantReach {
    /// One exact call in one session.
    Call,
    /// One kind of call in one session.
    Session,
    /// In every session that works in one folder.
    Project,
    /// Everywhere: a rule.
    Rule,
}

impl GrantReach {
    /// Whether it goes beyond the conversation it was given in, so that the operator must have allowed it.
    pub fn is_wide(self) -> bool {
        self >= Self::Project
    }

    /// How long such a grant lasts unless the person says otherwise.
    pub const fn lasts(self) -> Millis {
        const DAY_SECONDS: u64 = 24 * 60 * 60;
        match self {
            Self::Call | Self::Session => Millis::from_secs(60 * 60),
            Self::Project => Millis::from_secs(30 * DAY_SECONDS),
            Self::Rule => Millis::from_secs(365 * DAY_SECONDS),
        }
    }
}

/// Exactly what a standing grant covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scope {
    /// The tool.
    pub tool: ToolName,
    /// Only in this session; in every session when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Only where agents work in this folder (its real path); in every folder when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Which arguments.
    pub covers: Covers,
}

/// Which arguments a standing grant covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Covers {
    /// This digest and no other.
    Exactly(CallDigest),
    /// Shell lines of which every simple command is one of these patterns (the `command` patterns of rules, each with its
    /// program spelled out).
    Commands(Vec<String>),
    /// Writes to paths under one of these workspace-relative globs.
    Paths(Vec<String>),
    /// Requests to one of these hosts.
    Hosts(Vec<String>),
    /// SQL that only does this to these tables. Reading beside it is part of it.
    Statements {
        /// The verbs.
        verbs: Vec<String>,
        /// The tables, as analysis names them.
        tables: Vec<String>,
    },
}

impl Scope {
    /// What it is called where the scope itself, which may hold a secret, is not shown.
    pub fn name(&self) -> String {
        let whole = serde_json::to_vec(self).unwrap_or_default();
        Digest::of("placet/scope/1", &[&whole]).to_string()
    }

    /// Whether the call is covered. Everything it would do must be; what cannot be read covers nothing.
    pub fn covers(&self, call: &ToolCall, analysis: &Analysis, digest: CallDigest, workspace: &str) -> bool {
        self.tool == call.tool
            && self
                .session
                .as_ref()
                .is_none_or(|session| *session == call.session)
            && self.workspace.as_ref().is_none_or(|own| own == workspace)
            && self.covers.covers(analysis, digest, workspace)
            // What was allowed once for a confined command does not free it, unless for exactly this call.
            && (call.args.get("needs").is_none() || matches!(self.covers, Covers::Exactly(_)))
    }

    /// How far it reaches.
    pub fn reach(&self) -> GrantReach {
        match (&self.session, &self.workspace, &self.covers) {
            (Some(_), _, Covers::Exactly(_)) => GrantReach::Call,
            (Some(_), ..) => GrantReach::Session,
            (None, Some(_), _) => GrantReach::Project,
            (None, None, _) => GrantReach::Rule,
        }
    }

    /// The same in every session that works in this folder.
    #[must_use]
    pub fn in_project(&self, workspace: &str) -> Self {
        Self {
            session: None,
            workspace: Some(workspace.to_owned()),
            ..self.clone()
        }
    }

    /// The same everywhere.
    #[must_use]
    pub fn everywhere(&self) -> Self {
        Self {
            session: None,
            workspace: None,
            ..self.clone()
        }
    }

    /// What it covers, exactly and in a sentence. Only secrets are masked.
    pub fn describe(&self) -> String {
        self.describe_in(Locale::English)
    }

    /// The same in the reader's language.
    pub fn describe_in(&self, locale: Locale) -> String {
        let tool = &self.tool;
        let either = |texts: &[String]| either(texts, locale);
        let what = match &self.covers {
            Covers::Exactly(_) => scope::exactly(tool),
            Covers::Commands(patterns) => scope::commands(either(&masked(patterns)), tool),
            Covers::Paths(globs) => scope::paths(either(globs), tool),
            Covers::Hosts(hosts) => scope::hosts(either(hosts), tool),
            Covers::Statements { verbs, tables } => scope::statements(either(tables), tool, either(verbs)),
        };
        let what = what.say(locale);
        let reach = match (&self.session, &self.workspace) {
            (Some(session), _) => scope::in_session(session, what),
            (None, Some(folder)) => scope::in_project(folder, what),
            (None, None) => scope::everywhere(what),
        };
        reach.say(locale)
    }
}

impl Covers {
    fn covers(&self, analysis: &Analysis, digest: CallDigest, workspace: &str) -> bool {
        let facts = &analysis.facts;
        let roots = Roots {
            workspace,
            home: analysis.home.as_deref(),
        };
        match self {
            Self::Exactly(own) => *own == digest,
            Self::Commands(patterns) => {
                // A pattern that cannot be read covers nothing, and neither does one that any program fits.
                let patterns: Vec<_> = patterns
                    .iter()
                    .filter_map(|text| CommandPattern::parse(text).ok())
                    .filter(CommandPattern::spells_program)
                    .collect();
                let named = |command: Command<'_>| patterns.iter().any(|pattern| pattern.covers(&command));
                facts
                    .iter()
                    .any(|fact| matches!(fact.kind, FactKind::Command { .. }))
                    && facts.iter().all(|fact| match &fact.kind {
                        FactKind::Command {
                            argv,
                            dynamic,
                            assignments,
                            effects,
                            ..
                        } => {
                            let risk = fact.risk;
                            let command = Command { argv, risk, effects };
                            !dynamic && assignments.is_empty() && (risk == Risk::Low || named(command))
                        }
                        FactKind::Redirect {
                            contained, writes, ..
                        } => *contained && (!writes || fact.risk == Risk::Low),
                        // What a covered command itself reads, or where it connects.
                        FactKind::Path { inside, .. } => *inside,
                        FactKind::Host { .. } => true,
                        FactKind::Statement { .. } | FactKind::Unreadable { .. } => false,
                    })
            }
            Self::Paths(globs) => {
                let globs: Vec<_> = globs
                    .iter()
                    .filter_map(|text| PathGlob::parse(text).ok())
                    .collect();
                !facts.is_empty()
                    && facts.iter().all(|fact| match &fact.kind {
                        FactKind::Path { resolved, inside, .. } => {
                            *inside && globs.iter().any(|glob| glob.covers(resolved, roots))
                        }
                        _ => false,
                    })
            }
            Self::Hosts(hosts) => {
                let hosts: Vec<_> = hosts
                    .iter()
                    .map(|text| crate::policy::Wild::parse_lowercase(text))
                    .collect();
                !facts.is_empty()
                    && facts.iter().all(|fact| match &fact.kind {
                        FactKind::Host { host, .. } => hosts.iter().any(|wild| wild.matches(host)),
                        _ => false,
                    })
            }
            Self::Statements { verbs, tables } => {
                let reads = |verb: &String| matches!(verb.as_str(), "SELECT" | "EXPLAIN");
                let named = |verb: &String| verbs.contains(verb);
                !facts.is_empty()
                    && facts.iter().all(|fact| match &fact.kind {
                        FactKind::Statement {
                            verb,
                            also,
                            tables: touched,
                            ..
                        } => {
                            fact.risk < Risk::High
                                && named(verb)
                                && also.iter().all(|verb| reads(verb) || named(verb))
                                && !touched.is_empty()
                                && touched.iter().all(|table| tables.contains(table))
                        }
                        _ => false,
                    })
            }
        }
    }
}

fn masked(commands: &[String]) -> Vec<String> {
    commands
        .iter()
        .map(|line| mask::command(line).into_owned())
        .collect()
}

fn either(texts: &[String], locale: Locale) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    if quoted.is_empty() {
        return scope::nothing().say(locale);
    }
    messages::any_of(locale, &quoted)
}

#[cfg(test)]
mod tests;
