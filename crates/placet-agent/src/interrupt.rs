//! Stopping what a run is doing, so that a person can say something else.

use placet_core::ids::{PersonId, SessionId};
use placet_core::snapshot::Snapshot;
use placet_core::step::{Decided, Step};
use placet_core::steps;
use placet_store::{StepError, StoreError};

use crate::agent::{Agent, Inner, ResumeError};

impl Agent {
    /// Stops what the run of a session is doing: nobody listens to the model any more, calls that run are stopped and their
    /// results say so, open questions are withdrawn, and the run ends. The conversation goes on with the next message.
    /// A run that cannot go on here ends at once. Whether a run was going on. That `by` may do this was found out by whoever calls.
    pub async fn interrupt(&self, session: &SessionId, by: &PersonId) -> Result<bool, StoreError> {
        let interrupt = self
            .engine()
            .transact(|snapshot, _| interrupted(&self.inner, snapshot, session, by));
        interrupt.await.map_err(StepError::into_store_error)
    }
}

fn interrupted(agent: &Inner, snapshot: &Snapshot, session: &SessionId, by: &PersonId) -> Decided<bool> {
    let Some(run) = snapshot.run(session)?.as_ref().filter(|run| !run.ended) else {
        return Ok(Step::nothing(false));
    };
    match agent.drives(session, &run.started) {
        // One process has the store, so nobody at all does what this agent cannot.
        Err(ResumeError::Elsewhere { .. } | ResumeError::NoModel { .. }) => {
            steps::interrupt_left_alone(snapshot, session, by)
        }
        // Another agent of this process ends its own.
        Err(ResumeError::NotYours(_) | ResumeError::Store(_)) | Ok(()) => {
            steps::interrupt_run(snapshot, session, by)
        }
    }
}
