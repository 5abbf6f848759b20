//! Which standing grants a question may offer, from the narrowest to the widest.

use super::{Covers, Scope};
use crate::analysis::{Analysis, FactKind};
use crate::call::{CallDigest, ToolCall};
use crate::policy::pattern::CommandPattern;
use crate::tool::Risk;

/// Programs whose first word says what they do, so that `git status *` is one kind of thing and `rm build *` is not.
const PROGRAMS_WITH_SUBCOMMANDS: [&str; 8] =
    ["cargo", "docker", "git", "go", "kubectl", "npm", "pnpm", "yarn"];

impl Scope {
    /// What could be offered as "don't ask again" for this call, narrowest first; all for this session. None of them is
    /// wider than some of the call's own arguments. Nothing for HIGH: that needs approval every time.
    pub fn suggest(call: &ToolCall, analysis: &Analysis, digest: CallDigest, workspace: &str) -> Vec<Self> {
        if analysis.risk() == Risk::High {
            return Vec::new();
        }
        let scope = |covers| Self {
            tool: call.tool.clone(),
            session: Some(call.session.clone()),
            workspace: None,
            covers,
        };
        let wider = [
            exact_commands(analysis),
            subcommands(analysis),
            folders(analysis, workspace),
            hosts(analysis),
            statements(analysis),
        ];
        std::iter::once(Covers::Exactly(digest))
            .chain(wider.into_iter().flatten())
            .map(scope)
            // An offer that would not have spared this very question is no offer.
            .filter(|scope| scope.covers(call, analysis, digest, workspace))
            .collect()
    }
}

/// `argv` and wrappers of each command.
fn commands(analysis: &Analysis) -> impl Iterator<Item = (&[String], &[String])> {
    analysis.facts.iter().filter_map(|fact| match &fact.kind {
        FactKind::Command { argv, under, .. } => Some((argv.as_slice(), under.as_slice())),
        _ => None,
    })
}

fn unique(mut texts: Vec<String>) -> Option<Vec<String>> {
    texts.sort_unstable();
    texts.dedup();
    (!texts.is_empty()).then_some(texts)
}

fn exact_commands(analysis: &Analysis) -> Option<Covers> {
    unique(
        commands(analysis)
            .map(|(argv, _)| CommandPattern::quote(argv))
            .collect(),
    )
    .map(Covers::Commands)
}

/// `git log *` for `git log -p`. Not under a wrapper: `sudo` with anything after it is anything.
fn subcommands(analysis: &Analysis) -> Option<Covers> {
    let opened = |(argv, under): (&[String], &[String])| match argv {
        [program, subcommand, ..]
            if under.is_empty()
                && PROGRAMS_WITH_SUBCOMMANDS.contains(&program.as_str())
                && subcommand.starts_with(|c: char| c.is_ascii_alphabetic()) =>
        {
            Some(format!(
                "{} *",
                CommandPattern::quote(&[program.clone(), subcommand.clone()])
            ))
        }
        _ => None,
    };
    unique(commands(analysis).map(opened).collect::<Option<_>>()?).map(Covers::Commands)
}

/// The folder of each path. Not the workspace itself, which would be the whole tool.
fn folders(analysis: &Analysis, workspace: &str) -> Option<Covers> {
    let folder = |resolved: &str| {
        let inside = resolved
            .strip_prefix(workspace.trim_end_matches('/'))?
            .strip_prefix('/')?;
        let (folder, _) = inside.rsplit_once('/')?;
        Some(format!("{}/*", globset::escape(folder)))
    };
    let of_fact = |kind: &FactKind| match kind {
        FactKind::Path { resolved, .. } => folder(resolved),
        _ => None,
    };
    unique(
        analysis
            .facts
            .iter()
            .map(|fact| of_fact(&fact.kind))
            .collect::<Option<_>>()?,
    )
    .map(Covers::Paths)
}

fn hosts(analysis: &Analysis) -> Option<Covers> {
    let of_fact = |kind: &FactKind| match kind {
        FactKind::Host { host, .. } => Some(host.clone()),
        _ => None,
    };
    unique(
        analysis
            .facts
            .iter()
            .map(|fact| of_fact(&fact.kind))
            .collect::<Option<_>>()?,
    )
    .map(Covers::Hosts)
}

/// What the only statement does, and to which tables. Of several, any verb would go with any table.
fn statements(analysis: &Analysis) -> Option<Covers> {
    let [fact] = analysis.facts.as_slice() else {
        return None;
    };
    let FactKind::Statement {
        verb, also, tables, ..
    } = &fact.kind
    else {
        return None;
    };
    Some(Covers::Statements {
        verbs: unique(std::iter::once(verb).chain(also).cloned().collect())?,
        tables: unique(tables.clone())?,
    })
}
