//! `bash_output`: what a background job printed since it was last read.

use std::fmt::Write as _;
use std::time::Duration;

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::{Value, json};

use super::jobs::{Jobs, Reading, id_schema};
use super::{Tool, object, text};

/// How long one may wait for something to happen.
const WAIT_MAX_SECONDS: u64 = 60;

/// Reads the output of background jobs.
#[derive(Clone)]
pub struct BashOutput(pub Jobs);

#[async_trait]
impl Tool for BashOutput {
    fn name(&self) -> &'static str {
        "bash_output"
    }

    fn description(&self) -> &'static str {
        "Returns what a background job of `bash` printed since it was last read, and whether it has ended. With `waitSeconds` \
         it waits that long for something to happen."
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        let properties = json!({
            "id": id_schema(),
            "waitSeconds": { "type": "integer", "minimum": 0, "maximum": WAIT_MAX_SECONDS },
        });
        object(&["id"], properties)
    }

    async fn run(&self, call: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        let wait = call.args.get("waitSeconds").and_then(Value::as_u64).unwrap_or(0);
        let patience = Duration::from_secs(wait.min(WAIT_MAX_SECONDS));
        let reading = self
            .0
            .read(&call.session, text(&call.args, "id")?, patience)
            .await?;
        Ok(told(&reading))
    }
}

/// What the model is told of a job.
pub(super) fn told(reading: &Reading) -> String {
    let mut told = String::new();
    if reading.lost_bytes > 0 {
        let _ = writeln!(
            told,
            "[{} bytes were printed before this and not kept]",
            reading.lost_bytes
        );
    }
    told.push_str(&reading.text);
    if !told.is_empty() && !told.ends_with('\n') {
        told.push('\n');
    }
    match (&reading.end, reading.waiting_bytes) {
        (_, more @ 1..) => {
            let _ = write!(told, "[{more} bytes more are waiting; read again]");
        }
        (Some(end), 0) => {
            let _ = write!(told, "[it has ended: {end}]");
        }
        (None, 0) if reading.text.is_empty() => told.push_str("[nothing new; it is running]"),
        (None, 0) => told.push_str("[it is running]"),
    }
    told
}
