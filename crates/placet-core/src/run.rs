//! The run: the built-in agent working in a session, as a pure state machine over the journal.
//!
//! A session's rows go in through [`Run::evolve`], one by one; what has to be done next comes out of [`Run::effects`] as data.
//! Nothing else is state. A process that resumes a run reads the same rows and stands where the dead one stood, so there is no
//! difference between going on and resuming.
//!
//! ```text
//! thinking ──turn──▶ acting ──every call has its result──▶ observing ──turn──▶ …
//!     └──no calls──▶ ended          │ (some wait for people: parked)
//! ```
//!
//! | file | part |
//! |---|---|
//! | `events.rs` | what the journal says about runs |
//! | `turn.rs` | the calls of one turn, each with its own fate |
//! | `evolve.rs` | applying what happened |
//! | `transcript.rs` | what the model reads |
//! | `resume.rs` | where a run stands, in the words of the interaction document |

use crate::call::{Origin, ToolCall};
use crate::ids::{CallId, GroupId, PersonId, SessionId};
use crate::interaction::CallKey;
use crate::variables::Variables;

mod events;
mod evolve;
mod resume;
#[cfg(test)]
mod tests;
mod transcript;
mod turn;

pub use events::{Limits, ModelCall, ModelTurn, Parent, RequestedCall, RunEnd, RunStarted, Usage};
pub use evolve::EvolveError;
pub use resume::{ReActStage, ResumePoint};
pub use transcript::Message;
pub use turn::{Answer, Slot, SlotState};

/// How deep runs may hand work on to runs of their own.
pub const DEPTH_MAX: usize = 3;

/// The runs of one session, one after the other: the conversation so far and how far the newest run has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    session: SessionId,
    stage: Stage,
    started: Option<RunStarted>,
    /// Turns of the newest run.
    turns: u32,
    /// Messages received in the newest run.
    said: u32,
    /// Why the model had not said all of its newest turn, when it had not.
    cut: Option<String>,
    transcript: Vec<Message>,
    /// Messages that came during the turn, read after it.
    queued: Vec<Message>,
    /// Who ended the session, if it was ended.
    session_ended: Option<String>,
    /// Who interrupted the newest run, if it was interrupted.
    interrupted: Option<PersonId>,
    /// Messages that came after that: they begin the next run.
    held_over: Vec<String>,
    /// The variables of the newest run's workflow, as they are now.
    variables: Variables,
}

/// How far the newest run has come.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// No run has begun.
    Idle,
    /// The model is to speak: for the first time, or in reply to a message.
    Thinking,
    /// The calls of a turn are under way.
    Acting(Vec<Slot>),
    /// The results are in; the model is to read them.
    Observing,
    /// Nothing happens until a new run is started.
    Ended(RunEnd),
}

/// Something to be done now. Doing it leads to an event; until that is stored it is still to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEffect {
    /// Show the model the transcript, and store what it says.
    AskModel,
    /// Bring this call to the gate.
    Propose(CallId),
    /// Claim this call's grant and run it.
    Execute(CallId),
    /// Store that the run has ended.
    End(RunEnd),
}

