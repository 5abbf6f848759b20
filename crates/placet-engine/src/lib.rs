//! Placet's engine: gate, broker, bus, outbox and timers around the pure core and a durable store.
//!
//! The two doors: [`Gate`](gate::Gate) for agents (a call goes in, one outcome comes out) and [`Broker`](broker::Broker) for
//! people (questions and answers). [`Engine::builder`] makes both.

pub mod broker;
pub mod bus;
pub mod callback;
pub mod channel;
mod engine;
pub mod events;
pub mod gate;
mod outbox;
pub mod places;
pub mod steps;
mod timers;
pub mod toolbox;
mod waiters;

pub use callback::{ToolApproval, ToolUse};
pub use engine::{Builder, Engine, StartError};
pub use gate::{Finished, Gate, GateError, Submission};
pub use steps::{Answered, Permit, Proposed};
