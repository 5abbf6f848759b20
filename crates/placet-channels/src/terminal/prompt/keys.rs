//! What each key means, mode by mode.

use placet_core::interaction::Remember;
use placet_core::messages::prompt;
use placet_core::standing::Scope;
use placet_core::time::Millis;

use super::super::arguments;
use super::super::choices::Does;
use super::{
    Action, EditForm, Field, Fits, InteractionOption, KeyCode, KeyEvent, KeyModifiers, LASTS,
    LASTS_IN_CONVERSATION, Mode, Past, Prompt, PromptAction, Scroll, Style, Terms, TypedFor,
};

impl Prompt {
    pub(super) fn key(&mut self, key: KeyEvent) -> PromptAction {
        if is_interruption(&key) {
            return self.interrupt();
        }
        if self.fits == Fits::No {
            // What cannot be seen cannot be answered, only left.
            return match (key.code, &self.mode) {
                (KeyCode::Esc, Mode::Choosing { .. }) => PromptAction::Leave,
                (KeyCode::Esc, _) => self.back(),
                _ => PromptAction::Nothing,
            };
        }
        match &self.mode {
            Mode::Choosing { at } => self.choosing(key, *at),
            Mode::Confirming { option } => {
                let option = option.clone();
                self.confirming(key, &option)
            }
            Mode::Typing { .. } => self.typing(key),
            Mode::Reviewing { .. } => self.reviewing(key),
            Mode::Remembering(terms) => self.remembering(key, *terms),
            Mode::Granting { terms, past, .. } => self.granting(key, *terms, *past),
            Mode::Helping => self.back(),
            Mode::Sending { .. } => PromptAction::Nothing,
        }
    }

    /// Several keys at one stroke fill a text and move about; they decide nothing, whatever is among them. Only an interruption
    /// is one all the same: it refuses.
    pub(super) fn burst(&mut self, keys: &[KeyEvent]) -> PromptAction {
        if keys.iter().any(is_interruption) {
            return self.interrupt();
        }
        if self.is_typing() {
            return self.fill(keys);
        }
        if self.fits == Fits::Yes && keys.iter().all(moves) {
            for key in keys {
                self.key(*key);
            }
        } else {
            self.note(&prompt::one_key());
        }
        PromptAction::Nothing
    }

    /// Puts into the text what a paste would; what would send it or leave it is passed over.
    fn fill(&mut self, keys: &[KeyEvent]) -> PromptAction {
        let is_enter = |key: &KeyEvent| key.code == KeyCode::Enter;
        let text = keys.len() - keys.iter().rev().take_while(|key| is_enter(key)).count();
        for key in keys.iter().take(text).filter(|key| key.code != KeyCode::Esc) {
            if let (true, Mode::Typing { field, .. }) = (is_enter(key), &mut self.mode) {
                field.insert(" ");
            } else {
                self.typing(*key);
            }
        }
        if keys.iter().any(is_enter) {
            self.note(&prompt::pasted());
        }
        PromptAction::Nothing
    }

    fn back(&mut self) -> PromptAction {
        self.mode = Mode::choosing(&self.choices);
        PromptAction::Nothing
    }

    fn choosing(&mut self, key: KeyEvent, at: Option<usize>) -> PromptAction {
        let list = self.choices.style == Style::List;
        match key.code {
            KeyCode::Up if list => self.select(at.map_or(0, |at| at.saturating_sub(1))),
            KeyCode::Down if list => self.select(at.map_or(0, |at| at + 1)),
            KeyCode::Enter => {
                if let Some(at) = at.or(self.choices.default) {
                    return self.choose(at);
                }
                self.note(&prompt::enter_alone());
                PromptAction::Nothing
            }
            KeyCode::Esc => PromptAction::Leave,
            KeyCode::Char('?') => {
                self.mode = Mode::Helping;
                PromptAction::Nothing
            }
            code => match (self.chosen_by(key), Scroll::by(code)) {
                (Some(at), _) => self.choose(at),
                (None, scroll) => {
                    if let Some(scroll) = scroll {
                        self.sheet.scroll(scroll);
                    }
                    PromptAction::Nothing
                }
            },
        }
    }

