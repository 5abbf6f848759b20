//! `placet inbox answer`: one answer from the command line.
//!
//! The whole question is printed to standard error first, so that whoever answers has had it in front of them; that is
//! recorded as what was shown.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use placet_core::call::Args;
use placet_core::ids::InteractionId;
use placet_core::interaction::{Action, Answer, AnswerError, Locale, Remember, Shown};
use placet_core::steps::AnswerRefusal;
use placet_engine::Answered;
use placet_engine::broker::Question;
use placet_store::StepError;
use serde::Serialize;
use serde_json::{Map, Value};

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
        .write_all(page::whole(&document, question.interaction.asked()).as_bytes())?;
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
    let (exit, result, message) =
        match inbox
            .runtime
            .block_on(inbox.broker.answer_with(&id, answer, inbox.authority))
        {
            Ok(answered) => counted(inbox, &id, answered)?,
            Err(StepError::Refused(refusal)) => refused(&refusal, inbox.locale),
            Err(StepError::Store(error)) => return Err(error.into()),
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
    let scopes = inbox.scopes(question);
    let scope = number.checked_sub(1).and_then(|index| scopes.get(index).cloned());
    match scope {
        Some(scope) => Ok(Some(Remember {
            lasts: args.lasts.unwrap_or_else(|| scope.reach().lasts()),
            scope,
            uses_max: None,
        })),
        None if scopes.is_empty() => bail!("\"don't ask again\" is not offered for this question"),
        None => bail!("there is no scope {number}; `placet inbox show` lists them"),
    }
}

fn counted(inbox: &Inbox, id: &InteractionId, answered: Answered) -> anyhow::Result<(Exit, Came, String)> {
    let message = match answered.goes_on(inbox.locale) {
        Some(message) => message,
        None => inbox
            .runtime
            .block_on(waiting::came_to(&inbox.broker, id, inbox.locale))?,
    };
    let came = match answered {
        Answered::Voted { needed } => Came::Voted { needed },
        Answered::AskedAnew { question } => Came::AskedAnew { question },
        Answered::Decided { action } => Came::Decided { action },
    };
    Ok((Exit::Success, came, message))
}

fn refused(refusal: &AnswerRefusal, locale: Locale) -> (Exit, Came, String) {
    let message = refusal.words(locale);
    match refusal {
        AnswerRefusal::AlreadyDecided { .. } | AnswerRefusal::Invalid(AnswerError::TooLate { .. }) => {
            (Exit::TooLate, Came::TooLate, message)
        }
        AnswerRefusal::NotFound(_)
        | AnswerRefusal::Invalid(_)
        | AnswerRefusal::EditInvalid(_)
        | AnswerRefusal::EditDenied(_)
        | AnswerRefusal::ScopeMismatch
        | AnswerRefusal::WideNotAllowed
        | AnswerRefusal::RefusedBefore => (Exit::BadInput, Came::Refused, message),
    }
}
