//! The variables of a workflow: named values that its steps read, and that a person may change in an answer.
//!
//! A workflow declares them with their first values. A run keeps its own copy; every change is a row of the journal with the values
//! before and after.

use serde_json::{Map, Value, json};

use crate::interaction::{Asked, Ballot, InteractionRequest, Subject};
use crate::journal::Event;
use crate::messages::{Explain, Message, refusal};

/// Variables by their names.
pub type Variables = Map<String, Value>;

/// What a question that asks for new values says in `context.operationType`, and what its events are called.
pub const OPERATION: &str = "UPDATE_VARIABLES";
/// Where an answer to any other question of a workflow has new values.
const FIELD: &str = "variables";

/// Why new values are not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariablesError {
    /// They are not given as an object.
    NotAnObject,
    /// The workflow has no such variable.
    Unknown {
        /// As it was named.
        name: String,
        /// What there is.
        known: String,
    },
    /// The variable holds values of another type.
    WrongType {
        /// Which variable.
        name: String,
        /// What it holds.
        wanted: &'static str,
    },
    /// One approval of several changes nothing for the others.
    NotAlone,
}

impl Explain for VariablesError {
    fn message(&self) -> Message {
        match self {
            Self::NotAnObject => refusal::variables_not_an_object(),
            Self::Unknown { name, known } => refusal::unknown_variable(known, name),
            Self::WrongType { name, wanted } => refusal::variable_type(name, wanted),
            Self::NotAlone => refusal::variables_not_alone(),
        }
    }
}

crate::display_in_english!(VariablesError);

/// Whether a question asks for new values.
pub fn asks_for(request: &InteractionRequest) -> bool {
    request.context.get("operationType").and_then(Value::as_str) == Some(OPERATION)
}

/// Adds to such a question what people need to answer it: the variables as they are, and a schema to fill in.
pub(crate) fn complete(request: &mut InteractionRequest, variables: &Variables) {
    if variables.is_empty() || !asks_for(request) {
        return;
    }
    let context = &mut request.context;
    context.insert(FIELD.to_owned(), Value::Object(variables.clone()));
    context.entry("schema").or_insert_with(|| schema(variables));
}

/// A JSON Schema of an object with new values for these variables.
fn schema(variables: &Variables) -> Value {
    let properties: Map<String, Value> = variables
        .iter()
        .map(|(name, value)| (name.clone(), json!({ "type": kind(value), "default": value })))
        .collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The event of an answer that changes the variables of a run. Where there are none, an answer's data is not about them.
pub(crate) fn changed(
    asked: &Asked,
    ballot: &Ballot,
    before: &Variables,
) -> Result<Option<Event>, VariablesError> {
    let (Some(data), false) = (&ballot.data, before.is_empty()) else {
        return Ok(None);
    };
    let given = match &asked.subject {
        Subject::Request { request, .. } if asks_for(request) => data,
        _ => match data.get(FIELD) {
            Some(Value::Object(given)) => given,
            Some(_) => return Err(VariablesError::NotAnObject),
            None => return Ok(None),
        },
    };
    let mut after = before.clone();
    for (name, value) in given {
        let Some(old) = after.get_mut(name) else {
            return Err(VariablesError::Unknown {
                name: name.clone(),
                known: before.keys().cloned().collect::<Vec<_>>().join(", "),
            });
        };
        if kind(old) != kind(value) {
            return Err(VariablesError::WrongType {
                name: name.clone(),
                wanted: kind(old),
            });
        }
        *old = value.clone();
    }
    if after == *before {
        return Ok(None);
    }
    Ok(Some(Event::VariablesChanged {
        interaction: asked.id.clone(),
        by: ballot.by.clone(),
        before: before.clone(),
        after,
    }))
}

/// A workflow's prompt with `{{name}}` replaced by the values as they are now.
pub fn filled(prompt: &str, variables: &Variables) -> String {
    let mut filled = prompt.to_owned();
    for (name, value) in variables {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        filled = filled.replace(&format!("{{{{{name}}}}}"), &value);
    }
    filled
}

/// What changed, as the model reads it.
pub(crate) fn told(by: &str, before: &Variables, after: &Variables) -> String {
    let changes: Vec<String> = after
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(*value))
        .map(|(name, value)| {
            let old = before.get(name).unwrap_or(&Value::Null);
            format!("`{name}` from {old} to {value}")
        })
        .collect();
    format!("[{by} changed variables of the workflow: {}]", changes.join(", "))
}

/// The type of a value, as JSON Schema names it.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_filled_with_the_values_as_they_are() {
        let variables = json!({ "region": "eu", "limit": 10 });
        let variables = variables.as_object().unwrap();
        let prompt = "Deploy to {{region}}, {{limit}} at once, {{other}} not.";
        assert_eq!(
            filled(prompt, variables),
            "Deploy to eu, 10 at once, {{other}} not."
        );
    }

    #[test]
    fn a_schema_offers_every_variable_with_its_value() {
        let variables = json!({ "region": "eu", "dry": true });
        let schema = schema(variables.as_object().unwrap());
        assert_eq!(
            schema["properties"]["region"],
            json!({ "type": "string", "default": "eu" })
        );
        assert_eq!(
            schema["properties"]["dry"],
            json!({ "type": "boolean", "default": true })
        );
    }
}
