//! A question being answered: keys go in, effects come out. No terminal, no clock, no store.
//!
//! The inline prompt and the inbox both drive this machine, so a key means the same in both. It never answers on its own:
//!
//! - what is typed before the question was drawn, and for a moment afterwards, decides nothing;
//! - what is pasted decides nothing, it only fills a text, also where the terminal does not say that it is a paste;
//! - Enter alone never lets a call run;
//! - a HIGH call cannot be approved before all of it has been on the screen;
//! - "don't ask again" reaches beyond the conversation only after the rule and its last seven days have been on the screen;
//! - an interruption is a refusal.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use placet_core::call::Args;
use placet_core::findings::Findings;
use placet_core::ids::PersonId;
use placet_core::interaction::{
    Action, Answer, Asked, Edited, Interaction, InteractionKind, InteractionOption, Locale, Shown, Subject,
};
use placet_core::messages::{Explain as _, Message, prompt};
use placet_core::principal::Principal;
use placet_core::question::Question;
use placet_core::render::SafeText;
use placet_core::standing::Scope;
use placet_core::time::Millis;
use placet_core::tool::Risk;
use placet_engine::review::GrantPreview;

use super::choices::{Choices, Style};
use super::field::Field;
use super::guard::Guard;
use super::scroll::{Scroll, ScrollView};
use super::{arguments, burst};

mod draw;
mod keys;
#[cfg(test)]
mod tests;
mod times;

pub use draw::{Screen, Size};

/// For how long "don't ask again" may hold.
const LASTS: [Millis; 7] = [
    Millis::from_secs(15 * 60),
    Millis::from_secs(3600),
    Millis::from_secs(8 * 3600),
    Millis::from_secs(24 * 3600),
    Millis::from_secs(7 * 24 * 3600),
    // Beyond the conversation only.
    Millis::from_secs(30 * 24 * 3600),
    Millis::from_secs(365 * 24 * 3600),
];
/// How many of them are for a conversation.
const LASTS_IN_CONVERSATION: usize = 5;

/// A question, and who is looking at it.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The question.
    pub question: Question,
    /// What "don't ask again" may cover.
    pub scopes: Vec<Scope>,
    /// Who is looking.
    pub by: Principal,
    /// In which language.
    pub locale: Locale,
    /// What Ctrl-C does where they look.
    pub interrupting: Interrupting,
}

/// What Ctrl-C does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupting {
    /// It refuses: an agent waits at this very terminal.
    Refuses,
    /// It leaves the question, which stays pending.
    Leaves,
}

/// What the caller must do now.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptAction {
    /// Nothing; draw again.
    Nothing,
    /// Give this to the broker, then say how it went with [`Prompt::refused`], or close the prompt.
    Answer(Box<Answer>),
    /// There is no option that says no: withdraw the question.
    Withdraw,
    /// Let the person edit this text, then hand it to [`Prompt::edited`].
    Edit(String),
    /// Look up what this scope means ([`Broker::preview`](placet_engine::broker::Broker::preview)), then hand it to
    /// [`Prompt::previewed`].
    Preview(Scope),
    /// The person wants to leave the question as it is.
    Leave,
}

/// A question being answered by one person.
#[derive(Debug, Clone)]
pub struct Prompt {
    ask: Ask,
    choices: Choices,
    sheet: ScrollView,
    mode: Mode,
    note: Option<SafeText>,
    instruction: Option<String>,
    others_waiting: usize,
    looked_up: Duration,
    guard: Guard,
    fits: Fits,
}

/// Whether the screen is large enough to read anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fits {
    Yes,
    No,
}

/// What the next key means.
#[derive(Debug, Clone)]
enum Mode {
    /// A key takes a choice.
    Choosing { at: Option<usize> },
    /// Something dangerous was chosen; `y` means it.
    Confirming { option: InteractionOption },
    /// A text is being typed.
    Typing { wanted: TypedFor, field: Field },
    /// Changed arguments are shown before they are sent.
    Reviewing {
        args: Args,
        typed: String,
        form: EditForm,
        sheet: ScrollView,
    },
    /// The scope and the end of "don't ask again" are being chosen.
    Remembering(Terms),
    /// What "don't ask again" means beyond the conversation is shown; `y` means it.
    Granting {
        terms: Terms,
        sheet: ScrollView,
        past: Past,
    },
    /// All keys are explained.
    Helping,
    /// The answer is being stored.
    Sending { back: Box<Mode> },
}

/// The terms of "don't ask again": one of the scopes offered, and one of [`LASTS`].
#[derive(Debug, Clone, Copy)]
struct Terms {
    scope: usize,
    lasts: usize,
}

/// Whether a person refused a call of the last seven days that a grant would cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Past {
    NeverRefused,
    Refused,
}

/// What a typed text is for.
#[derive(Debug, Clone)]
enum TypedFor {
    /// The text an option needs.
    Text(InteractionOption),
    /// A reason, which may be left out.
    Reason(InteractionOption),
    /// A message for the agent.
    Message,
    /// The arguments.
    Args(EditForm),
}

