//! The server from outside: real HTTP over loopback, a real engine, a real file.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod answers;
mod browser;
mod buttons;
mod calls;
mod chat;
mod comments;
#[expect(dead_code, reason = "shared with the tests of the store")]
#[path = "../../../placet-store/tests/it/server.rs"]
mod database;
mod events;
mod history;
mod house;
mod interaction_page;
mod limits;
mod push;
mod reading;
mod replicas;
mod review;
mod roles;
mod runs;
mod sample;
mod sentences;
mod signed_in;
mod stopping;
mod vouching;
