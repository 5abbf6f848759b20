//! Models behind the chat-completions protocol: `OpenAI`'s own, and every vendor that speaks it under another address.

use async_trait::async_trait;
use futures_util::StreamExt as _;
use placet_core::run::{Message, ModelCall, Usage};
use reqwest::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Access, AccessError, Door, message_of};
use super::wire::{args_sent, name_sent};
use super::{Cut, Delta, Ended, Heard, Model, ModelError, Prompt, Spoken, SpokenCall, ToolSpec};

const BASE: &str = "https://api.openai.com/v1";
/// What stands at the end of a stream.
const DONE: &str = "[DONE]";

/// A model behind the chat-completions protocol.
#[derive(Debug, Clone)]
pub struct OpenAi {
    access: Access,
    door: Door,
}

impl OpenAi {
    /// A model that is reached like this.
    pub fn new(access: Access) -> Result<Self, AccessError> {
        let door = Door::new(&access, BASE, "/chat/completions", (AUTHORIZATION, "Bearer "))?;
        Ok(Self { access, door })
    }

    fn body(&self, prompt: Prompt<'_>) -> Value {
        let system = json!({ "role": "system", "content": prompt.system });
        let messages: Vec<Value> = std::iter::once(system)
            .chain(prompt.transcript.iter().map(message))
            .collect();
        let mut body = json!({
            "model": self.access.model,
            "messages": messages,
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        if let Some(fields) = body.as_object_mut() {
            if !prompt.tools.is_empty() {
                fields.insert("tools".into(), prompt.tools.iter().map(tool).collect());
            }
            if let Some(max) = self.access.tokens_max {
                fields.insert("max_tokens".into(), max.into());
            }
        }
        body
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "type": "function", "function": {
        "name": spec.name, "description": spec.description, "parameters": spec.schema,
    } })
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { text } => json!({ "role": "user", "content": text }),
        Message::Model { text, calls } if calls.is_empty() => json!({ "role": "assistant", "content": text }),
        Message::Model { text, calls } => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        Message::Result { call, text, .. } => {
            json!({ "role": "tool", "tool_call_id": call, "content": text })
        }
    }
}

fn call(call: &ModelCall) -> Value {
    json!({ "id": call.id, "type": "function", "function": {
        "name": name_sent(call.tool()), "arguments": args_sent(&call.wanted).to_string(),
    } })
}

#[async_trait]
impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.access.name
    }

    async fn speak(&self, prompt: Prompt<'_>, heard: &Heard<'_>) -> Result<Spoken, ModelError> {
        let mut events = self.door.ask(&self.body(prompt)).await?;
        let mut hearing = Hearing::default();
        while let Some(event) = events.next().await {
            if hearing.hear(&event?.data, heard)? == Heed::Over {
                break;
            }
        }
        hearing.finish()
    }
}

/// Whether there is more to come.
#[derive(PartialEq, Eq)]
enum Heed {
    More,
    Over,
}

/// A turn in the making.
#[derive(Default)]
struct Hearing {
    text: String,
    thinking: Option<String>,
    usage: Usage,
    /// Calls by the provider's count.
    calls: Vec<(u64, SpokenCall)>,
    /// Once the provider has said so.
    ended: Option<Ended>,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Counted>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Piece,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Piece {
    content: Option<String>,
    /// What vendors with thinking models call it.
    #[serde(alias = "reasoning")]
    reasoning_content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    /// Some vendors send every call whole and do not count.
    index: Option<u64>,
    function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl Hearing {
    fn hear(&mut self, data: &str, heard: &Heard<'_>) -> Result<Heed, ModelError> {
        if data.trim() == DONE {
            return Ok(Heed::Over);
        }
        let unreadable = |error: serde_json::Error| {
            ModelError::again(format!("the provider sent what cannot be read: {error}"))
        };
        let value: Value = serde_json::from_str(data).map_err(unreadable)?;
        if value.get("error").is_some_and(|error| !error.is_null()) {
            let why = message_of(&value).unwrap_or("it did not say why");
            return Err(ModelError::again(format!("the provider broke off: {why}")));
        }
        let chunk: Chunk = serde_json::from_value(value).map_err(unreadable)?;
        if let Some(counted) = chunk.usage {
            self.usage = Usage {
                input_tokens: counted.prompt_tokens,
                output_tokens: counted.completion_tokens,
            };
        }
        for choice in chunk.choices.into_iter().take(1) {
            // Some vendors send an empty one with every piece.
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.ended = Some(ended(&reason));
            }
            self.piece(choice.delta, heard);
        }
        Ok(Heed::More)
    }

    fn piece(&mut self, piece: Piece, heard: &Heard<'_>) {
        if let Some(text) = piece.content.filter(|text| !text.is_empty()) {
            self.text.push_str(&text);
            heard(Delta::Text(text));
        }
        if let Some(thought) = piece.reasoning_content.filter(|text| !text.is_empty()) {
            self.thinking.get_or_insert_default().push_str(&thought);
            heard(Delta::Thinking(thought));
        }
        for call in piece.tool_calls.into_iter().flatten() {
            let Some(function) = call.function else { continue };
            let index = call
                .index
                .unwrap_or_else(|| self.uncounted(function.name.is_some()));
            self.call(index, function);
        }
    }

    /// A name begins a call when chunks have no index.
    fn uncounted(&self, begins: bool) -> u64 {
        let last = self.calls.last().map(|(index, _)| *index);
        match (last, begins) {
            (Some(last), true) => last.saturating_add(1),
            (Some(last), false) => last,
            (None, _) => 0,
        }
    }

    fn call(&mut self, index: u64, piece: FunctionPiece) {
        let known = self.calls.iter().position(|(of, _)| *of == index);
        let position = known.unwrap_or_else(|| {
            let empty = SpokenCall {
                tool: String::new(),
                args: String::new(),
            };
            self.calls.push((index, empty));
            self.calls.len() - 1
        });
        if let Some((_, call)) = self.calls.get_mut(position) {
            call.tool.push_str(&piece.name.unwrap_or_default());
            call.args.push_str(&piece.arguments.unwrap_or_default());
        }
    }

    /// A stream that broke off is no turn: half a command is another command.
    fn finish(self) -> Result<Spoken, ModelError> {
        let Some(ended) = self.ended else {
            return Err(ModelError::again(
                "the provider's stream ended before the turn did",
            ));
        };
        Ok(Spoken {
            text: self.text,
            thinking: self.thinking,
            calls: self.calls.into_iter().map(|(_, call)| call).collect(),
            usage: self.usage,
            ended,
        })
    }
}

/// What a `finish_reason` means. One that is not known does not say that the turn is whole.
fn ended(reason: &str) -> Ended {
    match reason {
        "stop" | "tool_calls" | "function_call" | "eos" | "eos_token" | "stop_sequence" => Ended::Whole,
        "length" | "max_tokens" | "model_length" => Ended::CutOff(Cut::TokenLimit),
        other => Ended::CutOff(Cut::Provider(other.to_owned())),
    }
}
