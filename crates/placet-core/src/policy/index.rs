//! Finding the few rules a call could concern among many, without looking at the rest.
//!
//! Rules that name their tool are filed under it; among these, rules that name their command's program are filed under its base
//! name. Only what is filed under a call's tool and programs, or could not be filed, is looked at.

use std::collections::BTreeMap;

use crate::analysis::{Analysis, FactKind};
use crate::tool::Risk;

use super::pattern::{CommandPattern, base_name};
use super::rule::{Effect, Rule, Subject};
use super::wild::Wild;

/// All rules of a policy, in the order of the file.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    all: Vec<Rule>,
    by_tool: BTreeMap<Box<str>, Drawer>,
    /// Rules for any tool, or for tools by wildcard.
    any_tool: Drawer,
}

/// Rules of one tool, as places in [`Rules::all`].
#[derive(Debug, Clone)]
struct Drawer {
    by_program: BTreeMap<Box<str>, Vec<usize>>,
    any_program: Vec<usize>,
}

impl Drawer {
    const fn empty() -> Self {
        Self {
            by_program: BTreeMap::new(),
            any_program: Vec::new(),
        }
    }

    fn file(&mut self, place: usize, rule: &Rule) {
        let programs: Option<Vec<&str>> = rule.when.commands.iter().map(CommandPattern::program).collect();
        match programs {
            Some(programs) if !programs.is_empty() => {
                for program in programs {
                    let filed = self.by_program.entry(program.into()).or_default();
                    if filed.last() != Some(&place) {
                        filed.push(place);
                    }
                }
            }
            _ => self.any_program.push(place),
        }
    }

    fn under(&self, program: &str) -> &[usize] {
        self.by_program.get(program).map_or(&[], Vec::as_slice)
    }
}

impl Rules {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let mut by_tool: BTreeMap<Box<str>, Drawer> = BTreeMap::new();
        let mut any_tool = Drawer::empty();
        for (place, rule) in rules.iter().enumerate() {
            let tools: Option<Vec<&str>> = rule.when.tools.iter().map(Wild::literal).collect();
            match tools {
                Some(mut tools) if !tools.is_empty() => {
                    tools.sort_unstable();
                    tools.dedup();
                    for tool in tools {
                        by_tool
                            .entry(tool.into())
                            .or_insert_with(Drawer::empty)
                            .file(place, rule);
                    }
                }
                _ => any_tool.file(place, rule),
            }
        }
        Self {
            all: rules,
            by_tool,
            any_tool,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.all.iter()
    }

    /// The first deny rule that applies.
    pub(crate) fn denying(&self, subject: &Subject<'_>) -> Option<&Rule> {
        self.concerning(subject, |effect| matches!(effect, Effect::Deny))
            .min()
            .and_then(|place| self.all.get(place))
    }

    /// Every ask rule that applies, in the order of the file.
    pub(crate) fn asking(&self, subject: &Subject<'_>) -> Vec<&Rule> {
        let mut places: Vec<usize> = self
            .concerning(subject, |effect| matches!(effect, Effect::Ask(_)))
            .collect();
        places.sort_unstable();
        places.dedup();
        places
            .into_iter()
            .filter_map(|place| self.all.get(place))
            .collect()
    }

    /// The rule that allows the call: for a shell line, the one that allows its first command, provided that each of its
    /// commands is allowed by some rule.
    pub(crate) fn allowing(&self, subject: &Subject<'_>) -> Option<&Rule> {
        let mut commands = commands(subject.analysis);
        let Some(first) = commands.next() else {
            return self.allowing_command(subject, None);
        };
        let rule = self.allowing_command(subject, Some(first))?;
        commands
            .all(|command| self.allowing_command(subject, Some(command)).is_some())
            .then_some(rule)
    }

    fn allowing_command(&self, subject: &Subject<'_>, command: Option<Command<'_>>) -> Option<&Rule> {
        let program = command.and_then(Command::program);
        let place = self
            .drawers(subject)
            .flat_map(|drawer| {
                drawer
                    .any_program
                    .iter()
                    .chain(program.map_or(&[][..], |program| drawer.under(program)))
            })
            .filter(|place| {
                self.all.get(**place).is_some_and(|rule| {
                    rule.effect == Effect::Allow
                        && command.is_none_or(|command| rule.covers_command(command.argv, command.risk))
                        && rule.covers_all_but_commands(subject)
                })
            })
            .min()?;
        self.all.get(*place)
    }

    /// The places of rules with such an effect that apply; a place may come twice.
    fn concerning<'a>(
        &'a self,
        subject: &'a Subject<'_>,
        wanted: fn(&Effect) -> bool,
    ) -> impl Iterator<Item = usize> + 'a {
        self.drawers(subject)
            .flat_map(|drawer| {
                let programs = commands(subject.analysis).filter_map(Command::program);
                drawer
                    .any_program
                    .iter()
                    .chain(programs.flat_map(|program| drawer.under(program)))
            })
            .copied()
            .filter(move |place| {
                self.all
                    .get(*place)
                    .is_some_and(|rule| wanted(&rule.effect) && rule.concerns(subject))
            })
    }

    fn drawers<'a>(&'a self, subject: &Subject<'_>) -> impl Iterator<Item = &'a Drawer> + use<'a> {
        self.by_tool
            .get(subject.call.tool.as_str())
            .into_iter()
            .chain([&self.any_tool])
    }
}

/// One command of a line.
#[derive(Debug, Clone, Copy)]
struct Command<'a> {
    argv: &'a [String],
    risk: Risk,
}

impl<'a> Command<'a> {
    fn program(self) -> Option<&'a str> {
        self.argv.first().map(|program| base_name(program))
    }
}

fn commands(analysis: &Analysis) -> impl Iterator<Item = Command<'_>> {
    analysis.facts.iter().filter_map(|fact| match &fact.kind {
        FactKind::Command { argv, .. } => Some(Command {
            argv,
            risk: fact.risk,
        }),
        _ => None,
    })
}
