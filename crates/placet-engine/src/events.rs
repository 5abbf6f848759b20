//! What happened, as it happens: a subscription to the journal, and the three interaction events of the seed documents.

use placet_core::call::Args;
use placet_core::ids::{InteractionId, SessionId};
use placet_core::interaction::{Action, Asked, Interaction, InteractionOption, Locale, Resolution, Subject};
use placet_core::journal::Event;
use placet_core::listing::{Committed, JournalPage};
use placet_core::messages::{event, request};
use placet_core::outcome::Outcome;
use placet_core::record::{CallRecord, CallState};
use placet_core::snapshot::{Need, Snapshot, Undecided};
use placet_core::time::Timestamp;
use placet_core::variables;
use placet_store::StoreError;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::engine::Engine;

/// How many rows are fetched at once.
const PAGE: usize = 256;

/// The journal, row by row, from some point on. Reads from the store, so a slow subscriber loses nothing and costs nothing.
///
/// ```
/// use placet_core::call::ToolCall;
/// use placet_core::config::Config;
/// use placet_engine::{Engine, events::InteractionEventKind};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::builder(Config::builtin(placet_inspect::builtin())).start_in_memory().await?;
/// let mut events = engine.subscribe(0, None); // a stored row id resumes without loss
/// let call: ToolCall = serde_json::from_value(json!({
///     "id": "call_1", "tool": "deploy", "args": { "to": "staging" },
///     "session": "job-1", "origin": { "agent": "my-agent" },
/// }))?;
/// engine.gate().propose(call).await?;
/// let event = events.next_interaction().await?;
/// assert_eq!(event.kind, InteractionEventKind::UserInteractionRequested);
/// let json = serde_json::to_value(&event)?;
/// assert_eq!(json["metadata"]["toolApproval"]["toolParameters"], json!({ "to": "staging" }));
/// # Ok(())
/// # }
/// ```
pub struct Subscription {
    engine: Engine,
    committed: watch::Receiver<u64>,
    whose: Whose,
    after: u64,
    page: std::vec::IntoIter<Committed>,
}

/// Whose rows a subscription shows.
enum Whose {
    All,
    /// Of these sessions, and of those they are followed to.
    Of(Vec<SessionId>),
}

impl Whose {
    /// The next rows, in order.
    fn page(&self, stored: &Snapshot, after: u64) -> Result<Vec<Committed>, Undecided> {
        match self {
            Self::All => stored.journal(&JournalPage::of_all(after, PAGE)).cloned(),
            Self::Of(sessions) => match sessions.as_slice() {
                [session] => stored.journal(&JournalPage::of(session, after, PAGE)).cloned(),
                several => merged(stored, after, several),
            },
        }
    }
}

/// The rows of several sessions, in order. None is past the head that was looked at first, nor past the end of a page that was
/// not read whole: what comes before it may be missing.
fn merged(stored: &Snapshot, after: u64, sessions: &[SessionId]) -> Result<Vec<Committed>, Undecided> {
    let page = |session: &SessionId| JournalPage::of(session, after, PAGE);
    stored.require(sessions.iter().map(|session| Need::Journal(page(session))))?;
    let mut last = *stored.head(&())?;
    let mut rows = Vec::new();
    for session in sessions {
        let page = stored.journal(&page(session))?;
        if let Some(end) = page.get(PAGE - 1) {
            last = last.min(end.id);
        }
        rows.extend_from_slice(page);
    }
    rows.retain(|row| row.id <= last);
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}

impl Engine {
    /// Everything committed after row `after`, without end; of one session, or of all.
    pub fn subscribe(&self, after: u64, session: Option<SessionId>) -> Subscription {
        Subscription {
            engine: self.clone(),
            committed: self.inner.committed.clone(),
            whose: session.map_or(Whose::All, |session| Whose::Of(vec![session])),
            after,
            page: Vec::new().into_iter(),
        }
    }

    /// Changes with every commit: the id of its last row. For those who follow the journal for many at once.
    pub fn committed(&self) -> watch::Receiver<u64> {
        self.inner.committed.clone()
    }

