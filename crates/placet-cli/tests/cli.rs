//! The `placet` program from outside: what it prints, and what its exit status says.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

#[path = "cli/audit.rs"]
mod audit;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/check.rs"]
mod check;
#[path = "cli/policy.rs"]
mod policy;
#[path = "cli/world.rs"]
mod world;
