//! What the commands of this machine read over the socket of a data folder.
//!
//! These are records as they are stored, secrets included: a process that may open the socket may read the store's file, too.
//! They are not published and change with the program, whose commands and owner may be of two versions for the time of an
//! upgrade: a shape that cannot be read is an error, never a guess.

use serde::{Deserialize, Serialize};

use crate::comment::Comment;
use crate::ids::{InteractionId, SessionId, ToolName};
use crate::policy::Mode;
use crate::question::Question;
use crate::standing::Scope;
use crate::time::Timestamp;

/// Names the person who sits at the terminal, when it is not the user of the machine. Believed on the socket only.
pub const PERSON_HEADER: &str = "placet-person";

/// A question, with what depends on the person who looks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionRecord {
    /// The question.
    pub question: Question,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// What "don't ask again" may cover for them, narrowest first.
    pub scopes: Vec<Scope>,
    /// Its comments, oldest first.
    #[serde(default)]
    pub comments: Vec<Comment>,
}

/// Some of the pending questions, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionRecords {
    /// Those that can be read.
    pub items: Vec<QuestionRecord>,
    /// Those that cannot.
    pub damaged: Vec<InteractionId>,
    /// The next page's `after`; absent after the last page.
    pub next: Option<u64>,
}

/// What the owner of the store is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerBody {
    /// Its version.
    pub version: String,
    /// The folder its agent works in, with every link resolved.
    pub workspace: String,
    /// Where people find its pages; absent when it listens on no address.
    pub url: Option<String>,
    /// The built-in agent; absent when the owner has no model.
    pub agent: Option<AgentBody>,
}

/// The built-in agent of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentBody {
    /// The model of new runs.
    pub model: String,
    /// How freely it acts unless a session says otherwise.
    pub mode: Mode,
    /// Its tools.
    pub tools: Vec<ToolBody>,
}

/// A tool of the built-in agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolBody {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its category.
    pub category: String,
}

/// A conversation of the person who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationBody {
    /// Its session.
    pub session_id: SessionId,
    /// When something last happened in it.
    pub last_at: Timestamp,
}

/// What holds in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeBody {
    /// How freely the agent acts in it; absent when that was never set.
    pub mode: Option<Mode>,
}

/// Tools that run unasked in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalToolsBody {
    /// Their names.
    pub approval_tools: Vec<ToolName>,
}
