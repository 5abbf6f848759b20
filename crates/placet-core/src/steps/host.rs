//! What one process brings to runs of the built-in agent, and whether it can continue a run that another process began.

use std::collections::BTreeSet;

use crate::ids::{AgentId, ChannelName, SessionId};
use crate::messages::{Explain, Message, resume};
use crate::run::{Limits, RunStarted};
use crate::step::Refusal;

/// The agent of one process: where it works and what it thinks with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHost {
    /// The name under which its calls come to the gate.
    pub agent: AgentId,
    /// The folder it works in.
    pub workspace: String,
    /// The models it has, by name.
    pub models: BTreeSet<String>,
    /// The model of a run that names none.
    pub usual_model: String,
    /// How far its runs may go.
    pub limits: Limits,
    /// The channels on which a message begins a conversation.
    pub channels: BTreeSet<ChannelName>,
}

/// Why a process leaves a run alone. The run stays in the store as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResumeRefusal {
    /// The run is another agent's.
    NotYours(SessionId),
    /// A path means something else in another folder.
    Elsewhere {
        /// The session.
        session: SessionId,
        /// The folder of its run.
        workspace: String,
    },
    /// It began with a model that is not configured here.
    NoModel {
        /// The session.
        session: SessionId,
        /// The model of its run.
        model: String,
    },
}

impl Refusal for ResumeRefusal {}

impl Explain for ResumeRefusal {
    fn message(&self) -> Message {
        match self {
            Self::NotYours(session) => resume::not_yours(session),
            Self::Elsewhere { session, workspace } => resume::elsewhere(session, workspace),
            Self::NoModel { session, model } => resume::no_model(model, session),
        }
    }
}

crate::display_in_english!(ResumeRefusal);

impl RunHost {
    /// Whether this process can continue a run.
    pub fn resumes(&self, session: &SessionId, run: &RunStarted) -> Result<(), ResumeRefusal> {
        let session = session.clone();
        if run.origin.agent != self.agent {
            return Err(ResumeRefusal::NotYours(session));
        }
        // A run of an older version names no folder and goes on in any.
        if let Some(workspace) = run.workspace.clone().filter(|folder| *folder != self.workspace) {
            return Err(ResumeRefusal::Elsewhere { session, workspace });
        }
        if !self.models.contains(&run.model) {
            let model = run.model.clone();
            return Err(ResumeRefusal::NoModel { session, model });
        }
        Ok(())
    }
}
