//! On which terms a run of the built-in agent makes its calls. Later questions about them are asked on the
//! same ones.

use std::sync::Arc;

use crate::call::ToolCall;
use crate::config::Workflow;
use crate::ids::SessionId;
use crate::policy::Context;
use crate::snapshot::{Snapshot, Undecided};
use crate::time::{Millis, Timestamp};
use crate::verdict::AskTerms;

use super::{Rules, channel_of, open_run};

/// The terms of a run.
#[derive(Debug, Clone, Default)]
pub struct RunTerms {
    /// The workflow it began with.
    pub workflow: Option<Arc<Workflow>>,
    /// When it has to be over; no question about its calls stays open longer.
    pub until: Option<Timestamp>,
}

impl RunTerms {
    /// Those of the run that is going on in a session; none at all where there is no run.
    pub(crate) fn of(snapshot: &Snapshot, session: &SessionId) -> Result<Self, Undecided> {
        let Some(run) = open_run(snapshot, session)? else {
            return Ok(Self::default());
        };
        Ok(Self {
            workflow: run.started.workflow.clone().map(Arc::from),
            until: run.started.until,
        })
    }

    /// How long a question about one of its calls stays open.
    pub(crate) fn timeout(
        &self,
        rules: &Rules<'_>,
        now: Timestamp,
        terms: &AskTerms,
        call: &ToolCall,
    ) -> Millis {
        let workflow = self.workflow.as_deref();
        let configured = rules.config.timeout(terms.timeout, workflow, channel_of(call));
        self.within(now, configured)
    }

    /// No longer than the run itself may take.
    pub(crate) fn within(&self, now: Timestamp, timeout: Millis) -> Millis {
        let left = self.until.map(|until| until.remaining_from(now));
        left.map_or(timeout, |left| timeout.min(left))
    }

    /// What policy is told, with what the workflow says.
    pub(crate) fn context<'a>(&'a self, context: Context<'a>) -> Context<'a> {
        match self.workflow.as_deref() {
            Some(workflow) => Context {
                workflow_allow_list: &workflow.auto_approved_tools,
                workflow_only: workflow.only,
                workflow_strict: workflow.strict,
                ..context
            },
            None => context,
        }
    }
}
