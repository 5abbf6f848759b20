//! The inbox on the whole screen: keys go in, effects come out. Answering is the terminal channel's own machine.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use placet_channels::terminal::burst;
use placet_channels::terminal::field::Field;
use placet_channels::terminal::prompt::{self, Ask, Interrupting, Prompt};
use placet_core::ids::InteractionId;
use placet_core::interaction::{Answer, Locale};
use placet_core::messages;
use placet_core::principal::Principal;
use placet_core::render::SafeText;
use placet_core::standing::Scope;
use placet_engine::review::GrantPreview;

use super::filter::Filter;
use super::together::{Decided, Together};
use super::waiting::Waiting;

/// Everything the screen shows.
pub(super) struct App {
    pub(super) by: Principal,
    pub(super) locale: Locale,
    pub(super) waiting: Vec<Waiting>,
    pub(super) filter: Filter,
    pub(super) focus: Focus,
    pub(super) prompt: Option<Prompt>,
    pub(super) note: Option<SafeText>,
    pub(super) selected: Option<InteractionId>,
    looked_up: Duration,
}

/// What the next key is for.
pub(super) enum Focus {
    List,
    Question,
    Together(Together),
    Searching(Field),
    Help,
}

/// What the caller must do now.
pub(super) enum AppAction {
    Nothing,
    Quit,
    Answer(InteractionId, Box<Answer>),
    AnswerAll(Vec<(InteractionId, Answer)>),
    Withdraw(InteractionId),
    Edit(String),
    /// Look up what this scope means, and hand it to [`App::previewed`].
    Preview(Scope),
}

impl App {
    pub(super) fn new(by: Principal, locale: Locale) -> Self {
        Self {
            by,
            locale,
            waiting: Vec::new(),
            filter: Filter::default(),
            focus: Focus::List,
            prompt: None,
            note: None,
            selected: None,
            looked_up: Duration::ZERO,
        }
    }

    /// Updates the pending questions. Says which question on the screen is no longer pending.
    pub(super) fn refresh(&mut self, waiting: Vec<Waiting>, now: Duration) -> Option<InteractionId> {
        let before = self.position();
        self.waiting = in_groups(waiting);
        self.looked_up = now;
        let selected = self.selected.clone();
        let still = |id: &InteractionId| self.waiting.iter().any(|waiting| waiting.id() == id);
        let gone = selected.filter(|id| !still(id));
        let lost = matches!(&self.focus, Focus::Together(together)
            if self.waiting.iter().filter(|waiting| together.holds(waiting.id())).count() < together.count().0);
        if gone.is_some() && matches!(self.focus, Focus::Question) || lost {
            self.focus = Focus::List;
        }
        self.select(before);
        self.look(now);
        gone
    }

    /// Those that pass the filter.
    pub(super) fn listed(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter().filter(|waiting| self.filter.passes(waiting))
    }

    /// Where the selected one is in the list.
    pub(super) fn position(&self) -> usize {
        let is_selected = |waiting: &Waiting| Some(waiting.id()) == self.selected.as_ref();
        self.listed().position(is_selected).unwrap_or(0)
    }

    /// How long it is since the store was looked at.
    pub(super) fn since_looked_up(&self, now: Duration) -> Duration {
        now.saturating_sub(self.looked_up)
    }

    /// Keeps the selection where it is, or near `position` when it is not listed any more.
    fn select(&mut self, position: usize) {
        let listed: Vec<&InteractionId> = self.listed().map(Waiting::id).collect();
        let kept = self.selected.as_ref().is_some_and(|id| listed.contains(&id));
        if !kept {
            let near = position.min(listed.len().saturating_sub(1));
            self.selected = listed.get(near).map(|id| (*id).clone());
        }
    }

    fn move_to(&mut self, position: usize, now: Duration) {
        let last = self.listed().count().saturating_sub(1);
        let selected = self
            .listed()
            .nth(position.min(last))
            .map(|waiting| waiting.id().clone());
        self.selected = selected;
        self.look(now);
    }

