//! The HTTP contract of Placet as a typed client: over TCP with a bearer token, or over the socket of a data folder.
//!
//! | module | part |
//! |---|---|
//! | [`Client`] | where the server is, and one request at a time |
//! | [`socket`] | both ends of the socket of a data folder |
//! | [`events`] | server-sent events |
//! | `agent` | conversations and runs of the built-in agent |
//! | `people` | questions and grants, for the person who answers |
//!
//! ```no_run
//! # async fn example() -> Result<(), placet_client::Error> {
//! use placet_client::Client;
//!
//! let client = Client::socket(std::path::Path::new("/home/lin/.local/share/placet/placet.sock"));
//! for waiting in client.pending().await?.items {
//!     println!("{}", waiting.question.interaction.asked().code);
//! }
//! # Ok(())
//! # }
//! ```

mod agent;
mod client;
mod error;
pub mod events;
mod people;
pub mod socket;

pub use agent::Heard;
pub use client::{Client, UrlError};
pub use error::{Error, Problem};
pub use people::LastWeek;
pub use placet_core::steps::MessageOutcome;
