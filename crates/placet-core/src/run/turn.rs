//! The calls of one turn, each with its own verdict, question and result. Matched by id, never by position.

use super::{ModelCall, RequestedCall, RunEffect};
use crate::ids::SessionId;
use crate::interaction::{Asked, CallKey, Subject};
use crate::journal::CallResult;
use crate::outcome::Outcome;

/// One call of the turn under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// What the model wants.
    pub call: ModelCall,
    /// The call it was found to be the same as; that one's grant and result are its own.
    pub same_as: Option<CallKey>,
    /// How far it has come.
    pub state: SlotState,
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
pub enum SlotState {
    /// It has not been brought to the gate.
    New,
    /// It was received; the row that says what follows is the next one.
    Received,
    /// It waits for people.
    Waiting(Box<Asked>),
    /// It may run.
    Granted(Outcome),
    /// It runs.
    Running(Outcome),
    /// Another run does it; that run's end is its result.
    Delegated {
        /// Why it was allowed.
        outcome: Outcome,
        /// The session of that run.
        to: SessionId,
    },
    /// It may have run; the row that says what follows is the next one.
    Lost,
    /// It has its result.
    Answered(Answer),
}

/// The one result of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It ran.
    Ran {
        /// What it returned.
        result: CallResult,
        /// Why it was allowed to.
        outcome: Outcome,
    },
    /// It did not run, or that is unknown.
    NotRun(Outcome),
    /// It was no call.
    Nonsense(String),
    /// The run ended before anything was decided.
    Undecided,
}

impl Slot {
    /// A call the model just made.
    pub(super) fn new(call: ModelCall) -> Self {
        let state = match &call.wanted {
            RequestedCall::Call { .. } => SlotState::New,
            RequestedCall::Nonsense { why, .. } => SlotState::Answered(Answer::Nonsense(why.clone())),
        };
        Self {
            call,
            same_as: None,
            state,
        }
    }

    /// What has to be done about it now.
    pub(super) fn effect(&self) -> Option<RunEffect> {
        match (&self.state, &self.same_as) {
            (SlotState::New, _) => Some(RunEffect::Propose(self.call.id.clone())),
            (SlotState::Granted(_), None) => Some(RunEffect::Execute(self.call.id.clone())),
            _ => None,
        }
    }

    /// Its result, once it has one.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.state {
            SlotState::Answered(answer) => Some(answer),
            _ => None,
        }
    }

    /// Its result when the run ends: what has none gets one that cannot be read as success, and what may have run is not said
    /// never to have run.
    pub(super) fn answer_at_the_end(&self) -> Answer {
        let may_have_run = match &self.state {
            SlotState::Answered(answer) => return answer.clone(),
            SlotState::Running(_) | SlotState::Delegated { .. } | SlotState::Lost => true,
            SlotState::Waiting(asked) => matches!(asked.subject, Subject::UnknownOutcome { .. }),
            SlotState::New | SlotState::Received | SlotState::Granted(_) => false,
        };
        if !may_have_run {
            return Answer::Undecided;
        }
        let then = Outcome::Cancelled {
            why: "the run ended before its result was known".into(),
        };
        Answer::NotRun(Outcome::MayHaveRun { then: Box::new(then) })
    }

    /// The question it waits for.
    pub fn question(&self) -> Option<&Asked> {
        match &self.state {
            SlotState::Waiting(asked) => Some(asked),
            _ => None,
        }
    }

    /// It may run, or it will not: what that makes of it.
    pub(super) fn settle(&mut self, outcome: &Outcome) {
        self.state = if outcome.permits() {
            SlotState::Granted(outcome.clone())
        } else {
            SlotState::Answered(Answer::NotRun(outcome.clone()))
        };
    }

    /// Its run has ended.
    pub(super) fn finish(&mut self, result: &CallResult) {
        let outcome = match &self.state {
            SlotState::Granted(outcome)
            | SlotState::Running(outcome)
            | SlotState::Delegated { outcome, .. } => outcome.clone(),
            // A late result: why it was allowed to run was said before it was lost track of.
            _ => Outcome::Allowed,
        };
        self.state = SlotState::Answered(Answer::Ran {
            result: result.clone(),
            outcome,
        });
    }
}
