//! A rule: when it applies, and what follows.
//!
//! Every condition a rule states must hold. What "hold" means depends on what follows from it, and errs to the safe side
//! both times. A rule that *asks* or *denies* applies as soon as one thing the call would do matches, in any spelling. A
//! rule that *allows* applies only when everything the call would do is covered by what it says.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;

use crate::analysis::{Analysis, Effect as Does, Fact, FactKind, UrlConcern, Why, lowercase};
use crate::call::ToolCall;
use crate::canonical;
use crate::confine::Confinement;
use crate::paths::is_glob;
use crate::tool::{Category, Risk, Tool};
use crate::verdict::AskTerms;

use super::paths::{PathGlob, Roots, below, normalised};
use super::pattern::{Breadth, CommandPattern};
use super::wild::Wild;

/// A checked rule. Made by reading a configuration.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name, shown with every verdict it decides.
    pub name: String,
    /// What follows when it applies.
    pub effect: RuleEffect,
    /// The operator's own words on why.
    pub reason: Option<String>,
    pub(crate) when: Conditions,
    /// The rule as it was read, in canonical JSON: part of the policy's version.
    pub(crate) canonical: Box<str>,
}

/// What follows from a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleEffect {
    /// The call may run.
    Allow,
    /// People are asked, on these terms.
    Ask(AskTerms),
    /// The call must not run.
    Deny,
}

/// When a rule applies. An empty list or `None` is no condition.
#[derive(Debug, Clone)]
pub(crate) struct Conditions {
    pub(crate) tools: Vec<Wild>,
    pub(crate) commands: Vec<CommandPattern>,
    pub(crate) paths: Vec<PathGlob>,
    pub(crate) hosts: Vec<Wild>,
    /// What the commands of a line may read, write and run, for a rule that allows.
    pub(crate) effects: Option<Effects>,
    pub(crate) verbs: Vec<String>,
    pub(crate) tables: Vec<Wild>,
    /// What follows each dot in `tables`.
    pub(crate) table_ends: Vec<Wild>,
    pub(crate) args: Vec<(String, Wild)>,
    pub(crate) category: Option<Category>,
    pub(crate) risk_min: Option<Risk>,
    pub(crate) agents: Vec<Wild>,
    pub(crate) channels: Vec<Wild>,
    pub(crate) sessions: Vec<Wild>,
}

/// What the commands of a line may do, by their records. What is not said here is not allowed.
#[derive(Debug, Clone)]
pub(crate) struct Effects {
    /// Files they may read.
    pub(crate) reads: Vec<PathGlob>,
    /// Files they may write or delete.
    pub(crate) writes: Vec<PathGlob>,
    /// Whether they may run code of the workspace.
    pub(crate) runs: bool,
}

