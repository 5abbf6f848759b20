//! Runs of the built-in agent.

use serde::{Deserialize, Serialize};

use crate::ids::{InteractionId, SessionId};
use crate::variables::Variables;

/// A run to begin.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRun {
    /// What is to be done; with a workflow, its input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// A workflow of `[workflows]`, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// A workflow itself, as TOML. Only taken on the socket of the data folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_text: Option<String>,
    /// In which session; a new one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, min_length = 1, max_length = 256))]
    pub session_id: Option<SessionId>,
    /// The folder that paths of the task are meant in. Refused when the agent works in another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunBody {
    /// Its session.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub session_id: SessionId,
    /// `running`, `parked` (it waits for people), or how it ended: `completed terminated interrupted failed limitReached
    /// timedOut`.
    pub state: String,
    /// What the model said last, or why the run ended.
    pub text: String,
    /// The questions it waits for.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub request_ids: Vec<InteractionId>,
    /// The variables of its workflow, as they are now; secrets masked.
    #[serde(default, skip_serializing_if = "Variables::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub variables: Variables,
}