/// What is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EditForm {
    /// The command line; the other arguments stay.
    Command,
    /// All arguments, as JSON.
    Json,
}

impl Prompt {
    /// A question that was looked up at `now`. Nothing counts until it has been drawn.
    pub fn new(ask: Ask, now: Duration) -> Self {
        let asked = ask.question.interaction.asked();
        let choices = Choices::of(asked, &ask.scopes, ask.locale);
        let mode = match choices.only_text(asked.kind()) {
            Some(option) => Mode::Typing {
                wanted: TypedFor::Text(option.clone()),
                field: Field::default(),
            },
            None => Mode::choosing(&choices),
        };
        Self {
            sheet: ScrollView::new(ask.question.document(ask.locale)),
            ask,
            choices,
            mode,
            note: None,
            instruction: None,
            others_waiting: 0,
            looked_up: now,
            guard: Guard::default(),
            fits: Fits::Yes,
        }
    }

    /// The question.
    pub fn asked(&self) -> &Asked {
        self.ask.question.interaction.asked()
    }

    /// The question, as it was looked up.
    pub fn question(&self) -> &Question {
        &self.ask.question
    }

    /// The question and its state.
    pub fn interaction(&self) -> &Interaction {
        &self.ask.question.interaction
    }

    /// What is shown of it.
    pub fn sheet(&self) -> &ScrollView {
        &self.sheet
    }

    /// How many other questions wait behind this one.
    pub fn set_others_waiting(&mut self, others: usize) {
        self.others_waiting = others;
    }

    /// Whether a text is being typed, so that letters are letters.
    pub fn is_typing(&self) -> bool {
        matches!(self.mode, Mode::Typing { .. })
    }

    /// How long there is.
    pub fn remaining(&self, now: Duration) -> Millis {
        let question = &self.ask.question;
        let then = self.asked().deadline.remaining_from(question.now);
        let passed = u64::try_from(now.saturating_sub(self.looked_up).as_millis()).unwrap_or(u64::MAX);
        Millis::new(then.get().saturating_sub(passed))
    }

    /// The last screen is in front of the person since `now`.
    pub fn drawn(&mut self, now: Duration) {
        if self.fits == Fits::No {
            return;
        }
        self.guard.drawn(now);
        self.sheet.drawn();
        if let Mode::Reviewing { sheet, .. } | Mode::Granting { sheet, .. } = &mut self.mode {
            sheet.drawn();
        }
    }

    /// Takes what the person did at one stroke; `now` is when it began.
    pub fn take_all(&mut self, events: &[Event], now: Duration) -> PromptAction {
        match burst::keys(events) {
            Some(keys) if self.guard.counts(now) => {
                self.note = None;
                self.burst(&keys)
            }
            Some(_) => PromptAction::Nothing,
            None => {
                let mut effects = events.iter().map(|event| self.take(event, now));
                effects
                    .find(|effect| *effect != PromptAction::Nothing)
                    .unwrap_or(PromptAction::Nothing)
            }
        }
    }

