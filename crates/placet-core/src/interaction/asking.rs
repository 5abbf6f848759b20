//! A call that exists to ask a person, read as the question it puts: what `askUserQuestion` of the built-in agent and tools of category
//! `ask` of other agents are given.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Action, InteractionKind, InteractionOption, InteractionRequest};
use crate::call::{Args, ToolCall};
use crate::ids::SessionId;

/// What a model writes. The rest of a request is not its business.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    #[serde(rename = "type")]
    kind: Option<InteractionKind>,
    title: String,
    message: String,
    details: Option<String>,
    #[serde(default)]
    context: Map<String, Value>,
    #[serde(default)]
    options: Vec<WrittenOption>,
    timeout_seconds: Option<u64>,
    default_option_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenOption {
    option_id: String,
    label: String,
    description: Option<String>,
    action: Option<Action>,
    #[serde(default)]
    is_dangerous: bool,
    #[serde(default)]
    requires_input: bool,
    #[serde(default)]
    input_secret: bool,
    input_prompt: Option<String>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// Reads the arguments of `askUserQuestion`. The error tells the model what is wrong with them.
pub fn question_of(args: &Args) -> Result<InteractionRequest, String> {
    let written: Result<Written, _> = serde_json::from_value(args.as_value().clone());
    written
        .map_err(|error| error.to_string())
        .and_then(Written::request)
}

/// The question that another agent's tool of category `ask` puts. What is not known of its arguments is shown as they are, and people
/// answer in words. `None` when even that is not a valid question: then the call needs approval like any other.
pub fn question_in(call: &ToolCall) -> Option<InteractionRequest> {
    question_of(&call.args).or_else(|_| foreign(call)).ok()
}

/// A question in an unknown shape: its text under a usual name, its choices in a list of texts or of objects with a label.
fn foreign(call: &ToolCall) -> Result<InteractionRequest, String> {
    let whole = call.args.as_value();
    // Some tools take a list of questions; a list of one is that one.
    let single = whole
        .get("questions")
        .and_then(Value::as_array)
        .filter(|list| list.len() == 1);
    let given = single.and_then(|list| list.first()).unwrap_or(whole);
    let text = |names: &[&str]| {
        let found = names.iter().filter_map(|name| given.get(*name)?.as_str());
        found
            .map(str::trim)
            .find(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let asked = text(&["question", "message", "prompt", "text"]);
    let title = text(&["title", "header"]).or_else(|| call.description.clone());
    let choices = ["options", "choices"]
        .iter()
        .filter_map(|name| given.get(*name)?.as_array());
    let choices: Vec<(String, Option<String>)> = choices.flatten().filter_map(choice).collect();
    Written {
        kind: None,
        title: title.unwrap_or_else(|| call.tool.to_string()),
        message: asked.unwrap_or_else(|| call.args.canonical()),
        details: None,
        context: Map::new(),
        options: choices
            .into_iter()
            .enumerate()
            .map(|(index, (label, description))| WrittenOption::numbered(index, label, description))
            .collect(),
        timeout_seconds: None,
        default_option_id: None,
    }
    .request()
}

fn choice(given: &Value) -> Option<(String, Option<String>)> {
    let text = |value: &Value| {
        value
            .as_str()
            .filter(|text| !text.trim().is_empty())
            .map(str::to_owned)
    };
    match given {
        Value::Object(fields) => {
            let label = ["label", "title", "value"]
                .iter()
                .find_map(|name| text(fields.get(*name)?))?;
            Some((label, fields.get("description").and_then(text)))
        }
        other => Some((text(other)?, None)),
    }
}

impl Written {
    fn request(self) -> Result<InteractionRequest, String> {
        let kind = match (self.kind, self.options.is_empty()) {
            (Some(InteractionKind::ToolApproval), _) => {
                return Err("a question cannot pose as the approval of a tool; call the tool instead".into());
            }
            (Some(kind), _) => kind,
            (None, true) => InteractionKind::UserInput,
            (None, false) => InteractionKind::UserChoice,
        };
        let dangerous = |option: &WrittenOption| {
            option.is_dangerous && self.default_option_id.as_ref() == Some(&option.option_id)
        };
        if let Some(option) = self.options.iter().find(|option| dangerous(option)) {
            let id = &option.option_id;
            return Err(format!(
                "the default option `{id}` is dangerous; silence must not choose it"
            ));
        }
        let options = if self.options.is_empty() {
            free_text(&self.message)
        } else {
            self.options.into_iter().map(WrittenOption::option).collect()
        };
        let request = InteractionRequest {
            request_id: None,
            // Set by the caller, never by the model.
            session_id: SessionId::new("unset").map_err(|error| error.to_string())?,
            kind,
            title: self.title,
            message: self.message,
            details: self.details,
            context: self.context,
            options,
            required: true,
            timeout_seconds: self.timeout_seconds,
            default_option_id: self.default_option_id,
            risk: None,
            allow_other: false,
        };
        request.checked().map_err(|error| error.to_string())
    }
}

impl WrittenOption {
    fn numbered(index: usize, label: String, description: Option<String>) -> Self {
        Self {
            option_id: (index + 1).to_string(),
            label,
            description,
            action: None,
            is_dangerous: false,
            requires_input: false,
            input_secret: false,
            input_prompt: None,
            metadata: Map::new(),
        }
    }

    fn option(self) -> InteractionOption {
        InteractionOption {
            option_id: self.option_id,
            label: self.label,
            description: self.description,
            action: self.action.unwrap_or(Action::ProvideInfo),
            is_default: false,
            is_dangerous: self.is_dangerous,
            requires_input: self.requires_input,
            input_optional: false,
            input_secret: self.input_secret,
            input_prompt: self.input_prompt,
            metadata: self.metadata,
        }
    }
}

/// A question without choices is answered in words, or not at all.
fn free_text(message: &str) -> Vec<InteractionOption> {
    vec![
        InteractionOption::new("answer", "Answer", Action::ProvideInfo).with_input(message),
        InteractionOption::new("skip", "Skip", Action::Skip),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::call::tests::call;

    #[test]
    fn the_question_of_another_agents_tool_is_found_under_the_usual_names() {
        let nested = json!({"questions": [{"question": "Which?", "header": "Plan",
            "options": [{"label": "A", "description": "fast"}, {"label": "B"}], "multiSelect": false}]});
        let request = question_in(&call("AskUserQuestion", nested)).unwrap();
        assert_eq!(
            (request.title.as_str(), request.message.as_str()),
            ("Plan", "Which?")
        );
        let options: Vec<_> = request
            .options
            .iter()
            .map(|option| (option.option_id.as_str(), option.label.as_str()))
            .collect();
        assert_eq!(options, [("1", "A"), ("2", "B")]);
        assert_eq!(request.kind, InteractionKind::UserChoice);

        let request = question_in(&call("ask", json!({"prompt": "Why?", "choices": ["x", "y"]}))).unwrap();
        assert_eq!((request.message.as_str(), request.options.len()), ("Why?", 2));
    }

    #[test]
    fn a_question_in_no_known_shape_is_shown_as_it_is_and_answered_in_words() {
        let request = question_in(&call("ask_human", json!({"topic": "fish", "n": 3}))).unwrap();
        assert_eq!(request.message, r#"{"n":3,"topic":"fish"}"#);
        assert_eq!(request.kind, InteractionKind::UserInput);
        assert!(request.options[0].requires_input);
    }
}
