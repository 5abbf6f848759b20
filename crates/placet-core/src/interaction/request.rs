//! A question in the words of the wire: what agents send, what surfaces show.
//!
//! Field names are camelCase and values SCREAMING_SNAKE, as in the interaction document the project started from.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{InteractionId, SessionId};
use crate::sealed;
use crate::tool::Risk;

/// The six kinds of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum InteractionKind {
    /// May this call run?
    ToolApproval,
    /// Something is missing.
    MissingInfo,
    /// Yes or no.
    UserConfirmation,
    /// One of several.
    UserChoice,
    /// Free text.
    UserInput,
    /// Anything else.
    Custom,
}

/// What choosing an option does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    /// Agree, and run it.
    ApproveAndExecute,
    /// Do not run it; think again.
    RetryWithFeedback,
    /// Do not run it, and here is why.
    RejectWithReason,
    /// End the run.
    Terminate,
    /// Here is what was missing.
    ProvideInfo,
    /// Leave this one out.
    Skip,
    /// Something the asker understands.
    Custom,
}

/// One way to answer.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the fields of the interaction document, each of its own"
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InteractionOption {
    /// Its id, unique in the question.
    pub option_id: String,
    /// What the button says.
    pub label: String,
    /// What it does, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it does.
    pub action: Action,
    /// Taken when time runs out.
    #[serde(default)]
    pub is_default: bool,
    /// Shown as dangerous.
    #[serde(default)]
    pub is_dangerous: bool,
    /// Choosing it needs a text.
    #[serde(default)]
    pub requires_input: bool,
    /// The text may be left empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input_optional: bool,
    /// The text, and the data, is a secret: it is handed to the asker, stored sealed, and not shown again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input_secret: bool,
    /// What to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_prompt: Option<String>,
    /// For the asker.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// A question, as sent over the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InteractionRequest {
    /// Its id; made by Placet when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<InteractionId>,
    /// In which session.
    pub session_id: SessionId,
    /// Which kind.
    #[serde(rename = "type")]
    pub kind: InteractionKind,
    /// A few words.
    pub title: String,
    /// The question.
    pub message: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Data beside it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// The ways to answer.
    pub options: Vec<InteractionOption>,
    /// Whether the asker cannot go on without an answer.
    #[serde(default)]
    pub required: bool,
    /// How long people have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Taken when time runs out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_option_id: Option<String>,
    /// How much damage the wrong answer can do, if the agent says so. Without it no surface names a risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// People may also answer in their own words: Placet adds the option `other`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_other: bool,
}

/// Why a request is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// There is nothing to choose.
    #[error("the request offers no option")]
    NoOptions,
    /// Two options would be the same answer.
    #[error("the request offers the option `{0}` twice")]
    DuplicateOption(String),
    /// An option cannot be named.
    #[error("an option has an empty optionId or label")]
    UnnamedOption,
    /// Two defaults, or `defaultOptionId` and `isDefault` disagree.
    #[error("the request names more than one default option")]
    TwoDefaults,
    /// The default is not on offer.
    #[error("the default option `{0}` is not among the options")]
    UnknownDefault(String),
    /// Silence would run something.
    #[error("the default option `{0}` approves; silence must never approve")]
    DefaultApproves(String),
    /// Silence cannot write a text.
    #[error("the default option `{0}` requires input; silence cannot give any")]
    DefaultNeedsInput(String),
    /// Time would be over before it began.
    #[error("timeoutSeconds is 0")]
    NoTime,
    /// The timeout is too long.
    #[error("timeoutSeconds is {0}; at most {TIMEOUT_SECONDS_MAX}, which are 366 days, are accepted")]
    TooMuchTime(u64),
    /// More than a person can read.
    #[error("the request has {0} bytes; at most {REQUEST_BYTES_MAX} are accepted")]
    TooLarge(usize),
}

/// The largest request we take, in bytes of JSON.
pub const REQUEST_BYTES_MAX: usize = 256 * 1024;
/// The longest people may be given to answer: a year.
const TIMEOUT_SECONDS_MAX: u64 = 366 * 24 * 60 * 60;
/// The most options a question offers.
pub const OPTIONS_MAX: usize = 50;

impl InteractionRequest {
    /// Checks a request that came from outside, and settles which option is the default.
    pub fn checked(mut self) -> Result<Self, RequestError> {
        let bytes = serde_json::to_vec(&self).map_or(usize::MAX, |json| json.len());
        if bytes > REQUEST_BYTES_MAX || self.options.len() > OPTIONS_MAX {
            return Err(RequestError::TooLarge(bytes));
        }
        if self.options.is_empty() {
            return Err(RequestError::NoOptions);
        }
        match self.timeout_seconds {
            Some(0) => return Err(RequestError::NoTime),
            Some(seconds) if seconds > TIMEOUT_SECONDS_MAX => return Err(RequestError::TooMuchTime(seconds)),
            _ => {}
        }
        let mut seen = std::collections::BTreeSet::new();
        for option in &self.options {
            if option.option_id.is_empty() || option.label.is_empty() {
                return Err(RequestError::UnnamedOption);
            }
            if !seen.insert(option.option_id.as_str()) {
                return Err(RequestError::DuplicateOption(option.option_id.clone()));
            }
        }
        // A schema in the context says what is asked for; if that is a secret, so is what people type.
        if self.context.get("schema").is_some_and(sealed::is_secret_schema) {
            let taking = |option: &&mut InteractionOption| {
                option.requires_input || option.action == Action::ProvideInfo
            };
            for option in self.options.iter_mut().filter(taking) {
                option.input_secret = true;
            }
        }
        self.settle_default()?;
        Ok(self)
    }

