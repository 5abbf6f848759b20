//! `placet inbox` from outside: the commands for scripts, and the whole screen on a real pty.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "inbox/demo.rs"]
mod demo;
#[path = "../../placet-channels/tests/terminal/pty.rs"]
mod pty;
#[path = "../../placet-channels/tests/terminal/record.rs"]
mod record;
#[path = "inbox/scripts.rs"]
mod scripts;
#[path = "inbox/waiting.rs"]
mod waiting;
#[path = "inbox/whole_screen.rs"]
mod whole_screen;
#[path = "cli/world.rs"]
mod world;
