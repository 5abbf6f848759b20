//! Who is waiting for what. Waiting costs memory only while a caller waits: a parked call alone is a row.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use placet_core::ids::InteractionId;
use placet_core::interaction::{CallKey, Resolution};
use placet_core::journal::Event;
use placet_core::listing::Committed;
use placet_core::outcome::Outcome;
use tokio::sync::oneshot;

/// Waiters for calls and for questions.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    calls: Waiting<CallKey, Outcome>,
    questions: Waiting<InteractionId, Resolution>,
}

impl Waiters {
    pub(crate) fn for_call(&self, key: &CallKey) -> oneshot::Receiver<Outcome> {
        self.calls.register(key)
    }

    /// Removes a waiter that found its call settled.
    pub(crate) fn forget_call(&self, key: &CallKey) {
        self.calls.tidy(key);
    }

    pub(crate) fn for_question(&self, id: &InteractionId) -> oneshot::Receiver<Resolution> {
        self.questions.register(id)
    }

    /// Wakes the waiters of the committed rows.
    pub(crate) fn wake(&self, rows: &[Committed]) {
        for row in rows {
            match &row.event {
                Event::Settled { call, outcome, .. } => self.calls.wake(call, outcome),
                // A late result can end the wait for a person: waiters look at the call again.
                Event::Finished { call, .. } => self.calls.disturb(call),
                Event::Resolved {
                    interaction,
                    resolution,
                } => self.questions.wake(interaction, resolution),
                _ => {}
            }
        }
    }
}

#[derive(Debug)]
struct Waiting<K, V>(Mutex<HashMap<K, Vec<oneshot::Sender<V>>>>);

impl<K, V> Default for Waiting<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Waiting<K, V> {
    fn register(&self, key: &K) -> oneshot::Receiver<V> {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let senders = waiting.entry(key.clone()).or_default();
        // Waiters that gave up are removed here, so a caller that polls for days does not pile up.
        senders.retain(|sender| !sender.is_closed());
        senders.push(sender);
        receiver
    }

    fn tidy(&self, key: &K) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut senders) = waiting.entry(key.clone()) {
            senders.get_mut().retain(|sender| !sender.is_closed());
            if senders.get().is_empty() {
                senders.remove();
            }
        }
    }

    fn wake(&self, key: &K, value: &V) {
        let senders = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
        for sender in senders.into_iter().flatten() {
            // The waiter may have given up; the value is stored, so nothing is lost.
            let _ = sender.send(value.clone());
        }
    }

    fn disturb(&self, key: &K) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}