    /// Puts the selected question beside the list, again after each vote.
    fn look(&mut self, now: Duration) {
        let selected = self
            .waiting
            .iter()
            .find(|waiting| Some(waiting.id()) == self.selected.as_ref());
        let Some(waiting) = selected else {
            self.prompt = None;
            return;
        };
        let same = |prompt: &Prompt| prompt.interaction() == &waiting.question.interaction;
        if !self.prompt.as_ref().is_some_and(same) {
            let ask = Ask {
                question: waiting.question.clone(),
                scopes: waiting.scopes.clone(),
                by: self.by.clone(),
                locale: self.locale,
                interrupting: Interrupting::Leaves,
            };
            self.prompt = Some(Prompt::new(ask, now));
        }
    }

    /// The last picture is in front of the person.
    pub(super) fn drawn(&mut self, now: Duration) {
        match (&mut self.focus, &mut self.prompt) {
            (Focus::Question, Some(prompt)) => prompt.drawn(now),
            (Focus::Together(together), _) => {
                together.guard.drawn(now);
                together.sheet.drawn();
            }
            _ => {}
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        self.note = Some(SafeText::line(text));
    }

    /// The answer counted, or the question is gone: back to the list.
    pub(super) fn done(&mut self, note: &str) {
        self.focus = Focus::List;
        self.say(note);
    }

    /// What a scope of the question in front of the person means.
    pub(super) fn previewed(&mut self, preview: Option<&GrantPreview>) {
        if let Some(prompt) = &mut self.prompt {
            prompt.previewed(preview);
        }
    }

    /// Takes what the person did at one stroke; `now` is when it began.
    pub(super) fn take_all(&mut self, events: &[Event], now: Duration) -> AppAction {
        if let Some(interrupt) = events.iter().find(|event| interrupts(event)) {
            return self.take(interrupt, now);
        }
        if burst::keys(events).is_some() {
            match &self.focus {
                Focus::Question => return self.question(events, now),
                Focus::Together(_) => {
                    self.say(&messages::prompt::one_key().say(self.locale));
                    return AppAction::Nothing;
                }
                Focus::List | Focus::Searching(_) | Focus::Help => {}
            }
        }
        for event in events {
            let deciding = matches!(self.focus, Focus::Question | Focus::Together(_));
            let effect = self.take(event, now);
            let opened = !deciding && matches!(self.focus, Focus::Question | Focus::Together(_));
            // The rest was typed before there was a question to see.
            if opened || !matches!(effect, AppAction::Nothing) {
                return effect;
            }
        }
        AppAction::Nothing
    }

    fn take(&mut self, event: &Event, now: Duration) -> AppAction {
        let key = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => Some(*key),
            _ => None,
        };
        if key.is_some() {
            self.note = None;
            // No agent waits at this terminal for an answer, so leaving refuses nothing here.
            if interrupts(event) {
                return AppAction::Quit;
            }
        }
        match (&mut self.focus, key) {
            (Focus::Question, _) => self.question(std::slice::from_ref(event), now),
            (Focus::Searching(field), None) => {
                if let Event::Paste(text) = event {
                    field.insert(text);
                    self.search(now);
                }
                AppAction::Nothing
            }
            (_, None) => AppAction::Nothing,
            (Focus::List, Some(key)) => self.list(key, now),
            (Focus::Searching(_), Some(key)) => self.searching(key, now),
            (Focus::Together(_), Some(key)) => self.together(key, now),
            (Focus::Help, Some(_)) => {
                self.focus = Focus::List;
                AppAction::Nothing
            }
        }
    }

    fn question(&mut self, events: &[Event], now: Duration) -> AppAction {
        let Some(prompt) = &mut self.prompt else {
            self.focus = Focus::List;
            return AppAction::Nothing;
        };
        let id = prompt.asked().id.clone();
        // `q` leaves, as everywhere in the inbox, unless a text is being typed.
        let leaves =
            matches!(events, [Event::Key(key)] if key.code == KeyCode::Char('q')) && !prompt.is_typing();
        if leaves {
            self.focus = Focus::List;
            return AppAction::Nothing;
        }
        match prompt.take_all(events, now) {
            prompt::PromptAction::Nothing => AppAction::Nothing,
            prompt::PromptAction::Answer(answer) => AppAction::Answer(id, answer),
            prompt::PromptAction::Withdraw => AppAction::Withdraw(id),
            prompt::PromptAction::Edit(text) => AppAction::Edit(text),
            prompt::PromptAction::Preview(scope) => AppAction::Preview(scope),
            prompt::PromptAction::Leave => {
                self.focus = Focus::List;
                AppAction::Nothing
            }
        }
    }

