//! Gate your own agent: every tool call goes through [`Gate::call`](placet_engine::Gate::call), and exactly one outcome
//! comes out.
//!
//! There is no approver here, so a call that needs one is refused at once, saying so. The other examples ask.

use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_engine::{Engine, Finished};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What you know about your tools. Every other tool is a command of medium risk, whatever its name.
    let tools = "[tools.read]\ncategory = \"read\"\n";
    let engine = Engine::builder(Config::parse(
        tools,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )?)
    .without_inbox()
    .start_in_memory()
    .await?;

    // What your model wants to do.
    for (tool, args) in [
        ("read", json!({ "path": "README.md" })),
        ("bash", json!({ "command": "rm -rf /" })),
        ("bash", json!({ "command": "git push origin main" })),
    ] {
        let call: ToolCall = serde_json::from_value(json!({
            "id": format!("{tool} {args}"), "tool": tool, "args": args,
            "session": "job-1", "origin": { "agent": "my-agent" },
        }))?;
        let said = call.args.canonical();
        // Your tool. It runs at most once, and only if it may.
        let run = async |_: ToolCall| Ok("(the tool's output)".to_owned());
        match engine.gate().call(call, run).await? {
            Finished::Ran { result, .. } => println!("{tool} {said} ran: {}", result.output),
            // What the model reads instead: never to be mistaken for success.
            Finished::NotRun(outcome) => {
                println!(
                    "{tool} {said} did not run: {}",
                    outcome.result_for_model().unwrap_or_default()
                );
            }
        }
    }
    engine.shutdown().await?;
    Ok(())
}
