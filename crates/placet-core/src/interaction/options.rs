//! The options of each kind of question, in the words of each language.

use super::{Action, Asked, InteractionOption, InteractionRequest, Subject};
use crate::messages::{Locale, Message, option};
use crate::verdict::{AnswerKind, Answers};

/// The option that leaves a question unanswered, where its asker can go on without an answer.
const DISMISS: &str = "dismiss";

/// The option for an answer in one's own words.
const OTHER: &str = "other";

impl Asked {
    /// The ways to answer, in the order they are shown.
    pub fn options(&self, locale: Locale) -> Vec<InteractionOption> {
        match &self.subject {
            Subject::Call { answers, .. } => tool_approval_options(answers, locale),
            Subject::UnknownOutcome { .. } => unknown_outcome_options(locale),
            Subject::Breaker { .. } => breaker_options(locale),
            Subject::Request { request, .. } => request_options(request, locale),
        }
    }
}

/// What a tool approval offers. Editing is approving with other arguments, not an option of its own.
pub fn tool_approval_options(answers: &Answers, locale: Locale) -> Vec<InteractionOption> {
    let say = |message: Message| message.say(locale);
    answers
        .iter()
        .filter_map(|kind| match kind {
            AnswerKind::Approve => Some(
                InteractionOption::new("approve", say(option::approve()), Action::ApproveAndExecute)
                    .described(say(option::approve_about())),
            ),
            AnswerKind::Edit => None,
            AnswerKind::Reject => Some(
                InteractionOption::new("reject", say(option::reject()), Action::RejectWithReason)
                    .described(say(option::reject_about()))
                    .with_optional_input(say(option::reject_prompt()))
                    .by_default(),
            ),
            AnswerKind::Retry => Some(
                InteractionOption::new("retry", say(option::retry()), Action::RetryWithFeedback)
                    .described(say(option::retry_about()))
                    .with_input(say(option::retry_prompt())),
            ),
            AnswerKind::Info => Some(
                InteractionOption::new("info", say(option::info()), Action::ProvideInfo)
                    .with_input(say(option::info_prompt())),
            ),
            AnswerKind::Skip => Some(
                InteractionOption::new("skip", say(option::skip()), Action::Skip)
                    .described(say(option::skip_about())),
            ),
            AnswerKind::Terminate => Some(terminate(locale).described(say(option::terminate_about()))),
        })
        .collect()
}

/// An agent's own options; a question that need not be answered can be dismissed, too.
fn request_options(request: &InteractionRequest, locale: Locale) -> Vec<InteractionOption> {
    let mut options = request.options.clone();
    if request.allow_other && !options.iter().any(|option| option.option_id == OTHER) {
        let label = option::other().say(locale);
        let other = InteractionOption::new(OTHER, label, Action::ProvideInfo)
            .with_input(option::other_prompt().say(locale));
        options.push(other.described(option::other_about().say(locale)));
    }
    let taken = |option: &InteractionOption| option.action == Action::Skip || option.option_id == DISMISS;
    if !request.required && !options.iter().any(taken) {
        let label = option::dismiss().say(locale);
        let dismiss = InteractionOption::new(DISMISS, label, Action::Skip);
        options.push(dismiss.described(option::dismiss_about().say(locale)));
    }
    options
}

fn unknown_outcome_options(locale: Locale) -> Vec<InteractionOption> {
    let say = |message: Message| message.say(locale);
    vec![
        InteractionOption::new("run_again", say(option::run_again()), Action::ApproveAndExecute)
            .described(say(option::run_again_about()))
            .dangerous(),
        InteractionOption::new("treat_as_done", say(option::treat_as_done()), Action::ProvideInfo)
            .described(say(option::treat_as_done_about())),
        InteractionOption::new("skip", say(option::skip()), Action::Skip)
            .described(say(option::skip_unknown_about()))
            .by_default(),
        terminate(locale),
    ]
}

fn breaker_options(locale: Locale) -> Vec<InteractionOption> {
    let say = |message: Message| message.say(locale);
    vec![
        InteractionOption::new("go_on", say(option::go_on()), Action::Custom)
            .described(say(option::go_on_about())),
        InteractionOption::new("retry", say(option::directions()), Action::RetryWithFeedback)
            .with_input(say(option::directions_prompt())),
        terminate(locale),
    ]
}

fn terminate(locale: Locale) -> InteractionOption {
    InteractionOption::new("terminate", option::terminate().say(locale), Action::Terminate).dangerous()
}
