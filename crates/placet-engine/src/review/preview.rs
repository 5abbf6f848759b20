//! What a person reads before "don't ask again" reaches beyond the conversation: the rule with its examples, and the last
//! seven days.

use placet_core::interaction::Locale;
use placet_core::render::{Block, Document, SafeText};
use placet_core::standing::{GrantReach, ProposedRule};

use super::Covered;

/// A wide grant as it would be stored, and what it would have covered in the last seven days.
#[derive(Debug, Clone)]
pub struct GrantPreview {
    /// The rule, with the call that is asked about as its example.
    pub rule: ProposedRule,
    /// What it would have covered.
    pub last_week: Covered,
}

impl GrantPreview {
    /// Whether a person refused a call that it would cover. Such a grant is not given.
    pub fn was_refused(&self) -> bool {
        self.last_week.refused > 0
    }

    /// The last seven days in a sentence.
    pub fn last_week_in(&self, locale: Locale) -> String {
        let Covered {
            calls,
            approved,
            refused,
            ..
        } = &self.last_week;
        match locale {
            Locale::English => {
                let noun = if *calls == 1 { "call" } else { "calls" };
                format!("{calls} {noun}, {approved} approved and {refused} refused by people")
            }
            Locale::Chinese => {
                format!("{calls} 次调用，其中 {approved} 次获批、{refused} 次被拒绝")
            }
        }
    }

    /// Everything a person must see before they agree, safe to show.
    pub fn document(&self, locale: Locale) -> Document {
        let say = |english, chinese| SafeText::line(locale.pick(english, chinese));
        let scope = self.rule.scope();
        let is_rule = scope.reach() == GrantReach::Rule;
        let heading = if is_rule {
            say("Don't ask again, as a rule", "不再询问：作为规则")
        } else {
            say("Don't ask again in this project", "不再询问：在本项目中")
        };
        let mut head = vec![
            Block::Heading {
                text: heading,
                risk: None,
            },
            Block::Field {
                label: say("Covers", "涵盖"),
                value: SafeText::line(&scope.describe_in(locale)),
            },
        ];
        if self.was_refused() {
            head.push(Block::Warning {
                text: say(
                    "A person refused one of these calls, so this cannot be chosen. Choose something narrower.",
                    "其中有调用曾被拒绝，因此不能选择此范围，请选择更小的范围。",
                ),
            });
        }
        let mut body = Vec::new();
        if is_rule {
            body.push(Block::Text {
                label: Some(say("The rule, with its examples", "规则及其示例")),
                text: SafeText::block(self.rule.to_toml().trim_end()),
            });
        }
        body.push(Block::Field {
            label: say("In the last seven days it would have covered", "过去七天内会涵盖"),
            value: SafeText::line(&self.last_week_in(locale)),
        });
        let example = |text: &String| Block::Field {
            label: say("For example", "例如"),
            value: SafeText::line(text),
        };
        body.extend(self.last_week.examples.iter().map(example));
        let kept = if is_rule {
            say(
                "`placet grants` lists it, revokes it and exports it to placet.toml.",
                "可用 `placet grants` 查看、撤回，并导出到 placet.toml。",
            )
        } else {
            say(
                "`placet grants` lists it and revokes it.",
                "可用 `placet grants` 查看和撤回。",
            )
        };
        body.push(Block::Field {
            label: say("Afterwards", "保存后"),
            value: kept,
        });
        Document {
            locale,
            head,
            body,
            foot: Vec::new(),
        }
    }
}
