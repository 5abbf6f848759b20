//! Where people are asked: one module per channel.
//!
//! A channel knows how to show and how to listen, never how to decide: what it hears goes to the engine's bus or broker.

pub mod secret;
pub mod terminal;
pub mod unbuilt;
pub mod webhook;
