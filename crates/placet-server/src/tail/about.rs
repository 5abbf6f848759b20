//! Whom a journal row is about: the agent whose call it is, and the people its question is put to.

use placet_core::call::ToolCall;
use placet_core::ids::{AgentId, InteractionId};
use placet_core::interaction::{Asked, CallKey, Subject};
use placet_core::principal::Principal;
use placet_core::render::mask;
use placet_core::time::Millis;
use placet_store::{RawRow, StoreError, View};
use serde::Deserialize;

/// Whom a row is about.
pub(crate) struct About {
    /// The agent whose call or question it is.
    pub(crate) agent: Option<AgentId>,
    question: Option<(Box<Asked>, Asking)>,
}

/// Who is asked at the moment a row speaks of.
#[derive(Clone, Copy)]
enum Asking {
    /// Those first asked.
    First,
    /// Perhaps those it was escalated to, as well.
    All,
}

/// The names an event may hold. Everything else in it is skipped over.
#[derive(Deserialize)]
struct Names {
    #[serde(default)]
    interaction: Option<InteractionId>,
    #[serde(default)]
    call: Option<Called>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Called {
    Key(CallKey),
    Whole(Box<ToolCall>),
}

impl About {
    pub(crate) const NOBODY: Self = Self {
        agent: None,
        question: None,
    };

    pub(super) fn of(view: &View<'_>, raw: &RawRow) -> Result<Self, StoreError> {
        if raw.kind() == "asked" {
            let asked: Asked = raw.fields()?;
            return Ok(Self::question(asked, Asking::First));
        }
        let names: Names = raw.fields()?;
        if let Some(id) = names.interaction
            && let Some(interaction) = view.interaction(&id)?
        {
            return Ok(Self::question(interaction.asked().clone(), Asking::All));
        }
        Ok(Self {
            agent: names.call.map(|call| match call {
                Called::Key(key) => key.agent,
                Called::Whole(call) => call.origin.agent,
            }),
            question: None,
        })
    }

    fn question(asked: Asked, asking: Asking) -> Self {
        Self {
            agent: Some(asker(&asked).clone()),
            question: Some((Box::new(asked), asking)),
        }
    }

    /// Whether it is about a question put to `principal`.
    pub(crate) fn concerns(&self, principal: &Principal) -> bool {
        self.question
            .as_ref()
            .is_some_and(|(asked, asking)| asked.concerns(principal, matches!(asking, Asking::All)))
    }
}

/// The agent that waits for the answer.
pub(crate) fn asker(asked: &Asked) -> &AgentId {
    match &asked.subject {
        Subject::Call { call, .. } | Subject::UnknownOutcome { call, .. } | Subject::Breaker { call, .. } => {
            &call.agent
        }
        Subject::Request { agent, .. } => agent,
    }
}

/// How long the questions that these rows settle had waited.
pub(super) fn waits(view: &View<'_>, rows: &[RawRow]) -> Result<Vec<Millis>, StoreError> {
    let mut waits = Vec::new();
    for raw in rows.iter().filter(|raw| raw.kind() == "resolved") {
        let names: Names = raw.fields()?;
        if let Some(id) = names.interaction
            && let Some(asked_at) = view.asked_at(&id)?
        {
            let waited = raw.at.as_millis().saturating_sub(asked_at.as_millis());
            waits.push(Millis::new(u64::try_from(waited).unwrap_or(0)));
        }
    }
    Ok(waits)
}

/// The body without secrets. A body that cannot be read is not shown at all.
pub(super) fn masked(raw: &RawRow) -> String {
    let kind = serde_json::Value::from(raw.kind());
    let Ok(serde_json::Value::Object(fields)) = raw.fields() else {
        return format!("{{\"type\":{kind}}}");
    };
    let masked = mask::json(&serde_json::Value::Object(fields));
    masked.to_string()
}
