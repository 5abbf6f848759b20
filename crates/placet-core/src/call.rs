//! A tool call: what an agent wants to do, and who it wants to do it for.
//!
//! The start of the flow. Arguments are checked here once (size, depth, duplicate names, numbers); everything after
//! works with [`Args`], which cannot be wrong.

use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use crate::canonical;
use crate::digest::Digest;
use crate::ids::{AgentId, CallId, ChannelName, ChatId, GroupId, PersonId, SessionId, ToolName};
use crate::messages::{Explain, Message, arguments};

/// The largest arguments we take, in bytes of JSON.
pub const ARGS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The deepest nesting of arguments we take.
pub const ARGS_DEPTH_MAX: usize = 64;
/// Doubles above this may share their text with an exact integer.
const EXACT_DOUBLE_MAX: f64 = 9_007_199_254_740_992.0;

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolCall {
    /// The agent's name for this call.
    pub id: CallId,
    /// Which tool.
    pub tool: ToolName,
    /// With what.
    pub args: Args,
    /// In which conversation or job.
    pub session: SessionId,
    /// Where it came from.
    pub origin: Origin,
    /// The turn it belongs to, when the agent made several calls at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// What the agent says it is for. Shown as the agent's words, never believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Where a call came from. Set by the transport, never by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Origin {
    /// The credential the agent came with.
    pub agent: AgentId,
    /// Which sub-agent, from the root down; empty for the root itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent_path: Vec<String>,
    /// The channel and chat it is working for. Without one, questions go to the inbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<Chat>,
    /// The person it is working for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<PersonId>,
}

/// A place where people talk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Chat {
    /// Which channel.
    pub channel: ChannelName,
    /// Which chat on it.
    pub id: ChatId,
}

/// What a grant, a vote, a memory entry and a receipt are bound to: tool, arguments and agent. Not the call's id, so
/// that the same call dispatched again is recognised as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallDigest(pub Digest);

impl fmt::Display for CallDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ToolCall {
    /// The digest of exactly this call.
    pub fn digest(&self) -> CallDigest {
        let path: Vec<Value> = self
            .origin
            .agent_path
            .iter()
            .map(|part| Value::from(part.as_str()))
            .collect();
        CallDigest(Digest::of(
            "placet/call/1",
            &[
                self.tool.as_str().as_bytes(),
                self.origin.agent.as_str().as_bytes(),
                canonical::to_string(&Value::from(path)).as_bytes(),
                canonical::to_string(self.args.as_value()).as_bytes(),
            ],
        ))
    }

    /// The same call with other arguments: what a person's edit makes of it.
    #[must_use]
    pub fn with_args(&self, args: Args) -> Self {
        Self { args, ..self.clone() }
    }
}

/// Why arguments are refused before anything looks at them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgsError {
    /// Not JSON, or not UTF-8.
    Syntax(String),
    /// JSON, but not an object.
    NotAnObject(&'static str),
    /// More than [`ARGS_BYTES_MAX`].
    TooLarge(usize),
    /// Deeper than [`ARGS_DEPTH_MAX`].
    TooDeep,
    /// Two readers could disagree about the value.
    Duplicate(String),
    /// Not exactly representable.
    Inexact(String),
}

impl Explain for ArgsError {
    fn message(&self) -> Message {
        match self {
            Self::Syntax(error) => arguments::syntax(error),
            Self::NotAnObject(kind) => arguments::not_an_object(kind),
            Self::TooLarge(bytes) => arguments::too_large(*bytes, ARGS_BYTES_MAX),
            Self::TooDeep => arguments::too_deep(ARGS_DEPTH_MAX),
            Self::Duplicate(name) => arguments::duplicate(name),
            Self::Inexact(number) => arguments::inexact(number),
        }
    }
}

impl std::error::Error for ArgsError {}
crate::display_in_english!(ArgsError);

/// Arguments of a call: a JSON object that means the same to every reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Args(Value);

