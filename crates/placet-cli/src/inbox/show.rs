//! `placet inbox show`: everything about one question.

use std::fmt::Write as _;

use placet_core::comment::Comment;
use placet_core::interaction::Locale;
use placet_core::messages;
use placet_core::question::Question;
use placet_core::render::SafeText;
use placet_core::standing::{GrantReach, Scope};
use placet_engine::review::GrantPreview;
use serde_json::{Value, json};

use super::{Inbox, page, waiting};
use crate::exit::Exit;
use crate::output;

pub(super) fn run(inbox: &Inbox, name: &str, json: bool) -> anyhow::Result<Exit> {
    let found = inbox.runtime.block_on(waiting::find(&inbox.client, name))?;
    let (question, scopes, comments) = (found.question, found.scopes, found.comments);
    let asked = question.interaction.asked();
    let (status, document) = match question.decided(inbox.locale) {
        None => ("pending", question.document(inbox.locale)),
        Some(document) => ("settled", document),
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
            "risk": asked.stated_risk(),
            "sessionId": asked.session,
            "remainingSeconds": asked.deadline.remaining_from(question.now).get() / 1000,
            "options": asked.options(inbox.locale),
            "scopes": covers,
            "comments": comments.iter().map(|comment| json!({"at": comment.at.to_string(), "by": comment.by, "text": comment.shown()})).collect::<Vec<_>>(),
            "rules": rules_json(inbox, &question, &scopes)?,
            "document": document,
            "digest": document.digest(),
        });
        output::print(&format!("{shown}\n"))?;
    } else {
        output::print(&format!(
            "{}{}{}{}",
            page::whole(&document, asked),
            said(&comments, inbox.locale),
            page::scopes(&scopes, inbox.locale),
            rules(inbox, &question, &scopes)?
        ))?;
    }
    Ok(Exit::Success)
}

/// Its comments, as text.
fn said(comments: &[Comment], locale: Locale) -> String {
    if comments.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", messages::inbox::comments().say(locale));
    for comment in comments {
        let (by, at) = (SafeText::line(comment.by.as_str()), comment.at);
        let _ = writeln!(text, "{by}, {at}");
        for line in comment.shown().as_str().lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// The rules among the scopes by their numbers, each with what it would have covered in the last seven days.
fn proposed(
    inbox: &Inbox,
    question: &Question,
    scopes: &[Scope],
) -> anyhow::Result<Vec<(usize, GrantPreview)>> {
    let mut rules = Vec::new();
    for (index, scope) in scopes.iter().enumerate() {
        if scope.reach() == GrantReach::Rule {
            let preview = inbox
                .runtime
                .block_on(waiting::preview(&inbox.client, question, scope))?;
            rules.extend(preview.map(|preview| (index + 1, preview)));
        }
    }
    Ok(rules)
}

fn rules(inbox: &Inbox, question: &Question, scopes: &[Scope]) -> anyhow::Result<String> {
    let mut text = String::new();
    for (number, preview) in proposed(inbox, question, scopes)? {
        let counts = preview.last_week_in(inbox.locale);
        let last_week = messages::inbox::as_rule(counts, number).say(inbox.locale);
        let toml = preview.rule.to_toml();
        let _ = writeln!(text, "\n{last_week}\n{}", SafeText::block(toml.trim_end()));
    }
    Ok(text)
}

fn rules_json(inbox: &Inbox, question: &Question, scopes: &[Scope]) -> anyhow::Result<Value> {
    let rules = proposed(inbox, question, scopes)?.into_iter();
    let rules = rules.map(|(number, GrantPreview { rule, last_week })| {
        json!({
            "scope": number,
            "toml": rule.to_toml(),
            "lastWeek": { "calls": last_week.calls, "approved": last_week.approved, "refused": last_week.refused },
        })
    });
    Ok(rules.collect())
}