    /// The id of the newest row.
    pub async fn head(&self) -> Result<u64, StoreError> {
        self.inner.store.look(|stored| stored.head(&()).copied()).await
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
            let store = &self.engine.inner.store;
            let page = store.look(|stored| self.whose.page(stored, self.after)).await?;
            if page.is_empty() && self.committed.changed().await.is_err() {
                return Err(StoreError::Closed);
            }
            self.page = page.into_iter();
        }
    }

    /// Shows the rows of another session too, from here on.
    pub fn follow(&mut self, session: SessionId) {
        if let Whose::Of(sessions) = &mut self.whose
            && !sessions.contains(&session)
        {
            sessions.push(session);
            // What was fetched was fetched without it.
            self.page = Vec::new().into_iter();
        }
    }

    /// The next interaction event, skipping everything else.
    pub async fn next_interaction(&mut self) -> Result<InteractionEvent, StoreError> {
        loop {
            let row = self.next().await?;
            let about = match &row.event {
                Event::Asked(asked) => &asked.id,
                Event::Resolved { interaction, .. } | Event::Processed { interaction } => interaction,
                _ => continue,
            };
            let name = row.event.name();
            if let Some(event) = self.engine.interaction_event(name, about, row.at).await? {
                return Ok(event);
            }
        }
    }
}

impl Engine {
    /// The interaction event of a journal row: of its name, the question it is about, and when it was. `None` for any
    /// other row.
    pub async fn interaction_event(
        &self,
        row: &str,
        question: &InteractionId,
        at: Timestamp,
    ) -> Result<Option<InteractionEvent>, StoreError> {
        let kind = match row {
            "asked" => InteractionEventKind::UserInteractionRequested,
            "resolved" => InteractionEventKind::UserInteractionResponded,
            "processed" => InteractionEventKind::UserInteractionProcessed,
            _ => return Ok(None),
        };
        let about = self.about(question).await?;
        Ok(about.map(|about| about.event(kind, at)))
    }

    async fn about(&self, id: &InteractionId) -> Result<Option<About>, StoreError> {
        let look = self.inner.store.look(|stored| {
            let Some((interaction, call)) = stored.question(id)? else {
                return Ok(None);
            };
            let run = stored.run(&interaction.asked().session)?.as_ref();
            let workflow = run.and_then(|run| run.started.workflow.as_ref()?.name.clone());
            Ok(Some((interaction, call, workflow)))
        });
        let Some((interaction, call, workflow)) = look.await? else {
            return Ok(None);
        };
        let channel = interaction.asked().chat.as_ref().map(|chat| &chat.channel);
        let locale = self.in_force().config.locale(channel);
        Ok(Some(About {
            interaction,
            call,
            workflow,
            locale,
        }))
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
    /// The workflow of the run that asks; empty without one.
    pub workflow_id: String,
    /// The run: its session.
    pub thread_id: SessionId,
    /// Who asks within it: the agent, or the sub-agent by its path.
    pub node_id: String,
    /// Which question.
    pub interaction_id: InteractionId,
    /// What kind of question.
    pub operation_type: &'static str,
    /// The question, the answer, or what came of it.
    #[serde(flatten)]
    pub detail: InteractionDetail,
}

impl InteractionEventKind {
    /// Its name in the document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UserInteractionRequested => "USER_INTERACTION_REQUESTED",
            Self::UserInteractionResponded => "USER_INTERACTION_RESPONDED",
            Self::UserInteractionProcessed => "USER_INTERACTION_PROCESSED",
        }
    }
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

/// What an interaction event carries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum InteractionDetail {
    /// The question.
    Requested {
        /// In a sentence.
        prompt: String,
        /// How long people have, in milliseconds.
        timeout: u64,
        /// The ways to answer.
        options: Vec<InteractionOption>,
        /// `toolApproval`: the call, when the question is about one.
        #[serde(skip_serializing_if = "Map::is_empty")]
        metadata: Map<String, Value>,
    },
    /// The answer.
    Responded {
        /// What was decided: `approved`, `editedParameters` and `userInstruction` of a call, and how it came to be.
        input_data: Value,
    },
    /// What came of it.
    Processed {
        /// The same as the answer's.
        results: Value,
    },
}

/// A question and the call it is about.
struct About {
    interaction: Interaction,
    call: Option<CallRecord>,
    workflow: Option<String>,
    locale: Locale,
}

