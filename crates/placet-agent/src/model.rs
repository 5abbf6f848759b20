//! A model: reads the conversation, says something, and wants calls made.
//!
//! A model decides nothing. What it wants is judged by the gate; what it writes as arguments is text until it has been read.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use placet_core::config::{Model as Configured, Protocol};
use placet_core::run::{Message, Usage};
use serde_json::Value;

mod anthropic;
mod http;
mod openai;
mod scripted;
mod wire;

pub use anthropic::Anthropic;
pub(crate) use http::is_loopback;
pub use http::{Access, AccessError, ApiKey};
pub use openai::OpenAi;
pub use scripted::{Script, ScriptError, Scripted};

/// A language model. Dropping [`Model::speak`] cancels it.
#[async_trait]
pub trait Model: Send + Sync {
    /// Its configured name.
    fn name(&self) -> &str;

    /// Speaks once. Whatever arrives is told to `heard` as it comes; what counts is what is returned.
    async fn speak(&self, prompt: Prompt<'_>, heard: &Heard<'_>) -> Result<Spoken, ModelError>;
}

/// Told what a model says while it says it. For people who watch; nothing is decided by it.
pub type Heard<'a> = dyn Fn(Delta) + Send + Sync + 'a;

/// What a model is shown.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// Who it is and how it works.
    pub system: &'a str,
    /// The conversation so far.
    pub transcript: &'a [Message],
    /// What it can call.
    pub tools: &'a [ToolSpec],
}

/// A tool, as a model is told about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
}

/// A piece of what a model says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Of its words.
    Text(String),
    /// Of its thoughts.
    Thinking(String),
    /// It begins again, and why: what was heard of this turn does not count.
    Again(String),
}

/// What a model said.
#[derive(Debug, Clone, PartialEq)]
pub struct Spoken {
    /// Its words.
    pub text: String,
    /// Its thoughts, when it shows them.
    pub thinking: Option<String>,
    /// What it wants done.
    pub calls: Vec<SpokenCall>,
    /// What it cost.
    pub usage: Usage,
    /// Whether it had said all of it.
    pub ended: Ended,
}

/// How a turn came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The model had said what it wanted to.
    Whole,
    /// It was stopped before that. What it had begun to write may be something else than what it meant: half a command is
    /// another command. None of its calls counts.
    CutOff(Cut),
}

/// What stopped a model in the middle of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// It had said as much as it may.
    TokenLimit,
    /// The provider, for a reason of its own, in its own word.
    Provider(String),
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TokenLimit => f.write_str("the model was cut off at its token limit"),
            Self::Provider(word) => write!(f, "the provider cut the model off, saying `{word}`"),
        }
    }
}

impl Cut {
    /// What people can do about it.
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Self::TokenLimit => "raise `tokens_max` of its `[models.NAME]`, or ask for less at once",
            Self::Provider(_) => "say it in other words, or take another model",
        }
    }
}

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenCall {
    /// The tool it names.
    pub tool: String,
    /// Its arguments, unread.
    pub args: String,
}

/// Why a model did not speak.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Another try may do: it is busy, out of reach, or was cut off.
    #[error("{why}")]
    Again {
        /// What happened.
        why: String,
        /// When to try, if it said so.
        after: Option<Duration>,
    },
    /// No other try would help: a wrong key, a request it does not take.
    #[error("{why}")]
    Never {
        /// What happened.
        why: String,
    },
}

impl ModelError {
    /// Another try may do.
    pub fn again(why: impl Into<String>) -> Self {
        Self::Again {
            why: why.into(),
            after: None,
        }
    }

    /// No other try would help.
    pub fn never(why: impl Into<String>) -> Self {
        Self::Never { why: why.into() }
    }
}

/// Makes the model of a `[models.NAME]` section. The caller has looked up the key; a script is read here.
pub fn configured(
    name: &str,
    model: &Configured,
    key: Option<ApiKey>,
) -> Result<Arc<dyn Model>, ConfiguredError> {
    let (protocol, model, base_url, proxy, tokens_max) = match model {
        Configured::Scripted { script } => {
            let text = std::fs::read_to_string(script).map_err(|source| ConfiguredError::Script {
                path: script.clone(),
                source,
            })?;
            return Ok(Arc::new(Scripted::new(name, Script::from_toml(&text)?)));
        }
        Configured::Vendor {
            protocol,
            model,
            base_url,
            proxy,
            tokens_max,
            api_key: _,
        } => (protocol, model, base_url, proxy, tokens_max),
    };
    let access = Access {
        name: name.to_owned(),
        model: model.clone(),
        base_url: base_url.clone(),
        key,
        proxy: proxy.clone(),
        tokens_max: *tokens_max,
        product: None,
    };
    Ok(match protocol {
        Protocol::OpenAi => Arc::new(OpenAi::new(access)?),
        Protocol::Anthropic => Arc::new(Anthropic::new(access)?),
    })
}

/// Why a configured model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfiguredError {
    /// It cannot be reached as configured.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The script's file cannot be read.
    #[error("the script `{path}` cannot be read: {source}")]
    Script {
        /// Which file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Invalid script.
    #[error(transparent)]
    NotAScript(#[from] ScriptError),
}
