//! The shape of `placet.toml`: what may be written, before it is checked. Everything is optional but what has no sensible
//! default, and nothing else is accepted.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_spanned::Spanned;

use super::duration::ConfigDuration;
use super::models::Provider;
use super::{OtherReply, Secret, WideGrants};
use crate::ids::{ChannelName, ToolName};
use crate::interaction::Locale;
use crate::policy::Mode;
use crate::policy::example::Example;
use crate::tool::{Category, Risk, SqlDialect};
use crate::verdict::AnswerKind;

/// The names of all sections.
pub(super) const SECTIONS: [&str; 16] = [
    "approval",
    "rules",
    "tools",
    "programs",
    "people",
    "groups",
    "channels",
    "server",
    "store",
    "workspace",
    "agent",
    "models",
    "databases",
    "safety",
    "workflows",
    "mcp",
];

/// One `[[people]]`: its keys are `name`, `token` and names of channels.
pub(super) type PersonFile = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    #[serde(default)]
    pub(super) approval: ApprovalFile,
    pub(super) rules: Option<Vec<Spanned<RuleFile>>>,
    #[serde(default)]
    pub(super) tools: BTreeMap<Spanned<String>, ToolFile>,
    #[serde(default)]
    pub(super) programs: BTreeMap<Spanned<String>, super::programs::Record>,
    /// Names of channels are keys here, so the table is read as it comes.
    pub(super) people: Option<Vec<Spanned<PersonFile>>>,
    #[serde(default)]
    pub(super) groups: BTreeMap<Spanned<String>, Vec<String>>,
    /// Read beforehand: the type of a channel says which keys it has.
    #[serde(default, rename = "channels")]
    _channels: IgnoredAny,
    #[serde(default)]
    pub(super) server: ServerFile,
    #[serde(default)]
    pub(super) push: PushFile,
    #[serde(default)]
    pub(super) store: StoreFile,
    #[serde(default)]
    pub(super) workspace: WorkspaceFile,
    #[serde(default)]
    pub(super) agent: AgentFile,
    #[serde(default)]
    pub(super) models: BTreeMap<Spanned<String>, ModelFile>,
    #[serde(default)]
    pub(super) databases: BTreeMap<Spanned<String>, DatabaseFile>,
    #[serde(default)]
    pub(super) safety: SafetyFile,
    #[serde(default)]
    pub(super) workflows: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub(super) mcp: McpFile,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalFile {
    pub(super) enabled: Option<bool>,
    pub(super) mode: Option<Mode>,
    pub(super) strict: Option<bool>,
    pub(super) timeout: Option<Spanned<ConfigDuration>>,
    pub(super) memory: Option<ConfigDuration>,
    pub(super) on_other_reply: Option<OtherReply>,
    pub(super) locale: Option<Locale>,
    #[serde(default)]
    pub(super) auto_approved_tools: Vec<ToolName>,
    #[serde(default)]
    pub(super) tool_overrides: BTreeMap<ToolName, bool>,
    pub(super) open_questions_max: Option<Spanned<u32>>,
    pub(super) agent_open_questions_max: Option<Spanned<u32>>,
    pub(super) person_open_questions_max: Option<Spanned<u32>>,
    pub(super) rejections_max: Option<Spanned<u32>>,
    pub(super) wide_grants: Option<WideGrants>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleFile {
    pub(super) name: Spanned<String>,
    pub(super) effect: Spanned<EffectWord>,
    pub(super) reason: Option<String>,
    pub(super) tool: Option<Spanned<Texts>>,
    pub(super) command: Option<Spanned<Texts>>,
    pub(super) path: Option<Spanned<Texts>>,
    pub(super) host: Option<Spanned<Texts>>,
    pub(super) reads: Option<Spanned<Texts>>,
    pub(super) writes: Option<Spanned<Texts>>,
    pub(super) runs: Option<Spanned<bool>>,
    pub(super) sql: Option<Spanned<Texts>>,
    pub(super) table: Option<Spanned<Texts>>,
    #[serde(default)]
    pub(super) args: BTreeMap<String, String>,
    pub(super) category: Option<Category>,
    pub(super) risk: Option<Spanned<Risk>>,
    pub(super) agent: Option<Spanned<Texts>>,
    pub(super) channel: Option<Spanned<Texts>>,
    pub(super) session: Option<Spanned<Texts>>,
    pub(super) approvers: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) quorum: Option<Spanned<u32>>,
    pub(super) not_requester: Option<Spanned<bool>>,
    pub(super) timeout: Option<Spanned<ConfigDuration>>,
    pub(super) escalate: Option<Spanned<EscalateFile>>,
    pub(super) answers: Option<Spanned<Vec<AnswerKind>>>,
    #[serde(default)]
    pub(super) matches: Vec<Spanned<Example>>,
    #[serde(default)]
    pub(super) not_matches: Vec<Spanned<Example>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EffectWord {
    Allow,
    Ask,
    Deny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EscalateFile {
    pub(super) after: Spanned<ConfigDuration>,
    pub(super) to: Spanned<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolFile {
    pub(super) category: Option<Category>,
    pub(super) risk: Option<Risk>,
    pub(super) schema: Option<Spanned<Value>>,
    #[serde(default)]
    pub(super) shell: Texts,
    #[serde(default)]
    pub(super) sql: Texts,
    pub(super) dialect: Option<Spanned<SqlDialect>>,
    pub(super) read_only: Option<Spanned<bool>>,
    #[serde(default)]
    pub(super) read_path: Texts,
    #[serde(default)]
    pub(super) write_path: Texts,
    #[serde(default)]
    pub(super) url: Texts,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerFile {
    pub(super) listen: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) hosts: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) admins: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) agents: BTreeMap<Spanned<String>, Secret>,
    pub(super) connections_max: Option<Spanned<u32>>,
    pub(super) requests_per_second: Option<Spanned<u32>>,
    pub(super) metrics_names_max: Option<u32>,
    #[serde(default)]
    pub(super) tokens: TokensFile,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PushFile {
    pub(super) contact: Option<Spanned<String>>,
    pub(super) services: Option<Vec<Spanned<String>>>,
    pub(super) show_gist: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TokensFile {
    pub(super) agent: Option<Secret>,
    pub(super) approver: Option<Secret>,
    pub(super) admin: Option<Secret>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreFile {
    pub(super) path: Option<Spanned<String>>,
    pub(super) url: Option<Spanned<String>>,
    pub(super) seal_key: Option<Secret>,
    pub(super) lease: Option<Spanned<ConfigDuration>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkspaceFile {
    pub(super) root: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentFile {
    pub(super) model: Option<Spanned<String>>,
    pub(super) turns_max: Option<Spanned<u32>>,
    pub(super) turn_timeout: Option<Spanned<ConfigDuration>>,
    pub(super) call_timeout: Option<Spanned<ConfigDuration>>,
    #[serde(default)]
    pub(super) skills: Vec<String>,
    #[serde(default)]
    pub(super) channels: Vec<Spanned<ChannelName>>,
    #[serde(default)]
    pub(super) sandbox: SandboxFile,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SandboxFile {
    pub(super) mode: Option<SandboxMode>,
    #[serde(default)]
    pub(super) read: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) write: Vec<Spanned<String>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SandboxMode {
    Workspace,
    ReadOnly,
    Off,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpFile {
    #[serde(default)]
    pub(super) servers: BTreeMap<Spanned<String>, McpServerFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpServerFile {
    pub(super) command: Option<Spanned<Vec<String>>>,
    pub(super) url: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    pub(super) bearer: Option<Secret>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) start_timeout: Option<Spanned<ConfigDuration>>,
    pub(super) call_timeout: Option<Spanned<ConfigDuration>>,
    pub(super) sandbox: Option<Spanned<SandboxMode>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelFile {
    pub(super) provider: Provider,
    pub(super) model: Option<String>,
    pub(super) base_url: Option<Spanned<String>>,
    pub(super) api_key: Option<Secret>,
    pub(super) proxy: Option<Spanned<String>>,
    pub(super) tokens_max: Option<u32>,
    pub(super) script: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DatabaseFile {
    #[serde(rename = "type")]
    pub(super) kind: Option<Spanned<SqlDialect>>,
    pub(super) url: Spanned<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SafetyFile {
    pub(super) require_confirmation: Option<bool>,
}

/// One text or a list of them.
#[derive(Default)]
pub(super) struct Texts(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
        Ok(Texts(vec![text.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = items.next_element()? {
            texts.push(text);
        }
        Ok(Texts(texts))
    }
}

impl<'de> Deserialize<'de> for Example {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExampleVisitor)
    }
}

struct ExampleVisitor;

impl<'de> Visitor<'de> for ExampleVisitor {
    type Value = Example;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an example: a string or a table of arguments")
    }

    fn visit_str<E>(self, text: &str) -> Result<Example, E> {
        Ok(Example::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Example, A::Error> {
        let mut args = serde_json::Map::new();
        while let Some((name, value)) = fields.next_entry()? {
            args.insert(name, value);
        }
        Ok(Example::Args(Value::Object(args)))
    }
}
