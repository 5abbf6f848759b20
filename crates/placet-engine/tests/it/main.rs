//! The engine through its public doors: a real store on disk, a clock moved by hand, and no sleeping.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod admins;
mod answers;
mod asking;
mod audit_text;
mod breaker;
mod bus;
mod callback;
mod channels;
mod damaged;
mod edits;
mod elsewhere;
mod events;
mod explained;
mod facts;
mod hostile;
mod leases;
mod memory_and_grants;
mod nobody;
mod outbox;
mod owners;
mod recorder;
mod restart;
mod review;
mod support;
mod transact;

/// Where a story's store is.
fn store_in(folder: &std::path::Path) -> placet_store::Location {
    placet_store::Location::File(folder.join("placet.db"))
}
