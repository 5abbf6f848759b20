//! The server from outside: real HTTP over loopback, a real engine, a real file.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod answers;
mod browser;
mod calls;
mod chat;
mod events;
mod house;
mod limits;
mod reading;
mod review;
mod roles;
mod signed_in;
mod stopping;
mod vouching;
