//! The calls of one turn, decided together.
//!
//! All of them are shown one below the other, and must have been on the screen before they can be approved. What is HIGH is
//! never approved in bulk.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};
use placet_channels::terminal::guard::Guard;
use placet_channels::terminal::scroll::{Scroll, ScrollView};
use placet_core::ids::InteractionId;
use placet_core::interaction::{Action, Answer, Locale, Shown, Subject};
use placet_core::principal::Principal;
use placet_core::render::Document;
use placet_core::tool::Risk;

use super::waiting::Waiting;

/// Several questions in front of one person.
#[derive(Debug, Clone)]
pub(super) struct Together {
    members: Vec<Member>,
    pub(super) sheet: ScrollView,
    pub(super) guard: Guard,
}

#[derive(Debug, Clone)]
struct Member {
    id: InteractionId,
    risk: Risk,
    approve: Option<String>,
    reject: Option<String>,
    shown: Shown,
}

/// What a key came to.
pub(super) enum Decided {
    Nothing,
    Back,
    /// Not before everything has been seen.
    Unread(usize),
    Answers(Vec<(InteractionId, Answer)>),
}

impl Together {
    /// The questions of one group; they are about calls.
    pub(super) fn new<'a>(group: impl Iterator<Item = &'a Waiting>, locale: Locale) -> Self {
        let mut all = Document {
            locale,
            head: Vec::new(),
            body: Vec::new(),
            foot: Vec::new(),
        };
        let mut members = Vec::new();
        for waiting in group {
            let document = waiting.question.document(locale);
            let shown = Shown::Whole(document.digest());
            all.head.extend(document.head);
            all.head.extend(document.body);
            members.push(Member::of(waiting, shown));
        }
        Self {
            members,
            sheet: ScrollView::new(all),
            guard: Guard::default(),
        }
    }

    /// How many there are, and how many of them must be approved one by one.
    pub(super) fn count(&self) -> (usize, usize) {
        let high = self.members.iter().filter(|member| member.risk == Risk::High);
        (self.members.len(), high.count())
    }

    pub(super) fn holds(&self, id: &InteractionId) -> bool {
        self.members.iter().any(|member| member.id == *id)
    }

    pub(super) fn key(&mut self, key: KeyEvent, by: &Principal, now: Duration) -> Decided {
        if !self.guard.counts(now) {
            return Decided::Nothing;
        }
        match key.code {
            KeyCode::Char('y' | 'Y') if self.sheet.unseen() > 0 => Decided::Unread(self.sheet.unseen()),
            KeyCode::Char('y' | 'Y') => self.answers(by, |member| {
                member.approve.as_deref().filter(|_| member.risk < Risk::High)
            }),
            KeyCode::Char('n' | 'N') => self.answers(by, |member| member.reject.as_deref()),
            KeyCode::Esc | KeyCode::Char('q') => Decided::Back,
            code => {
                if let Some(scroll) = Scroll::by(code) {
                    self.sheet.scroll(scroll);
                }
                Decided::Nothing
            }
        }
    }

    fn answers(&self, by: &Principal, option: impl Fn(&Member) -> Option<&str>) -> Decided {
        let seen = self.sheet.unseen() == 0;
        let answer = |member: &Member| {
            let answer = Answer {
                by: by.clone(),
                option: option(member)?.to_owned(),
                feedback: None,
                data: None,
                edited_args: None,
                instruction: None,
                remember: None,
                shown: if seen { member.shown } else { self.sheet.shown() },
            };
            Some((member.id.clone(), answer))
        };
        Decided::Answers(self.members.iter().filter_map(answer).collect())
    }
}

impl Member {
    fn of(waiting: &Waiting, shown: Shown) -> Self {
        let asked = waiting.asked();
        let is_call = matches!(asked.subject, Subject::Call { .. });
        let option = |action: Action| {
            let options = asked.options(Locale::English);
            let mut found = options.into_iter().filter(|option| option.action == action);
            found.next().filter(|_| is_call).map(|option| option.option_id)
        };
        Self {
            id: asked.id.clone(),
            risk: asked.risk,
            approve: option(Action::ApproveAndExecute),
            reject: option(Action::RejectWithReason),
            shown,
        }
    }
}
