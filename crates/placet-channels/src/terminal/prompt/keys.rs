//! What each key means, mode by mode.

use placet_core::interaction::Remember;

use super::super::arguments;
use super::super::choices::Does;
use super::{
    Action, Effect, Field, Fits, InteractionOption, KeyCode, KeyEvent, KeyModifiers, LASTS, LASTS_FIRST,
    Mode, Prompt, Scroll, Style, Wanted,
};

impl Prompt {
    pub(super) fn key(&mut self, key: KeyEvent) -> Effect {
        if is_interruption(&key) {
            return self.interrupt();
        }
        if self.fits == Fits::No {
            // What cannot be seen cannot be answered, only left.
            return match (key.code, &self.mode) {
                (KeyCode::Esc, Mode::Choosing { .. }) => Effect::Leave,
                (KeyCode::Esc, _) => self.back(),
                _ => Effect::Nothing,
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
            Mode::Remembering { at, lasts } => self.remembering(key, *at, *lasts),
            Mode::Helping => self.back(),
            Mode::Sending { .. } => Effect::Nothing,
        }
    }

    /// Several keys at one stroke fill a text and move about; they decide nothing, whatever is among them. Only an interruption
    /// is one all the same: it refuses.
    pub(super) fn burst(&mut self, keys: &[KeyEvent]) -> Effect {
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
            self.say(self.pick(
                "Several keys at once decide nothing; press one.",
                "同时到达的多个按键不作为回答，请只按一个键。",
            ));
        }
        Effect::Nothing
    }

