//! Vendors of models: who speaks what, and where. Any other one works with its address.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use placet_core::config::Protocol;

use crate::model::{Access, AccessError, Anthropic, ApiKey, Model, OpenAi};

/// Vendors known by name, with the address under which they speak their protocol.
const VENDORS: [(&str, Protocol, &str); 13] = [
    ("anthropic", Protocol::Anthropic, "https://api.anthropic.com"),
    (
        "dashscope",
        Protocol::OpenAi,
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
    ),
    ("deepseek", Protocol::OpenAi, "https://api.deepseek.com/v1"),
    (
        "google",
        Protocol::OpenAi,
        "https://generativelanguage.googleapis.com/v1beta/openai",
    ),
    ("groq", Protocol::OpenAi, "https://api.groq.com/openai/v1"),
    ("mistral", Protocol::OpenAi, "https://api.mistral.ai/v1"),
    ("moonshot", Protocol::OpenAi, "https://api.moonshot.cn/v1"),
    ("ollama", Protocol::OpenAi, "http://127.0.0.1:11434/v1"),
    ("openai", Protocol::OpenAi, "https://api.openai.com/v1"),
    ("openrouter", Protocol::OpenAi, "https://openrouter.ai/api/v1"),
    ("siliconflow", Protocol::OpenAi, "https://api.siliconflow.cn/v1"),
    ("xai", Protocol::OpenAi, "https://api.x.ai/v1"),
    (
        "zhipuai",
        Protocol::OpenAi,
        "https://open.bigmodel.cn/api/paas/v4",
    ),
];

/// How a vendor is reached. What is absent is the vendor's own.
#[derive(Debug, Clone, Default)]
pub struct Provider {
    /// What it knows us by.
    pub api_key: Option<ApiKey>,
    /// Where it is.
    pub base_url: Option<String>,
    /// Through which proxy; the environment's when absent.
    pub proxy: Option<String>,
}

impl Provider {
    /// As the environment says: `ZHIPUAI_API_KEY` and `ZHIPUAI_BASE_URL` for `zhipuai`.
    pub fn from_env(vendor: &str) -> Self {
        let [key, base_url] = variables(vendor).map(|name| std::env::var(name).ok());
        Self {
            api_key: key.map(ApiKey::new),
            base_url,
            proxy: None,
        }
    }
}

/// The variables that say how a vendor is reached: its key, and its address.
pub(super) fn variables(vendor: &str) -> [String; 2] {
    let name: String = vendor
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    [format!("{name}_API_KEY"), format!("{name}_BASE_URL")]
}

/// Why a model's name says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelNameError {
    /// It names no vendor, or no model.
    #[error("`{0}` is not the name of a model; write `provider/model`, such as `deepseek/deepseek-chat`")]
    NotAName(String),
    /// It names a vendor of whom only the name is known.
    #[error("the provider `{0}` is not known here; give its `base_url`, or take one of: {names}", names = Names)]
    Unknown(String),
}

struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&VENDORS.map(|(name, ..)| name).join(", "))
    }
}

/// A model, `provider/model`, reached as the map says or else as the environment does.
pub(super) fn model(
    name: &str,
    providers: &BTreeMap<String, Provider>,
    product: &str,
) -> Result<Arc<dyn Model>, ModelError> {
    let (vendor, model) = split(name)?;
    let provider = providers
        .get(vendor)
        .cloned()
        .unwrap_or_else(|| Provider::from_env(vendor));
    let known = VENDORS.iter().find(|(known, ..)| *known == vendor);
    let (protocol, base_url) = match (known, provider.base_url) {
        (Some((_, protocol, _)), Some(base_url)) => (*protocol, base_url),
        (Some((_, protocol, base_url)), None) => (*protocol, (*base_url).to_owned()),
        // The protocol of most providers.
        (None, Some(base_url)) => (Protocol::OpenAi, base_url),
        (None, None) => return Err(ModelNameError::Unknown(vendor.to_owned()).into()),
    };
    let access = Access {
        name: name.to_owned(),
        model: model.to_owned(),
        base_url: Some(base_url),
        key: provider.api_key,
        proxy: provider.proxy,
        tokens_max: None,
        product: Some(product.to_owned()),
    };
    Ok(match protocol {
        Protocol::OpenAi => Arc::new(OpenAi::new(access)?),
        Protocol::Anthropic => Arc::new(Anthropic::new(access)?),
    })
}

/// The vendor and its own name for a model. That one may hold more slashes.
pub(super) fn split(name: &str) -> Result<(&str, &str), ModelNameError> {
    name.split_once('/')
        .filter(|(vendor, model)| !vendor.is_empty() && !model.is_empty())
        .ok_or_else(|| ModelNameError::NotAName(name.to_owned()))
}

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ModelError {
    #[error(transparent)]
    Name(#[from] ModelNameError),
    #[error(transparent)]
    Access(#[from] AccessError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, providers: &[(&str, Provider)]) -> Result<(), String> {
        let providers = providers
            .iter()
            .map(|(name, provider)| ((*name).to_owned(), provider.clone()));
        model(name, &providers.collect(), "test/1")
            .map(|_| ())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn models_are_named_with_their_provider() {
        let nothing = [
            ("zhipuai", Provider::default()),
            ("openrouter", Provider::default()),
        ];
        assert_eq!(named("zhipuai/glm-4.7", &nothing), Ok(()));
        assert_eq!(split("openrouter/meta/llama"), Ok(("openrouter", "meta/llama")));
        for wrong in ["glm-4.7", "/glm", "zhipuai/", ""] {
            let why = named(wrong, &nothing).unwrap_err();
            assert!(why.contains("write `provider/model`"), "{why}");
        }
    }

    #[test]
    fn a_provider_nobody_knows_needs_an_address() {
        let why = named("acme/one", &[]).unwrap_err();
        assert!(
            why.contains("give its `base_url`") && why.contains("zhipuai"),
            "{why}"
        );
        let provider = Provider {
            base_url: Some("http://127.0.0.1:1/v1".into()),
            ..Provider::default()
        };
        assert_eq!(named("acme/one", &[("acme", provider)]), Ok(()));
    }

    #[test]
    fn variables_are_named_after_the_provider() {
        assert_eq!(variables("my-llm"), ["MY_LLM_API_KEY", "MY_LLM_BASE_URL"]);
    }
}
