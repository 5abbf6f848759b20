//! `placet inbox answer`: one answer from the command line.
//!
//! The whole question is printed to standard error first, so that the approver has had it on the screen; that is
//! recorded as what was shown.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use placet_client::{Error, Problem};
use placet_core::call::Args;
use placet_core::ids::InteractionId;
use placet_core::interaction::{Action, Answer, Locale, Remember, Shown};
use placet_core::standing::Scope;
use placet_core::wire::answer::{AnswerStatus, AnsweredBody};
use placet_engine::Answered;
use serde::Serialize;
use serde_json::{Map, Value};

use placet_core::messages::{cannot, refused};

use super::{Inbox, page, waiting};
use crate::args::InboxAnswerArgs;
use crate::exit::Exit;
use crate::{locale, output};

pub(super) fn run(inbox: &Inbox, args: &InboxAnswerArgs) -> anyhow::Result<Exit> {
    let found = inbox
        .runtime
        .block_on(waiting::find(&inbox.client, &args.question))?;
    let (question, scopes) = (found.question, found.scopes);
    let document = question.document(inbox.locale);
    anstream::stderr()
        .lock()
        .write_all(page::whole(&document, question.interaction.asked()).as_bytes())?;
    let answer = Answer {
        by: inbox.by.clone(),
        option: args.option.clone(),
        feedback: args.reason.clone(),
        data: args.info.as_deref().map(info).transpose()?,
        edited_args: edited(args)?,
        instruction: args.instruction.clone(),
        remember: remember(&scopes, args)?,
        shown: Shown::Whole(document.digest()),
    };
    let id = question.interaction.asked().id.clone();
    let answering = inbox.client.answer(&id, answer, inbox.locale);
    let (exit, result, message) = match inbox.runtime.block_on(answering) {
        Ok(answered) => counted(inbox, &id, &answered)?,
        Err(Error::Refused(problem)) => refused(*problem),
        Err(error) => return Err(error.into()),
    };
    if args.json {
        let report = Report {
            request_id: &id,
            result,
            message,
        };
        output::print(&format!("{}\n", serde_json::to_string(&report)?))?;
    } else if exit == Exit::Success {
        output::print(&format!("{message}\n"))?;
    } else {
        output::explain(&anyhow::Error::msg(message));
    }
    Ok(exit)
}

/// What `--json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    request_id: &'a InteractionId,
    #[serde(flatten)]
    result: Came,
    message: String,
}

/// What an answer came to.
#[derive(Serialize)]
#[serde(tag = "result", rename_all = "camelCase")]
enum Came {
    Decided { action: Action },
    Voted { needed: u32 },
    AskedAnew { question: InteractionId },
    TooLate,
    Refused,
}

fn info(text: &str) -> anyhow::Result<Map<String, Value>> {
    serde_json::from_str(text).with_context(|| locale::say(&refused::no_info()))
}

fn edited(args: &InboxAnswerArgs) -> anyhow::Result<Option<Args>> {
    let text = match (&args.args, &args.args_file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .with_context(|| locale::say(&cannot::read_arguments(file.display())))?,
        (None, None) => return Ok(None),
    };
    Ok(Some(Args::parse(text.as_bytes())?))
}

fn remember(scopes: &[Scope], args: &InboxAnswerArgs) -> anyhow::Result<Option<Remember>> {
    let Some(number) = args.remember else {
        return Ok(None);
    };
    let scope = number.checked_sub(1).and_then(|index| scopes.get(index).cloned());
    match scope {
        Some(scope) => Ok(Some(Remember {
            lasts: args.lasts.unwrap_or_else(|| scope.reach().lasts()),
            scope,
            uses_max: None,
        })),
        None if scopes.is_empty() => bail!(locale::error(&refused::not_rememberable())),
        None => bail!(locale::error(&refused::no_scope(number))),
    }
}

/// How it goes on when an answer has not settled its question.
pub(crate) fn goes_on(answered: &AnsweredBody, locale: Locale) -> Option<String> {
    Some(came(answered)?.goes_on()?.say(locale))
}

/// What an answer came to; none when the owner is of a version that says it otherwise.
fn came(answered: &AnsweredBody) -> Option<Answered> {
    Some(match answered.status {
        AnswerStatus::Decided => Answered::Decided {
            action: answered.action?,
        },
        AnswerStatus::Voted => Answered::Voted {
            needed: answered.needed?,
        },
        AnswerStatus::AskedAgain => Answered::AskedAnew {
            question: answered.question.clone()?,
        },
    })
}

fn counted(
    inbox: &Inbox,
    id: &InteractionId,
    answered: &AnsweredBody,
) -> anyhow::Result<(Exit, Came, String)> {
    let answered = came(answered).with_context(|| locale::say(&refused::answer_unread()))?;
    let message = match answered.goes_on() {
        Some(message) => message.say(inbox.locale),
        None => inbox
            .runtime
            .block_on(waiting::came_to(&inbox.client, id, inbox.locale))?,
    };
    let came = match answered {
        Answered::Voted { needed } => Came::Voted { needed },
        Answered::AskedAnew { question } => Came::AskedAnew { question },
        Answered::Decided { action } => Came::Decided { action },
    };
    Ok((Exit::Success, came, message))
}

fn refused(problem: Problem) -> (Exit, Came, String) {
    match problem.code.as_str() {
        "already-decided" | "expired" => (Exit::TooLate, Came::TooLate, problem.detail),
        _ => (Exit::BadInput, Came::Refused, problem.detail),
    }
}