    fn list(&mut self, key: KeyEvent, now: Duration) -> AppAction {
        let at = self.position();
        match key.code {
            KeyCode::Char('q') => return AppAction::Quit,
            KeyCode::Up | KeyCode::Char('k') => self.move_to(at.saturating_sub(1), now),
            KeyCode::Down | KeyCode::Char('j') => self.move_to(at + 1, now),
            KeyCode::PageUp => self.move_to(at.saturating_sub(10), now),
            KeyCode::PageDown => self.move_to(at + 10, now),
            KeyCode::Home => self.move_to(0, now),
            KeyCode::End => self.move_to(usize::MAX, now),
            KeyCode::Enter | KeyCode::Right | KeyCode::Tab if self.selected.is_some() => {
                // A prompt that was not on the screen yet: keys count only from now on.
                self.prompt = None;
                self.look(now);
                self.focus = Focus::Question;
            }
            KeyCode::Char('/') => self.focus = Focus::Searching(Field::holding(&self.filter.text)),
            KeyCode::Char('s') => self.refilter(now, Filter::next_session),
            KeyCode::Char('r') => self.refilter(now, |filter, _| filter.next_risk()),
            KeyCode::Esc => self.refilter(now, |filter, _| *filter = Filter::default()),
            KeyCode::Char('g') => self.open_group(),
            KeyCode::Char('?') => self.focus = Focus::Help,
            _ => {}
        }
        AppAction::Nothing
    }

    fn refilter(&mut self, now: Duration, change: impl FnOnce(&mut Filter, &[Waiting])) {
        change(&mut self.filter, &self.waiting);
        self.select(0);
        self.look(now);
    }

    fn open_group(&mut self) {
        let selected = self
            .waiting
            .iter()
            .find(|waiting| Some(waiting.id()) == self.selected.as_ref());
        match selected.and_then(Waiting::group) {
            Some(group) => {
                let members = self
                    .waiting
                    .iter()
                    .filter(|waiting| waiting.group() == Some(group));
                self.focus = Focus::Together(Together::new(members, self.locale));
            }
            None => self.say(&messages::inbox::no_group().say(self.locale)),
        }
    }

    fn searching(&mut self, key: KeyEvent, now: Duration) -> AppAction {
        match key.code {
            KeyCode::Enter => self.focus = Focus::List,
            KeyCode::Esc => {
                self.focus = Focus::List;
                self.refilter(now, |filter, _| filter.text.clear());
            }
            _ => {
                if let Focus::Searching(field) = &mut self.focus {
                    field.key(key);
                }
                self.search(now);
            }
        }
        AppAction::Nothing
    }

    fn search(&mut self, now: Duration) {
        if let Focus::Searching(field) = &self.focus {
            let text = field.text();
            self.refilter(now, |filter, _| filter.text = text);
        }
    }

    fn together(&mut self, key: KeyEvent, now: Duration) -> AppAction {
        let Focus::Together(together) = &mut self.focus else {
            return AppAction::Nothing;
        };
        match together.key(key, &self.by, now) {
            Decided::Nothing => AppAction::Nothing,
            Decided::Back => {
                self.focus = Focus::List;
                AppAction::Nothing
            }
            Decided::Unread(lines) => {
                self.say(&messages::prompt::read_first(lines).say(self.locale));
                AppAction::Nothing
            }
            Decided::Answers(answers) => AppAction::AnswerAll(answers),
        }
    }
}

fn interrupts(event: &Event) -> bool {
    matches!(event, Event::Key(KeyEvent { code: KeyCode::Char('c' | 'd'), modifiers, kind, .. })
        if modifiers.contains(KeyModifiers::CONTROL) && *kind != KeyEventKind::Release)
}

/// Most urgent first, and each group in one place: where its most urgent member is.
fn in_groups(waiting: Vec<Waiting>) -> Vec<Waiting> {
    let mut arranged: Vec<Waiting> = Vec::with_capacity(waiting.len());
    let mut rest = std::collections::VecDeque::from(waiting);
    while let Some(next) = rest.pop_front() {
        let (mut members, others): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .partition(|other| next.group().is_some() && other.group() == next.group());
        arranged.push(next);
        arranged.append(&mut members);
        rest = others.into();
    }
    arranged
}
