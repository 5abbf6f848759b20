//! The journal and its projections, on SQLite or PostgreSQL.
//!
//! A step loads a snapshot, decides outside the store, and commits its events together with the versions of the sessions
//! that it was decided on. One writer thread takes all waiting commits, appends their events to the journal, applies them
//! to the projections, and commits them as a group. Nothing is acknowledged before its commit succeeded. A commit that was
//! decided on an old state is a conflict: the caller loads and decides again.
//!
//! Invariants:
//! - The journal is the only place that holds bodies. Projections point at its rows and can be built again from them.
//! - Every projection of an event is a compare-and-set: an event that cannot have happened writes nothing.
//! - Deciding happens outside (`placet-core`, `placet-engine`); applying never decides.

mod change;
mod checkpoint;
mod clock;
mod copy;
mod database;
mod error;
mod heads;
mod load;
mod location;
mod postgres;
mod project;
mod sql;
mod sqlite;
mod store;
mod verify;
mod view;
mod writer;

pub use sqlite::inline;

pub use clock::{Clock, SystemClock};
pub use copy::{CopyError, copy};
pub use error::{OpenError, StepError, StoreError};
pub use location::Location;
pub use store::{OnCommit, OnLook, Options, Store};
pub use verify::{Anchor, AnchorError, Finding, FindingKind, Verified, verify_file};