    fn chosen_by(&self, key: KeyEvent) -> Option<usize> {
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Char(c) if plain => self.choices.by_key(c, self.kind()),
            _ => None,
        }
    }

    fn select(&mut self, at: usize) -> PromptAction {
        let last = self.choices.all.len().saturating_sub(1);
        self.mode = Mode::Choosing {
            at: Some(at.min(last)),
        };
        PromptAction::Nothing
    }

    fn choose(&mut self, at: usize) -> PromptAction {
        let Some(choice) = self.choices.all.get(at) else {
            return PromptAction::Nothing;
        };
        match choice.does.clone() {
            Does::Take(option) if option.needs_text() => self.type_in(TypedFor::Text(option), ""),
            Does::Take(option) if option.is_dangerous => {
                self.mode = Mode::Confirming { option };
                PromptAction::Nothing
            }
            Does::Take(option) => self.answer(&option, None),
            Does::Explain(option) => self.type_in(TypedFor::Reason(option), ""),
            Does::Edit => {
                let Some(args) = self.args() else {
                    return PromptAction::Nothing;
                };
                let (form, text) = match arguments::command(args) {
                    Some(line) => (EditForm::Command, line),
                    None => (EditForm::Json, arguments::on_one_line(args)),
                };
                self.type_in(TypedFor::Args(form), &text)
            }
            Does::EditElsewhere => match self.args() {
                Some(args) => PromptAction::Edit(arguments::on_lines(args)),
                None => PromptAction::Nothing,
            },
            Does::Remember => {
                self.mode = Mode::Remembering(self.terms_of(0));
                PromptAction::Nothing
            }
            Does::Tell => {
                let text = self.instruction.clone().unwrap_or_default();
                self.type_in(TypedFor::Message, &text)
            }
        }
    }

    fn type_in(&mut self, wanted: TypedFor, text: &str) -> PromptAction {
        self.mode = Mode::Typing {
            wanted,
            field: Field::holding(text),
        };
        PromptAction::Nothing
    }

    fn confirming(&mut self, key: KeyEvent, option: &InteractionOption) -> PromptAction {
        match key.code {
            KeyCode::Char('y' | 'Y') => self.answer(option, None),
            _ => self.back(),
        }
    }

    fn typing(&mut self, key: KeyEvent) -> PromptAction {
        match key.code {
            KeyCode::Esc => return self.back(),
            KeyCode::PageUp => self.sheet.scroll(Scroll::PageUp),
            KeyCode::PageDown => self.sheet.scroll(Scroll::PageDown),
            KeyCode::Enter => return self.typed(),
            _ => {
                if let Mode::Typing { field, .. } = &mut self.mode {
                    field.key(key);
                }
            }
        }
        PromptAction::Nothing
    }

    fn typed(&mut self) -> PromptAction {
        let Mode::Typing { wanted, field } = &self.mode else {
            return PromptAction::Nothing;
        };
        let (wanted, text, blank) = (wanted.clone(), field.text(), field.is_blank());
        match wanted {
            TypedFor::Text(_) if blank => {
                self.note(&prompt::text_needed());
                PromptAction::Nothing
            }
            TypedFor::Text(option) => self.answer(&option, Some(text)),
            TypedFor::Reason(option) => self.answer(&option, (!blank).then_some(text)),
            TypedFor::Message => {
                self.instruction = (!blank).then_some(text);
                self.back()
            }
            TypedFor::Args(form) => {
                self.review(text, form);
                PromptAction::Nothing
            }
        }
    }

    fn reviewing(&mut self, key: KeyEvent) -> PromptAction {
        match key.code {
            KeyCode::Char('y' | 'Y') => self.approve(),
            KeyCode::Char('e') => {
                if let Mode::Reviewing { typed, form, .. } = &self.mode {
                    let (typed, form) = (typed.clone(), *form);
                    return self.type_in(TypedFor::Args(form), &typed);
                }
                PromptAction::Nothing
            }
            KeyCode::Char('n' | 'N') | KeyCode::Enter | KeyCode::Esc => self.back(),
            code => {
                if let (Some(scroll), Mode::Reviewing { sheet, .. }) = (Scroll::by(code), &mut self.mode) {
                    sheet.scroll(scroll);
                }
                PromptAction::Nothing
            }
        }
    }

    fn remembering(&mut self, key: KeyEvent, terms: Terms) -> PromptAction {
        let terms = match key.code {
            KeyCode::Char('y' | 'Y') => {
                return match self.ask.scopes.get(terms.scope) {
                    Some(scope) if scope.reach().is_wide() => self.look_back(scope.clone()),
                    _ => self.approve(),
                };
            }
            KeyCode::Up => self.move_to(terms, terms.scope.saturating_sub(1)),
            KeyCode::Down => self.move_to(terms, terms.scope + 1),
            KeyCode::Char(number @ '1'..='9') => {
                let number = number
                    .to_digit(10)
                    .and_then(|number| usize::try_from(number).ok());
                self.move_to(terms, number.unwrap_or(1).saturating_sub(1))
            }
            KeyCode::Left => Terms {
                lasts: terms.lasts.saturating_sub(1),
                ..terms
            },
            KeyCode::Right => {
                let last = self.lengths(terms.scope).len() - 1;
                Terms {
                    lasts: (terms.lasts + 1).min(last),
                    ..terms
                }
            }
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('n' | 'N') => return self.back(),
            _ => terms,
        };
        self.mode = Mode::Remembering(terms);
        PromptAction::Nothing
    }

    /// Another scope. The time stays what was chosen, unless that is not what such a scope usually lasts.
    fn move_to(&self, terms: Terms, scope: usize) -> Terms {
        let usual = |at: usize| self.ask.scopes.get(at).map(|scope| scope.reach().lasts());
        match self.ask.scopes.get(scope) {
            None => terms,
            Some(_) if usual(scope) == usual(terms.scope) => Terms { scope, ..terms },
            Some(_) => self.terms_of(scope),
        }
    }

    /// A scope, for as long as it usually lasts.
    fn terms_of(&self, scope: usize) -> Terms {
        let usual = self.ask.scopes.get(scope).map(|scope| scope.reach().lasts());
        let lasts = LASTS.iter().position(|lasts| Some(*lasts) == usual);
        Terms {
            scope,
            lasts: lasts.unwrap_or(0),
        }
    }

    /// For how long a scope may be granted.
    pub(super) fn lengths(&self, scope: usize) -> &'static [Millis] {
        match self.ask.scopes.get(scope) {
            Some(scope) if scope.reach().is_wide() => &LASTS,
            _ => LASTS.split_at(LASTS_IN_CONVERSATION).0,
        }
    }

    /// Beyond the conversation a person first sees what they would agree to.
    fn look_back(&mut self, scope: Scope) -> PromptAction {
        self.note(&prompt::looking_back());
        PromptAction::Preview(scope)
    }

    fn granting(&mut self, key: KeyEvent, terms: Terms, past: Past) -> PromptAction {
        match key.code {
            KeyCode::Char('y' | 'Y') if past == Past::Refused => {
                self.note(&prompt::choose_narrower());
                PromptAction::Nothing
            }
            KeyCode::Char('y' | 'Y') => self.approve(),
            KeyCode::Char('n' | 'N') | KeyCode::Enter | KeyCode::Esc => {
                self.mode = Mode::Remembering(terms);
                PromptAction::Nothing
            }
            code => {
                if let (Some(scroll), Mode::Granting { sheet, .. }) = (Scroll::by(code), &mut self.mode) {
                    sheet.scroll(scroll);
                }
                PromptAction::Nothing
            }
        }
    }

    /// The terms of "don't ask again", while they are being chosen or confirmed.
    pub(super) fn remembered(&self) -> Option<Remember> {
        let (Mode::Remembering(terms) | Mode::Granting { terms, .. }) = &self.mode else {
            return None;
        };
        Some(Remember {
            scope: self.ask.scopes.get(terms.scope)?.clone(),
            lasts: *LASTS.get(terms.lasts)?,
            uses_max: None,
        })
    }

    fn approve(&mut self) -> PromptAction {
        match self.approval() {
            Some(option) => self.answer(&option, None),
            None => PromptAction::Nothing,
        }
    }

    fn approval(&self) -> Option<InteractionOption> {
        self.choices.all.iter().find_map(|choice| match &choice.does {
            Does::Take(option) if option.action == Action::ApproveAndExecute => Some(option.clone()),
            _ => None,
        })
    }
}

fn is_interruption(key: &KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd'))
}

/// Whether a key moves about and does nothing else, in any mode but typing.
fn moves(key: &KeyEvent) -> bool {
    matches!(
        key.code,
        KeyCode::Up
            | KeyCode::Down
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::PageUp
            | KeyCode::PageDown
            | KeyCode::Home
            | KeyCode::End
            | KeyCode::Char(' ')
    )
}
