//! What a person reads before "don't ask again" reaches beyond the conversation: the rule with its examples, and the last
//! seven days.

use placet_core::interaction::Locale;
use placet_core::messages::{Message, preview};
use placet_core::render::{Block, Document, SafeText};
use placet_core::standing::{GrantReach, ProposedRule};

use super::Covered;

/// A wide grant as it would be stored, and what it would have covered in the last seven days.
#[derive(Debug, Clone)]
pub struct GrantPreview {
    /// The rule, with the call of the request as its example.
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
        preview::counts(*approved, *calls, *refused).say(locale)
    }

    /// Everything a person must see before they agree, safe to show.
    pub fn document(&self, locale: Locale) -> Document {
        let say = |message: Message| SafeText::line(&message.say(locale));
        let scope = self.rule.scope();
        let is_rule = scope.reach() == GrantReach::Rule;
        let (heading, manage) = if is_rule {
            (preview::rule(), preview::manage_rule())
        } else {
            (preview::project(), preview::manage())
        };
        let mut head = vec![
            Block::Heading {
                text: say(heading),
                risk: None,
            },
            Block::Field {
                label: say(preview::covers()),
                value: SafeText::line(&scope.describe_in(locale)),
            },
        ];
        if self.was_refused() {
            head.push(Block::Warning {
                text: say(preview::was_refused()),
            });
        }
        let mut body = Vec::new();
        if is_rule {
            body.push(Block::Text {
                label: Some(say(preview::rule_text())),
                text: SafeText::block(self.rule.to_toml().trim_end()),
            });
        }
        body.push(Block::Field {
            label: say(preview::last_week()),
            value: SafeText::line(&self.last_week_in(locale)),
        });
        let example = |text: &String| Block::Field {
            label: say(preview::example()),
            value: SafeText::line(text),
        };
        body.extend(self.last_week.examples.iter().map(example));
        body.push(Block::Field {
            label: say(preview::afterwards()),
            value: say(manage),
        });
        Document {
            locale,
            head,
            body,
            foot: Vec::new(),
        }
    }
}
