//! An approver of your own: `on_tool_approve` is asked where policy wants a person, and its word is stored before anything
//! runs. This one asks at the terminal: `y` approves, anything else does not.

use std::io::Write as _;

use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_engine::{Engine, Finished, ToolApproval, ToolUse};
use serde_json::json;

async fn ask_here(tool_use: ToolUse) -> ToolApproval {
    let question = format!("Allow {} {}? (y/n): ", tool_use.name, tool_use.params.canonical());
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
        // Nobody could be asked: that is a no.
        Ok(Err(_)) | Err(_) => ToolApproval::deny("nobody could be asked"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder(Config::builtin())
        .on_tool_approve(ask_here)
        .start_in_memory()
        .await?;
    for (id, to) in [("1", "staging"), ("2", "production")] {
        let call: ToolCall = serde_json::from_value(json!({
            "id": id, "tool": "deploy", "args": { "to": to },
            "session": "job-1", "origin": { "agent": "my-agent" },
        }))?;
        let run = async |call: ToolCall| Ok(format!("deployed {}", call.args.canonical()));
        match engine.gate().call(call, run).await? {
            Finished::Ran { result, .. } => println!("{}", result.output),
            Finished::NotRun(outcome) => {
                println!("not deployed: {}", outcome.result_for_model().unwrap_or_default());
            }
        }
    }
    engine.shutdown().await?;
    Ok(())
}