/// Everything a rule may look at. What many rules look at is worked out once, and only when one does.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) analysis: &'a Analysis,
    /// After analysis.
    pub(crate) risk: Risk,
    /// After analysis, with what confines the call.
    pub(crate) category: Category,
    /// The category it would have if nothing confined it. Rules about either concern the call.
    unconfined: Category,
    /// The workspace's real root.
    pub(crate) workspace: &'a str,
    paths: OnceCell<Vec<Cow<'a, str>>>,
    hosts: OnceCell<Vec<Cow<'a, str>>>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(call: &'a ToolCall, tool: &Tool, analysis: &'a Analysis, workspace: &'a str) -> Self {
        let only_sql = analysis
            .facts
            .iter()
            .all(|fact| matches!(fact.kind, FactKind::Statement { .. }));
        let category = match analysis.sql_category() {
            Some(sql) if tool.sql_decides_category && only_sql => sql,
            Some(sql) => tool.category.max(sql),
            None => tool.category,
        };
        let risk = tool.risk.max(analysis.risk());
        // The one case in which looking into a call lowers its risk: a line that is known to only read.
        let (category, risk) =
            if risk < Risk::High && tool.runs_only_a_line(&call.args) && analysis.is_reading_line() {
                (Category::Read, Risk::Low)
            } else {
                (category, risk)
            };
        Self {
            call,
            analysis,
            risk,
            category,
            unconfined: category,
            workspace,
            paths: OnceCell::new(),
            hosts: OnceCell::new(),
        }
    }

    /// Whether it changes rows or schema, or may: SQL that is not proven to only read.
    pub(crate) fn changes_data(&self) -> bool {
        self.analysis.facts.iter().any(|fact| match &fact.kind {
            FactKind::Statement { category, .. } => *category != Category::Read,
            FactKind::Unreadable { .. } => matches!(fact.why, Some(Why::Sql(_))),
            FactKind::Command { .. }
            | FactKind::Redirect { .. }
            | FactKind::Path { .. }
            | FactKind::Host { .. } => false,
        })
    }

    /// The same call under what confines it. What it asks for beyond that is never harmless.
    pub(crate) fn confined(self, confinement: Option<&Confinement>) -> Self {
        match confinement {
            Some(confinement) if confinement.asks() => Self {
                category: self.category.max(confinement.category()),
                risk: self.risk.max(Risk::Medium),
                ..self
            },
            Some(confinement) if self.category == Category::Command => Self {
                category: confinement.category(),
                ..self
            },
            _ => self,
        }
    }

    /// Every path the call may touch, normalised, in each spelling. A command's words count as paths, as analysis found them in
    /// there: who denies `secrets/**` means `cat secrets/key` too, and `cd src && cat ../secrets/key`.
    pub(crate) fn paths(&self) -> &[Cow<'a, str>] {
        self.paths.get_or_init(|| {
            let mut paths: Vec<Cow<'a, str>> = Vec::new();
            for fact in &self.analysis.facts {
                match &fact.kind {
                    FactKind::Path { given, resolved, .. } => {
                        let resolved = normalised(resolved, self.workspace);
                        let given = normalised(given, self.workspace);
                        if given != resolved {
                            paths.push(given);
                        }
                        paths.push(resolved);
                    }
                    FactKind::Redirect { paths: named, .. } | FactKind::Command { paths: named, .. } => {
                        paths.extend(named.iter().map(|path| Cow::Borrowed(path.as_str())));
                    }
                    FactKind::Statement { .. } | FactKind::Host { .. } | FactKind::Unreadable { .. } => {}
                }
            }
            paths
        })
    }

    /// Every host the call may reach, without a dot at the end. A command's URLs count.
    pub(crate) fn hosts(&self) -> &[Cow<'a, str>] {
        let of_word = |word: &String| {
            let url = word
                .contains("://")
                .then(|| url::Url::parse(word).ok())
                .flatten()?;
            let host = url.host_str()?;
            Some(Cow::Owned(host.trim_end_matches('.').to_owned()))
        };
        self.hosts.get_or_init(|| {
            let mut hosts = Vec::new();
            for fact in &self.analysis.facts {
                match &fact.kind {
                    FactKind::Host { host, .. } => hosts.push(Cow::Borrowed(host.trim_end_matches('.'))),
                    FactKind::Command { argv, .. } => hosts.extend(argv.iter().filter_map(of_word)),
                    _ => {}
                }
            }
            hosts
        })
    }

    /// The folders that globs start from.
    pub(crate) fn roots(&self) -> Roots<'_> {
        Roots {
            workspace: self.workspace,
            home: self.analysis.home.as_deref(),
        }
    }

    /// An absolute path as seen from the workspace, when it is below it.
    pub(crate) fn below_workspace<'p>(&self, absolute: &'p str) -> Option<&'p str> {
        below(self.workspace, absolute)
    }

    /// The channel the call comes from, or nothing.
    pub(crate) fn channel(&self) -> &'a str {
        let chat = self.call.origin.chat.as_ref();
        chat.map_or("", |chat| chat.channel.as_str())
    }
}

impl Rule {
    /// The rule as it was read, its examples included, in canonical JSON.
    pub fn source(&self) -> &str {
        &self.canonical
    }

    /// Whether a rule that asks or denies applies.
    pub(crate) fn concerns(&self, subject: &Subject<'_>) -> bool {
        let when = &self.when;
        let any =
            |test: &dyn Fn(&FactKind) -> bool| subject.analysis.facts.iter().any(|fact| test(&fact.kind));
        when.origin_matches(subject)
            && when.effect_matches(subject)
            && when.args_match(subject.call, Breadth::Broad)
            && (when.commands.is_empty() || any(&|kind| when.names_command(kind)))
            && (when.paths.is_empty() || when.touches_paths(subject))
            && (when.hosts.is_empty() || subject.hosts().iter().any(|host| one_of(&when.hosts, host)))
            && (!when.names_sql() || any(&|kind| when.touches_statement(kind)))
    }

    /// Whether a rule that allows covers everything the call would do, apart from its commands: these are looked at one by
    /// one, since several rules may allow a line together.
    pub(crate) fn covers_all_but_commands(&self, subject: &Subject<'_>) -> bool {
        let when = &self.when;
        let facts = &subject.analysis.facts;
        let has = |test: fn(&FactKind) -> bool| facts.iter().any(|fact| test(&fact.kind));
        when.origin_matches(subject)
            && when.effect_matches(subject)
            && when.args_match(subject.call, Breadth::Narrow)
            && (when.commands.is_empty() || has(|kind| matches!(kind, FactKind::Command { .. })))
            && (when.paths.is_empty() || facts.iter().any(is_at_a_place))
            && (when.hosts.is_empty()
                || when.effects.is_some()
                || has(|kind| matches!(kind, FactKind::Host { .. })))
            && (!when.names_sql() || has(|kind| matches!(kind, FactKind::Statement { .. })))
            && facts.iter().all(|fact| when.covers_fact(fact, subject.roots()))
    }

