//! `placet inbox show`: everything about one question.

use placet_core::interaction::Interaction;
use placet_core::render::decided;
use serde_json::json;

use super::{Inbox, page, waiting};
use crate::exit::Exit;
use crate::output;

pub(super) fn run(inbox: &Inbox, name: &str, json: bool) -> anyhow::Result<Exit> {
    let question = inbox.runtime.block_on(waiting::find(&inbox.broker, name))?;
    let asked = question.interaction.asked();
    let scopes = inbox.broker.scopes(&question);
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
            "document": document,
            "digest": document.digest(),
        });
        output::print(&format!("{shown}\n"))?;
    } else {
        output::print(&format!(
            "{}{}",
            page::whole(&document, asked),
            page::scopes(&scopes, inbox.locale)
        ))?;
    }
    Ok(Exit::Success)
}
