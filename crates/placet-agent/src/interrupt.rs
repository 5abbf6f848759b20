//! Stopping what a run is doing, so that a person can say something else.

use placet_core::ids::{PersonId, SessionId};
use placet_engine::steps;
use placet_store::{StepError, StoreError};

use crate::agent::Agent;

impl Agent {
    /// Stops what the run of a session is doing: nobody listens to the model any more, calls that run are stopped and their
    /// results say so, open questions are withdrawn, and the run ends. The conversation goes on with the next message.
    /// Whether a run was going on. That `by` may do this was found out by whoever calls.
    pub async fn interrupt(&self, session: &SessionId, by: &PersonId) -> Result<bool, StoreError> {
        let (session, by) = (session.clone(), by.clone());
        let step = move |view: &placet_store::View<'_>, _| steps::interrupt_run(view, &session, &by);
        let interrupted = self.engine().store().step(step).await;
        interrupted.map_err(StepError::flatten)
    }
}
