//! What a server says of a tool. It is foreign text: shown to people and models with everything hidden in it made
//! visible, and compared as it came.

use placet_core::canonical;
use placet_core::config::McpServer;
use placet_core::render::SafeText;
use rmcp::model::Tool as Remote;
use serde_json::{Value, json};

/// What a model is told of a tool at most.
const DESCRIPTION_CHARS_MAX: usize = 4_000;
/// The largest schema taken, in bytes of JSON.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// What providers take as a tool's name.
const NAME_CHARS_MAX: usize = 64;

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Definition {
    /// The server's own name for it.
    pub(super) remote: String,
    /// Ours.
    pub(super) name: String,
    /// What a model is told.
    pub(super) description: String,
    /// JSON Schema of its arguments.
    pub(super) schema: Value,
    /// Whether the server itself says that it destroys something.
    pub(super) destructive: bool,
    /// All of it as it came, in one canonical text: what is compared.
    pub(super) text: String,
}

impl Definition {
    /// Reads what a server says. The error says why the tool is left out.
    pub(super) fn read(server: &str, tool: &Remote) -> Result<Self, String> {
        let said = tool.description.as_deref().unwrap_or_default();
        let raw = Value::Object((*tool.input_schema).clone());
        let annotations = json!(tool.annotations);
        let text = canonical::to_string(&json!({
            "name": tool.name, "description": said, "inputSchema": raw, "annotations": annotations,
        }));
        if text.len() > SCHEMA_BYTES_MAX {
            return Err(format!(
                "its definition has {} bytes; at most {SCHEMA_BYTES_MAX} are taken",
                text.len()
            ));
        }
        jsonschema::validator_for(&raw).map_err(|error| format!("its schema is broken: {error}"))?;
        let mut schema = raw;
        make_visible(&mut schema);
        Ok(Self {
            remote: tool.name.to_string(),
            name: name(server, &tool.name)?,
            description: format!("[from the MCP server `{server}`] {}", visible(said)),
            schema,
            destructive: tool.annotations.as_ref().and_then(|hints| hints.destructive_hint) == Some(true),
            text,
        })
    }

    /// The same over several lines, for people.
    pub(super) fn pretty(text: &str) -> String {
        let value: Option<Value> = serde_json::from_str(text).ok();
        let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
        pretty.unwrap_or_else(|| text.to_owned())
    }
}

/// `mcp__SERVER__tool`, in characters every provider takes.
fn name(server: &str, tool: &str) -> Result<String, String> {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let tool: String = tool.chars().map(plain).collect();
    let name = format!("{}{tool}", McpServer::tool_prefix(server));
    if tool.is_empty() || name.len() > NAME_CHARS_MAX {
        return Err(format!(
            "its name is empty or longer than {NAME_CHARS_MAX} characters as `{name}`"
        ));
    }
    Ok(name)
}

fn visible(text: &str) -> String {
    let cut: String = text.chars().take(DESCRIPTION_CHARS_MAX).collect();
    SafeText::block(&cut).to_string()
}

/// Descriptions inside a schema are read by models too. Values that are compared stay as they are.
fn make_visible(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if matches!(name.as_str(), "description" | "title" | "$comment") => {
                        *text = visible(text);
                    }
                    value => make_visible(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_visible),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(json: Value) -> Remote {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn what_is_hidden_in_a_description_is_made_visible_and_names_are_plain() {
        let read = Definition::read(
            "files",
            &tool(json!({
                "name": "read.file",
                "description": "Reads.\u{202e}\u{1b}[2J",
                "inputSchema": { "type": "object", "properties": { "p": { "type": "string", "description": "a\u{200b}b" } } },
                "annotations": { "readOnlyHint": true, "destructiveHint": true },
            })),
        )
        .unwrap();
        assert_eq!(read.name, "mcp__files__read_file");
        assert!(
            !read.description.contains(['\u{202e}', '\u{1b}']),
            "{}",
            read.description
        );
        assert!(!read.schema.to_string().contains('\u{200b}'), "{}", read.schema);
        assert!(read.destructive);
    }

    #[test]
    fn a_tool_that_cannot_be_described_soundly_is_left_out() {
        let long = "x".repeat(70);
        for broken in [
            json!({ "name": long, "inputSchema": { "type": "object" } }),
            json!({ "name": "", "inputSchema": { "type": "object" } }),
            json!({ "name": "a", "inputSchema": { "type": "no such type" } }),
            json!({ "name": "a", "description": "x".repeat(70_000), "inputSchema": { "type": "object" } }),
        ] {
            assert!(Definition::read("files", &tool(broken)).is_err());
        }
    }
}
