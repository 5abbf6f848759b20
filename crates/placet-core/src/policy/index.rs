//! Finding the few rules a call could concern among many, without looking at the rest.
//!
//! A rule applies only when each of its conditions holds. So it is enough to file it under *one* of them, and to look only
//! under what the call does: a rule about `kubectl delete` is found by calls that run `kubectl` with the word `delete`, one about
//! `src/api/**` by paths that start with `src/api`, one about `*.example.com` by hosts that end in `.example.com`. Conditions that are
//! alternatives (`host = ["a", "b"]`) file the rule under each.
//!
//! Two levels: the tool, then the first of commands, paths, hosts, tables, arguments and origin that the rule names. What is
//! found is a candidate and no more; [`Rule`] itself says whether it applies. A key must therefore hold whenever the rule
//! could apply, narrowly (allow) or broadly (ask, deny), and may well hold when it does not.

mod by_text;

use std::collections::BTreeMap;

use crate::analysis::{Analysis, FactKind, lowercase};
use crate::tool::Risk;

use super::pattern::{CommandPattern, base_name};
use super::rule::{Command, Conditions, Rule, RuleEffect, Subject, argument_text, name_ends};
use super::wild::Wild;
use by_text::{ByText, Key};

/// All rules of a policy, in the order of the file.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    all: Vec<Rule>,
    by_tool: ByText<Drawer>,
}

/// The place of a rule in [`Rules::all`].
type Place = usize;

/// Rules of one tool, each under one of its conditions.
#[derive(Debug, Clone, Default)]
struct Drawer {
    programs: ByText<Program>,
    paths: ByText<Vec<Place>>,
    hosts: ByText<Vec<Place>>,
    tables: ByText<Vec<Place>>,
    args: BTreeMap<Box<str>, ByText<Vec<Place>>>,
    agents: ByText<Vec<Place>>,
    channels: ByText<Vec<Place>>,
    sessions: ByText<Vec<Place>>,
    others: Vec<Place>,
}

/// Rules about one program: under the first word they spell out besides it, if any.
#[derive(Debug, Clone, Default)]
struct Program {
    by_word: BTreeMap<Box<str>, Vec<Place>>,
    others: Vec<Place>,
}

impl Drawer {
    fn file(&mut self, place: Place, when: &Conditions) {
        let wilds = |map: &mut ByText<Vec<Place>>, wilds: &[Wild]| {
            for wild in wilds {
                map.under(wild.key()).push(place);
            }
        };
        if !when.commands.is_empty() {
            for pattern in &when.commands {
                self.programs.under(pattern.key()).file(place, pattern);
            }
        } else if !when.paths.is_empty() {
            for glob in &when.paths {
                self.paths.under(Key::Start(glob.start().into())).push(place);
            }
        } else if !when.hosts.is_empty() && when.effects.is_none() {
            wilds(&mut self.hosts, &when.hosts);
        } else if !when.tables.is_empty() {
            wilds(&mut self.tables, &when.tables);
            wilds(&mut self.tables, &when.table_ends);
        } else if let Some((name, wild)) = when.args.first() {
            let values = self.args.entry(name.as_str().into()).or_default();
            values.under(wild.key()).push(place);
        } else if !when.agents.is_empty() {
            wilds(&mut self.agents, &when.agents);
        } else if !when.channels.is_empty() {
            wilds(&mut self.channels, &when.channels);
        } else if !when.sessions.is_empty() {
            wilds(&mut self.sessions, &when.sessions);
        } else {
            self.others.push(place);
        }
    }

    /// Adds the places of all rules that `subject` could concern; a place may come twice.
    fn gather(&self, subject: &Subject<'_>, places: &mut Vec<Place>) {
        places.extend(&self.others);
        let facts = || subject.analysis.facts.iter().map(|fact| &fact.kind);
        let call = subject.call;
        if !self.programs.is_empty() {
            commands(subject.analysis).for_each(|command| self.gather_command(command.argv, places));
        }
        let mut add = |found: &Vec<Place>| places.extend(found);
        // Broadly, spellings are evened out first; what allows compares paths and hosts as analysis gave them.
        if !self.paths.is_empty() {
            let even = subject.paths();
            let given = facts().filter_map(|kind| match kind {
                FactKind::Path { resolved, .. } => Some(resolved.as_str()),
                _ => None,
            });
            let given = given.filter(|path| !even.iter().any(|even| even == path));
            for path in even.iter().map(|path| &**path).chain(given) {
                // A pattern may become a path that any rule is about which begins like it.
                if let Some((start, _)) = path.split_once(['*', '?', '[']) {
                    self.paths.find_near(start, &mut add);
                    match subject.below_workspace(start) {
                        Some(start) => self.paths.find_near(start, &mut add),
                        None if subject.workspace.starts_with(start) => self.paths.find_near("", &mut add),
                        None => {}
                    }
                }
                self.paths.find(path, &mut add);
                if let Some(path) = subject.below_workspace(path) {
                    self.paths.find(path, &mut add);
                }
            }
        }
        if !self.hosts.is_empty() {
            let even = subject.hosts();
            let given = facts().filter_map(|kind| match kind {
                FactKind::Host { host, .. } => Some(host.as_str()),
                _ => None,
            });
            let given = given.filter(|host| host.ends_with('.'));
            for host in even.iter().map(|host| &**host).chain(given) {
                self.hosts.find(host, &mut add);
            }
        }
        if !self.tables.is_empty() {
            for kind in facts() {
                let FactKind::Statement { tables, .. } = kind else {
                    continue;
                };
                for table in tables {
                    let table = lowercase(table);
                    self.tables.find(&table, &mut add);
                    name_ends(&table).for_each(|end| self.tables.find(end, &mut add));
                }
            }
        }
        for (name, values) in &self.args {
            if let Some(value) = call.args.get(name) {
                values.find(&argument_text(value), &mut add);
            }
        }
        self.agents.find(call.origin.agent.as_str(), &mut add);
        self.channels.find(subject.channel(), &mut add);
        self.sessions.find(call.session.as_str(), &mut add);
    }

