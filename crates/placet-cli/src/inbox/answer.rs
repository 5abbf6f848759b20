//! `placet inbox answer`: one answer from the command line.
//!
//! The whole question is printed to standard error first, so that whoever answers has had it in front of them; that is
//! recorded as what was shown.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use placet_core::call::Args;
use placet_core::interaction::{Answer, AnswerError, Remember, Shown};
use placet_engine::Answered;
use placet_engine::broker::Question;
use placet_engine::steps::AnswerRefusal;
use serde_json::{Map, Value, json};

use super::{Inbox, page, waiting};
use crate::args::InboxAnswerArgs;
use crate::exit::Exit;
use crate::output;

pub(super) fn run(inbox: &Inbox, args: &InboxAnswerArgs) -> anyhow::Result<Exit> {
    let question = inbox
        .runtime
        .block_on(waiting::find(&inbox.broker, &args.question))?;
    let document = question.document(inbox.locale);
    anstream::stderr()
        .lock()
        .write_all(page::whole(&document).as_bytes())?;
    let answer = Answer {
        by: inbox.by.clone(),
        option: args.option.clone(),
        feedback: args.reason.clone(),
        data: args.info.as_deref().map(info).transpose()?,
        edited_args: edited(args)?,
        instruction: args.instruction.clone(),
        remember: remember(inbox, &question, args)?,
        shown: Shown::Whole(document.digest()),
    };
    let id = question.interaction.asked().id.clone();
    let (exit, said) = match inbox.runtime.block_on(inbox.broker.answer(&id, answer)) {
        Ok(answered) => (Exit::Success, said(inbox, &question, &answered)?),
        Err(refusal) => refused(refusal)?,
    };
    let sentence = said["message"].as_str().unwrap_or_default().to_owned();
    if args.json {
        let mut said = said;
        said["requestId"] = json!(id);
        output::print(&format!("{said}\n"))?;
    } else if exit == Exit::Success {
        output::print(&format!("{sentence}\n"))?;
    } else {
        output::explain(&anyhow::Error::msg(sentence));
    }
    Ok(exit)
}

fn info(text: &str) -> anyhow::Result<Map<String, Value>> {
    serde_json::from_str(text).context("--info is not a JSON object")
}

fn edited(args: &InboxAnswerArgs) -> anyhow::Result<Option<Args>> {
    let text = match (&args.args, &args.args_file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .with_context(|| format!("the arguments `{}` cannot be read", file.display()))?,
        (None, None) => return Ok(None),
    };
    Ok(Some(Args::parse(text.as_bytes())?))
}

fn remember(inbox: &Inbox, question: &Question, args: &InboxAnswerArgs) -> anyhow::Result<Option<Remember>> {
    let Some(number) = args.remember else {
        return Ok(None);
    };
    let scopes = inbox.broker.scopes(question);
    let scope = number.checked_sub(1).and_then(|index| scopes.get(index).cloned());
    match scope {
        Some(scope) => Ok(Some(Remember {
            scope,
            lasts: args.lasts,
            uses_max: None,
        })),
        None if scopes.is_empty() => bail!("\"don't ask again\" is not offered for this question"),
        None => bail!("there is no scope {number}; `placet inbox show` lists them"),
    }
}

/// What came of it, for people and for programs.
fn said(inbox: &Inbox, question: &Question, answered: &Answered) -> anyhow::Result<Value> {
    let id = &question.interaction.asked().id;
    Ok(match answered {
        Answered::Voted { needed } => json!({
            "result": "voted",
            "needed": needed,
            "message": format!("Your approval counts; {needed} more needed."),
        }),
        Answered::AskedAnew { question } => json!({
            "result": "askedAnew",
            "question": question,
            "message": format!("Your change needs other people: asked again as {question}."),
        }),
        Answered::Decided { action } => {
            let came_to = waiting::came_to(&inbox.broker, id, inbox.locale);
            let message = inbox.runtime.block_on(came_to)?;
            json!({ "result": "decided", "action": action, "message": message })
        }
    })
}

fn refused(refusal: AnswerRefusal) -> anyhow::Result<(Exit, Value)> {
    let message = refusal.to_string();
    let (exit, result) = match refusal {
        AnswerRefusal::AlreadyDecided { .. } | AnswerRefusal::Invalid(AnswerError::TooLate { .. }) => {
            (Exit::TooLate, "tooLate")
        }
        AnswerRefusal::Store(error) => return Err(error.into()),
        AnswerRefusal::NotFound(_)
        | AnswerRefusal::Invalid(_)
        | AnswerRefusal::EditInvalid(_)
        | AnswerRefusal::EditDenied(_)
        | AnswerRefusal::ScopeMismatch => (Exit::BadInput, "refused"),
    };
    Ok((exit, json!({ "result": result, "message": message })))
}
