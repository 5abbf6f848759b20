//! What a call would do: each fact with its risk and why, and the evidence beside them.

use super::super::diff;
use super::super::document::{Block, CommandLine};
use super::super::mask;
use super::super::safe::SafeText;
use super::Writer;
use crate::analysis::{Fact, FactKind};
use crate::evidence::Evidence;
use crate::findings::Findings;
use crate::interaction::Locale;
use crate::tool::Risk;

impl Writer {
    pub(super) fn facts(&mut self, findings: &Findings, head: &mut Vec<Block>) {
        let Findings { analysis, lines } = findings;
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
            label = self.say("Commands in this line", "包含以下命令");
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
                    label: self.say("Host", "主机"),
                    host: SafeText::code_line(&format!("{scheme}://{host}{port}")),
                    risk: fact.risk,
                    why,
                }
            }
            FactKind::Redirect {
                path, writes: true, ..
            } => self.place("Writes", "写入", path, None, fact),
            FactKind::Redirect {
                path, writes: false, ..
            } => self.place("Reads", "读取", path, None, fact),
            FactKind::Path {
                given,
                resolved,
                writes: true,
                ..
            } => self.place("Writes", "写入", given, Some(resolved), fact),
            FactKind::Path {
                given,
                resolved,
                writes: false,
                ..
            } => self.place("Reads", "读取", given, Some(resolved), fact),
            FactKind::Unreadable { what } => {
                let why = self.reason(fact);
                let text = match self.locale {
                    Locale::English => format!("Could not be read: {what} ({why})"),
                    Locale::Chinese => format!("无法解析：{what}（{why}）"),
                };
                Block::Warning {
                    text: SafeText::line(&text),
                }
            }
        })
    }

    fn place(&self, english: &str, chinese: &str, given: &str, resolved: Option<&str>, fact: &Fact) -> Block {
        let resolved = resolved
            .filter(|resolved| *resolved != given)
            .map_or(String::new(), |resolved| format!(" → {resolved}"));
        let risk = match fact.risk {
            Risk::Low => String::new(),
            risk => format!(" [{}]", risk.label(self.locale)),
        };
        let why = match self.reason(fact).as_str() {
            "" => String::new(),
            why => format!("{}{why}", self.locale.pick(": ", "：")),
        };
        let value = format!("{given}{resolved}{risk}{why}");
        Block::Field {
            label: self.say(english, chinese),
            value: SafeText::line(&value),
        }
    }

    pub(super) fn evidence(&mut self, evidence: &Evidence) -> Block {
        match evidence {
            Evidence::Diff { path, before, after } => self.change(path, before.as_deref(), after.as_deref()),
            Evidence::Place { path } => self.field("Real place", "实际位置", path),
            Evidence::Rows { statement, count } => Block::Rows {
                label: self.say("Rows it would touch", "将影响的行数"),
                count: *count,
                statement: self.code(statement),
            },
            Evidence::Note { title, text } => Block::Text {
                label: Some(SafeText::line(title)),
                text: self.prose(text),
            },
            Evidence::Failed { why } => {
                let text = match self.locale {
                    Locale::English => format!("The tool could not show the effect: {why}"),
                    // In the tool's own words, which nobody can translate.
                    Locale::Chinese => format!("工具无法给出预览（原文：“{why}”）"),
                };
                Block::Warning {
                    text: SafeText::line(&text),
                }
            }
        }
    }

    /// A file before and after; in words where no line would show it.
    fn change(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Block {
        let (what, unseen) = match (before, after) {
            (None, Some(_)) => (("new file", "新建文件"), ("empty", "空文件")),
            (Some(_), None) => (("deleted file", "删除文件"), ("it was empty", "原为空文件")),
            _ if before == after => (
                ("unchanged file", "内容未变的文件"),
                ("nothing changes", "没有变化"),
            ),
            _ => (("changed file", "修改文件"), ("", "")),
        };
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        let what = self.locale.pick(what.0, what.1);
        if old != new {
            return Block::Diff {
                label: SafeText::line(&format!("{what} {path}")),
                hunks: diff::hunks(old, new, self.locale),
            };
        }
        let unseen = self.say(unseen.0, unseen.1);
        let value = match self.locale {
            Locale::English => format!("{path} ({unseen})"),
            Locale::Chinese => format!("{path}（{unseen}）"),
        };
        Block::Field {
            label: SafeText::line(what),
            value: SafeText::line(&value),
        }
    }
}
