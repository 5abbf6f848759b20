//! Evolving: applying what happened. Fails only on a corrupt journal.

use super::{Interaction, Pending, Resolution, Resolved};
use crate::ids::InteractionId;
use crate::journal::Event;
use crate::time::Timestamp;

/// An event that cannot have happened to this question: the journal is corrupt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal says `{event}` happened to {id}, which was {state} then")]
pub struct EvolveError {
    id: InteractionId,
    event: &'static str,
    state: &'static str,
}

impl Interaction {
    /// Applies an event that concerns this question.
    pub fn evolve(self, event: &Event, at: Timestamp) -> Result<Self, EvolveError> {
        let (id, state) = (self.asked().id.clone(), self.state_name());
        let corrupt = || EvolveError {
            id,
            event: event.name(),
            state,
        };
        match (self, event) {
            (Self::Pending(mut pending), Event::Voted { ballot, .. }) => {
                match pending.votes.insert(ballot.by.clone(), ballot.clone()) {
                    None => Ok(Self::Pending(pending)),
                    Some(_) => Err(corrupt()),
                }
            }
            (Self::Pending(pending), Event::Escalated { .. }) if !pending.escalated => {
                Ok(Self::Pending(Pending {
                    escalated: true,
                    ..pending
                }))
            }
            (Self::Pending(pending), Event::Resolved { resolution, .. }) => Ok(Self::Resolved(Resolved {
                asked: pending.asked,
                resolution: resolution.clone(),
                at,
            })),
            (Self::Resolved(resolved), Event::Processed { .. }) => Ok(Self::Processed(resolved)),
            _ => Err(corrupt()),
        }
    }

    /// The state's name, as stored and as shown.
    pub fn state_name(&self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Processed(_) => "processed",
            Self::Resolved(resolved) => resolved.resolution.name(),
        }
    }
}

impl Resolution {
    /// As stored and as shown.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Answered { .. } => "answered",
            Self::Expired { .. } => "expired",
            Self::Cancelled { .. } => "cancelled",
            Self::Superseded { .. } => "superseded",
        }
    }
}
