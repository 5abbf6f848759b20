//! Models behind Anthropic's messages protocol.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use placet_core::run::{Message, ModelCall, Usage};
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Access, AccessError, Door};
use super::wire::{args_sent, name_sent};
use super::{Cut, Delta, Ended, Heard, Model, ModelError, Prompt, Spoken, SpokenCall, ToolSpec};

const BASE: &str = "https://api.anthropic.com";
/// The protocol wants a number; this is enough for a long answer, and within every model's limit.
const TOKENS_USUAL: u32 = 8192;
const VERSION: &str = "2023-06-01";

/// A model behind the messages protocol.
#[derive(Debug, Clone)]
pub struct Anthropic {
    access: Access,
    door: Door,
}

impl Anthropic {
    /// A model that is reached like this.
    pub fn new(access: Access) -> Result<Self, AccessError> {
        let header = (HeaderName::from_static("x-api-key"), "");
        let door = Door::new(&access, BASE, "/v1/messages", header)?.with("anthropic-version", VERSION);
        Ok(Self { access, door })
    }

    fn body(&self, prompt: Prompt<'_>) -> Value {
        json!({
            "model": self.access.model,
            "max_tokens": self.access.tokens_max.unwrap_or(TOKENS_USUAL),
            "system": prompt.system,
            "messages": messages(prompt.transcript),
            "tools": prompt.tools.iter().map(tool).collect::<Vec<_>>(),
            "stream": true,
        })
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "name": spec.name, "description": spec.description, "input_schema": spec.schema })
}

/// Roles take turns here: everything said between two turns of the model is one message, results first.
fn messages(transcript: &[Message]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in transcript {
        let (role, blocks) = match message {
            Message::User { text } => ("user", vec![json!({ "type": "text", "text": text })]),
            Message::Model { text, calls } => ("assistant", said(text, calls)),
            Message::Result { call, ok, text } => (
                "user",
                vec![json!({ "type": "tool_result", "tool_use_id": call, "content": text, "is_error": !ok })],
            ),
        };
        match messages.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    messages
        .into_iter()
        .filter(|(_, content)| !content.is_empty())
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect()
}

/// Empty texts are refused by the protocol.
fn said(text: &str, calls: &[ModelCall]) -> Vec<Value> {
    let words = (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }));
    let calls = calls.iter().map(|call| {
        json!({ "type": "tool_use", "id": call.id, "name": name_sent(call.tool()), "input": args_sent(&call.wanted) })
    });
    words.into_iter().chain(calls).collect()
}

#[async_trait]
impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.access.name
    }

    async fn speak(&self, prompt: Prompt<'_>, heard: &Heard<'_>) -> Result<Spoken, ModelError> {
        let mut events = self.door.ask(&self.body(prompt)).await?;
        let mut hearing = Hearing::default();
        while let Some(event) = events.next().await {
            if hearing.hear(&event?.data, heard)? == Heed::Over {
                return hearing.finish();
            }
        }
        Err(broken_off())
    }
}

/// A stream that broke off is no turn: half a command is another command.
fn broken_off() -> ModelError {
    ModelError::again("the provider's stream ended before the turn did")
}

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
    calls: BTreeMap<u64, SpokenCall>,
    /// Once the provider has said so.
    ended: Option<Ended>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StreamEvent {
    MessageStart {
        message: Begun,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Piece,
    },
    MessageDelta {
        #[serde(default)]
        delta: Change,
        usage: Option<Counted>,
    },
    MessageStop,
    Error {
        error: Complaint,
    },
    /// Pings, ends of blocks, and what later versions bring.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Begun {
    usage: Option<Counted>,
}

#[derive(Default, Deserialize)]
struct Change {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Counted {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    ToolUse {
        name: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Complaint {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

impl Hearing {
    fn hear(&mut self, data: &str, heard: &Heard<'_>) -> Result<Heed, ModelError> {
        let said: StreamEvent = serde_json::from_str(data)
            .map_err(|error| ModelError::again(format!("the provider sent what cannot be read: {error}")))?;
        match said {
            StreamEvent::MessageStart { message } => self.count(message.usage),
            StreamEvent::MessageDelta { delta, usage } => {
                self.count(usage);
                self.ended = delta.stop_reason.as_deref().map(ended).or(self.ended.take());
            }
            StreamEvent::ContentBlockStart {
                index,
                content_block: Block::ToolUse { name },
            } => {
                self.calls.insert(
                    index,
                    SpokenCall {
                        tool: name,
                        args: String::new(),
                    },
                );
            }
            StreamEvent::ContentBlockDelta { index, delta } => self.piece(index, delta, heard),
            StreamEvent::MessageStop => return Ok(Heed::Over),
            StreamEvent::Error { error } => return Err(complaint(&error)),
            StreamEvent::ContentBlockStart { .. } | StreamEvent::Other => {}
        }
        Ok(Heed::More)
    }

    fn count(&mut self, counted: Option<Counted>) {
        let usage = &mut self.usage;
        if let Some(counted) = counted {
            usage.input_tokens = counted.input_tokens.unwrap_or(usage.input_tokens);
            usage.output_tokens = counted.output_tokens.unwrap_or(usage.output_tokens);
        }
    }

    fn piece(&mut self, index: u64, piece: Piece, heard: &Heard<'_>) {
        match piece {
            Piece::TextDelta { text } => {
                self.text.push_str(&text);
                heard(Delta::Text(text));
            }
            Piece::ThinkingDelta { thinking } => {
                self.thinking.get_or_insert_default().push_str(&thinking);
                heard(Delta::Thinking(thinking));
            }
            Piece::InputJsonDelta { partial_json } => {
                if let Some(call) = self.calls.get_mut(&index) {
                    call.args.push_str(&partial_json);
                }
            }
            Piece::Other => {}
        }
    }

    fn finish(self) -> Result<Spoken, ModelError> {
        Ok(Spoken {
            ended: self.ended.ok_or_else(broken_off)?,
            text: self.text,
            thinking: self.thinking,
            calls: self.calls.into_values().collect(),
            usage: self.usage,
        })
    }
}

/// What a `stop_reason` means. One that is not known does not say that the turn is whole.
fn ended(reason: &str) -> Ended {
    match reason {
        "end_turn" | "tool_use" | "stop_sequence" => Ended::Whole,
        "max_tokens" | "model_context_window_exceeded" => Ended::CutOff(Cut::TokenLimit),
        other => Ended::CutOff(Cut::Provider(other.to_owned())),
    }
}

/// What a provider says in the middle of a stream. What would have been a 4xx is one here too.
fn complaint(error: &Complaint) -> ModelError {
    let why = format!("the provider broke off: {}: {}", error.kind, error.message);
    match error.kind.as_str() {
        "invalid_request_error"
        | "authentication_error"
        | "permission_error"
        | "not_found_error"
        | "request_too_large" => ModelError::never(why),
        _ => ModelError::again(why),
    }
}
