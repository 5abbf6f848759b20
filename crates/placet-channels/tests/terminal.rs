//! The terminal channel as a person meets it: a real program on a real pty, and a model of the screen it draws.
//!
//! | file | part |
//! |---|---|
//! | `program.rs` | the program at the terminal: an engine, the channel, and calls from a scene |
//! | `pty.rs`, `record.rs` | the terminal and its screen; screens kept in the documentation |
//! | `person.rs` | the person: waits for what the screen shows, and presses keys |
//! | the others | stories |
//!
//! The program is this test's own executable, started again with a scene to play.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "terminal/answers.rs"]
mod answers;
#[path = "terminal/flow.rs"]
mod flow;
#[path = "terminal/hostile.rs"]
mod hostile;
#[path = "terminal/kinds.rs"]
mod kinds;
#[path = "terminal/person.rs"]
mod person;
#[path = "terminal/program.rs"]
mod program;
#[path = "terminal/pty.rs"]
mod pty;
#[path = "terminal/record.rs"]
mod record;
#[path = "terminal/recordings.rs"]
mod recordings;
#[path = "terminal/surroundings.rs"]
mod surroundings;
