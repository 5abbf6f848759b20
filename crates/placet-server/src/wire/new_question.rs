//! An agent's own question as its schema in the API description. `InteractionRequest` reads it; core knows no API descriptions.

use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A question of one of six kinds: `TOOL_APPROVAL`, `MISSING_INFO`, `USER_CONFIRMATION`, `USER_CHOICE`, `USER_INPUT` or `CUSTOM`. The kinds
/// differ in how surfaces show them; each takes the same fields.
#[expect(dead_code, reason = "describes what `InteractionRequest` reads")]
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct NewQuestion {
    /// Its id; made when absent.
    #[schema(min_length = 1, max_length = 256)]
    request_id: Option<String>,
    /// In which session.
    #[schema(min_length = 1, max_length = 256)]
    session_id: String,
    /// Which kind.
    #[schema(
        rename = "type",
        pattern = "^(TOOL_APPROVAL|MISSING_INFO|USER_CONFIRMATION|USER_CHOICE|USER_INPUT|CUSTOM)$"
    )]
    kind: String,
    /// A few words.
    title: String,
    /// The question.
    message: String,
    /// More about it.
    details: Option<String>,
    /// Data beside it. A JSON Schema under `schema` makes a form of it: choices (`enum`), several of them (`array` of `enum`), numbers, dates
    /// (`format: date`), secrets (`writeOnly`). The `data` of an answer is checked against it.
    #[schema(value_type = Option<Object>)]
    context: Option<Map<String, Value>>,
    /// The ways to answer.
    #[schema(min_items = 1, max_items = 50)]
    options: Vec<NewOption>,
    /// Whether the asker cannot go on without an answer. Otherwise people may dismiss it.
    required: Option<bool>,
    /// How long people have.
    #[schema(minimum = 1, maximum = 31_622_400)]
    timeout_seconds: Option<u64>,
    /// The option that is taken when time runs out.
    default_option_id: Option<String>,
    /// How much damage the wrong answer can do. Without it no surface names a risk.
    #[schema(pattern = "^(LOW|MEDIUM|HIGH)$")]
    risk: Option<String>,
    /// People may also answer in their own words, with the option `other`.
    allow_other: Option<bool>,
}

/// A way to answer.
#[expect(dead_code, reason = "describes what `InteractionOption` reads")]
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct NewOption {
    /// Its id, unique in the question.
    #[schema(min_length = 1)]
    option_id: String,
    /// What the button says.
    #[schema(min_length = 1)]
    label: String,
    /// What it does, in a sentence.
    description: Option<String>,
    /// What choosing it does.
    #[schema(
        pattern = "^(APPROVE_AND_EXECUTE|RETRY_WITH_FEEDBACK|REJECT_WITH_REASON|TERMINATE|PROVIDE_INFO|SKIP|CUSTOM)$"
    )]
    action: String,
    /// Taken when time runs out.
    is_default: Option<bool>,
    /// Shown as dangerous.
    is_dangerous: Option<bool>,
    /// Choosing it needs a text, or data.
    requires_input: Option<bool>,
    /// The text may be left empty.
    input_optional: Option<bool>,
    /// The text, and the data, is a secret: handed to the asker, stored sealed, and not shown again.
    input_secret: Option<bool>,
    /// What to ask for.
    input_prompt: Option<String>,
    /// For the asker.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}
