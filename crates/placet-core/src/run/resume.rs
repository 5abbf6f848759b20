//! Where a run stands, in the words of the interaction document. Derived from the journal and stored nowhere else.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Run, SlotState, Stage};
use crate::ids::{InteractionId, SessionId};
use crate::interaction::{InteractionKind, InteractionOption, Locale};

/// The three stages of a `ReAct` run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReActStage {
    /// The model is to speak.
    Thinking,
    /// Calls are under way.
    Action,
    /// The model is to read the results.
    Observation,
}

/// The point at which a run that was interrupted goes on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumePoint {
    /// Its id: the session and the turn.
    pub resume_id: String,
    /// The session.
    pub session_id: SessionId,
    /// How often the model has spoken.
    pub current_iteration: u32,
    /// Where it stopped.
    pub paused_stage: ReActStage,
    /// The question it waits for first, if it waits for one.
    pub interaction_request: Option<OpenRequest>,
    /// Always absent while the question is open; an answer moves the run on in the same step.
    pub user_response: Option<Value>,
    /// What the run knows: its model, and how far each call of the turn has come.
    pub context: Map<String, Value>,
    /// What it was asked to do.
    pub original_task: String,
}

/// A question as the interaction document writes it, without the texts a surface renders.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    /// Its id.
    pub request_id: InteractionId,
    /// Its session.
    pub session_id: SessionId,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: InteractionKind,
    /// The ways to answer.
    pub options: Vec<InteractionOption>,
}

impl Run {
    /// Where it stands; `None` when no run is going on.
    pub fn resume_point(&self) -> Option<ResumePoint> {
        let started = self.started.as_ref()?;
        let paused_stage = match self.stage {
            Stage::Thinking => ReActStage::Thinking,
            Stage::Acting(_) => ReActStage::Action,
            Stage::Observing => ReActStage::Observation,
            Stage::Idle | Stage::Ended(_) => return None,
        };
        let open = self.slots().iter().find_map(|slot| slot.question());
        let calls = self.slots().iter().map(|slot| {
            json!({ "callId": slot.call.id, "tool": slot.call.tool(), "state": state_name(&slot.state) })
        });
        let mut context = Map::new();
        context.insert("model".into(), started.model.clone().into());
        context.insert("messages".into(), self.transcript.len().into());
        context.insert("calls".into(), calls.collect());
        Some(ResumePoint {
            resume_id: format!("{}:{}", self.session, self.turns),
            session_id: self.session.clone(),
            current_iteration: self.turns,
            paused_stage,
            interaction_request: open.map(|asked| OpenRequest {
                request_id: asked.id.clone(),
                session_id: asked.session.clone(),
                kind: asked.kind(),
                options: asked.options(Locale::English),
            }),
            user_response: None,
            context,
            original_task: started.task.clone(),
        })
    }
}

fn state_name(state: &SlotState) -> &'static str {
    match state {
        SlotState::New => "new",
        SlotState::Received => "received",
        SlotState::Waiting(_) => "waiting",
        SlotState::Granted(_) => "granted",
        SlotState::Running(_) => "running",
        SlotState::Delegated { .. } => "delegated",
        SlotState::Lost => "unknown",
        SlotState::Answered(_) => "answered",
    }
}
