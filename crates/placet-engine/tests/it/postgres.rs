//! The same stories with the store on a PostgreSQL server. Those about the file itself are not among them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod answers;
mod asking;
mod audit_text;
mod breaker;
mod bus;
mod callback;
mod channels;
mod edits;
mod events;
mod leases;
mod memory_and_grants;
mod nobody;
mod outbox;
mod recorder;
mod replicas;
mod review;
#[expect(dead_code, reason = "some stories are only told of files")]
#[path = "../../../placet-store/tests/it/server.rs"]
mod server;
#[expect(dead_code, reason = "some stories are only told of files")]
mod support;
mod transact;

/// Where a story's store is.
fn store_in(_: &std::path::Path) -> placet_store::Location {
    placet_store::Location::parse(&server::database()).unwrap()
}
