//! Example 2: the mode for development: edits inside the workspace are allowed, and commands that the sandbox confines to it. Other
//! commands need approval. There is no approver here, so such a command is denied, and the model is told so.

use placet_agent::assistant::{Assistant, Message, Provider};
use placet_core::policy::Mode;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let assistant = Assistant::builder("MyApp", "1.0.0")
        .model("anthropic/claude-sonnet-4")
        .provider("anthropic", Provider::from_env("anthropic"))
        .approval_mode(Mode::AutoEdit)
        .start()
        .await?;

    let reply = assistant
        .send_message(Message::new("Use const in every TypeScript file").write())
        .await?;

    for used in &reply.used {
        println!(
            "{}: {}",
            used.tool,
            if used.ok == Some(true) {
                "ran"
            } else {
                "did not run"
            }
        );
    }
    println!("{}", reply.text);
    assistant.shutdown().await?;
    Ok(())
}