    /// Whether a rule that allows covers this one command: what it says about commands and about effects both hold.
    pub(crate) fn covers_command(&self, command: &Command<'_>, roots: Roots<'_>) -> bool {
        let when = &self.when;
        if when.is_about_whole_tools() {
            return true;
        }
        let named = || when.commands.iter().any(|pattern| pattern.covers(command));
        match &when.effects {
            None => named(),
            Some(effects) => {
                (when.commands.is_empty() || named())
                    && command.risk < Risk::High
                    && command
                        .effects
                        .iter()
                        .all(|effect| effects.cover(effect, &when.hosts, roots))
            }
        }
    }
}

/// One command of a line, as a rule that allows sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command<'a> {
    pub(crate) argv: &'a [String],
    pub(crate) risk: Risk,
    pub(crate) effects: &'a [Does],
}

impl Effects {
    fn cover(&self, effect: &Does, hosts: &[Wild], roots: Roots<'_>) -> bool {
        match effect {
            Does::Reads(path) => covered(&self.reads, path, roots),
            Does::Writes(path) | Does::Deletes(path) => covered(&self.writes, path, roots),
            Does::Host(host) => hosts.iter().any(|wild| wild.matches(host)),
            Does::Runs(_) => self.runs,
            Does::Changes | Does::Unknown => false,
        }
    }
}

/// Whether one of the globs covers the path. The workspace itself is covered by whatever covers all that is in it.
fn covered(globs: &[PathGlob], path: &str, roots: Roots<'_>) -> bool {
    let inside = format!("{}/-/-", roots.workspace);
    let path = if path == roots.workspace { &inside } else { path };
    globs.iter().any(|glob| glob.covers(path, roots))
}

impl Conditions {
    /// Whether the rule says which commands, paths, hosts or statements it is about, rather than a whole tool.
    pub(crate) fn names_effects(&self) -> bool {
        !self.commands.is_empty()
            || !self.paths.is_empty()
            || !self.hosts.is_empty()
            || self.effects.is_some()
            || self.names_sql()
    }

    /// "Any call of this tool": whatever it does is what the operator allowed. An `args` condition looks at text, which
    /// says little about what happens (`git status; rm -r x` is like `git *`), so it is not that.
    fn is_about_whole_tools(&self) -> bool {
        !self.names_effects() && self.args.is_empty()
    }

    pub(crate) fn names_sql(&self) -> bool {
        !self.verbs.is_empty() || !self.tables.is_empty()
    }

    fn origin_matches(&self, subject: &Subject<'_>) -> bool {
        let call = subject.call;
        one_of(&self.tools, call.tool.as_str())
            && one_of(&self.agents, call.origin.agent.as_str())
            && one_of(&self.channels, subject.channel())
            && one_of(&self.sessions, call.session.as_str())
    }

    fn effect_matches(&self, subject: &Subject<'_>) -> bool {
        let of_category = |category| category == subject.category || category == subject.unconfined;
        self.category.is_none_or(of_category) && self.risk_min.is_none_or(|risk| risk <= subject.risk)
    }

    fn args_match(&self, call: &ToolCall, breadth: Breadth) -> bool {
        let fits = |wild: &Wild, text: &str| match breadth {
            Breadth::Narrow => wild.matches_within(text),
            Breadth::Broad => wild.matches(text),
        };
        self.args.iter().all(|(name, wild)| match call.args.get(name) {
            Some(value) => fits(wild, &argument_text(value)),
            None => false,
        })
    }

    fn names_command(&self, kind: &FactKind) -> bool {
        let FactKind::Command { argv, .. } = kind else {
            return false;
        };
        self.commands
            .iter()
            .any(|pattern| pattern.matches(argv, Breadth::Broad))
    }

