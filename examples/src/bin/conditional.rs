//! Conditional approval: the answer depends on the arguments, and may change them.
//!
//! A changed call is judged again like a new one, and the journal keeps both versions. What policy forbids stays forbidden,
//! whatever the callback says.

use placet_core::call::{Args, ToolCall};
use placet_core::config::Config;
use placet_engine::{Engine, Finished, ToolApproval, ToolUse};
use serde_json::json;

async fn decide(tool_use: ToolUse) -> ToolApproval {
    match (tool_use.name.as_str(), tool_use.params.text("to")) {
        ("deploy", Some("staging")) => ToolApproval::approve(),
        ("deploy", Some("production")) => ToolApproval::deny("not on a Friday"),
        // Everywhere else only a rehearsal.
        ("deploy", Some(to)) => match Args::from_value(json!({ "to": to, "dry_run": true })) {
            Ok(params) => ToolApproval::approve_with(params),
            Err(error) => ToolApproval::deny(error.to_string()),
        },
        _ => ToolApproval::deny("only deployments are approved here"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder(Config::builtin())
        .on_tool_approve(decide)
        .start_in_memory()
        .await?;
    for to in ["staging", "production", "somewhere"] {
        let call: ToolCall = serde_json::from_value(json!({
            "id": to, "tool": "deploy", "args": { "to": to },
            "session": "job-1", "origin": { "agent": "my-agent" },
        }))?;
        let run = async |call: ToolCall| Ok(format!("deployed {}", call.args.canonical()));
        match engine.gate().call(call, run).await? {
            Finished::Ran { result, .. } => println!("{to}: {}", result.output),
            Finished::NotRun(outcome) => println!("{to}: {}", outcome.result_for_model().unwrap_or_default()),
        }
    }
    engine.shutdown().await?;
    Ok(())
}
