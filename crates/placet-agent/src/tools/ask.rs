//! `askUserQuestion`: the model asks a person. The answer is the call's result; there is nothing to run.
//!
//! Several `questions` in one call are as many calls of the same turn: they are shown together, and each is answered, skipped or
//! left to expire on its own.

use async_trait::async_trait;
use placet_core::call::{Args, ToolCall};
use placet_core::evidence::Evidence;
use placet_core::interaction::{InteractionRequest, question_of};
use placet_core::tool::Category;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Tool;

/// Asks a person.
#[derive(Debug, Clone, Copy)]
pub struct AskUserQuestion;

/// The most questions in one call.
const QUESTIONS_MAX: usize = 10;

/// Several questions at once.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Several {
    questions: Vec<Value>,
}

#[async_trait]
impl Tool for AskUserQuestion {
    fn name(&self) -> &'static str {
        "askUserQuestion"
    }

    fn description(&self) -> &'static str {
        "Asks a person: to choose one of several options, to confirm something, or to supply what is missing. \
         Without options they answer in words; `defaultOptionId` is taken if no answer comes in time. Ask several things at once \
         as `questions`, each with a `title` and a `message` of its own; each gets its own result. Do not ask for permission to call a tool; that is asked for you."
    }

    fn category(&self) -> Category {
        Category::Ask
    }

    fn schema(&self) -> Value {
        let text = json!({ "type": "string", "minLength": 1 });
        let actions = [
            "APPROVE_AND_EXECUTE",
            "RETRY_WITH_FEEDBACK",
            "REJECT_WITH_REASON",
            "TERMINATE",
            "PROVIDE_INFO",
            "SKIP",
            "CUSTOM",
        ];
        let options = json!({ "type": "array", "maxItems": 50, "items": {
            "type": "object",
            "properties": {
                "optionId": text,
                "label": text,
                "description": { "type": "string" },
                "action": { "enum": actions },
                "isDangerous": { "type": "boolean" },
                "requiresInput": { "type": "boolean" },
                "inputSecret": { "type": "boolean" },
                "inputPrompt": { "type": "string" },
                "metadata": { "type": "object" },
            },
            "required": ["optionId", "label"],
            "additionalProperties": false,
        } });
        let mut question = json!({
            "type": { "enum": ["MISSING_INFO", "USER_CONFIRMATION", "USER_CHOICE", "USER_INPUT", "CUSTOM"] },
            "title": text,
            "message": text,
            "details": { "type": "string" },
            "context": { "type": "object" },
            "options": options,
            "timeoutSeconds": { "type": "integer", "minimum": 1 },
            "defaultOptionId": text,
        });
        let several = json!({ "type": "array", "minItems": 1, "maxItems": QUESTIONS_MAX, "items": {
            "type": "object",
            "properties": question.clone(),
            "required": ["title", "message"],
            "additionalProperties": false,
        } });
        if let Some(properties) = question.as_object_mut() {
            properties.insert("questions".into(), several);
        }
        // Either shape; some providers know no `oneOf` here, so reading the call tells them apart.
        json!({ "type": "object", "properties": question, "additionalProperties": false })
    }

    fn apart(&self, args: &str) -> Option<Vec<String>> {
        let several: Several = serde_json::from_str(args).ok()?;
        let fits = (1..=QUESTIONS_MAX).contains(&several.questions.len());
        fits.then(|| several.questions.iter().map(Value::to_string).collect())
    }

    fn question(&self, args: &Args) -> Option<Result<InteractionRequest, String>> {
        Some(question_of(args))
    }

    async fn run(&self, _: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        Err("a person answers this; it cannot be run".into())
    }
}

#[cfg(test)]
mod tests {
    use placet_core::interaction::InteractionKind;

    use super::*;

    fn ask(args: Value) -> Result<InteractionRequest, String> {
        AskUserQuestion
            .question(&Args::from_value(args).unwrap())
            .unwrap()
    }

    #[test]
    fn a_question_cannot_pose_as_a_tool_approval() {
        let args = json!({"type": "TOOL_APPROVAL", "title": "t", "message": "m"});
        assert!(ask(args).unwrap_err().contains("cannot pose"));
    }

    #[test]
    fn without_options_people_answer_in_words() {
        let request = ask(json!({"title": "Key", "message": "Which key?"})).unwrap();
        assert_eq!(request.kind, InteractionKind::UserInput);
        assert!(request.options[0].requires_input);
    }

    #[test]
    fn silence_cannot_choose_what_is_dangerous() {
        let option = |dangerous| json!({"optionId": "drop", "label": "Drop it", "isDangerous": dangerous});
        let args = |dangerous| json!({"title": "t", "message": "m", "defaultOptionId": "drop", "options": [option(dangerous)]});
        assert!(ask(args(true)).unwrap_err().contains("is dangerous"));
        assert_eq!(
            ask(args(false)).unwrap().default_option_id.as_deref(),
            Some("drop")
        );
    }

    #[test]
    fn several_questions_are_as_many_calls() {
        let first = json!({"title": "A", "message": "Which?"});
        let second = json!({"title": "B", "message": "Whose?"});
        let both = json!({ "questions": [first, second] }).to_string();
        let apart = AskUserQuestion.apart(&both).unwrap();
        assert_eq!(apart, [first.to_string(), second.to_string()]);
        for one in [
            first.to_string(),
            json!({"questions": []}).to_string(),
            "nonsense".into(),
        ] {
            assert_eq!(AskUserQuestion.apart(&one), None, "{one}");
        }
        // What is neither shape is told what is missing.
        assert!(ask(json!({"message": "m"})).unwrap_err().contains("title"));
    }
}
