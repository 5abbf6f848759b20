//! Whether a client that was let in may stay. A stream outlives its request, so it asks before everything it sends, and hears
//! at once when the answer may be another.

use tokio::sync::watch;

use super::Caller;
use crate::state::State;

/// A client that stays.
pub(crate) struct Welcome {
    state: State,
    caller: Caller,
    changes: watch::Receiver<()>,
}

impl Welcome {
    pub(crate) fn new(state: &State, caller: Caller) -> Self {
        Self {
            state: state.clone(),
            caller,
            changes: state.access_changes(),
        }
    }

    /// Whether they may still be here: a revoked token, another role, a sign-out and a ticket's end all end it.
    pub(crate) fn holds(&self) -> bool {
        self.caller.is_welcome(&self.state)
    }

    /// Waits until that may have changed.
    pub(crate) async fn changed(&mut self) {
        if self.changes.changed().await.is_err() {
            // Nothing will change any more; callers wait for something else as well.
            std::future::pending::<()>().await;
        }
    }
}