impl Args {
    /// Reads arguments from JSON text.
    pub fn parse(json: &[u8]) -> Result<Self, ArgsError> {
        if json.len() > ARGS_BYTES_MAX {
            return Err(ArgsError::TooLarge(json.len()));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let value = Strict { depth: 0 }
            .deserialize(&mut deserializer)
            .and_then(|value| deserializer.end().map(|()| value))
            .map_err(|error| Refusal::recover(&error))?;
        Self::from_value(value)
    }

    /// Checks arguments that are already a value. Duplicate names cannot be seen any more at this point.
    pub fn from_value(value: Value) -> Result<Self, ArgsError> {
        match &value {
            Value::Object(_) => {}
            Value::Null => return Err(ArgsError::NotAnObject("null")),
            Value::Bool(_) => return Err(ArgsError::NotAnObject("a boolean")),
            Value::Number(_) => return Err(ArgsError::NotAnObject("a number")),
            Value::String(_) => return Err(ArgsError::NotAnObject("a string")),
            Value::Array(_) => return Err(ArgsError::NotAnObject("an array")),
        }
        check(&value, 0)?;
        Ok(Self(value))
    }

    /// No arguments.
    pub fn empty() -> Self {
        Self(Value::Object(Map::new()))
    }

    /// The arguments as JSON.
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// One argument by name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// One argument by name, when it is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Name and value of each argument.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// The canonical text.
    pub fn canonical(&self) -> String {
        canonical::to_string(&self.0)
    }
}

fn check(value: &Value, depth: usize) -> Result<(), ArgsError> {
    if depth > ARGS_DEPTH_MAX {
        return Err(ArgsError::TooDeep);
    }
    match value {
        Value::Number(number) => check_number(number),
        Value::Array(items) => items.iter().try_for_each(|item| check(item, depth + 1)),
        Value::Object(fields) => fields.values().try_for_each(|item| check(item, depth + 1)),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn check_number(number: &Number) -> Result<(), ArgsError> {
    match number.as_f64() {
        Some(double) if number.is_f64() && double.abs() >= EXACT_DOUBLE_MAX => {
            Err(ArgsError::Inexact(number.to_string()))
        }
        _ => Ok(()),
    }
}

impl Serialize for Args {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Args {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Strict { depth: 0 }.deserialize(deserializer)?;
        Self::from_value(value).map_err(de::Error::custom)
    }
}

/// A refusal that has to travel through serde's text-only errors.
struct Refusal;

impl Refusal {
    const DUPLICATE: &'static str = "placet:duplicate:";
    const DEEP: &'static str = "placet:deep";

    fn recover(error: &serde_json::Error) -> ArgsError {
        let text = error.to_string();
        if let Some(rest) = text.strip_prefix(Self::DUPLICATE) {
            let name = rest.rsplit_once(" at line ").map_or(rest, |(name, _)| name);
            return ArgsError::Duplicate(name.to_owned());
        }
        if text.starts_with(Self::DEEP) || text.starts_with("recursion limit exceeded") {
            return ArgsError::TooDeep;
        }
        ArgsError::Syntax(text)
    }
}

/// Reads any JSON value, but refuses what two readers could read differently.
struct Strict {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.depth > ARGS_DEPTH_MAX {
            return Err(de::Error::custom(Refusal::DEEP));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self {
            depth: self.depth + 1,
        })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(de::Error::custom(format_args!("{}{name}", Refusal::DUPLICATE)));
            }
            let value = fields.next_value_seed(Self {
                depth: self.depth + 1,
            })?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A call of `tool` by the agent `tester` in the session `s`.
    pub(crate) fn call(tool: &str, args: Value) -> ToolCall {
        ToolCall {
            id: CallId::new("c1").unwrap(),
            tool: ToolName::new(tool).unwrap(),
            args: Args::from_value(args).unwrap(),
            session: SessionId::new("s").unwrap(),
            origin: Origin {
                agent: AgentId::new("tester").unwrap(),
                agent_path: Vec::new(),
                chat: None,
                user: None,
            },
            group: None,
            description: None,
        }
    }

    #[test]
    fn arguments_that_two_readers_could_read_differently_are_refused() {
        let refused = |json: &str| Args::parse(json.as_bytes()).unwrap_err();
        assert_eq!(
            refused(r#"{"command":"ls","command":"rm"}"#),
            ArgsError::Duplicate("command".into())
        );
        assert_eq!(
            refused(r#"{"a":{"b":1,"b":2}}"#),
            ArgsError::Duplicate("b".into())
        );
        assert!(matches!(refused(r#"{"n":1e20}"#), ArgsError::Inexact(_)));
        assert!(matches!(
            refused(r#"{"n":18446744073709551616}"#),
            ArgsError::Inexact(_)
        ));
        assert!(matches!(refused("[1]"), ArgsError::NotAnObject("an array")));
        assert!(matches!(refused("{} x"), ArgsError::Syntax(_)));
        assert!(matches!(
            Args::parse(b"{\"a\":\"\xff\"}"),
            Err(ArgsError::Syntax(_))
        ));
        assert!(matches!(
            refused(&format!("{{\"a\":{}{}}}", "[".repeat(80), "]".repeat(80))),
            ArgsError::TooDeep
        ));
        assert!(matches!(
            refused(&format!("{{\"a\":{}", "[".repeat(100_000))),
            ArgsError::TooDeep
        ));
        assert!(matches!(
            refused(&" ".repeat(ARGS_BYTES_MAX + 1)),
            ArgsError::TooLarge(_)
        ));
    }

    #[test]
    fn a_sixty_four_bit_id_is_kept_exactly() {
        let args = Args::parse(br#"{"id":9223372036854775809,"nul":"a\u0000b"}"#).unwrap();
        assert_eq!(args.canonical(), r#"{"id":9223372036854775809,"nul":"a\u0000b"}"#);
    }

    #[test]
    fn the_digest_follows_meaning_and_not_spelling() {
        let a = call("bash", serde_json::json!({"command": "ls", "n": 1}));
        let mut b = a.clone();
        b.args = Args::parse(br#"{ "n" : 1, "command" : "l\u0073" }"#).unwrap();
        b.id = CallId::new("another").unwrap();
        assert_eq!(a.digest(), b.digest());
    }

    /// Seed 0 truncated each value to 200 characters and hashed to 32 bits; both collisions are in field.md §1.
    #[test]
    fn calls_that_differ_anywhere_have_different_digests() {
        let long = "x".repeat(200);
        let one = call("bash", serde_json::json!({"command": format!("{long}; ls")}));
        let two = call(
            "bash",
            serde_json::json!({"command": format!("{long}; rm -rf ~")}),
        );
        assert_ne!(one.digest(), two.digest());
        let aa = call("bash", serde_json::json!({"command": "cat Aa"}));
        let bb = call("bash", serde_json::json!({"command": "cat BB"}));
        assert_ne!(aa.digest(), bb.digest());
        let mut other_agent = aa.clone();
        other_agent.origin.agent = AgentId::new("other").unwrap();
        assert_ne!(aa.digest(), other_agent.digest());
        let mut child = aa.clone();
        child.origin.agent_path = vec!["child".into()];
        assert_ne!(aa.digest(), child.digest());
    }
}