impl About {
    fn event(&self, kind: InteractionEventKind, at: Timestamp) -> InteractionEvent {
        let asked = self.interaction.asked();
        let detail = match kind {
            InteractionEventKind::UserInteractionRequested => InteractionDetail::Requested {
                prompt: self.prompt(),
                timeout: asked.allowance().get(),
                options: asked.options(self.locale),
                metadata: self
                    .tool_approval(false)
                    .map(|call| ("toolApproval".to_owned(), call))
                    .into_iter()
                    .collect(),
            },
            InteractionEventKind::UserInteractionResponded => InteractionDetail::Responded {
                input_data: self.decided(),
            },
            InteractionEventKind::UserInteractionProcessed => InteractionDetail::Processed {
                results: self.decided(),
            },
        };
        InteractionEvent {
            kind,
            timestamp: at.as_millis(),
            session_id: asked.session.clone(),
            workflow_id: self.workflow.clone().unwrap_or_default(),
            thread_id: asked.session.clone(),
            node_id: self.node(),
            interaction_id: asked.id.clone(),
            operation_type: operation(asked),
            detail,
        }
    }

    /// The agent that asks; a sub-agent by its path.
    fn node(&self) -> String {
        let path = self.call.as_ref().map(|record| &record.call.origin.agent_path);
        match path {
            Some(path) if !path.is_empty() => path.join("/"),
            _ => self.interaction.asked().agent().to_string(),
        }
    }

    fn prompt(&self) -> String {
        let tool = self.call.as_ref().map_or("", |record| record.call.tool.as_str());
        let message = match &self.interaction.asked().subject {
            Subject::Call { .. } => event::approve_call(tool),
            Subject::UnknownOutcome { .. } => request::may_have_run(tool),
            Subject::Breaker { rejections, .. } => request::breaker(*rejections),
            Subject::Request { request, .. } => return request.message.clone(),
        };
        message.say(self.locale)
    }

    /// The call, in the shape of the seed document.
    fn tool_approval(&self, approved: bool) -> Option<Value> {
        let record = self.call.as_ref()?;
        let args = match &self.interaction.asked().subject {
            Subject::Call {
                edited: Some(edited), ..
            } => &edited.args,
            Subject::UnknownOutcome {
                edited: Some(args), ..
            } => args,
            _ => &record.call.args,
        };
        Some(json!({
            "toolName": record.call.tool,
            "toolDescription": self.interaction.asked().tool_description.as_deref().unwrap_or_default(),
            "toolParameters": args,
            "approved": approved,
        }))
    }

    /// What was decided. How it came to be is said beside it: an expired question must not read as a rejection.
    fn decided(&self) -> Value {
        let resolution = match &self.interaction {
            Interaction::Resolved(resolved) | Interaction::Processed(resolved) => &resolved.resolution,
            Interaction::Pending(_) => return Value::Null,
        };
        let approved = matches!(
            resolution,
            Resolution::Answered {
                action: Action::ApproveAndExecute,
                ..
            }
        );
        let mut decided = match self.tool_approval(approved) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        if let Some(args) = self.edited_parameters().filter(|_| approved) {
            decided.insert("editedParameters".into(), args.as_value().clone());
        }
        if let Resolution::Answered { ballot, .. } = resolution {
            decided.insert("selectedOptionId".into(), ballot.option.clone().into());
            let said = [
                ("feedback", &ballot.feedback),
                ("userInstruction", &ballot.instruction),
            ];
            for (name, text) in said {
                if let Some(text) = text {
                    decided.insert(name.into(), text.clone().into());
                }
            }
            if let Some(data) = &ballot.data {
                decided.insert("data".into(), Value::Object(data.clone()));
            }
        }
        decided.insert("resolution".into(), resolution.name().into());
        Value::Object(decided)
    }

    fn edited_parameters(&self) -> Option<&Args> {
        match &self.call.as_ref()?.state {
            CallState::Granted {
                outcome: Outcome::Approved { edited, .. },
                ..
            } => edited.as_ref(),
            _ => None,
        }
    }
}

fn operation(asked: &Asked) -> &'static str {
    match &asked.subject {
        Subject::Call { .. } | Subject::UnknownOutcome { .. } => "TOOL_APPROVAL",
        Subject::Request { request, .. } if variables::asks_for(request) => variables::OPERATION,
        Subject::Breaker { .. } | Subject::Request { .. } => "ADD_MESSAGE",
    }
}
