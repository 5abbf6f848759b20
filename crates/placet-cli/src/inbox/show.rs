//! `placet inbox show`: everything about one question.

use std::fmt::Write as _;

use placet_core::interaction::{Interaction, Locale};
use placet_core::render::{SafeText, decided};
use placet_core::standing::{GrantReach, ProposedRule, Scope};
use placet_engine::broker::Question;
use placet_engine::review::Covered;
use serde_json::{Value, json};

use super::{Inbox, page, waiting};
use crate::exit::Exit;
use crate::output;

pub(super) fn run(inbox: &Inbox, name: &str, json: bool) -> anyhow::Result<Exit> {
    let question = inbox.runtime.block_on(waiting::find(&inbox.broker, name))?;
    let asked = question.interaction.asked();
    let scopes = inbox.scopes(&question);
    let (status, document) = match &question.interaction {
        Interaction::Pending(_) => ("pending", question.document(inbox.locale)),
        Interaction::Resolved(resolved) | Interaction::Processed(resolved) => {
            let document = decided(&resolved.asked, &resolved.resolution, resolved.at, inbox.locale);
            ("settled", document)
        }
    };
    if json {
        let covers: Vec<_> = scopes
            .iter()
            .map(|scope| scope.describe_in(inbox.locale))
            .collect();
        let shown = json!({
            "requestId": asked.id,
            "code": asked.code,
            "type": asked.kind(),
            "status": status,
            "risk": asked.risk,
            "sessionId": asked.session,
            "remainingSeconds": asked.deadline.remaining_from(question.now.live).get() / 1000,
            "options": asked.options(inbox.locale),
            "scopes": covers,
            "rules": rules_json(inbox, &question, &scopes)?,
            "document": document,
            "digest": document.digest(),
        });
        output::print(&format!("{shown}\n"))?;
    } else {
        output::print(&format!(
            "{}{}{}",
            page::whole(&document, asked),
            page::scopes(&scopes, inbox.locale),
            rules(inbox, &question, &scopes)?
        ))?;
    }
    Ok(Exit::Success)
}

/// The rules among the scopes, each with what it would have covered in the last seven days.
fn proposed(
    inbox: &Inbox,
    question: &Question,
    scopes: &[Scope],
) -> anyhow::Result<Vec<(usize, ProposedRule, Covered)>> {
    let mut rules = Vec::new();
    for (index, scope) in scopes.iter().enumerate() {
        let rule = ProposedRule::new(scope.clone()).filter(|_| scope.reach() == GrantReach::Rule);
        let (Some(mut rule), Some(record)) = (rule, &question.call) else {
            continue;
        };
        rule.add_example(&record.call.args);
        let covered = inbox.runtime.block_on(inbox.broker.last_week(scope))?;
        rules.push((index + 1, rule, covered));
    }
    Ok(rules)
}

fn rules(inbox: &Inbox, question: &Question, scopes: &[Scope]) -> anyhow::Result<String> {
    let mut text = String::new();
    for (number, rule, covered) in proposed(inbox, question, scopes)? {
        let (calls, approved, refused) = (covered.calls, covered.approved, covered.refused);
        let last_week = match inbox.locale {
            Locale::English => format!(
                "As a rule ({number}); in the last seven days it would have covered {calls} calls, {approved} approved and \
                 {refused} refused by people:"
            ),
            Locale::Chinese => {
                format!(
                    "作为规则（{number}）；过去七天会涵盖 {calls} 次调用，其中 {approved} 次获批、{refused} 次被拒绝："
                )
            }
        };
        let _ = writeln!(
            text,
            "\n{last_week}\n{}",
            SafeText::block(rule.to_toml().trim_end())
        );
    }
    Ok(text)
}

fn rules_json(inbox: &Inbox, question: &Question, scopes: &[Scope]) -> anyhow::Result<Value> {
    let rules = proposed(inbox, question, scopes)?.into_iter();
    let rules = rules.map(|(number, rule, covered)| {
        json!({
            "scope": number,
            "toml": rule.to_toml(),
            "lastWeek": { "calls": covered.calls, "approved": covered.approved, "refused": covered.refused },
        })
    });
    Ok(rules.collect())
}
