//! What a call would do: each fact with its risk and why, and the evidence beside them.

use super::super::diff;
use super::super::document::{Block, CommandLine};
use super::super::safe::SafeText;
use super::Writer;
use crate::analysis::{Analysis, Fact, FactKind};
use crate::evidence::Evidence;
use crate::interaction::Locale;
use crate::tool::Risk;

impl Writer {
    pub(super) fn facts(&mut self, analysis: &Analysis, head: &mut Vec<Block>) {
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
        if !commands.is_empty() {
            head.push(Block::Commands { commands });
        }
        for fact in &analysis.facts {
            head.extend(self.other_fact(fact));
        }
    }

    /// Why a fact has its risk; empty when nothing raised it.
    fn reason(&self, fact: &Fact) -> String {
        fact.why
            .as_ref()
            .map(|why| why.words(self.locale))
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
            Evidence::Diff { path, before, after } => {
                let what = match (before, after) {
                    (None, Some(_)) => self.locale.pick("new file", "新建文件"),
                    (Some(_), None) => self.locale.pick("deleted file", "删除文件"),
                    (Some(_), Some(_)) | (None, None) => self.locale.pick("changed file", "修改文件"),
                };
                Block::Diff {
                    label: SafeText::line(&format!("{what} {path}")),
                    hunks: diff::hunks(
                        before.as_deref().unwrap_or_default(),
                        after.as_deref().unwrap_or_default(),
                        self.locale,
                    ),
                }
            }
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
}
