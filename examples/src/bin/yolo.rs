//! Example 3: the mode for automation: everything runs but what is HIGH risk, what a rule forbids, and questions to people. What happens
//! is printed as it happens.

use std::io::Write as _;

use placet_agent::assistant::{Assistant, Message, Provider};
use placet_agent::chat::What;
use placet_core::policy::Mode;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let assistant = Assistant::builder("MyApp", "1.0.0")
        .model("deepseek/deepseek-chat")
        .provider("deepseek", Provider::from_env("deepseek"))
        .approval_mode(Mode::Yolo)
        .start()
        .await?;

    let message = Message::new("Look at the code and write its documentation").write();
    let mut exchange = assistant.stream_message(message).await?;
    while let Some(event) = exchange.next().await? {
        match event.what {
            What::Saying { delta, .. } => print!("{delta}"),
            What::Action { tool, args, .. } => println!("[{tool} {args}]"),
            What::Observation { ok, output, .. } => {
                println!("[{}: {output}]", if ok { "ran" } else { "did not run" });
            }
            _ => {}
        }
        std::io::stdout().flush()?;
    }
    println!("\n{}", exchange.reply()?.how);
    assistant.shutdown().await?;
    Ok(())
}
