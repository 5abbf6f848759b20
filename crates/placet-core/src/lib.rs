//! Placet's words and rules: call, policy, interaction, answer, reply, rendering, journal events, run state machine.
//!
//! Pure and sans-I/O: no async, no clock, no file. Everything that happens in Placet is decided here from what is passed
//! in, and comes out as a value: a verdict, an event, a text. The store keeps the events, the engine drives the clock.

pub mod analysis;
pub mod call;
pub mod canonical;
mod causes;
pub mod comment;
pub mod config;
pub mod confine;
pub mod digest;
pub mod evidence;
pub mod findings;
pub mod history;
pub mod ids;
pub mod interaction;
pub mod journal;
pub mod lease;
pub mod listing;
pub mod messages;
pub mod outcome;
pub mod outgoing;
pub mod paths;
pub mod people;
pub mod policy;
pub mod preview;
pub mod principal;
pub mod push;
pub mod question;
pub mod record;
pub mod render;
pub mod reply;
pub mod run;
pub mod sealed;
pub mod shared;
pub mod snapshot;
pub mod standing;
pub mod step;
pub mod steps;
pub mod time;
pub mod tool;
pub mod variables;
pub mod verdict;
pub mod wire;

pub use causes::causes;
