//! Stopping what a run is doing, so that a person can say something else.

use std::sync::Arc;

use placet_core::ids::{PersonId, SessionId};
use placet_engine::steps;
use placet_store::{Step, StepError, StoreError, View};

use crate::agent::{Agent, Inner, ResumeError};

impl Agent {
    /// Stops what the run of a session is doing: nobody listens to the model any more, calls that run are stopped and their
    /// results say so, open questions are withdrawn, and the run ends. The conversation goes on with the next message.
    /// A run that cannot go on here ends at once. Whether a run was going on. That `by` may do this was found out by whoever calls.
    pub async fn interrupt(&self, session: &SessionId, by: &PersonId) -> Result<bool, StoreError> {
        let (session, by) = (session.clone(), by.clone());
        let inner = Arc::clone(&self.inner);
        let step = move |view: &View<'_>, _| interrupted(&inner, view, &session, &by);
        let interrupted = self.engine().store().step(step).await;
        interrupted.map_err(StepError::flatten)
    }
}

fn interrupted(
    agent: &Inner,
    view: &View<'_>,
    session: &SessionId,
    by: &PersonId,
) -> Result<Step<bool>, StoreError> {
    let Some(run) = view.run(session)?.filter(|run| run.ended.is_none()) else {
        return Ok(Step::nothing(false));
    };
    match agent.drives(session, &view.run_started(&run)?) {
        // One process has the store, so nobody at all does what this agent cannot.
        Err(ResumeError::Elsewhere { .. } | ResumeError::NoModel { .. }) => {
            steps::interrupt_left_alone(view, session, by)
        }
        // Another agent of this process ends its own.
        Err(ResumeError::NotYours(_)) | Ok(()) => steps::interrupt_run(view, session, by),
        Err(ResumeError::Store(error)) => Err(error),
    }
}
