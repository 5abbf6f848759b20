//! An answer to a question, and what it came to.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::Args;
use crate::ids::InteractionId;
use crate::interaction::{Action, Locale};
use crate::standing::Scope;
use crate::time::Millis;

/// One person's choice.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerBody {
    /// Which question. Needed where the path does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub request_id: Option<InteractionId>,
    /// Which option.
    pub selected_option_id: String,
    /// A reason, or feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Information asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub data: Option<Map<String, Value>>,
    /// Other arguments for the call. Values that were shown masked stay what they were when they come back as shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub edited_args: Option<Args>,
    /// Something to tell the agent after the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// "Don't ask again".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<RememberBody>,
    /// The `shownDigest` of the question as the person saw it. Refused when it has changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_digest: Option<String>,
    /// `whole` (the default), or `part` when the person did not see everything; then `shownDigest` is of the part they saw.
    #[serde(default, skip_serializing_if = "Extent::is_whole")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, pattern = "^(whole|part)$"))]
    pub shown_extent: Extent,
    /// The language it was shown in, a language of `messages/`, such as `en`; the operator's unless given. Refusals are in this language, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub shown_locale: Option<Locale>,
}

/// How much of a question a person saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// All of it.
    #[default]
    Whole,
    /// A part, with a pointer to the rest.
    Part,
}

impl Extent {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// "Don't ask again", on these terms.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RememberBody {
    /// The `scope` of one of the question's `scopes`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub scope: ChosenScope,
    /// For how long.
    #[cfg_attr(feature = "schema", schema(value_type = u64, minimum = 1))]
    pub lasts_ms: Millis,
    /// How often at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses_max: Option<u32>,
}

/// What to approve without asking from now on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`scope` must be that of one of the question's `scopes`"
)]
pub enum ChosenScope {
    /// One that the question offers, by its name.
    Offered(String),
    /// Spelled out, by a caller that knows the call.
    Whole(Scope),
}

/// What an answer came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AnsweredBody {
    /// `decided`: it is settled. `voted`: it counts, and others must approve, too. `askedAgain`: the edited call is asked
    /// about anew.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub status: AnswerStatus,
    /// The question.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub request_id: InteractionId,
    /// When it is settled: what that means, such as `APPROVE_AND_EXECUTE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub action: Option<Action>,
    /// How many more must approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<u32>,
    /// The question that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub question: Option<InteractionId>,
}

/// Whether an answer settled its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AnswerStatus {
    /// It did.
    Decided,
    /// Others must approve, too.
    Voted,
    /// The edited call needs approval of its own.
    AskedAgain,
}
