//! `task`: hands a part of the work to a run of its own. That run is in the store like any other, its questions go to the same
//! people, and its end is the call's result. Nothing here waits for it.

use async_trait::async_trait;
use placet_core::call::{Args, ToolCall};
use placet_core::evidence::Evidence;
use placet_core::interaction::CallKey;
use placet_core::run::{DEPTH_MAX, Parent, RunStarted};
use placet_core::tool::Category;
use serde_json::{Value, json};

use crate::tools::Tool;

/// The name of the tool.
pub(crate) const TASK: &str = "task";
/// How much of a description names the one who asks.
const NAME_CHARS_MAX: usize = 40;

/// The tool, as models see it. The agent begins the run; the tool itself does nothing.
pub struct Task;

#[async_trait]
impl Tool for Task {
    fn name(&self) -> &str {
        TASK
    }

    fn description(&self) -> &'static str {
        "Hands a self-contained part of the work to a helper with the same tools, who knows nothing of this conversation. \
         You get its last message as the result, so say in the prompt all it must know and what it is to report. Several \
         in one turn work side by side."
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "description": { "type": "string", "minLength": 1, "description": "three to five words; people see them when the helper asks something" },
                "prompt": { "type": "string", "minLength": 1, "description": "what it is to do, and what to report" },
            },
            "required": ["description", "prompt"],
            "additionalProperties": false,
        })
    }

    async fn run(&self, _: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        Err("only the built-in agent can hand work on; nothing ran".into())
    }
}

/// The run that does a `task` call of another run. The root's person and chat are asked; the path says who asks.
pub(crate) fn begin(call: &ToolCall, by: &RunStarted) -> Result<RunStarted, String> {
    let [description, prompt] = ["description", "prompt"].map(|name| given(&call.args, name));
    let mut origin = by.origin.clone();
    if origin.agent_path.len() >= DEPTH_MAX {
        return Err(format!(
            "tasks are delegated at most {DEPTH_MAX} levels deep; do it yourself"
        ));
    }
    origin.agent_path.push(slug(description?));
    Ok(RunStarted {
        task: prompt?.to_owned(),
        model: by.model.clone(),
        limits: by.limits,
        origin,
        workspace: by.workspace.clone(),
        parent: Some(Parent {
            session: call.session.clone(),
            call: CallKey {
                agent: call.origin.agent.clone(),
                call: call.id.clone(),
            },
        }),
        until: by.until,
        workflow: by.workflow.clone(),
    })
}

fn given<'a>(args: &'a Args, name: &str) -> Result<&'a str, String> {
    let text = args.text(name).map(str::trim).filter(|text| !text.is_empty());
    text.ok_or_else(|| format!("the argument `{name}` is missing; nothing ran"))
}

/// A description as a part of a path: letters and digits, the rest as dashes.
fn slug(description: &str) -> String {
    let words = description
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in words {
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.extend(word.chars().flat_map(char::to_lowercase));
    }
    let cut: String = slug.chars().take(NAME_CHARS_MAX).collect();
    let name = cut.trim_end_matches('-');
    if name.is_empty() {
        TASK.to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_becomes_a_name_nobody_can_misread() {
        for (description, name) in [
            ("Count the lines", "count-the-lines"),
            ("清理 build/ 目录", "清理-build-目录"),
            ("  › root › admin ‹\u{202e}", "root-admin"),
            ("?!", "task"),
            (&"long ".repeat(30), "long-long-long-long-long-long-long-long"),
        ] {
            assert_eq!(slug(description), name);
        }
    }
}
