//! Standing grants: "don't ask again", within an exact scope and for a limited time.
//!
//! A standing grant names one tool and says which arguments it covers. For a shell tool it always names commands: "any
//! bash" cannot be said. It ends at a moment, can be revoked, and each use is counted.

use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, FactKind};
use crate::call::{CallDigest, ToolCall};
use crate::ids::{PersonId, SessionId, StandingGrantId, ToolName};
use crate::interaction::Locale;
use crate::policy::PathGlob;
use crate::policy::pattern::{Breadth, CommandPattern};
use crate::render::mask;
use crate::time::Timestamp;

mod suggest;

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
}

/// Exactly what a standing grant covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scope {
    /// The tool.
    pub tool: ToolName,
    /// Only in this session; everywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
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
}

impl Scope {
    /// Whether the call is covered. Everything it would do must be; what cannot be read covers nothing.
    pub fn covers(&self, call: &ToolCall, analysis: &Analysis, digest: CallDigest, workspace: &str) -> bool {
        self.tool == call.tool
            && self
                .session
                .as_ref()
                .is_none_or(|session| *session == call.session)
            && self.covers.covers(analysis, digest, workspace)
    }

    /// What it covers, exactly and in a sentence. Only secrets are masked.
    pub fn describe(&self) -> String {
        self.describe_in(Locale::English)
    }

    /// The same in the reader's language.
    pub fn describe_in(&self, locale: Locale) -> String {
        match locale {
            Locale::English => self.english(),
            Locale::Chinese => self.chinese(),
        }
    }

    fn chinese(&self) -> String {
        let tool = &self.tool;
        let what = match &self.covers {
            Covers::Exactly(digest) => format!("仅限 `{tool}` 的这一次调用（{digest}）"),
            Covers::Commands(patterns) => {
                format!(
                    "`{tool}` 中每条命令都是 {} 的命令行",
                    either(&masked(patterns), Locale::Chinese)
                )
            }
            Covers::Paths(globs) => {
                format!(
                    "`{tool}` 对工作区内匹配 {} 的路径的操作",
                    either(globs, Locale::Chinese)
                )
            }
            Covers::Hosts(hosts) => format!("`{tool}` 对 {} 的请求", either(hosts, Locale::Chinese)),
        };
        match &self.session {
            Some(session) => format!("{what}，仅限会话 `{session}`"),
            None => format!("{what}，所有会话"),
        }
    }

    fn english(&self) -> String {
        let what = match &self.covers {
            Covers::Exactly(digest) => format!("exactly this call of `{}` ({digest})", self.tool),
            Covers::Commands(patterns) => {
                format!(
                    "`{}` lines in which every command is {}",
                    self.tool,
                    either(&masked(patterns), Locale::English)
                )
            }
            Covers::Paths(globs) => format!(
                "`{}` on paths of the workspace matching {}",
                self.tool,
                either(globs, Locale::English)
            ),
            Covers::Hosts(hosts) => format!("`{}` requests to {}", self.tool, either(hosts, Locale::English)),
        };
        match &self.session {
            Some(session) => format!("{what}, in session `{session}` only"),
            None => format!("{what}, in every session"),
        }
    }
}

impl Covers {
    fn covers(&self, analysis: &Analysis, digest: CallDigest, workspace: &str) -> bool {
        let facts = &analysis.facts;
        match self {
            Self::Exactly(own) => *own == digest,
            Self::Commands(patterns) => {
                // A pattern that cannot be read covers nothing, and neither does one that any program fits.
                let patterns: Vec<_> = patterns
                    .iter()
                    .filter_map(|text| CommandPattern::parse(text).ok())
                    .filter(CommandPattern::spells_program)
                    .collect();
                let named = |argv: &[String]| {
                    patterns
                        .iter()
                        .any(|pattern| pattern.matches(argv, Breadth::Narrow))
                };
                facts
                    .iter()
                    .any(|fact| matches!(fact.kind, FactKind::Command { .. }))
                    && facts.iter().all(|fact| match &fact.kind {
                        FactKind::Command {
                            argv,
                            dynamic,
                            assignments,
                            ..
                        } => !dynamic && assignments.is_empty() && named(argv),
                        FactKind::Redirect { contained, .. } => *contained,
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
                            *inside && globs.iter().any(|glob| glob.covers(resolved, workspace))
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
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => {
            let (comma, or) = (locale.pick(", ", "、"), locale.pick(" or ", " 或 "));
            format!("{}{or}{last}", others.join(comma))
        }
        None => locale.pick("nothing", "（无）").into(),
    }
}

#[cfg(test)]
mod tests;
