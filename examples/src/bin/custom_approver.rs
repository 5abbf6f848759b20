//! Example 4: an approver of your own: `on_tool_approve` is asked what no earlier step has decided, and its word is stored before anything
//! runs. This one asks at the terminal: `y` approves, anything else does not.

use std::io::Write as _;

use placet_agent::assistant::{Assistant, Message};
use placet_core::policy::Mode;
use placet_engine::{ToolApproval, ToolUse};

async fn ask_here(tool_use: ToolUse) -> ToolApproval {
    println!("[approval] tool: {}", tool_use.name);
    println!("[params]   {}", tool_use.params.canonical());
    let question = format!("Approve {}? (y/n): ", tool_use.name);
    // Reading a line blocks, so it happens beside the engine.
    let asked = tokio::task::spawn_blocking(move || -> std::io::Result<bool> {
        print!("{question}");
        std::io::stdout().flush()?;
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        Ok(line.trim().eq_ignore_ascii_case("y"))
    });
    match asked.await {
        Ok(Ok(true)) => ToolApproval::approve(),
        Ok(Ok(false)) => ToolApproval::deny("refused at the terminal"),
        // No approver could be asked: reject.
        Ok(Err(_)) | Err(_) => ToolApproval::deny("no approver could be asked"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A provider that is not given is reached as the environment says: ZHIPUAI_API_KEY, ZHIPUAI_BASE_URL.
    let assistant = Assistant::builder("MyApp", "1.0.0")
        .model("zhipuai/glm-4.7")
        .approval_mode(Mode::Default)
        .start()
        .await?;

    let message = Message::new("Remove temporary files")
        .write()
        .on_tool_approve(ask_here);
    let reply = assistant.send_message(message).await?;

    println!("{}", reply.text);
    assistant.shutdown().await?;
    Ok(())
}
