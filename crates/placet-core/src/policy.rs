//! Policy: may this call run, must a person agree, or is it refused?
//!
//! Pure: [`Policy::decide`] looks at the call, the tool, the analysis and the context it is given, and at nothing else. The
//! thirteen steps of design §2 are thirteen lines of [`decide`]; the first that answers wins.

use std::collections::BTreeSet;

use crate::call::CallDigest;
use crate::ids::ToolName;
use crate::tool::OwnOpinion;

/// How freely the agent may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Most effects are asked about.
    Default,
    /// Writes inside the workspace are allowed.
    AutoEdit,
    /// All but HIGH is allowed.
    Yolo,
}

/// What policy needs to know besides the call itself. Gathered by the engine from the store.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// The call's digest.
    pub digest: CallDigest,
    /// The session's mode, when it differs from the configured one.
    pub mode: Option<Mode>,
    /// What the tool itself says.
    pub own_opinion: OwnOpinion,
    /// Tools this session may use without asking.
    pub session_allow_list: &'a BTreeSet<ToolName>,
    /// The workflow's `autoApprovedTools`.
    pub workflow_allow_list: &'a BTreeSet<ToolName>,
    /// Standing grants that have neither ended nor been revoked nor been used up.
    pub standing: &'a [crate::standing::StandingGrant],
    /// The same digest was approved in this chat within the memory window.
    pub remembered: bool,
}