    fn settle_default(&mut self) -> Result<(), RequestError> {
        let mut named = self
            .options
            .iter()
            .filter(|option| option.is_default)
            .map(|option| option.option_id.clone());
        let default = match (self.default_option_id.take(), named.next(), named.next()) {
            (_, _, Some(_)) => return Err(RequestError::TwoDefaults),
            (Some(by_id), Some(by_flag), None) if by_id != by_flag => return Err(RequestError::TwoDefaults),
            (Some(id), _, None) | (None, Some(id), None) => id,
            (None, None, None) => return Ok(()),
        };
        let option = self
            .options
            .iter_mut()
            .find(|option| option.option_id == default)
            .ok_or_else(|| RequestError::UnknownDefault(default.clone()))?;
        if option.action == Action::ApproveAndExecute
            && (self.kind == InteractionKind::ToolApproval || option.is_dangerous)
        {
            return Err(RequestError::DefaultApproves(default));
        }
        if option.needs_text() {
            return Err(RequestError::DefaultNeedsInput(default));
        }
        option.is_default = true;
        self.default_option_id = Some(default);
        Ok(())
    }
}

impl InteractionOption {
    /// An option with nothing but a name and an action.
    pub fn new(option_id: impl Into<String>, label: impl Into<String>, action: Action) -> Self {
        Self {
            option_id: option_id.into(),
            label: label.into(),
            description: None,
            action,
            is_default: false,
            is_dangerous: false,
            requires_input: false,
            input_optional: false,
            input_secret: false,
            input_prompt: None,
            metadata: Map::new(),
        }
    }

    /// The same, asking for a text.
    #[must_use]
    pub fn with_input(mut self, prompt: impl Into<String>) -> Self {
        self.requires_input = true;
        self.input_prompt = Some(prompt.into());
        self
    }

    /// The same, asking for a text that may be left empty.
    #[must_use]
    pub fn with_optional_input(self, prompt: impl Into<String>) -> Self {
        Self {
            input_optional: true,
            ..self.with_input(prompt)
        }
    }

    /// Whether it cannot be chosen without a text.
    pub const fn needs_text(&self) -> bool {
        self.requires_input && !self.input_optional
    }

    /// The same, with a sentence about what it does.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The same, taken when time runs out.
    #[must_use]
    pub fn by_default(mut self) -> Self {
        self.is_default = true;
        self
    }

    /// The same, shown as dangerous.
    #[must_use]
    pub fn dangerous(mut self) -> Self {
        self.is_dangerous = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(options: &Value) -> Result<InteractionRequest, RequestError> {
        let request: InteractionRequest = serde_json::from_value(json!({
            "sessionId": "s", "type": "TOOL_APPROVAL", "title": "t", "message": "m", "options": options
        }))
        .unwrap();
        request.checked()
    }

    #[test]
    fn silence_never_approves_a_tool() {
        let refused = request(&json!([
            {"optionId": "go", "label": "Go", "action": "APPROVE_AND_EXECUTE", "isDefault": true},
            {"optionId": "no", "label": "No", "action": "SKIP"}
        ]));
        assert_eq!(refused, Err(RequestError::DefaultApproves("go".into())));
    }

    #[test]
    fn a_request_without_options_or_with_the_same_one_twice_is_refused() {
        assert_eq!(request(&json!([])), Err(RequestError::NoOptions));
        let twice = json!([
            {"optionId": "a", "label": "A", "action": "SKIP"},
            {"optionId": "a", "label": "B", "action": "SKIP"}
        ]);
        assert_eq!(request(&twice), Err(RequestError::DuplicateOption("a".into())));
        let two_defaults = json!([
            {"optionId": "a", "label": "A", "action": "SKIP", "isDefault": true},
            {"optionId": "b", "label": "B", "action": "TERMINATE", "isDefault": true}
        ]);
        assert_eq!(request(&two_defaults), Err(RequestError::TwoDefaults));
    }

    #[test]
    fn a_request_gives_people_some_time_and_at_most_a_year() {
        let lasting = |seconds| {
            let options = json!([{"optionId": "a", "label": "A", "action": "SKIP"}]);
            let mut request = request(&options).unwrap();
            request.timeout_seconds = Some(seconds);
            request.checked().map(|request| request.timeout_seconds)
        };
        assert_eq!(lasting(0), Err(RequestError::NoTime));
        assert_eq!(lasting(TIMEOUT_SECONDS_MAX), Ok(Some(TIMEOUT_SECONDS_MAX)));
        let longer = TIMEOUT_SECONDS_MAX + 1;
        assert_eq!(lasting(longer), Err(RequestError::TooMuchTime(longer)));
        assert_eq!(lasting(u64::MAX), Err(RequestError::TooMuchTime(u64::MAX)));
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let json =
            json!({"sessionId": "s", "type": "CUSTOM", "title": "", "message": "", "options": [], "x": 1});
        assert!(serde_json::from_value::<InteractionRequest>(json).is_err());
    }

    #[test]
    fn each_kind_has_an_example_in_the_documentation_that_is_taken() {
        let page = include_str!("../../../../docs/http.md");
        let examples = page
            .split("```json\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next());
        let mut kinds: Vec<String> = examples
            .map(|example| {
                let request: InteractionRequest = serde_json::from_str(example).unwrap();
                let request = request.checked().unwrap();
                if let Some(schema) = request.context.get("schema") {
                    jsonschema::validator_for(schema).unwrap();
                }
                serde_json::to_value(request.kind).unwrap().to_string()
            })
            .collect();
        kinds.sort_unstable();
        let every = [
            "CUSTOM",
            "MISSING_INFO",
            "TOOL_APPROVAL",
            "USER_CHOICE",
            "USER_CONFIRMATION",
            "USER_INPUT",
        ];
        assert_eq!(kinds, every.map(|kind| format!("\"{kind}\"")));
    }
}