impl Run {
    /// A session in which nothing has happened.
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            stage: Stage::Idle,
            started: None,
            turns: 0,
            said: 0,
            cut: None,
            transcript: Vec::new(),
            queued: Vec::new(),
            session_ended: None,
            interrupted: None,
            held_over: Vec::new(),
            variables: Variables::new(),
        }
    }

    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// How far the newest run has come.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// How the newest run began.
    pub fn started(&self) -> Option<&RunStarted> {
        self.started.as_ref()
    }

    /// The variables of the newest run's workflow, as they are now.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// How many turns the newest run has had.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// How many messages came in while the newest run was going on.
    pub fn said(&self) -> u32 {
        self.said
    }

    /// What the model reads.
    pub fn transcript(&self) -> &[Message] {
        &self.transcript
    }

    /// Everything that has to be done now. Nothing at all: the run is parked, ended, or waits for what is under way.
    pub fn effects(&self) -> Vec<RunEffect> {
        if let Some(end) = self.stopped() {
            return self.wind_up(end);
        }
        match &self.stage {
            Stage::Idle | Stage::Ended(_) => Vec::new(),
            Stage::Thinking | Stage::Observing => match self.exhausted() {
                Some(end) => vec![RunEffect::End(end)],
                None => vec![self.after_the_last_word()],
            },
            Stage::Acting(slots) => slots.iter().filter_map(Slot::effect).collect(),
        }
    }

    /// Whether nothing can happen before a person, the clock, or a run it handed work to decides something.
    pub fn is_parked(&self) -> bool {
        match &self.stage {
            Stage::Acting(slots) => {
                self.effects().is_empty()
                    && !slots
                        .iter()
                        .any(|slot| matches!(slot.state, SlotState::Running(_)))
            }
            Stage::Idle | Stage::Thinking | Stage::Observing | Stage::Ended(_) => false,
        }
    }

    /// Whether a run has begun and not ended.
    pub fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Idle | Stage::Ended(_))
    }

    /// How many runs stand between this one and a person; 0 for the root.
    pub fn depth(&self) -> usize {
        self.origin().map_or(0, |origin| origin.agent_path.len())
    }

    /// The sessions of the runs that do calls of the turn under way.
    pub fn children(&self) -> impl Iterator<Item = &SessionId> {
        self.slots().iter().filter_map(|slot| match &slot.state {
            SlotState::Delegated { to, .. } => Some(to),
            _ => None,
        })
    }

    /// Messages that came after the run was interrupted, and the model has not answered: the task of a run that is to begin when this one
    /// ends.
    pub fn held_over(&self) -> Option<String> {
        (!self.held_over.is_empty()).then(|| self.held_over.join("\n\n"))
    }

    /// What the model said last.
    pub fn last_words(&self) -> &str {
        let said = self.transcript.iter().rev().find_map(|message| match message {
            Message::Model { text, .. } => Some(text.as_str()),
            Message::User { .. } | Message::Result { .. } => None,
        });
        said.unwrap_or_default()
    }

    /// The calls of the turn under way.
    pub fn slots(&self) -> &[Slot] {
        match &self.stage {
            Stage::Acting(slots) => slots,
            Stage::Idle | Stage::Thinking | Stage::Observing | Stage::Ended(_) => &[],
        }
    }

    /// A call of the turn under way, as it goes to the gate.
    pub fn call(&self, id: &CallId) -> Option<ToolCall> {
        let slots = self.slots();
        let slot = slots.iter().find(|slot| slot.call.id == *id)?;
        let RequestedCall::Call { tool, args } = &slot.call.wanted else {
            return None;
        };
        let group = match slots {
            [first, _, ..] => GroupId::new(first.call.id.as_str()).ok(),
            _ => None,
        };
        Some(ToolCall {
            id: id.clone(),
            tool: tool.clone(),
            args: args.clone(),
            session: self.session.clone(),
            origin: self.origin()?.clone(),
            group,
            description: self.why(),
        })
    }

    /// What the model said with its newest calls.
    fn why(&self) -> Option<String> {
        match self.transcript.last() {
            Some(Message::Model { text, .. }) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => None,
        }
    }

    /// Where the newest run's calls come from.
    pub fn origin(&self) -> Option<&Origin> {
        self.started.as_ref().map(|started| &started.origin)
    }

    fn key(&self, id: &CallId) -> Option<CallKey> {
        Some(CallKey {
            agent: self.origin()?.agent.clone(),
            call: id.clone(),
        })
    }

    /// How the run will end, when a person stopped it.
    fn stopped(&self) -> Option<RunEnd> {
        let terminated = self
            .session_ended
            .as_ref()
            .map(|by| RunEnd::Terminated { by: by.clone() });
        let interrupted = self
            .interrupted
            .as_ref()
            .map(|by| RunEnd::Interrupted { by: by.to_string() });
        terminated.or(interrupted)
    }

    /// A person stopped the run: what runs is let finish, nothing is begun.
    fn wind_up(&self, end: RunEnd) -> Vec<RunEffect> {
        if !self.is_open() || self.is_running() {
            return Vec::new();
        }
        vec![RunEffect::End(end)]
    }

    /// Whether a call is under way that will have a result whatever the decisions are.
    pub fn is_running(&self) -> bool {
        let under_way =
            |slot: &Slot| matches!(slot.state, SlotState::Running(_) | SlotState::Delegated { .. });
        self.slots().iter().any(under_way)
    }

    /// A turn without calls is the model's last word, unless a user wrote something since. Half a word is no last word.
    fn after_the_last_word(&self) -> RunEffect {
        match (self.transcript.last(), &self.cut) {
            (Some(Message::Model { .. }), None) => RunEffect::End(RunEnd::Completed),
            (Some(Message::Model { .. }), Some(why)) => RunEffect::End(RunEnd::Failed { why: why.clone() }),
            _ => RunEffect::AskModel,
        }
    }

    fn exhausted(&self) -> Option<RunEnd> {
        let max = self.started.as_ref()?.limits.turns_max;
        let last_word = matches!(self.transcript.last(), Some(Message::Model { .. }));
        (self.turns >= max && !last_word).then_some(RunEnd::LimitReached { turns: max })
    }
}
