//! What became of a call after the decision, for the page of its request.

use placet_core::journal::CallResult;
use placet_core::outcome::Outcome;
use placet_core::question::Question;
use placet_core::record::{CallState, GrantState};
use placet_core::render::{SafeText, mask};
use serde::Serialize;
use utoipa::ToSchema;

/// Lines of output that are shown.
const LINES_MAX: usize = 20;
const BYTES_MAX: usize = 4096;

/// What became of a call that was let run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RanBody {
    /// `waiting` (not started yet), `running`, `finished`, `failed` or `unknown` (it may have run).
    state: &'static str,
    /// The first lines of its output, secrets masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    output: Option<SafeText>,
    /// Whether there is more output than that.
    more: bool,
}

impl RanBody {
    /// Absent unless the answer to this request let its call run.
    pub(crate) fn of(question: &Question) -> Option<Self> {
        let CallState::Granted {
            grant,
            question: answered,
            ..
        } = &question.call.as_ref()?.state
        else {
            return None;
        };
        if answered.as_ref() != Some(&question.interaction.asked().id) {
            return None;
        }
        let state = |state| Self {
            state,
            output: None,
            more: false,
        };
        Some(match &grant.state {
            GrantState::Issued => state("waiting"),
            GrantState::Claimed { .. } => state("running"),
            GrantState::Unknown => state("unknown"),
            GrantState::Done(result) => finished(result),
        })
    }
}

/// Whether a person approved with other arguments than the agent's.
pub(crate) fn edited(question: &Question) -> bool {
    let asked = question.interaction.asked();
    let with_answer = match question.call.as_ref().map(|record| &record.state) {
        Some(CallState::Granted {
            outcome: Outcome::Approved { edited, .. },
            question: Some(answered),
            ..
        }) => edited.is_some() && *answered == asked.id,
        _ => false,
    };
    with_answer || asked.edited_args().is_some()
}

fn finished(result: &CallResult) -> RanBody {
    // Masked as a whole: a secret must not be cut in two and shown by halves.
    let masked = mask::text(&result.output);
    let kept = masked.floor_char_boundary(BYTES_MAX);
    let start = masked.get(..kept).unwrap_or_default();
    let first: Vec<_> = start.lines().take(LINES_MAX).collect();
    let cut = kept < masked.len() || start.lines().count() > LINES_MAX;
    let text = first.join("\n");
    RanBody {
        state: if result.ok { "finished" } else { "failed" },
        output: (!text.is_empty()).then(|| SafeText::block(&text)),
        more: cut || result.bytes > u64::try_from(result.output.len()).unwrap_or(u64::MAX),
    }
}
