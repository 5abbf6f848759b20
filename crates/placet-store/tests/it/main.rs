//! The store through its public API: what it promises, what it survives, what it finds.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "clippy.toml allows these in test functions; here the functions they call are tests too"
)]
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of a view with a lifetime of its own cannot be passed where any lifetime is wanted"
)]

mod conformance;
mod faults;
mod formats;
mod group;
mod restart;
mod tampering;
mod world;