    /// Takes one thing the person did.
    fn take(&mut self, event: &Event, now: Duration) -> PromptAction {
        if !self.guard.counts(now) {
            return PromptAction::Nothing;
        }
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                self.note = None;
                self.key(*key)
            }
            Event::Paste(text) => {
                self.paste(text);
                PromptAction::Nothing
            }
            _ => PromptAction::Nothing,
        }
    }

    /// The answer was not taken; `why` is for the person.
    pub fn refused(&mut self, why: &str) {
        if let Mode::Sending { back } = &self.mode {
            self.mode = match back.as_ref() {
                // Back to the text, where it can be mended.
                Mode::Reviewing { typed, form, .. } => Mode::Typing {
                    wanted: TypedFor::Args(*form),
                    field: Field::holding(typed),
                },
                other => other.clone(),
            };
        }
        self.say(why);
    }

    /// What came back from the editor, or why nothing did.
    pub fn edited(&mut self, text: Result<String, String>) {
        match text {
            Ok(text) => self.review(text, EditForm::Json),
            Err(why) => self.say(&why),
        }
    }

    /// What the chosen scope means; none when no rule can say it.
    pub fn previewed(&mut self, preview: Option<&GrantPreview>) {
        let Mode::Remembering(terms) = self.mode else {
            return;
        };
        match preview {
            Some(preview) if self.ask.scopes.get(terms.scope) == Some(preview.rule.scope()) => {
                self.note = None;
                self.mode = Mode::Granting {
                    terms,
                    sheet: ScrollView::new(preview.document(self.ask.locale)),
                    past: if preview.was_refused() {
                        Past::Refused
                    } else {
                        Past::NeverRefused
                    },
                };
                // What was typed before it was on the screen confirms nothing.
                self.guard = Guard::default();
            }
            _ => self.note(&prompt::scope_impossible()),
        }
    }

    fn say(&mut self, text: &str) {
        self.note = Some(SafeText::line(text));
    }

    fn note(&mut self, message: &Message) {
        let text = self.said(message);
        self.say(&text);
    }

    fn said(&self, message: &Message) -> String {
        message.say(self.ask.locale)
    }

    fn kind(&self) -> InteractionKind {
        self.asked().kind()
    }

    fn paste(&mut self, text: &str) {
        if let Mode::Typing { field, .. } = &mut self.mode {
            field.insert(text);
            return;
        }
        self.note(&prompt::pasted_decides_nothing());
    }

    /// An interruption is a refusal, with whatever says no; where nothing does, the question is withdrawn.
    fn interrupt(&mut self) -> PromptAction {
        if matches!(self.mode, Mode::Sending { .. }) {
            return PromptAction::Nothing;
        }
        // Half an edit, or half a "don't ask again", is not part of a refusal.
        self.mode = Mode::choosing(&self.choices);
        match self.choices.refusal.clone() {
            // What an interruption is told the agent as.
            Some(option) => {
                let why = self.said(&prompt::interrupted());
                self.answer(&option, Some(why))
            }
            None if self.is_theirs() => PromptAction::Withdraw,
            None => {
                self.note(&prompt::not_an_approver());
                PromptAction::Nothing
            }
        }
    }

    fn answer(&mut self, option: &InteractionOption, feedback: Option<String>) -> PromptAction {
        let approves = option.action == Action::ApproveAndExecute;
        let (sheet, unseen) = match &self.mode {
            Mode::Reviewing { sheet, .. } => (sheet, sheet.unseen()),
            Mode::Granting { sheet, .. } => (&self.sheet, sheet.unseen()),
            _ => (&self.sheet, self.sheet.unseen()),
        };
        let must_be_read = self.asked().risk == Risk::High || matches!(self.mode, Mode::Granting { .. });
        if approves && must_be_read && unseen > 0 {
            self.note(&prompt::read_first(unseen));
            return PromptAction::Nothing;
        }
        let answer = Answer {
            by: self.ask.by.clone(),
            option: option.option_id.clone(),
            feedback,
            data: None,
            edited_args: match &self.mode {
                Mode::Reviewing { args, .. } => Some(args.clone()),
                _ => None,
            },
            instruction: self.instruction.clone(),
            remember: self.remembered(),
            // The digest of the question itself, which anyone can compute again; changed arguments are stored beside it.
            shown: match sheet.shown() {
                Shown::Whole(_) => Shown::Whole(self.sheet.document().digest()),
                part => part,
            },
        };
        let back = Box::new(std::mem::replace(&mut self.mode, Mode::Helping));
        self.mode = Mode::Sending { back };
        PromptAction::Answer(Box::new(answer))
    }

    /// The arguments as they would run now.
    fn args(&self) -> Option<&Args> {
        match &self.asked().subject {
            Subject::Call {
                edited: Some(edited), ..
            } => Some(&edited.args),
            _ => self.ask.question.call.as_ref().map(|record| &record.call.args),
        }
    }

    /// Shows changed arguments as a change, or what is wrong with them.
    fn review(&mut self, typed: String, form: EditForm) {
        let Some(before) = self.args().cloned() else {
            return;
        };
        let read = match form {
            EditForm::Command => arguments::read_command(&typed, &before),
            EditForm::Json => arguments::read(&typed, &before),
        };
        match read {
            Ok(args) if args == before => {
                self.mode = Mode::choosing(&self.choices);
                self.note(&prompt::nothing_changed());
            }
            Ok(args) => {
                let sheet = ScrollView::new(self.changed(&args));
                self.mode = Mode::Reviewing {
                    args,
                    typed,
                    form,
                    sheet,
                };
            }
            Err(error) => {
                self.note(&error.message());
                self.mode = Mode::Typing {
                    wanted: TypedFor::Args(form),
                    field: Field::holding(&typed),
                };
            }
        }
    }

    /// The question as it would be with other arguments.
    fn changed(&self, args: &Args) -> placet_core::render::Document {
        let mut question = self.ask.question.clone();
        // What was found is about the arguments as they were.
        question.findings = Some(Findings::nothing());
        if let (Interaction::Pending(pending), Some(by)) = (&mut question.interaction, self.person().cloned())
        {
            pending.asked.evidence.clear();
            if let Subject::Call { edited, .. } = &mut pending.asked.subject {
                *edited = Some(Box::new(Edited {
                    by,
                    args: args.clone(),
                    judgement: None,
                }));
            }
        }
        question.document(self.ask.locale)
    }

    /// Whether the person is among those asked.
    fn is_theirs(&self) -> bool {
        matches!(&self.ask.question.interaction, Interaction::Pending(pending) if pending.asks(&self.ask.by))
    }

    fn person(&self) -> Option<&PersonId> {
        self.ask.by.person()
    }
}

impl Mode {
    fn choosing(choices: &Choices) -> Self {
        let at = match choices.style {
            Style::Keys => None,
            Style::List => choices.default,
        };
        Self::Choosing { at }
    }
}
