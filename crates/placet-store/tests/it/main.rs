//! The store through its public API: what it promises, what it survives, what it finds.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "clippy.toml allows these in test functions; here the functions they call are tests too"
)]

mod conformance;
mod copy;
mod faults;
mod formats;
mod group;
mod line;
mod postgres;
mod restart;
mod server;
mod tampering;
mod tls;
mod upgrade;
mod world;