    fn gather_command(&self, argv: &[String], places: &mut Vec<Place>) {
        let (program, words) = argv
            .split_first()
            .map_or(("", &[][..]), |(program, words)| (program.as_str(), words));
        let base = base_name(program);
        let mut add = |found: &Program| found.gather(words, places);
        self.programs.find(base, &mut add);
        // A wildcard may be about the program's folder.
        if base != program {
            self.programs.find(program, &mut add);
        }
    }
}

impl Program {
    fn file(&mut self, place: Place, pattern: &CommandPattern) {
        match pattern.first_fixed_word() {
            Some(word) => self.by_word.entry(word.into()).or_default().push(place),
            None => self.others.push(place),
        }
    }

    fn gather(&self, words: &[String], places: &mut Vec<Place>) {
        places.extend(&self.others);
        if !self.by_word.is_empty() {
            let found = words.iter().filter_map(|word| self.by_word.get(word.as_str()));
            places.extend(found.flatten());
        }
    }
}

impl Rules {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let mut by_tool: ByText<Drawer> = ByText::default();
        for (place, Rule { when, .. }) in rules.iter().enumerate() {
            if when.tools.is_empty() {
                by_tool.under(Key::anything()).file(place, when);
            }
            for tool in &when.tools {
                by_tool.under(tool.key()).file(place, when);
            }
        }
        Self { all: rules, by_tool }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.all.iter()
    }

    /// The rules that `subject` could concern, in the order of the file.
    pub(crate) fn candidates(&self, subject: &Subject<'_>) -> Candidates<'_> {
        let mut places = Vec::new();
        self.by_tool.find(subject.call.tool.as_str(), &mut |drawer| {
            drawer.gather(subject, &mut places);
        });
        places.sort_unstable();
        places.dedup();
        Candidates(
            places
                .into_iter()
                .filter_map(|place| self.all.get(place))
                .collect(),
        )
    }
}

/// Rules that one call could concern, in the order of the file.
#[derive(Debug)]
pub(crate) struct Candidates<'r>(Vec<&'r Rule>);

impl<'r> Candidates<'r> {
    /// All rules, found by no index: what the index is checked against.
    #[cfg(test)]
    pub(crate) fn all(rules: &'r Rules) -> Self {
        Self(rules.iter().collect())
    }

    /// The first deny rule that applies.
    pub(crate) fn denying(&self, subject: &Subject<'_>) -> Option<&'r Rule> {
        self.concerning(subject, |effect| matches!(effect, RuleEffect::Deny))
            .next()
    }

    /// Every ask rule that applies, in the order of the file.
    pub(crate) fn asking(&self, subject: &Subject<'_>) -> Vec<&'r Rule> {
        self.concerning(subject, |effect| matches!(effect, RuleEffect::Ask(_)))
            .collect()
    }

    fn concerning(
        &self,
        subject: &Subject<'_>,
        wanted: fn(&RuleEffect) -> bool,
    ) -> impl Iterator<Item = &'r Rule> {
        let rules = self.0.iter().copied();
        rules.filter(move |rule| wanted(&rule.effect) && rule.concerns(subject))
    }

    /// The rule that allows the call: for a shell line, the one that allows its first command, provided that each of its
    /// commands is allowed by some rule.
    pub(crate) fn allowing(&self, subject: &Subject<'_>) -> Option<&'r Rule> {
        let rules = self.0.iter().copied();
        let mut allowing = rules
            .filter(|rule| rule.effect == RuleEffect::Allow && rule.covers_all_but_commands(subject))
            .peekable();
        // Setting a variable runs nothing, and what only reads needs no rule. Alone each is a line like any other.
        let matters = |command: &Command<'_>| {
            command.risk == Risk::High || (!command.argv.is_empty() && command.risk > Risk::Low)
        };
        let any_matters = commands(subject.analysis).any(|command| matters(&command));
        let mut commands = commands(subject.analysis).filter(|command| !any_matters || matters(command));
        let Some(first) = commands.next() else {
            return allowing.next();
        };
        allowing.peek()?;
        let allowing: Vec<&Rule> = allowing.collect();
        let allows = |command: Command<'_>| {
            let covers = |rule: &&&Rule| rule.covers_command(&command, subject.roots());
            allowing.iter().find(covers).copied()
        };
        let rule = allows(first)?;
        commands.all(|command| allows(command).is_some()).then_some(rule)
    }
}

fn commands(analysis: &Analysis) -> impl Iterator<Item = Command<'_>> {
    analysis.facts.iter().filter_map(|fact| match &fact.kind {
        FactKind::Command { argv, effects, .. } => Some(Command {
            argv,
            risk: fact.risk,
            effects,
        }),
        _ => None,
    })
}
