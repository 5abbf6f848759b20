//! Placet's engine: gate, broker, bus, outbox and timers around the pure core and a durable store.
//!
//! The two doors: [`Gate`] for agents (a call goes in, one outcome comes out) and [`Broker`](broker::Broker) for
//! people (questions and answers). [`Engine::builder`] makes both.
//!
//! An agent of your own, gated: whatever policy wants a person for is decided by a callback here, stored before anything
//! runs, and run at most once.
//!
//! ```
//! use placet_core::call::ToolCall;
//! use placet_core::config::Config;
//! use placet_engine::{Engine, Finished, ToolUse};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::builder(Config::builtin(placet_inspect::builtin()))
//!     .on_tool_approve(async |tool_use: ToolUse| tool_use.params.text("to") == Some("staging"))
//!     .start_in_memory() // `.start(path)` keeps everything
//!     .await?;
//!
//! for to in ["staging", "production"] {
//!     let call: ToolCall = serde_json::from_value(json!({
//!         "id": format!("call_{to}"), "tool": "deploy", "args": { "to": to },
//!         "session": "job-1", "origin": { "agent": "my-agent" },
//!     }))?;
//!     let run = async |call: ToolCall| Ok(format!("deployed with {}", call.args.canonical()));
//!     match engine.gate().call(call, run).await? {
//!         Finished::Ran { result, .. } => assert_eq!(result.output, r#"deployed with {"to":"staging"}"#),
//!         // What the model reads: never to be mistaken for success.
//!         Finished::NotRun(outcome) => assert_eq!(outcome.result_for_model().unwrap()["executed"], false),
//!     }
//! }
//! engine.shutdown().await?;
//! # Ok(())
//! # }
//! ```

pub mod audit_text;
pub mod broker;
pub mod bus;
pub mod callback;
pub mod channel;
mod doubts;
mod engine;
pub mod events;
pub mod gate;
mod leases;
mod outbox;
pub mod places;
pub mod review;
mod seal;
pub mod secret;
mod timers;
pub mod toolbox;
mod transact;
mod waiters;

pub use callback::{QuestionAnswer, ToolApproval, ToolUse};
pub use engine::{Builder, Engine, StartError};
pub use gate::{Finished, Gate, GateError, Submission};
pub use leases::Held;
pub use placet_core::steps::{Answered, Authority, Permit, Proposed};
pub use seal::{Peers, SealError};
