//! The words that answer: `messages/*/reply.toml`. A message is looked up whole, after normalising, among the words of every language.

use crate::interaction::{Action, InteractionKind, InteractionOption, Locale};
use crate::messages::{self, say};

use super::OpenQuestion;

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Run it.
    Approve,
    /// Do not run it.
    Reject,
    /// Leave it out.
    Skip,
    /// End the run.
    Terminate,
    /// Think again.
    Retry,
}

impl Meaning {
    /// What choosing it does.
    pub const fn action(self) -> Action {
        match self {
            Self::Approve => Action::ApproveAndExecute,
            Self::Reject => Action::RejectWithReason,
            Self::Skip => Action::Skip,
            Self::Terminate => Action::Terminate,
            Self::Retry => Action::RetryWithFeedback,
        }
    }
}

/// What a whole normalised message says, if it is one of the words of any language.
pub fn meaning(said: &str) -> Option<Meaning> {
    [
        ("reply.approve", Meaning::Approve),
        ("reply.reject", Meaning::Reject),
        ("reply.skip", Meaning::Skip),
        ("reply.terminate", Meaning::Terminate),
        ("reply.retry", Meaning::Retry),
    ]
    .into_iter()
    .find_map(|(id, meaning)| is_word(id, said).then_some(meaning))
}

/// What a whole normalised message says about every open question, if it is one of the words for that.
pub fn meaning_for_all(said: &str) -> Option<Meaning> {
    [
        ("reply.approve_all", Meaning::Approve),
        ("reply.reject_all", Meaning::Reject),
    ]
    .into_iter()
    .find_map(|(id, meaning)| is_word(id, said).then_some(meaning))
}

fn is_word(id: &str, said: &str) -> bool {
    messages::words(id).any(|word| word == said)
}

impl OpenQuestion {
    /// What to type to choose `option`: shown beside it. `None` when typing cannot choose it.
    ///
    /// Kept beside the tables, and tested against [`read`](super::read), so that what we tell people to type works.
    pub fn how_to_say(&self, option: &InteractionOption, locale: Locale) -> Option<String> {
        let code = self.code;
        let chosen = |said: &str| {
            let pick = self.pick(said, option.needs_text().then_some("…"));
            matches!(pick, Some(super::Pick::Option(found)) if found.option_id == option.option_id)
        };
        let word = match option.action {
            Action::ApproveAndExecute => Some(say::approve().say(locale)),
            Action::RejectWithReason => Some(say::reject().say(locale)),
            Action::Skip => Some(say::skip().say(locale)),
            Action::Terminate => Some(say::terminate().say(locale)),
            Action::RetryWithFeedback => Some(say::retry().say(locale)),
            Action::ProvideInfo | Action::Custom => None,
        };
        let number = self
            .options
            .iter()
            .position(|offered| offered.option_id == option.option_id)
            .map(|index| (index + 1).to_string());
        let by_number = matches!(self.kind, InteractionKind::UserChoice | InteractionKind::Custom);
        let said = number
            .filter(|_| by_number)
            .into_iter()
            .chain(word)
            .chain([option.option_id.clone()])
            .find(|said| super::normal::line(said).is_some_and(|said| chosen(&said)))?;
        Some(match (option.needs_text(), option.action) {
            (true, _) => say::with_text(code, said).say(locale),
            (false, Action::RejectWithReason) => say::with_reason(code, said).say(locale),
            (false, _) => format!("{said} {code}"),
        })
    }
}
