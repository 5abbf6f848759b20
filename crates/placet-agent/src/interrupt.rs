//! Stopping what a run is doing, so that a person can say something else.

use placet_core::ids::{PersonId, SessionId};
use placet_core::steps;
use placet_store::{StepError, StoreError};

use crate::agent::Agent;

impl Agent {
    /// Stops what the run of a session is doing: the model's answer is dropped, calls that run are stopped and their
    /// results say so, open questions are withdrawn, and the run ends. The conversation continues with the next message.
    /// A run that cannot go on here ends at once. Whether a run was going on. The caller has checked that `by` may do this.
    pub async fn interrupt(&self, session: &SessionId, by: &PersonId) -> Result<bool, StoreError> {
        let host = &self.inner.host;
        let interrupt = self
            .engine()
            .transact(|snapshot, _| steps::interrupt_run(snapshot, host, session, by));
        interrupt.await.map_err(StepError::into_store_error)
    }
}
