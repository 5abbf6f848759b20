//! A closed request as a document: who decided what, and when.

use super::document::{Block, Document};
use super::mask;
use super::question::args_diff;
use super::safe::SafeText;
use crate::call::Args;
use crate::interaction::{Action, Asked, Cancellation, Locale, Resolution, Resolved};
use crate::messages::{Message, closed};

/// What replaces the question on every surface once it is closed. `change` is what an approver changed, before and after.
pub fn decided(resolved: &Resolved, change: Option<(&Args, &Args)>, locale: Locale) -> Document {
    let Resolved {
        asked,
        resolution,
        at,
    } = resolved;
    let ran = matches!(
        resolution,
        Resolution::Answered {
            action: Action::ApproveAndExecute,
            ..
        }
    );
    let change = change.filter(|_| ran);
    let label = |label: Message| SafeText::line(&label.say(locale));
    let field = |name, value: &str| Block::Field {
        label: label(name),
        value: SafeText::line(value),
    };
    let mut body = vec![
        field(closed::at(), &at.to_string()),
        field(closed::request(), asked.code.as_str()),
    ];
    if let Resolution::Answered { ballot, .. } = resolution
        && let Some(feedback) = &ballot.feedback
    {
        body.push(Block::Text {
            label: Some(label(closed::note())),
            text: SafeText::block(&mask::text(feedback)),
        });
    }
    body.extend(change.map(|(before, after)| args_diff(before, after, locale)));
    let sentence = match (resolution, change) {
        (Resolution::Answered { by, .. }, Some(_)) => closed::approved_changed(by),
        _ => sentence(asked, resolution, locale),
    };
    Document {
        locale,
        head: vec![Block::Heading {
            text: SafeText::line(&sentence.say(locale)),
            risk: None,
        }],
        body,
        foot: Vec::new(),
    }
}

fn sentence(asked: &Asked, resolution: &Resolution, locale: Locale) -> Message {
    let label = |wanted: &str| {
        let options = asked.options(locale).into_iter();
        let mut chosen = options.filter(|option| option.option_id == wanted);
        chosen
            .next()
            .map_or_else(|| format!("`{wanted}`"), |option| option.label)
    };
    match resolution {
        Resolution::Answered { ballot, action, by } => match action {
            Action::ApproveAndExecute => closed::approved(by),
            Action::RejectWithReason => closed::rejected(by),
            Action::RetryWithFeedback => closed::sent_back(by),
            Action::Skip => closed::skipped(by),
            Action::Terminate => closed::terminated(by),
            Action::ProvideInfo | Action::Custom => closed::answered(by, label(&ballot.option)),
        },
        Resolution::Expired { option: None } if asked.call().is_some() => closed::expired_not_run(),
        Resolution::Expired { option: None } => closed::expired(),
        Resolution::Expired { option: Some(option) } => closed::expired_default(label(option)),
        Resolution::Cancelled { why } => match why {
            Cancellation::Withdrawn { by } => closed::withdrawn(by),
            Cancellation::Terminated => closed::run_over(),
            Cancellation::Undeliverable { error } => closed::undeliverable(error),
            Cancellation::ResultArrived => closed::result_arrived(),
        },
        Resolution::Superseded { by } => closed::replaced(by),
    }
}
