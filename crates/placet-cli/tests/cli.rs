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
#[path = "cli/beside.rs"]
mod beside;
#[path = "cli/check.rs"]
mod check;
#[expect(dead_code, reason = "shared with the tests of the store")]
#[path = "../../placet-store/tests/it/server.rs"]
mod database;
#[path = "cli/demo.rs"]
mod demo;
#[path = "cli/explain.rs"]
mod explain;
#[path = "cli/grants.rs"]
mod grants;
#[path = "cli/init.rs"]
mod init;
#[path = "cli/language.rs"]
mod language;
#[path = "cli/policy.rs"]
mod policy;
#[path = "cli/review.rs"]
mod review;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/status.rs"]
mod status;
#[path = "cli/store.rs"]
mod store;
#[path = "cli/teaching.rs"]
mod teaching;
#[path = "cli/world.rs"]
mod world;
