//! What happened, as it happens: a subscription to the journal, and the three interaction events of the seed documents.

use placet_core::call::ToolCall;
use placet_core::ids::{InteractionId, SessionId};
use placet_core::interaction::{Asked, Resolution, Subject};
use placet_core::journal::Event;
use placet_store::{Committed, StoreError};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::engine::Engine;

/// How many rows are fetched at once.
const PAGE: usize = 256;

/// The journal, row by row, from some point on. Reads from the store, so a slow subscriber loses nothing and costs nothing.
pub struct Subscription {
    engine: Engine,
    committed: watch::Receiver<u64>,
    session: Option<SessionId>,
    after: u64,
    page: std::vec::IntoIter<Committed>,
}

impl Engine {
    /// Everything committed after row `after`, for ever; of one session, or of all.
    pub fn subscribe(&self, after: u64, session: Option<SessionId>) -> Subscription {
        Subscription {
            engine: self.clone(),
            committed: self.inner.committed.clone(),
            session,
            after,
            page: Vec::new().into_iter(),
        }
    }

    /// The id of the newest row.
    pub async fn head(&self) -> Result<u64, StoreError> {
        self.inner.store.read(|view, _| view.head()).await
    }
}

impl Subscription {
    /// The next row; waits for one.
    pub async fn next(&mut self) -> Result<Committed, StoreError> {
        loop {
            if let Some(row) = self.page.next() {
                self.after = row.id;
                return Ok(row);
            }
            self.committed.mark_unchanged();
            let (after, session) = (self.after, self.session.clone());
            let store = &self.engine.inner.store;
            let page = store
                .read(move |view, _| view.journal(after, PAGE, session.as_ref()))
                .await?;
            if page.is_empty() && self.committed.changed().await.is_err() {
                return Err(StoreError::Closed);
            }
            self.page = page.into_iter();
        }
    }

    /// The next interaction event, skipping everything else.
    pub async fn next_interaction(&mut self) -> Result<InteractionEvent, StoreError> {
        loop {
            let row = self.next().await?;
            let call = match &row.event {
                Event::Asked(asked) => self.call_of(asked).await?,
                _ => None,
            };
            if let Some(event) = InteractionEvent::of(&row, call.as_ref()) {
                return Ok(event);
            }
        }
    }

    async fn call_of(&self, asked: &Asked) -> Result<Option<ToolCall>, StoreError> {
        let Some(key) = asked.call().cloned() else {
            return Ok(None);
        };
        let record = self
            .engine
            .inner
            .store
            .read(move |view, _| view.call(&key))
            .await?;
        Ok(record.map(|record| record.call))
    }
}

/// One of the three interaction events.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InteractionEvent {
    /// Which.
    #[serde(rename = "type")]
    pub kind: InteractionEventKind,
    /// When, in milliseconds since 1970.
    pub timestamp: i64,
    /// In which session.
    pub session_id: SessionId,
    /// Which question.
    pub interaction_id: InteractionId,
    /// What kind of question.
    pub operation_type: &'static str,
    /// The question, the answer, or what came of it.
    pub detail: Value,
}

/// The three interaction events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum InteractionEventKind {
    /// People are asked.
    UserInteractionRequested,
    /// They have answered, or time did.
    UserInteractionResponded,
    /// The asker knows.
    UserInteractionProcessed,
}

impl InteractionEvent {
    fn of(row: &Committed, call: Option<&ToolCall>) -> Option<Self> {
        use InteractionEventKind::{
            UserInteractionProcessed, UserInteractionRequested, UserInteractionResponded,
        };
        let (kind, interaction_id, operation_type, detail) = match &row.event {
            Event::Asked(asked) => (
                UserInteractionRequested,
                asked.id.clone(),
                operation(asked),
                requested(asked, call),
            ),
            Event::Resolved {
                interaction,
                resolution,
            } => (
                UserInteractionResponded,
                interaction.clone(),
                "RESPONSE",
                responded(resolution),
            ),
            Event::Processed { interaction } => {
                (UserInteractionProcessed, interaction.clone(), "RESULT", json!({}))
            }
            _ => return None,
        };
        let (timestamp, session_id) = (row.at.as_millis(), row.session.clone());
        Some(Self {
            kind,
            timestamp,
            session_id,
            interaction_id,
            operation_type,
            detail,
        })
    }
}

fn operation(asked: &Asked) -> &'static str {
    match &asked.subject {
        Subject::Call { .. } | Subject::UnknownOutcome { .. } => "TOOL_APPROVAL",
        Subject::Breaker { .. } | Subject::Request { .. } => "ADD_MESSAGE",
    }
}

fn requested(asked: &Asked, call: Option<&ToolCall>) -> Value {
    let mut detail = json!({
        "timeout": asked.allowance().get(),
        "options": asked.options(placet_core::interaction::Locale::English),
    });
    if let Some(call) = call {
        detail["metadata"] = json!({ "toolApproval": {
            "toolName": call.tool,
            "toolDescription": call.description,
            "toolParameters": call.args,
            "approved": false,
        }});
    }
    detail
}

fn responded(resolution: &Resolution) -> Value {
    serde_json::to_value(resolution).unwrap_or_default()
}
