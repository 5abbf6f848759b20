//! Shapes on the wire, each made from the core's own types in one place. Names are those of the design.

pub(crate) mod call;
pub(crate) mod new_question;
pub(crate) mod question;
mod ran;
pub(crate) mod row;

pub(crate) use ran::edited;

use placet_core::interaction::Locale;
use placet_core::verdict::Verdict;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What policy said about a call.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VerdictBody {
    /// `allow`, `ask` or `deny`.
    decision: &'static str,
    /// The step of the decision order that answered, 1 to 13.
    step: u8,
    /// That step in words.
    step_name: String,
    /// The rule that decided, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// Why, in a sentence of the reader's language.
    reason: String,
    /// The same as a code. `written`: the reason is the operator's own text.
    reason_code: String,
    /// The parameters of the code.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    reason_parameters: Map<String, Value>,
    /// `LOW`, `MEDIUM` or `HIGH`, after analysis.
    #[schema(value_type = String)]
    risk: placet_core::tool::Risk,
    /// `read`, `write`, `command`, `network` or `ask`, after analysis.
    #[schema(value_type = String)]
    category: placet_core::tool::Category,
}

impl VerdictBody {
    pub(crate) fn new(verdict: &Verdict, locale: Locale) -> Self {
        let (reason_code, reason_parameters) = verdict.reason.parts();
        Self {
            decision: verdict.decision.as_str(),
            step: verdict.step.number(),
            step_name: verdict.step.to_string(),
            rule: verdict.rule.clone(),
            reason: verdict.reason.words(locale),
            reason_code,
            reason_parameters,
            risk: verdict.risk,
            category: verdict.category,
        }
    }
}

/// The most items on a page.
pub(crate) const PAGE_MAX: usize = 200;

/// How many items a page has.
pub(crate) fn page_size(asked: Option<u32>) -> usize {
    usize::try_from(asked.unwrap_or(50))
        .unwrap_or(PAGE_MAX)
        .clamp(1, PAGE_MAX)
}

/// A cursor as the store can take it: past the largest row there is nothing either way.
pub(crate) fn cursor(given: u64) -> u64 {
    given.min(i64::MAX.unsigned_abs())
}