    /// Puts into the text what a paste would; what would send it or leave it is passed over.
    fn fill(&mut self, keys: &[KeyEvent]) -> Effect {
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
            self.say(self.pick("Pasted; Enter sends it.", "已粘贴；按回车发送。"));
        }
        Effect::Nothing
    }

    fn back(&mut self) -> Effect {
        self.mode = Mode::choosing(&self.choices);
        Effect::Nothing
    }

    fn choosing(&mut self, key: KeyEvent, at: Option<usize>) -> Effect {
        let list = self.choices.style == Style::List;
        match key.code {
            KeyCode::Up if list => self.select(at.map_or(0, |at| at.saturating_sub(1))),
            KeyCode::Down if list => self.select(at.map_or(0, |at| at + 1)),
            KeyCode::Enter => {
                if let Some(at) = at.or(self.choices.default) {
                    return self.choose(at);
                }
                self.say(self.pick("Enter alone decides nothing here.", "此处仅按回车不作任何决定。"));
                Effect::Nothing
            }
            KeyCode::Esc => Effect::Leave,
            KeyCode::Char('?') => {
                self.mode = Mode::Helping;
                Effect::Nothing
            }
            code => match (self.chosen_by(key), Scroll::by(code)) {
                (Some(at), _) => self.choose(at),
                (None, scroll) => {
                    if let Some(scroll) = scroll {
                        self.sheet.scroll(scroll);
                    }
                    Effect::Nothing
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

    fn select(&mut self, at: usize) -> Effect {
        let last = self.choices.all.len().saturating_sub(1);
        self.mode = Mode::Choosing {
            at: Some(at.min(last)),
        };
        Effect::Nothing
    }

    fn choose(&mut self, at: usize) -> Effect {
        let Some(choice) = self.choices.all.get(at) else {
            return Effect::Nothing;
        };
        match choice.does.clone() {
            Does::Take(option) if option.requires_input => self.type_in(Wanted::Text(option), ""),
            Does::Take(option) if option.is_dangerous => {
                self.mode = Mode::Confirming { option };
                Effect::Nothing
            }
            Does::Take(option) => self.answer(&option, None),
            Does::Explain(option) => self.type_in(Wanted::Reason(option), ""),
            Does::Edit => match self.args().map(arguments::on_one_line) {
                Some(text) => self.type_in(Wanted::Args, &text),
                None => Effect::Nothing,
            },
            Does::EditElsewhere => match self.args() {
                Some(args) => Effect::Edit(arguments::on_lines(args)),
                None => Effect::Nothing,
            },
            Does::Remember => {
                self.mode = Mode::Remembering {
                    at: 0,
                    lasts: LASTS_FIRST,
                };
                Effect::Nothing
            }
            Does::Tell => {
                let text = self.instruction.clone().unwrap_or_default();
                self.type_in(Wanted::Message, &text)
            }
        }
    }

    fn type_in(&mut self, wanted: Wanted, text: &str) -> Effect {
        self.mode = Mode::Typing {
            wanted,
            field: Field::holding(text),
        };
        Effect::Nothing
    }

    fn confirming(&mut self, key: KeyEvent, option: &InteractionOption) -> Effect {
        match key.code {
            KeyCode::Char('y' | 'Y') => self.answer(option, None),
            _ => self.back(),
        }
    }

    fn typing(&mut self, key: KeyEvent) -> Effect {
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
        Effect::Nothing
    }

    fn typed(&mut self) -> Effect {
        let Mode::Typing { wanted, field } = &self.mode else {
            return Effect::Nothing;
        };
        let (wanted, text, blank) = (wanted.clone(), field.text(), field.is_blank());
        match wanted {
            Wanted::Text(_) if blank => {
                self.say(self.pick(
                    "A text is needed here; Esc goes back.",
                    "这里需要填写内容；按 Esc 返回。",
                ));
                Effect::Nothing
            }
            Wanted::Text(option) => self.answer(&option, Some(text)),
            Wanted::Reason(option) => self.answer(&option, (!blank).then_some(text)),
            Wanted::Message => {
                self.instruction = (!blank).then_some(text);
                self.back()
            }
            Wanted::Args => {
                self.review(text);
                Effect::Nothing
            }
        }
    }

    fn reviewing(&mut self, key: KeyEvent) -> Effect {
        match key.code {
            KeyCode::Char('y' | 'Y') => match self.approval() {
                Some(option) => self.answer(&option, None),
                None => Effect::Nothing,
            },
            KeyCode::Char('e') => {
                if let Mode::Reviewing { typed, .. } = &self.mode {
                    let typed = typed.clone();
                    return self.type_in(Wanted::Args, &typed);
                }
                Effect::Nothing
            }
            KeyCode::Char('n' | 'N') | KeyCode::Enter | KeyCode::Esc => self.back(),
            code => {
                if let (Some(scroll), Mode::Reviewing { sheet, .. }) = (Scroll::by(code), &mut self.mode) {
                    sheet.scroll(scroll);
                }
                Effect::Nothing
            }
        }
    }

    fn remembering(&mut self, key: KeyEvent, at: usize, lasts: usize) -> Effect {
        let last = self.ask.scopes.len().saturating_sub(1);
        let (at, lasts) = match key.code {
            KeyCode::Char('y' | 'Y') => {
                return match self.approval() {
                    Some(option) => self.answer(&option, None),
                    None => Effect::Nothing,
                };
            }
            KeyCode::Up => (at.saturating_sub(1), lasts),
            KeyCode::Down => ((at + 1).min(last), lasts),
            KeyCode::Left => (at, lasts.saturating_sub(1)),
            KeyCode::Right => (at, (lasts + 1).min(LASTS.len() - 1)),
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('n' | 'N') => return self.back(),
            _ => (at, lasts),
        };
        self.mode = Mode::Remembering { at, lasts };
        Effect::Nothing
    }

    /// The terms of "don't ask again", while they are being chosen.
    pub(super) fn remembered(&self) -> Option<Remember> {
        let Mode::Remembering { at, lasts } = &self.mode else {
            return None;
        };
        Some(Remember {
            scope: self.ask.scopes.get(*at)?.clone(),
            lasts: *LASTS.get(*lasts)?,
            uses_max: None,
        })
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
