//! The built-in agent through its public API: conversations, questions, restarts. The model is scripted; engine, store, files
//! and processes are real.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "clippy.toml allows these in test functions; here the functions they call are tests too"
)]

mod assistant;
mod categories;
mod chat;
mod cut_off;
mod databases;
mod family;
mod gate;
mod inbound;
mod interaction;
mod interrupt;
mod jobs;
mod mcp;
mod models;
mod parked;
mod provider;
mod replicas;
mod restart;
mod sandbox;
#[expect(dead_code, reason = "shared with the tests of the store")]
#[path = "../../../placet-store/tests/it/server.rs"]
mod server;
mod servers;
mod support;
mod together;
mod turns;
mod workflows;
