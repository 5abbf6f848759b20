//! The webhook channel from outside: a real platform over HTTP on loopback, a real engine, a real file, a clock moved by hand.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod boundary;
mod delivery;
mod diagrams;
mod house;
mod inbound;
mod people;
mod platform;
mod questions;
mod tls;
mod wire;
