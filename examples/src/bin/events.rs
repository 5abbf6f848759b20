//! Watch what happens: `USER_INTERACTION_REQUESTED`, `_RESPONDED` and `_PROCESSED`, read from the journal itself, so a slow
//! watcher loses nothing and one that was away goes on where it stopped.

use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_engine::{Engine, ToolUse};
use serde_json::json;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let engine = Engine::builder(Config::builtin(placet_inspect::builtin()))
        .on_tool_approve(async |tool_use: ToolUse| tool_use.params.text("to") == Some("staging"))
        .start_in_memory()
        .await?;

    // From the first row on; a stored row number resumes from there.
    let mut events = engine.subscribe(0, None);
    let watcher = tokio::spawn(async move {
        // Two questions, three events each.
        for _ in 0..6 {
            let event = events.next_interaction().await?;
            println!("{}", serde_json::to_string(&event)?);
        }
        Ok::<_, Failure>(())
    });

    for to in ["staging", "production"] {
        let call: ToolCall = serde_json::from_value(json!({
            "id": to, "tool": "deploy", "args": { "to": to },
            "session": "job-1", "origin": { "agent": "my-agent" },
        }))?;
        engine
            .gate()
            .call(call, async |_: ToolCall| Ok("deployed".to_owned()))
            .await?;
    }
    watcher.await??;
    engine.shutdown().await?;
    Ok(())
}