    fn touches_paths(&self, subject: &Subject<'_>) -> bool {
        // A pattern that could become what the rule names touches it: how the disk resolves it is unknown here.
        let touched = |path: &Cow<'_, str>| {
            let could = is_glob(path);
            self.paths.iter().any(|glob| {
                glob.touches(path, subject.roots()) || (could && glob.could_touch(path, subject.roots()))
            })
        };
        subject.paths().iter().any(touched)
    }

    fn touches_statement(&self, kind: &FactKind) -> bool {
        let FactKind::Statement {
            verb, also, tables, ..
        } = kind
        else {
            return false;
        };
        (self.names_verb(verb) || also.iter().any(|verb| self.names_verb(verb)))
            && (self.tables.is_empty() || tables.iter().any(|table| self.names_table(table, Breadth::Broad)))
    }

    fn names_verb(&self, verb: &str) -> bool {
        self.verbs.is_empty() || self.verbs.iter().any(|own| own.eq_ignore_ascii_case(verb))
    }

    /// Broadly, `users` is also `public.users`, and `public.users` also `users` and `db.public.users`: as many names from the
    /// right count as both have. Narrowly they are different tables.
    fn names_table(&self, table: &str, breadth: Breadth) -> bool {
        let table = lowercase(table);
        let is = |name: &str| self.tables.iter().any(|wild| wild.matches(name));
        let shorter = || {
            let dots = table.matches('.').count();
            let fits = |end: &Wild| end.dots() == dots && end.matches(&table);
            self.table_ends.iter().any(fits)
        };
        is(&table) || (breadth == Breadth::Broad && (name_ends(&table).any(is) || shorter()))
    }

    /// Whether a rule that allows says enough about this fact. A rule that names effects covers those it names; beside
    /// commands and `args`, which bring their own, others pass while they are not HIGH.
    fn covers_fact(&self, fact: &Fact, roots: Roots<'_>) -> bool {
        let brings_others = !self.commands.is_empty() || !self.args.is_empty() || self.effects.is_some();
        let whole_tool = self.is_about_whole_tools();
        let unnamed = || whole_tool || (brings_others && fact.risk < Risk::High);
        match &fact.kind {
            FactKind::Command { .. } if whole_tool => true,
            FactKind::Command {
                dynamic, assignments, ..
            } => !dynamic && assignments.is_empty(),
            FactKind::Redirect { contained, .. } if whole_tool => *contained,
            FactKind::Redirect { contained, .. } if !is_at_a_place(fact) => *contained,
            FactKind::Redirect {
                contained,
                writes,
                paths,
                ..
            } => *contained && fact.risk < Risk::High && self.covers_redirect(*writes, paths, roots),
            FactKind::Path { .. } if self.paths.is_empty() => unnamed(),
            FactKind::Path { resolved, .. } => covered(&self.paths, resolved, roots),
            FactKind::Host { .. } if self.hosts.is_empty() => unnamed(),
            // Clients do not agree on which host that is.
            FactKind::Host { .. } if is_ambiguous(fact) => false,
            FactKind::Host { host, .. } => one_of(&self.hosts, host),
            FactKind::Statement { .. } if !self.names_sql() => unnamed(),
            FactKind::Statement {
                verb, also, tables, ..
            } => {
                let named = |table: &String| self.names_table(table, Breadth::Narrow);
                // Looking at what was changed needs no word of its own.
                let reads = |verb: &String| matches!(verb.as_str(), "SELECT" | "EXPLAIN");
                self.names_verb(verb)
                    && also.iter().all(|verb| reads(verb) || self.names_verb(verb))
                    && (self.tables.is_empty() || (!tables.is_empty() && tables.iter().all(named)))
            }
            FactKind::Unreadable { .. } => false,
        }
    }

    /// A command that may run may read what is redirected into it; where its output goes, the rule must have said.
    fn covers_redirect(&self, writes: bool, paths: &[String], roots: Roots<'_>) -> bool {
        let globs = match (&self.effects, writes) {
            (Some(effects), true) => &effects.writes,
            (Some(effects), false) => &effects.reads,
            (None, false) if self.paths.is_empty() => return true,
            (None, _) => &self.paths,
        };
        !paths.is_empty() && paths.iter().all(|path| covered(globs, path, roots))
    }
}

/// Whether clients read the URL differently.
fn is_ambiguous(fact: &Fact) -> bool {
    matches!(
        &fact.why,
        Some(Why::Url(UrlConcern::Odd | UrlConcern::NameBeforeAt))
    )
}

/// Whether something is read or written at a place. A device that discards its input is not one.
fn is_at_a_place(fact: &Fact) -> bool {
    match fact.kind {
        FactKind::Path { .. } => true,
        FactKind::Redirect { .. } => fact.risk > Risk::Low,
        _ => false,
    }
}

/// A table's name from each dot on. What a quoted name holds counts too.
pub(super) fn name_ends(table: &str) -> impl Iterator<Item = &str> {
    table
        .match_indices('.')
        .filter_map(|(at, dot)| table.get(at + dot.len()..))
        .map(|end| end.trim_end_matches('"'))
}

/// An argument as `args` conditions see it.
pub(super) fn argument_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        value => Cow::Owned(canonical::to_string(value)),
    }
}

fn one_of(wilds: &[Wild], text: &str) -> bool {
    wilds.is_empty() || wilds.iter().any(|wild| wild.matches(text))
}
