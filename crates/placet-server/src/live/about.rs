//! The parties of a journal row: the agent whose call it is, and the people its question is assigned to.

use placet_core::call::ToolCall;
use placet_core::history::Ending;
use placet_core::ids::{AgentId, InteractionId};
use placet_core::interaction::{Asked, CallKey, Resolution, Subject};
use placet_core::listing::RawRow;
use placet_core::principal::Principal;
use placet_core::render::mask;
use placet_core::snapshot::{Need, Snapshot, Undecided};
use placet_core::time::Millis;
use serde::Deserialize;

use crate::metrics::ClosedQuestion;

/// Whom a row is about.
pub(crate) struct About {
    whose: Whose,
    question: Option<(Box<Asked>, Asking)>,
}

/// Which agents a row is for.
enum Whose {
    /// The one whose call or question it is about.
    Agent(AgentId),
    /// The one whose session it is in: it is about the session as a whole.
    Owner,
    /// None. What the built-in agent does is between it and its people, and people's own affairs are theirs.
    People,
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
        whose: Whose::People,
        question: None,
    };

    /// What is to be looked up about rows.
    pub(crate) fn needs<'a>(rows: impl IntoIterator<Item = &'a RawRow>) -> Result<Vec<Need>, Undecided> {
        let mut needs = Vec::new();
        for raw in rows.into_iter().filter(|raw| raw.kind() != "asked") {
            let names: Names = raw.fields()?;
            needs.extend(names.interaction.map(Need::Interaction));
        }
        Ok(needs)
    }

    pub(crate) fn of(stored: &Snapshot, raw: &RawRow) -> Result<Self, Undecided> {
        if raw.kind() == "asked" {
            let asked: Asked = raw.fields()?;
            return Ok(Self {
                whose: Whose::Agent(asker(&asked).clone()),
                question: Some((Box::new(asked), Asking::First)),
            });
        }
        let names: Names = raw.fields()?;
        let asked = match &names.interaction {
            Some(id) => stored
                .interaction(id)?
                .as_ref()
                .map(|found| found.asked().clone()),
            None => None,
        };
        let whose = match (names.call, &asked) {
            // What people say to each other about a question is not for the agent that asked it.
            _ if raw.kind() == "commented" => Whose::People,
            (Some(Called::Key(key)), _) => Whose::Agent(key.agent),
            (Some(Called::Whole(call)), _) => Whose::Agent(call.origin.agent),
            (None, Some(asked)) => Whose::Agent(asker(asked).clone()),
            (None, None) => match raw.kind() {
                "sessionEnded" | "modeSet" | "toolAllowed" | "messageQueued" => Whose::Owner,
                _ => Whose::People,
            },
        };
        let question = asked.map(|asked| (Box::new(asked), Asking::All));
        Ok(Self { whose, question })
    }

    /// Whether it is about a call or a question of this agent.
    pub(crate) fn is_of(&self, agent: &AgentId) -> bool {
        matches!(&self.whose, Whose::Agent(own) if own == agent)
    }

    /// Whether it is for the agent to which its session belongs: about its own calls and questions, or about the session.
    pub(crate) fn is_for_owner(&self, owner: &AgentId) -> bool {
        self.is_of(owner) || matches!(self.whose, Whose::Owner)
    }

    /// Whether it is about a question assigned to `principal`.
    pub(crate) fn concerns(&self, principal: &Principal) -> bool {
        self.question
            .as_ref()
            .is_some_and(|(asked, asking)| asked.concerns(principal, matches!(asking, Asking::All)))
    }
}

/// The question that is asked, resolved or processed in a row.
pub(super) fn question(raw: &RawRow) -> Result<Option<InteractionId>, Undecided> {
    #[derive(Deserialize)]
    struct Id {
        id: InteractionId,
    }
    Ok(match raw.kind() {
        "asked" => Some(raw.fields::<Id>()?.id),
        "resolved" | "processed" => raw.fields::<Names>()?.interaction,
        _ => None,
    })
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

/// The questions that these rows close.
pub(super) fn closed(stored: &Snapshot, rows: &[RawRow]) -> Result<Vec<ClosedQuestion>, Undecided> {
    #[derive(Deserialize)]
    struct Row {
        interaction: InteractionId,
        resolution: Resolution,
    }
    let mut found = Vec::new();
    for raw in rows.iter().filter(|raw| raw.kind() == "resolved") {
        found.push((raw.fields::<Row>()?, raw.at));
    }
    let needs = found.iter().flat_map(|(row, _)| {
        let id = &row.interaction;
        [Need::AskedAt(id.clone()), Need::QuestionLabels(id.clone())]
    });
    stored.require(needs)?;
    let mut closed = Vec::new();
    for (row, at) in found {
        let asked_at = stored.asked_at(&row.interaction)?;
        let labels = stored.question_labels(&row.interaction)?;
        let (Some(asked_at), Some(labels)) = (asked_at, labels) else {
            continue;
        };
        let open = at.as_millis().saturating_sub(asked_at.as_millis());
        closed.push(ClosedQuestion {
            ending: Ending::of(&row.resolution),
            labels: labels.clone(),
            by: match row.resolution {
                Resolution::Answered { by, .. } => by,
                _ => Vec::new(),
            },
            open: Millis::new(u64::try_from(open).unwrap_or(0)),
        });
    }
    Ok(closed)
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
