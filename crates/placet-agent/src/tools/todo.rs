//! `todo`: the model's list of what is to be done. The whole list is the call, so it is in the journal and nowhere else.

use std::fmt::Write as _;

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde::Deserialize;
use serde_json::{Value, json};

use super::walk::printable;
use super::{Tool, object};

/// Keeps a list.
#[derive(Debug, Clone, Copy)]
pub struct Todo;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    items: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    text: String,
    status: Status,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Done,
}

#[async_trait]
impl Tool for Todo {
    fn name(&self) -> &'static str {
        "todo"
    }

    fn description(&self) -> &'static str {
        "Keeps your list of what is to be done. Give the whole list each time; it replaces the one before. Keep one item in progress."
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        let properties = json!({
            "items": { "type": "array", "maxItems": 100, "items": {
                "type": "object",
                "properties": {
                    "text": { "type": "string", "minLength": 1, "maxLength": 1000 },
                    "status": { "enum": ["pending", "in_progress", "done"] },
                },
                "required": ["text", "status"],
                "additionalProperties": false,
            } },
        });
        object(&["items"], properties)
    }

    async fn run(&self, call: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        let list: List =
            serde_json::from_value(call.args.as_value().clone()).map_err(|error| error.to_string())?;
        let mut told = String::new();
        for item in &list.items {
            let mark = match item.status {
                Status::Pending => ' ',
                Status::InProgress => '>',
                Status::Done => 'x',
            };
            let _ = writeln!(told, "[{mark}] {}", printable(&item.text));
        }
        let done = list
            .items
            .iter()
            .filter(|item| item.status == Status::Done)
            .count();
        let _ = write!(told, "{done} of {} done", list.items.len());
        Ok(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::a_call;

    #[tokio::test]
    async fn the_list_comes_back_as_it_was_given() {
        let items = json!([
            { "text": "read", "status": "done" },
            { "text": "think\nhard", "status": "in_progress" },
            { "text": "write", "status": "pending" },
        ]);
        let told = Todo
            .run(&a_call("todo", json!({ "items": items })), &[])
            .await
            .unwrap();
        assert_eq!(told, "[x] read\n[>] think\\nhard\n[ ] write\n1 of 3 done");
    }
}
