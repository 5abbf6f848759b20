//! Which option of a question some words name.

use crate::interaction::{Action, InteractionKind, InteractionOption};

use super::words::{self, Meaning};
use super::{OpenQuestion, normal};

/// What words come to within one question.
pub(super) enum Pick<'q> {
    /// This option.
    Option(&'q InteractionOption),
    /// They answer, but it offers no such option, or several.
    Unclear,
}

impl OpenQuestion {
    /// The option some normalised words name; `None` when they do not answer.
    pub(super) fn pick(&self, said: &str, feedback: Option<&str>) -> Option<Pick<'_>> {
        if said.is_empty() {
            return None;
        }
        let picked = match self.kind {
            InteractionKind::ToolApproval | InteractionKind::UserConfirmation => self.pick_word(said),
            InteractionKind::UserChoice | InteractionKind::Custom => self.pick_choice(said),
            InteractionKind::MissingInfo | InteractionKind::UserInput => self.pick_aside(said),
        };
        // "yes: but only on staging" is no yes. Only an option that asks for a text is approved with one.
        picked.filter(|pick| match pick {
            Pick::Option(option) => {
                option.action != Action::ApproveAndExecute || feedback.is_none() || option.requires_input
            }
            Pick::Unclear => true,
        })
    }

    /// The option for a word's meaning. `Unclear` when it is not offered, or more than once.
    pub(super) fn pick_meaning(&self, meaning: Meaning) -> Pick<'_> {
        let confirms = matches!(
            self.kind,
            InteractionKind::ToolApproval | InteractionKind::UserConfirmation
        );
        if meaning == Meaning::Approve && !confirms {
            return Pick::Unclear;
        }
        match (self.only(meaning.action()), meaning) {
            (Pick::Unclear, Meaning::Reject) => self.only(Action::Skip),
            (pick, _) => pick,
        }
    }

    /// The option free text goes to, when this question asks for one. Free text never approves.
    pub(super) fn text_option(&self) -> Option<&InteractionOption> {
        if !matches!(
            self.kind,
            InteractionKind::MissingInfo | InteractionKind::UserInput
        ) {
            return None;
        }
        let taking = |option: &&InteractionOption| {
            option.action == Action::ProvideInfo
                || (option.requires_input && matches!(option.action, Action::Custom))
        };
        match only(self.options.iter().filter(taking)) {
            Pick::Option(option) => Some(option),
            Pick::Unclear => None,
        }
    }

    /// Yes or no. What runs something is chosen by a yes-word alone: an agent labels its own options, and one called
    /// "why?" must not be a trap.
    fn pick_word(&self, said: &str) -> Option<Pick<'_>> {
        if let Some(meaning) = words::meaning(said) {
            return Some(self.pick_meaning(meaning));
        }
        self.pick_name(said).filter(|pick| match pick {
            Pick::Option(option) => option.action != Action::ApproveAndExecute,
            Pick::Unclear => true,
        })
    }

    /// One of several: by number, id or label; by a word of refusal where none is called so.
    fn pick_choice(&self, said: &str) -> Option<Pick<'_>> {
        let by_number = said
            .parse::<usize>()
            .ok()
            .and_then(|number| self.options.get(number.checked_sub(1)?));
        let named = self.pick_name(said).or(by_number.map(Pick::Option));
        match (named, words::meaning(said)) {
            // An option that runs something may not be called "no".
            (Some(Pick::Option(option)), Some(meaning))
                if option.action == Action::ApproveAndExecute && meaning != Meaning::Approve =>
            {
                Some(Pick::Unclear)
            }
            (Some(pick), _) => Some(pick),
            (None, meaning) => meaning.map(|meaning| self.pick_meaning(meaning)),
        }
    }

    /// A question for a text is answered by text; only leaving it is done with a word.
    fn pick_aside(&self, said: &str) -> Option<Pick<'_>> {
        let leaves = matches!(words::meaning(said), Some(Meaning::Skip | Meaning::Terminate));
        let option = words::meaning(said)
            .filter(|_| leaves)
            .map(|meaning| self.pick_meaning(meaning));
        let named = self.pick_name(said).filter(|pick| match pick {
            Pick::Option(option) => option.action != Action::ApproveAndExecute,
            Pick::Unclear => false,
        });
        named.or(option.filter(|pick| matches!(pick, Pick::Option(_))))
    }

    fn pick_name(&self, said: &str) -> Option<Pick<'_>> {
        let named = |text: &str| normal::line(text).is_some_and(|name| name == said);
        let by_id = self.options.iter().find(|option| named(&option.option_id));
        let mut by_label = self
            .options
            .iter()
            .filter(|option| named(&option.label))
            .peekable();
        match (by_id, by_label.peek()) {
            (None, None) => None,
            (Some(option), None) => Some(Pick::Option(option)),
            (None, Some(_)) => Some(only(by_label)),
            // The id of one and the label of another: not for us to choose.
            (Some(option), Some(_)) => Some(match only(by_label) {
                Pick::Option(labelled) if labelled.option_id == option.option_id => Pick::Option(option),
                Pick::Option(_) | Pick::Unclear => Pick::Unclear,
            }),
        }
    }

    fn only(&self, action: Action) -> Pick<'_> {
        only(self.options.iter().filter(|option| option.action == action))
    }
}

fn only<'q>(mut options: impl Iterator<Item = &'q InteractionOption>) -> Pick<'q> {
    match (options.next(), options.next()) {
        (Some(option), None) => Pick::Option(option),
        _ => Pick::Unclear,
    }
}
