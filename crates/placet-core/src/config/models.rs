//! `[agent]` and `[models.NAME]`: what the built-in agent thinks with, and how far it may go.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_spanned::Spanned;

use super::error::Checker;
use super::file::{AgentFile, ModelFile};
use super::sandbox::{self, Sandbox};
use super::sections::positive;
use super::{Channels, Secret};
use crate::ids::ChannelName;
use crate::run::Limits;

/// `[agent]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The model it uses: the one named, or the only one there is. Without one there is no agent.
    pub model: Option<String>,
    /// How far a run may go.
    pub limits: Limits,
    /// Folders of skills beside the workspace's own; relative to the workspace.
    pub skills: Vec<String>,
    /// The channels on which it listens: what people write there is told to it.
    pub channels: BTreeSet<ChannelName>,
    /// What confines its commands.
    pub sandbox: Sandbox,
}

/// `[models.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Model {
    /// A model of a vendor.
    Vendor {
        /// What the vendor speaks.
        protocol: Protocol,
        /// The vendor's name for the model.
        model: String,
        /// Where the vendor is; the protocol's own vendor when absent.
        base_url: Option<String>,
        /// What it knows us by.
        api_key: Option<Secret>,
        /// Through which proxy; the environment's when absent.
        proxy: Option<String>,
        /// How much it may say in one turn.
        tokens_max: Option<u32>,
    },
    /// No model: says what its script says. For tests and demonstrations.
    Scripted {
        /// The script's file.
        script: String,
    },
}

/// What vendors speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Chat completions: `OpenAI`, and every vendor that speaks it under another address.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// `provider`, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Provider {
    OpenAi,
    Anthropic,
    Scripted,
}

pub(super) fn agent(
    file: &AgentFile,
    models: &BTreeMap<String, Model>,
    channels: &Channels,
    checker: &mut Checker<'_>,
) -> Agent {
    let usual = Limits::USUAL;
    let model = match &file.model {
        Some(name) if models.contains_key(name.get_ref()) => Some(name.get_ref().clone()),
        Some(name) => {
            let message = format!("there is no `[models.{}]`", name.get_ref());
            checker.refuse(name.span(), message, None);
            None
        }
        None => match models.len() {
            1 => models.keys().next().cloned(),
            _ => None,
        },
    };
    let turns_max = match &file.turns_max {
        Some(number) if *number.get_ref() == 0 => {
            checker.refuse(number.span(), "this must be at least 1", None);
            usual.turns_max
        }
        Some(number) => *number.get_ref(),
        None => usual.turns_max,
    };
    for name in &file.channels {
        if !channels.contains_key(name.get_ref()) {
            let message = format!("there is no `[channels.{}]`", name.get_ref());
            checker.refuse(name.span(), message, None);
        }
    }
    let mut lasting =
        |given: Option<&Spanned<_>>, usual| given.and_then(|given| positive(given, checker)).unwrap_or(usual);
    Agent {
        model,
        limits: Limits {
            turns_max,
            turn_timeout: lasting(file.turn_timeout.as_ref(), usual.turn_timeout),
            call_timeout: lasting(file.call_timeout.as_ref(), usual.call_timeout),
        },
        skills: file.skills.clone(),
        channels: file.channels.iter().map(|name| name.get_ref().clone()).collect(),
        sandbox: sandbox::sandbox(&file.sandbox, checker),
    }
}

pub(super) fn model(
    name: &Spanned<String>,
    file: &ModelFile,
    checker: &mut Checker<'_>,
) -> Option<(String, Model)> {
    let mut refuse = |message: &str, help: &str| {
        checker.refuse(
            name.span(),
            format!("the model `{}` {message}", name.get_ref()),
            Some(help.to_owned()),
        );
    };
    let protocol = match file.provider {
        Provider::OpenAi => Protocol::OpenAi,
        Provider::Anthropic => Protocol::Anthropic,
        Provider::Scripted => {
            let Some(script) = file.script.clone() else {
                refuse("needs a `script`", "a scripted model says what its script says");
                return None;
            };
            return Some((name.get_ref().clone(), Model::Scripted { script }));
        }
    };
    let (Some(model), None) = (&file.model, &file.script) else {
        refuse(
            "needs a `model` and no `script`",
            "the vendor's name for the model",
        );
        return None;
    };
    for url in [&file.base_url, &file.proxy].into_iter().flatten() {
        let known = url::Url::parse(url.get_ref()).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if !known {
            checker.refuse(
                url.span(),
                format!("`{}` is not an http or https URL", url.get_ref()),
                None,
            );
        }
    }
    let vendor = Model::Vendor {
        protocol,
        model: model.clone(),
        base_url: file.base_url.as_ref().map(|url| url.get_ref().clone()),
        api_key: file.api_key.clone(),
        proxy: file.proxy.as_ref().map(|url| url.get_ref().clone()),
        tokens_max: file.tokens_max,
    };
    Some((name.get_ref().clone(), vendor))
}
