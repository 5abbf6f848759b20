//! Which key does what for a question.

use placet_core::interaction::{Action, Asked, InteractionKind, InteractionOption, Locale, Subject};
use placet_core::messages::{Message, key};
use placet_core::render::SafeText;
use placet_core::standing::Scope;
use placet_core::verdict::AnswerKind;

/// Keys in a row, besides the one for all of them.
const SHOWN_MAX: usize = 4;

/// The ways to answer a question, by key.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    pub(crate) all: Vec<Choice>,
    pub(crate) style: Style,
    /// What Enter takes, where nothing is selected.
    pub(crate) default: Option<usize>,
    /// What an interruption takes: the first way to say no.
    pub(crate) refusal: Option<InteractionOption>,
}

/// How choices are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// One key each, in a row: the same keys for every call.
    Keys,
    /// A list to move in, with numbers.
    List,
}

/// One way to go on.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) key: Option<char>,
    pub(crate) label: SafeText,
    pub(crate) about: SafeText,
    pub(crate) does: Does,
}

/// What a choice does.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    /// Takes an option, with a text when the option needs one.
    Take(InteractionOption),
    /// Takes an option and asks for a reason, which may be left out.
    Explain(InteractionOption),
    /// Edits the arguments here.
    Edit,
    /// Edits them in the person's own editor.
    EditElsewhere,
    /// Offers "don't ask again".
    Remember,
    /// Takes a message for the agent, sent with the answer.
    Tell,
}

impl Choices {
    pub(crate) fn of(asked: &Asked, scopes: &[Scope], locale: Locale) -> Self {
        let options = asked.options(locale);
        let refusal = [Action::RejectWithReason, Action::Skip, Action::Terminate]
            .into_iter()
            .find_map(|action| options.iter().find(|option| option.action == action).cloned());
        let (style, all) = match &asked.subject {
            Subject::Call { answers, .. } => {
                let edits = answers.offers(AnswerKind::Edit) && answers.offers(AnswerKind::Approve);
                (Style::Keys, keys(&options, edits, scopes, locale))
            }
            _ => (Style::List, list(options)),
        };
        // A call's default is always "no", whatever its options say of themselves.
        let is_default = |choice: &Choice| match (&choice.does, style) {
            (Does::Take(option), Style::Keys) => option.action == Action::RejectWithReason,
            (Does::Take(option), Style::List) => option.is_default,
            _ => false,
        };
        Self {
            default: all.iter().position(is_default),
            style,
            refusal,
            all,
        }
    }

    /// The few that a row of keys shows; the others are one key away, and their keys count all the same.
    pub(crate) fn shown(&self) -> Vec<(usize, &Choice)> {
        let is_usual = |choice: &Choice| match &choice.does {
            Does::Take(option) => matches!(
                option.action,
                Action::ApproveAndExecute | Action::RejectWithReason
            ),
            Does::Edit | Does::Remember => true,
            Does::Explain(_) | Does::EditElsewhere | Does::Tell => false,
        };
        let all = || self.all.iter().enumerate();
        let usual = all().filter(|(_, choice)| is_usual(choice));
        let others = all().filter(|(_, choice)| !is_usual(choice));
        let mut shown: Vec<_> = usual.chain(others).take(SHOWN_MAX).collect();
        shown.sort_by_key(|(at, _)| *at);
        shown
    }

    /// What a key does. Where a question is answered by yes or no, the usual keys work in a list too.
    pub(crate) fn by_key(&self, key: char, kind: InteractionKind) -> Option<usize> {
        let exact = self.all.iter().position(|choice| choice.key == Some(key));
        let lower = key.to_ascii_lowercase();
        let either = || self.all.iter().position(|choice| choice.key == Some(lower));
        exact.or_else(either).or_else(|| self.yes_or_no(lower, kind))
    }

    fn yes_or_no(&self, key: char, kind: InteractionKind) -> Option<usize> {
        if !matches!(
            kind,
            InteractionKind::ToolApproval | InteractionKind::UserConfirmation
        ) {
            return None;
        }
        let wanted: &[Action] = match key {
            'y' => &[Action::ApproveAndExecute],
            'n' => &[Action::RejectWithReason, Action::Skip],
            _ => return None,
        };
        let position = |action: &Action| {
            let takes =
                |choice: &Choice| matches!(&choice.does, Does::Take(option) if option.action == *action);
            let mut found = self.all.iter().enumerate().filter(|(_, choice)| takes(choice));
            // Two ways to say yes are a choice, not a yes.
            found.next().filter(|_| found.next().is_none()).map(|(at, _)| at)
        };
        wanted.iter().find_map(position)
    }

    /// The one option that takes a text, for questions that are about nothing but that text.
    pub(crate) fn only_text(&self, kind: InteractionKind) -> Option<&InteractionOption> {
        if !matches!(kind, InteractionKind::UserInput | InteractionKind::MissingInfo) {
            return None;
        }
        let mut texts = self.all.iter().filter_map(|choice| match &choice.does {
            Does::Take(option) if option.needs_text() => Some(option),
            _ => None,
        });
        texts.next().filter(|_| texts.next().is_none())
    }
}

fn keys(options: &[InteractionOption], edits: bool, scopes: &[Scope], locale: Locale) -> Vec<Choice> {
    let say = |message: Message| SafeText::line(&message.say(locale));
    let own = |key, label, about, does| Choice {
        key: Some(key),
        label,
        about,
        does,
    };
    let mut all = Vec::new();
    for option in options {
        let letter = match option.action {
            Action::ApproveAndExecute => 'y',
            Action::RejectWithReason => 'n',
            Action::RetryWithFeedback => 't',
            Action::ProvideInfo => 'i',
            Action::Skip => 's',
            Action::Terminate => 'x',
            Action::Custom => continue,
        };
        all.push(taking(Some(letter), option.clone()));
        match option.action {
            Action::ApproveAndExecute if edits => {
                let about = say(key::edit_about());
                all.push(own('e', say(key::edit()), about.clone(), Does::Edit));
                all.push(own('E', say(key::edit_elsewhere()), about, Does::EditElsewhere));
            }
            Action::RejectWithReason => all.push(own(
                'r',
                say(key::reject_reason()),
                say(key::reject_reason_about()),
                Does::Explain(option.clone()),
            )),
            _ => {}
        }
    }
    let approves = options
        .iter()
        .any(|option| option.action == Action::ApproveAndExecute);
    if approves && !scopes.is_empty() {
        all.push(own(
            'a',
            say(key::remember()),
            say(key::remember_about()),
            Does::Remember,
        ));
    }
    all.push(own('m', say(key::tell()), say(key::tell_about()), Does::Tell));
    all
}

fn list(options: Vec<InteractionOption>) -> Vec<Choice> {
    let digit = |at: usize| {
        u32::try_from(at + 1)
            .ok()
            .and_then(|number| char::from_digit(number, 10))
    };
    options
        .into_iter()
        .enumerate()
        .map(|(at, option)| taking(digit(at), option))
        .collect()
}

fn taking(key: Option<char>, option: InteractionOption) -> Choice {
    Choice {
        key,
        label: SafeText::line(&option.label),
        about: SafeText::line(option.description.as_deref().unwrap_or_default()),
        does: Does::Take(option),
    }
}
