//! The built-in agent: a `ReAct` run that can be parked and resumed anywhere.
//!
//! Every effect goes through the gate and every step is in the journal. The run itself is `placet_core::run`, a pure machine;
//! this crate asks the model, brings calls to the gate, runs what was allowed, and stores what happened.
//!
//! | file | part |
//! |---|---|
//! | `model.rs` | what a model is; `model/` has a scripted one and two real protocols |
//! | `tools.rs` | what a tool is; `tools/` has the built-in ones |
//! | `agent.rs` | the agent of an engine |
//! | `configured.rs` | the agent of a configuration: its tools and models |
//! | `tell.rs` | what people tell it |
//! | `dispatch.rs` | wakes the runs that can go on |
//! | `letters.rs` | what people write to it in chats |
//! | `drive.rs` | one run, for as long as it is not parked |
//! | `execute.rs` | one call that was allowed |
//! | `connect.rs` | connections to other machines |
//! | `interrupt.rs` | stopping what a run is doing |
//! | `offer.rs` | what a run may call |
//! | `sandbox.rs` | what confines commands and servers |
//! | `mcp.rs` | MCP servers as sources of tools |
//! | `task.rs` | handing work on to a run of its own |
//! | `rest.rs` | waiting for a run to end or to be parked |
//! | `assistant.rs` | the engine API: an assistant of another product in a few lines |
//! | `chat.rs` | a conversation with the agent: messages and answers in, events out |
//!
//! A run that waits for people is in the store and nowhere else. One subscription to the journal wakes the runs that can go
//! on, and a process that starts resumes every run that has not ended.

mod agent;
pub mod assistant;
pub mod chat;
pub mod configured;
mod dispatch;
mod drive;
mod execute;
mod idle;
mod inbound;
mod interrupt;
pub mod mcp;
pub mod model;
mod pauses;
mod run_tools;
pub mod sandbox;
mod task;
mod tls;
pub mod tools;
mod user_message;

pub use agent::{Agent, Builder, ResumeError, StartError};
pub use idle::Rest;
pub use model::Model;
pub use task::Task;
pub use tools::{Tool, Tools};
pub use user_message::WorkflowError;
