//! A scripted model, for tests and the demo. It is not a model: it says what its script says.
//!
//! It keeps no count of its own. Which turn is next follows from the transcript alone, so a resumed run hears what the
//! interrupted one would have heard.

use async_trait::async_trait;
use placet_core::run::{Message, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::{Delta, Ended, Heard, Model, ModelError, Prompt, Spoken, SpokenCall};

/// What a scripted model says, turn by turn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The turns, in order. Those with `on` are said whenever it occurs in what the model was told last.
    turns: Vec<ScriptedTurn>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedTurn {
    on: Option<String>,
    #[serde(default)]
    text: String,
    thinking: Option<String>,
    #[serde(default)]
    calls: Vec<ScriptedCall>,
    /// It fails instead.
    error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    tool: String,
    /// A table, or a text that is passed on as it is: models write broken JSON.
    args: Value,
}

/// Why a text is not a script.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Not TOML, or not a script.
    #[error("the script cannot be read: {0}")]
    Toml(#[from] toml::de::Error),
    /// Not JSON, or not a script.
    #[error("the script cannot be read: {0}")]
    Json(#[from] serde_json::Error),
}

impl Script {
    /// Reads a script written in TOML.
    pub fn from_toml(text: &str) -> Result<Self, ScriptError> {
        Ok(toml::from_str(text)?)
    }

    /// Reads a script written in JSON.
    pub fn from_json(json: Value) -> Result<Self, ScriptError> {
        Ok(serde_json::from_value(json)?)
    }

    /// The turn that follows a transcript.
    fn after(&self, transcript: &[Message]) -> Option<&ScriptedTurn> {
        let mut told = String::new();
        let mut plain = self.turns.iter().filter(|turn| turn.on.is_none());
        for message in transcript {
            match message {
                Message::Model { .. } => {
                    // Each turn that was said was chosen like this one.
                    if self.on(&told).is_none() {
                        plain.next();
                    }
                    told.clear();
                }
                Message::User { text } | Message::Result { text, .. } => {
                    told.push_str(text);
                    told.push('\n');
                }
            }
        }
        self.on(&told).or_else(|| plain.next())
    }

    fn on(&self, told: &str) -> Option<&ScriptedTurn> {
        self.turns
            .iter()
            .find(|turn| turn.on.as_ref().is_some_and(|on| told.contains(on)))
    }
}

/// Says what its script says.
#[derive(Debug, Clone)]
pub struct Scripted {
    name: String,
    script: Script,
}

impl Scripted {
    /// A model of this name with this script.
    pub fn new(name: impl Into<String>, script: Script) -> Self {
        Self {
            name: name.into(),
            script,
        }
    }
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    async fn speak(&self, prompt: Prompt<'_>, heard: &Heard<'_>) -> Result<Spoken, ModelError> {
        let Some(turn) = self.script.after(prompt.transcript) else {
            return Ok(Spoken {
                text: "The script is over.".into(),
                thinking: None,
                calls: Vec::new(),
                usage: Usage::default(),
                ended: Ended::Whole,
            });
        };
        if let Some(error) = &turn.error {
            return Err(ModelError::never(error));
        }
        if let Some(thinking) = &turn.thinking {
            heard(Delta::Thinking(thinking.clone()));
        }
        for word in turn.text.split_inclusive(' ') {
            heard(Delta::Text(word.to_owned()));
        }
        let calls = turn.calls.iter().map(|call| SpokenCall {
            tool: call.tool.clone(),
            args: match &call.args {
                Value::String(raw) => raw.clone(),
                args => args.to_string(),
            },
        });
        Ok(Spoken {
            text: turn.text.clone(),
            thinking: turn.thinking.clone(),
            calls: calls.collect(),
            usage: Usage::default(),
            ended: Ended::Whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn model(text: &str) -> Message {
        Message::Model {
            text: text.into(),
            calls: Vec::new(),
        }
    }

    #[test]
    fn the_next_turn_follows_from_the_transcript_alone() {
        let script = Script::from_toml(
            "
            [[turns]]
            text = 'first'
            [[turns]]
            on = 'rejected'
            text = 'sorry'
            [[turns]]
            text = 'second'
            ",
        )
        .unwrap();
        let next = |transcript: &[Message]| script.after(transcript).map(|turn| turn.text.as_str());
        let mut transcript = vec![user("begin")];
        assert_eq!(next(&transcript), Some("first"));
        transcript.extend([model("first"), user("it was rejected")]);
        assert_eq!(next(&transcript), Some("sorry"));
        transcript.extend([model("sorry"), user("go on")]);
        assert_eq!(next(&transcript), Some("second"));
        transcript.extend([model("second"), user("and?")]);
        assert_eq!(next(&transcript), None);
    }

    #[test]
    fn a_script_with_an_unknown_key_is_refused() {
        assert!(Script::from_toml("[[turns]]\ntxet = 'x'").is_err());
    }
}
