//! Questions and messages to be shown at a terminal: the channel fills it, the attendant empties it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use placet_core::ids::InteractionId;
use placet_core::render::{Document, SafeText};
use tokio::sync::Notify;

use super::line::{Line, SpanStyle};

/// Shared by the channel and its attendant.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    work: Notify,
}

#[derive(Debug, Default)]
struct State {
    questions: VecDeque<InteractionId>,
    messages: VecDeque<SafeText>,
    current: Option<Current>,
    stopped: bool,
}

#[derive(Debug)]
struct Current {
    id: InteractionId,
    decided: Option<Document>,
}

impl Queue {
    /// Once for each question, however often it is delivered.
    pub(crate) fn push(&self, id: InteractionId) {
        let mut state = self.state();
        let is_current = state.current.as_ref().is_some_and(|current| current.id == id);
        if !is_current && !state.questions.contains(&id) {
            state.questions.push_back(id);
        }
        self.work.notify_one();
    }

    pub(crate) fn say(&self, text: SafeText) {
        self.state().messages.push_back(text);
        self.work.notify_one();
    }

    /// A question is settled: withdrawn if it is on the screen, forgotten if it never was.
    pub(crate) fn settle(&self, id: &InteractionId, document: &Document) {
        let mut state = self.state();
        state.questions.retain(|waiting| waiting != id);
        if let Some(current) = state.current.as_mut().filter(|current| current.id == *id) {
            current.decided = Some(document.clone());
        }
    }

    pub(crate) fn stop(&self) {
        self.state().stopped = true;
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    pub(crate) async fn work(&self) {
        self.work.notified().await;
    }

    /// The next question.
    pub(crate) fn next(&self) -> Option<InteractionId> {
        self.state().questions.pop_front()
    }

    /// Makes a question the current one, wherever it was.
    pub(crate) fn take(&self, id: &InteractionId) {
        let mut state = self.state();
        state.questions.retain(|waiting| waiting != id);
        state.current = Some(Current {
            id: id.clone(),
            decided: None,
        });
    }

    /// What became of the current question, if anything has.
    pub(crate) fn decided(&self) -> Option<Document> {
        self.state()
            .current
            .as_mut()
            .and_then(|current| current.decided.take())
    }

    pub(crate) fn waiting(&self) -> usize {
        self.state().questions.len()
    }

    /// Messages, as lines.
    pub(crate) fn messages(&self) -> Vec<Line> {
        let messages = std::mem::take(&mut self.state().messages);
        let lines = messages.iter().flat_map(|text| text.as_str().split('\n'));
        lines.map(|line| Line::new(SpanStyle::Plain, line)).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
