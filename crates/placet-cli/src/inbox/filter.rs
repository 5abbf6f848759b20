//! Which of the questions are listed.

use placet_core::ids::SessionId;
use placet_core::tool::Risk;

use super::waiting::Waiting;

/// What is looked for. Everything at first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Filter {
    pub(super) text: String,
    pub(super) session: Option<SessionId>,
    pub(super) risk: Option<Risk>,
}

impl Filter {
    pub(super) fn is_off(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn passes(&self, waiting: &Waiting) -> bool {
        self.session
            .as_ref()
            .is_none_or(|session| session == waiting.session())
            && self.risk.is_none_or(|risk| Some(risk) == waiting.risk())
            && self.finds(waiting)
    }

    fn finds(&self, waiting: &Waiting) -> bool {
        let text = self.text.trim().to_lowercase();
        let places = [
            waiting.code().to_string(),
            waiting.about().to_string(),
            waiting.gist.to_string(),
            waiting.session().to_string(),
        ];
        text.is_empty() || places.iter().any(|place| place.to_lowercase().contains(&text))
    }

    /// From all risks to HIGH, MEDIUM, LOW, and to all again.
    pub(super) fn next_risk(&mut self) {
        self.risk = match self.risk {
            None => Some(Risk::High),
            Some(Risk::High) => Some(Risk::Medium),
            Some(Risk::Medium) => Some(Risk::Low),
            Some(Risk::Low) => None,
        };
    }

    /// From all sessions to one after the other, and to all again.
    pub(super) fn next_session(&mut self, all: &[Waiting]) {
        let mut sessions: Vec<&SessionId> = all.iter().map(Waiting::session).collect();
        sessions.sort();
        sessions.dedup();
        self.session = match &self.session {
            None => sessions.first().map(|session| (*session).clone()),
            Some(current) => sessions.into_iter().find(|session| *session > current).cloned(),
        };
    }

    /// In words; empty when everything is listed.
    pub(super) fn words(&self) -> String {
        let risk = self.risk.map(|risk| format!("{risk:?}").to_uppercase());
        let session = self.session.as_ref().map(|session| format!("session {session}"));
        let text = (!self.text.trim().is_empty()).then(|| format!("“{}”", self.text.trim()));
        let words: Vec<String> = [text, session, risk].into_iter().flatten().collect();
        words.join(" · ")
    }
}
