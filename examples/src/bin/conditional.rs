//! Example 6: conditional approval: the answer depends on the call. Some calls are clear, and the rest needs approval.
//!
//! The callback is the last step. What is banned was refused before it, reading was allowed before it, and a changed call is judged
//! again. Compare whole commands: `starts_with("git")` would also let `git status; rm -rf .` through.

use std::io::{BufRead as _, Write as _};

use placet_agent::assistant::{Assistant, Message};
use placet_engine::{ToolApproval, ToolUse};

/// Commands that change nothing.
const HARMLESS: [&str; 4] = ["git status", "git diff", "git log", "ls"];

async fn decide(tool_use: ToolUse) -> ToolApproval {
    match (tool_use.name.as_str(), tool_use.params.text("command")) {
        ("bash", Some(command)) if HARMLESS.contains(&command) => ToolApproval::approve(),
        ("bash", Some(command)) if command.contains("rm -rf") || command.contains("> /dev") => {
            ToolApproval::deny("a dangerous command")
        }
        // Reading a line blocks.
        _ => tokio::task::block_in_place(|| confirm(&tool_use)),
    }
}

/// Asks a person. A dialog that fails is a no.
fn confirm(tool_use: &ToolUse) -> ToolApproval {
    print!("Allow {} {}? (y/n): ", tool_use.name, tool_use.params.canonical());
    let mut line = String::new();
    let read = std::io::stdout()
        .flush()
        .and_then(|()| std::io::stdin().lock().read_line(&mut line));
    match read {
        Ok(_) => (line.trim() == "y").into(),
        Err(_) => ToolApproval::deny("the approval system failed"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let assistant = Assistant::builder("MyApp", "1.0.0")
        .model("deepseek/deepseek-chat")
        .start()
        .await?;
    let message = Message::new("Make the queries faster")
        .write()
        .on_tool_approve(decide);
    let reply = assistant.send_message(message).await?;
    for used in &reply.used {
        println!("{} {}: {}", used.tool, used.args, used.output);
    }
    println!("{}", reply.text);
    assistant.shutdown().await?;
    Ok(())
}
