//! `placet chat` from outside: a real pty, a model of the screen, real files and processes. The model is a script, or a provider on
//! loopback that speaks the real protocol.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "chat/asking.rs"]
mod asking;
#[path = "chat/commands.rs"]
mod commands;
#[path = "chat/hostile.rs"]
mod hostile;
#[path = "chat/person.rs"]
mod person;
#[path = "../../placet-agent/tests/it/provider.rs"]
#[expect(dead_code, reason = "the agent's own tests use the rest of it")]
mod provider;
#[path = "../../placet-channels/tests/terminal/pty.rs"]
#[expect(dead_code, reason = "the terminal's own tests use the rest of it")]
mod pty;
#[path = "../../placet-channels/tests/terminal/record.rs"]
mod record;
#[path = "chat/resuming.rs"]
mod resuming;
#[path = "chat/speaking.rs"]
mod speaking;
#[path = "chat/stopping.rs"]
mod stopping;
#[path = "cli/world.rs"]
mod world;
