//! What a journal row is about: which call, which question, which person.

use std::collections::BTreeSet;

use placet_core::ids::InteractionId;
use placet_core::interaction::{CallKey, Resolution};
use placet_core::journal::Event;

/// The calls an event is about.
pub(super) fn calls(event: &Event) -> Vec<CallKey> {
    match event {
        Event::CallReceived { call, .. } => {
            vec![CallKey {
                agent: call.origin.agent.clone(),
                call: call.id.clone(),
            }]
        }
        Event::Asked(asked) => asked.call().cloned().into_iter().collect(),
        Event::Joined { call, same_as, .. } => vec![call.clone(), same_as.clone()],
        Event::Settled { call, .. }
        | Event::Claimed { call, .. }
        | Event::Finished { call, .. }
        | Event::LostTrack { call, .. }
        | Event::StandingUsed { call, .. } => vec![call.clone()],
        Event::Escalated { .. }
        | Event::Voted { .. }
        | Event::Commented { .. }
        | Event::Resolved { .. }
        | Event::Processed { .. }
        | Event::StandingGiven(_)
        | Event::StandingRevoked { .. }
        | Event::ToolAllowed { .. }
        | Event::ModeSet { .. }
        | Event::SessionEnded { .. }
        | Event::MessageQueued(_)
        | Event::RunStarted(_)
        | Event::UserSaid { .. }
        | Event::ModelTurn(_)
        | Event::RunInterrupted { .. }
        | Event::VariablesChanged { .. }
        | Event::RunEnded { .. }
        | Event::Delivered { .. }
        | Event::Outage { .. }
        | Event::Started { .. } => Vec::new(),
    }
}

/// The question an event is about.
pub(super) fn question(event: &Event) -> Option<&InteractionId> {
    match event {
        Event::Asked(asked) => Some(&asked.id),
        Event::Joined { interaction, .. }
        | Event::Escalated { interaction, .. }
        | Event::Voted { interaction, .. }
        | Event::Commented { interaction, .. }
        | Event::Resolved { interaction, .. }
        | Event::Processed { interaction }
        | Event::VariablesChanged { interaction, .. }
        | Event::Delivered { interaction, .. } => Some(interaction),
        _ => None,
    }
}

/// Who did it, when it was a person's doing.
pub(super) fn people(event: &Event) -> String {
    let list = |people: &mut dyn Iterator<Item = &placet_core::ids::PersonId>| {
        people
            .map(placet_core::ids::PersonId::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let person =
        |person: Option<&placet_core::ids::PersonId>| person.map(ToString::to_string).unwrap_or_default();
    match event {
        Event::Voted { ballot, .. } => ballot.by.to_string(),
        Event::Resolved {
            resolution: Resolution::Answered { ballot, by, .. },
            ..
        } => {
            if by.is_empty() {
                ballot.by.to_string()
            } else {
                list(&mut by.iter())
            }
        }
        Event::StandingGiven(grant) => grant.by.to_string(),
        Event::StandingRevoked { by, .. } | Event::ToolAllowed { by, .. } | Event::ModeSet { by, .. } => {
            by.to_string()
        }
        Event::VariablesChanged { by, .. } | Event::Commented { by, .. } => by.to_string(),
        Event::SessionEnded { by } => by.clone(),
        Event::RunStarted(run) => person(run.origin.user.as_ref()),
        Event::UserSaid { by, .. } => person(by.as_ref()),
        Event::MessageQueued(message) => format!("{}:{}", message.channel, message.sender_id),
        _ => String::new(),
    }
}

/// Calls and questions that hang together.
pub(super) struct Thread {
    calls: BTreeSet<CallKey>,
    questions: BTreeSet<InteractionId>,
}

impl Thread {
    pub(super) fn of_call(call: CallKey) -> Self {
        Self {
            calls: BTreeSet::from([call]),
            questions: BTreeSet::new(),
        }
    }

    pub(super) fn of_question(id: InteractionId) -> Self {
        Self {
            calls: BTreeSet::new(),
            questions: BTreeSet::from([id]),
        }
    }

    /// How many calls and questions are known to hang together.
    pub(super) fn len(&self) -> usize {
        self.calls.len() + self.questions.len()
    }

    /// Whether the event belongs here; if so, what else it is about belongs here too.
    pub(super) fn takes(&mut self, event: &Event) -> bool {
        let calls = calls(event);
        let question = question(event);
        let belongs = calls.iter().any(|call| self.calls.contains(call))
            || question.is_some_and(|question| self.questions.contains(question));
        if belongs {
            self.calls.extend(calls);
            self.questions.extend(question.cloned());
            if let Event::Resolved {
                resolution: Resolution::Superseded { by },
                ..
            } = event
            {
                self.questions.insert(by.clone());
            }
        }
        belongs
    }
}
