//! What a call would do: each fact with its risk and why, and the evidence beside them.

use super::super::diff;
use super::super::document::{Block, CommandLine};
use super::super::mask;
use super::super::safe::SafeText;
use super::Writer;
use crate::analysis::{Fact, FactKind};
use crate::evidence::Evidence;
use crate::findings::Findings;
use crate::messages::{self, Message, request, said};
use crate::preview::Preview;
use crate::tool::Risk;

impl Writer {
    pub(super) fn facts(&mut self, findings: &Findings, head: &mut Vec<Block>) {
        let Findings { analysis, lines, .. } = findings;
        if let Some(banned) = &analysis.banned {
            head.push(Block::Warning {
                text: SafeText::line(&banned.words(self.locale)),
            });
        }
        let mut commands = Vec::new();
        for fact in &analysis.facts {
            match &fact.kind {
                FactKind::Command {
                    text, under, argv, ..
                } => commands.push(CommandLine {
                    text: self.command(text, argv.first()),
                    under: under.iter().map(|wrapper| SafeText::code_line(wrapper)).collect(),
                    risk: fact.risk,
                    why: SafeText::line(&self.reason(fact)),
                }),
                FactKind::Redirect { .. }
                | FactKind::Statement { .. }
                | FactKind::Path { .. }
                | FactKind::Host { .. }
                | FactKind::Unreadable { .. } => {}
            }
        }
        // Where nothing was found, the arguments themselves stand here.
        if !analysis.facts.is_empty() {
            self.commands(lines, commands, head);
        }
        for fact in &analysis.facts {
            head.extend(self.other_fact(fact));
        }
    }

    /// The lines first, then what they are made of. A line that is nothing but its one command is not said twice.
    fn commands(&mut self, lines: &[String], commands: Vec<CommandLine>, head: &mut Vec<Block>) {
        let lines: Vec<_> = lines.iter().map(|line| self.code(line)).collect();
        let same = matches!((lines.as_slice(), commands.as_slice()), ([line], [only]) if *line == only.text);
        let mut label = SafeText::line("");
        if !same && !lines.is_empty() {
            label = self.say(&request::commands_in_line());
            head.extend(lines.into_iter().map(|text| Block::Line { text }));
        }
        if !commands.is_empty() {
            head.push(Block::Commands { label, commands });
        }
    }

    /// Why a fact has its risk; empty when nothing raised it.
    fn reason(&self, fact: &Fact) -> String {
        fact.why
            .as_ref()
            .map(|why| mask::text(&why.words(self.locale)).into_owned())
            .unwrap_or_default()
    }

    fn other_fact(&mut self, fact: &Fact) -> Option<Block> {
        let why = SafeText::line(&self.reason(fact));
        Some(match &fact.kind {
            FactKind::Command { .. } => return None,
            FactKind::Statement { verb, text, .. } => Block::Statement {
                verb: SafeText::code_line(verb),
                text: self.code(text),
                risk: fact.risk,
                why,
            },
            FactKind::Host { host, scheme, port } => {
                let port = port.map_or(String::new(), |port| format!(":{port}"));
                Block::Host {
                    label: self.say(&messages::fact::host()),
                    host: SafeText::code_line(&format!("{scheme}://{host}{port}")),
                    risk: fact.risk,
                    why,
                }
            }
            FactKind::Redirect {
                path, writes: true, ..
            } => self.place(&messages::fact::writes(), path, None, fact),
            FactKind::Redirect {
                path, writes: false, ..
            } => self.place(&messages::fact::reads(), path, None, fact),
            FactKind::Path {
                given,
                resolved,
                writes: true,
                ..
            } => self.place(&messages::fact::writes(), given, Some(resolved), fact),
            FactKind::Path {
                given,
                resolved,
                writes: false,
                ..
            } => self.place(&messages::fact::reads(), given, Some(resolved), fact),
            FactKind::Unreadable { what } => {
                let why = self.reason(fact);
                Block::Warning {
                    text: self.say(&messages::fact::unreadable(what, why)),
                }
            }
        })
    }

    fn place(&self, label: &Message, given: &str, resolved: Option<&str>, fact: &Fact) -> Block {
        let resolved = resolved
            .filter(|resolved| *resolved != given)
            .map_or(String::new(), |resolved| format!(" → {resolved}"));
        let risk = match fact.risk {
            Risk::Low => String::new(),
            risk => format!(" [{}]", risk.label(self.locale)),
        };
        let why = match self.reason(fact).as_str() {
            "" => String::new(),
            why => format!("{}{why}", messages::colon(self.locale)),
        };
        let value = format!("{given}{resolved}{risk}{why}");
        Block::Field {
            label: self.say(label),
            value: SafeText::line(&value),
        }
    }

    pub(super) fn evidence(&mut self, evidence: &Evidence) -> Vec<Block> {
        let block = match evidence {
            Evidence::Diff { path, before, after } => self.change(path, before.as_deref(), after.as_deref()),
            Evidence::Place { path } => self.field(&messages::fact::real_place(), path),
            Evidence::Rows { statement, count } => Block::Rows {
                label: self.say(&messages::fact::rows()),
                count: *count,
                statement: self.code(statement),
            },
            Evidence::Note { title, text } => Block::Text {
                label: Some(SafeText::line(title)),
                text: self.prose(text),
            },
            Evidence::Said { preview } => return self.said(preview),
            Evidence::Failed { why } => Block::Warning {
                text: self.say(&messages::fact::no_preview(why)),
            },
        };
        vec![block]
    }

    /// The agent's own word, under a label that says so.
    fn said(&mut self, preview: &Preview) -> Vec<Block> {
        let Preview {
            diff,
            rows,
            links,
            environment,
            cwd,
            cost,
            purpose,
        } = preview;
        let lines = [
            purpose.as_ref().map(said::purpose),
            environment.as_ref().map(said::environment),
            cwd.as_ref().map(said::folder),
            rows.map(said::rows),
            cost.as_ref().map(said::cost),
        ];
        let pages = links.iter().map(said::link);
        let lines: Vec<String> = lines
            .into_iter()
            .flatten()
            .chain(pages)
            .map(|line| line.say(self.locale).replace(['\n', '\r'], " "))
            .collect();
        let facts = (!lines.is_empty()).then(|| Block::Text {
            label: Some(self.say(&said::label())),
            text: self.prose(&lines.join("\n")),
        });
        let diff = diff.as_ref().map(|diff| Block::Text {
            label: Some(self.say(&said::diff())),
            text: self.prose(diff),
        });
        facts.into_iter().chain(diff).collect()
    }

    /// A file before and after; in words where no line would show it.
    fn change(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Block {
        use messages::fact;

        let (label, unseen) = match (before, after) {
            (None, Some(_)) => (fact::new_file(), fact::empty(path)),
            (Some(_), None) => (fact::deleted_file(), fact::was_empty(path)),
            _ if before == after => (fact::unchanged_file(), fact::nothing_changes(path)),
            _ => (fact::changed_file(), fact::nothing_changes(path)),
        };
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        let label = label.say(self.locale);
        if old != new {
            return Block::Diff {
                label: SafeText::line(&format!("{label} {path}")),
                hunks: diff::hunks(old, new, self.locale),
            };
        }
        Block::Field {
            label: SafeText::line(&label),
            value: self.say(&unseen),
        }
    }
}
